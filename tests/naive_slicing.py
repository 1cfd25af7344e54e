"""Slicing, slow and obvious: the coefficient by its formula, medoids by trying all, a judge by definition."""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations
from typing import Any

Keys = tuple[str, ...]


def contingency(left: Sequence[Any], right: Sequence[Any]) -> Fraction:
    """phi^2 = 1 / (min(d1, d2) - 1) * sum_ij (f_ij - f_i f_j)^2 / (f_i f_j); 0 for a constant attribute."""
    n = len(left)
    of_left, of_right, both = Counter(left), Counter(right), Counter(zip(left, right, strict=True))
    smaller = min(len(of_left), len(of_right))
    if smaller < 2:
        return Fraction(0)
    total = Fraction(0)
    for a in of_left:
        for b in of_right:
            expected = Fraction(of_left[a], n) * Fraction(of_right[b], n)
            total += (Fraction(both[a, b], n) - expected) ** 2 / expected
    return total / (smaller - 1)


def clusters(columns: Sequence[Sequence[Any]], wanted: int) -> set[frozenset[int]]:
    """The clusters around the medoids of least cost; distances 1 - phi^2, rounded once to 2^-40."""
    size = range(len(columns))
    distance = [
        [0 if a == b else round((1 - contingency(columns[a], columns[b])) * 2**40) for b in size]
        for a in size
    ]

    def cost(medoids: tuple[int, ...]) -> int:
        return sum(min(distance[a][m] for m in medoids) for a in size)

    best = min(combinations(size, wanted), key=cost)
    home = {a: a if a in best else min(best, key=lambda m: distance[a][m]) for a in size}
    return {frozenset(a for a in size if home[a] == m) for m in best}


def binned(values: Sequence[Any]) -> list[Any]:
    """The bin of each number: 10 times the share of smaller ones, rounded down; None stays what it is."""
    there = [value for value in values if value is not None]
    if len(set(there)) <= 20:
        return [*values]
    return [
        None if value is None else 10 * sum(other < value for other in there) // len(there)
        for value in values
    ]


# The judge. Documents are JSON; ``sensitive`` gives the sensitive keys of each vertex type.


@dataclass
class Found:
    """Whether all fits together, the classes' sizes, counts for each group, attribute and pool."""

    fits: bool
    classes: list[int]
    values: list[tuple[int, Counter[Any]]]


def form(item: Any, *, ids: bool) -> str:
    """An item of a record in no order, with or without group ids."""
    if isinstance(item, dict):
        kept = {key: form(value, ids=ids) for key, value in item.items() if ids or key != "group"}
        return json.dumps(sorted(kept.items()))
    if isinstance(item, list):
        return json.dumps(sorted(form(inner, ids=ids) for inner in item))
    return json.dumps(item)


def vertices(record: dict[str, Any], keys: Keys) -> Iterator[tuple[tuple[str, ...], dict[str, Any]]]:
    """The vertices at these keys, each with the forms of what it lies in and of itself, without ids."""
    if not keys:
        yield (form(record, ids=False),), record
        return
    for item in record.get(keys[0], []):
        for above, vertex in vertices(item, keys[1:]):
            yield (form(record, ids=False), *above), vertex


def is_number(value: Any, least: int) -> bool:
    return type(value) is int and value >= least


def judge(
    records: list[dict[str, Any]],
    parts: dict[str, list[dict[str, Any]]],
    sensitive: dict[Keys, tuple[str, ...]],
    tables: dict[str, tuple[Keys, tuple[str, ...]]],
) -> Found:
    """Join all and look: ``tables`` gives for each part its vertex type and the attributes it may have."""
    fits = parts.keys() <= tables.keys()
    members: defaultdict[tuple[Keys, Any], list[int]] = defaultdict(list)
    alike: defaultdict[tuple[Keys, tuple[str, ...]], set[Any]] = defaultdict(set)
    looks: Counter[str] = Counter()
    for ordinal, record in enumerate(records):
        looks[form(record, ids=False)] += 1
        for keys, own in sensitive.items():
            for above, vertex in vertices(record, keys):
                number = vertex.get("group")
                fits &= is_number(number, 0) and not set(own) & vertex.keys()
                members[keys, repr(number)].append(ordinal)
                alike[keys, above].add(repr(number))
    whole = Counter(form(record, ids=True) for record in records)
    of = [form(record, ids=True) for record in records]
    for own in members.values():
        # One vertex of each record of one class.
        fits &= len(own) == len(set(own)) and {of[at] for at in own} == {of[own[0]]}
        fits &= len(own) == whole[of[own[0]]]
    right, stated = _stated(parts, members, tables)
    fits &= right
    values = []
    for (keys, number), own in members.items():
        for name in sensitive[keys]:
            values.append((len(own), stated[keys, number, name]))
    for (keys, above), numbers in alike.items():
        for name in sensitive[keys]:
            pool = sum((stated[keys, number, name] for number in numbers), Counter[Any]())
            values.append((looks[above[0]], pool))
    return Found(fits, [*whole.values()], values)


def _stated(
    parts: dict[str, list[dict[str, Any]]],
    members: dict[tuple[Keys, Any], list[int]],
    tables: dict[str, tuple[Keys, tuple[str, ...]]],
) -> tuple[bool, dict[tuple[Keys, str, str], Counter[Any]]]:
    """Whether every table accounts for every vertex, once for each attribute; the values of each group."""
    fits = True
    stated: defaultdict[tuple[Keys, str, str], Counter[Any]] = defaultdict(Counter)
    seen: Counter[tuple[Keys, str]] = Counter()
    for part, (keys, allowed) in tables.items():
        rows = parts.get(part, [])
        sums: Counter[str] = Counter()
        shown = set()
        for row in rows:
            number, count = row.get("group"), row.get("count")
            fits &= is_number(number, 0) and is_number(count, 1)
            fits &= row.keys() <= {"group", "count", *allowed}
            if not is_number(number, 0) or not is_number(count, 1):
                continue
            sums[repr(number)] += count
            for name in allowed:
                if name in row:
                    shown.add(name)
                    if row[name] is not None:
                        stated[keys, repr(number), name][row[name]] += count
        seen.update((keys, name) for name in shown)
        due = {number: len(own) for (kind, number), own in members.items() if kind == keys}
        fits &= {number: count for number, count in sums.items() if count} == due
    fits &= all(times == 1 for times in seen.values())
    return fits, stated


def passes(found: Found, k: int, holds: Callable[[int, Counter[Any]], bool]) -> bool:
    """Whether all fits, classes have k records, and a model holds of groups and of what looks alike."""
    return (
        found.fits
        and min(found.classes, default=0) >= k
        and all(holds(size, own) for size, own in found.values)
    )

"""Slicing by table, slow and obvious: a judge by definition, all worlds that fit the files, and the search.

Documents are JSON. ``tables`` gives by part the key of its group in a record, and its attributes.
"""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import permutations, product
from typing import Any

Record = dict[str, Any]
Tables = Mapping[str, tuple[str, tuple[str, ...]]]
Shares = dict[Any, Fraction]
"""The share of each value; that of None are persons without one."""


@dataclass
class Found:
    """Whether all fits together; sizes of classes; persons and shares of values to be judged; ids."""

    fits: bool
    classes: list[int]
    values: list[tuple[str, int, Shares]]
    k_ids: int
    guesses: dict[str, Fraction]


def judge(records: Sequence[Record], parts: Mapping[str, Sequence[Record]], tables: Tables) -> Found:
    """Join all and look."""
    keys = [key for key, _ in tables.values()]
    fits = parts.keys() <= tables.keys()
    rows = {part: _rows(parts.get(part, ()), names) for part, (_, names) in tables.items()}
    for part, (key, names) in tables.items():
        members = Counter(repr(record.get(key)) for record in records)
        fits &= all(_is_number(record.get(key), 0) for record in records)
        fits &= all(
            _is_number(row.get("group"), 0) and _is_number(row.get("count"), 1) for row in parts.get(part, ())
        )
        fits &= all(row.keys() <= {"group", "count", *names} for row in parts.get(part, ()))
        fits &= {group: len(own) for group, own in rows[part].items()} == members
    if not fits:
        return Found(False, [], [], 0, {})
    classes: defaultdict[str, list[Record]] = defaultdict(list)
    for record in records:
        classes[json.dumps({key: record[key] for key in sorted(record.keys() - {*keys})})].append(record)
    values: list[tuple[str, int, Shares]] = []
    for part, (key, names) in tables.items():
        for at, name in enumerate(names):
            for own in rows[part].values():
                values.append((name, len(own), _shares(row[at] for row in own)))
            for members_of in classes.values():
                mixed: Shares = defaultdict(Fraction)
                for record in members_of:
                    for value, share in _shares(row[at] for row in rows[part][repr(record[key])]).items():
                        mixed[value] += share / len(members_of)
                values.append((name, len(members_of), mixed))
    ids = Counter(json.dumps(record, sort_keys=True) for record in records)
    guesses = _guesses(list(classes.values()), rows, tables)
    return Found(True, [len(own) for own in classes.values()], values, min(ids.values(), default=0), guesses)


def _is_number(value: Any, least: int) -> bool:
    return type(value) is int and value >= least


def _rows(part: Sequence[Record], names: tuple[str, ...]) -> dict[str, list[tuple[Any, ...]]]:
    """The rows of each group, each as often as it is counted."""
    found: defaultdict[str, list[tuple[Any, ...]]] = defaultdict(list)
    for row in part:
        count = row.get("count")
        held = tuple(row.get(name) for name in names)
        found[repr(row.get("group"))] += [held] * (count if type(count) is int else 0)
    return found


def _shares(values: Iterator[Any]) -> Shares:
    counted = Counter(values)
    return {value: Fraction(count, counted.total()) for value, count in counted.items()}


def _guesses(
    classes: Sequence[Sequence[Record]], rows: Mapping[str, Mapping[str, Sequence[Any]]], tables: Tables
) -> dict[str, Fraction]:
    """The largest probability of a value, given the class and a value of another attribute, by attribute."""
    places = {
        name: (part, key, at)
        for part, (key, names) in tables.items()
        for at, name in enumerate(names)
        if any(row[at] is not None for own in rows[part].values() for row in own)
    }
    best: dict[str, Fraction] = {}
    for guessed, known in permutations(places, 2):
        (part, key, at), (other, other_key, other_at) = places[guessed], places[known]
        for own in classes:
            joint: defaultdict[Any, Shares] = defaultdict(lambda: defaultdict(Fraction))
            for record in own:
                if part == other:
                    pairs = [(row[other_at], row[at]) for row in rows[part][repr(record[key])]]
                else:
                    pairs = [
                        (one[other_at], two[at])
                        for one in rows[other][repr(record[other_key])]
                        for two in rows[part][repr(record[key])]
                    ]
                for given, value in pairs:
                    joint[given][value] += Fraction(1, len(pairs))
            for shares in joint.values():
                total = sum(shares.values())
                for value, share in shares.items():
                    if value is not None:
                        best[guessed] = max(best.get(guessed, Fraction(0)), share / total)
    return best


def passes(found: Found, k: int, holds: Callable[[str, int, Shares], bool]) -> bool:
    """Whether all fits, classes have k records, and a model holds of every group and of every mixture."""
    return found.fits and min(found.classes, default=0) >= k and all(holds(*own) for own in found.values)


# Worlds


def worlds(
    people: Sequence[Record],
    fits: Callable[[Record, Record], bool],
    records: Sequence[Record],
    parts: Mapping[str, Sequence[Record]],
    tables: Tables,
) -> Iterator[list[dict[str, Any]]]:
    """Every way in which the files can be true: the sensitive values of each person, in the order of people.

    A person may have any record whose labels fit her quasi-identifiers, and any row of its groups. Rows that
    look alike are still several, which weighs all worlds equally.
    """
    choices = [_assignments(records, parts[part], key, names) for part, (key, names) in tables.items()]
    for order in permutations(range(len(records))):
        if all(fits(person, records[at]) for person, at in zip(people, order, strict=True)):
            for chosen in product(*choices):
                yield [{name: value for own in chosen for name, value in own[at].items()} for at in order]


def _assignments(
    records: Sequence[Record], part: Sequence[Record], key: str, names: tuple[str, ...]
) -> list[list[Record]]:
    """Every way to give the rows of a table to the records of their groups."""
    rows = _rows(part, names)
    groups = [[at for at, record in enumerate(records) if repr(record[key]) == group] for group in rows]
    found = []
    for orders in product(*(permutations(own) for own in rows.values())):
        given: dict[int, Record] = {}
        for members, order in zip(groups, orders, strict=True):
            given |= {at: dict(zip(names, row, strict=True)) for at, row in zip(members, order, strict=True)}
        found.append([given[at] for at in range(len(records))])
    return found


# The search


def search(
    rows: Sequence[int],
    group: Callable[[int, Sequence[int]], list[list[int]]],
    classify: Callable[[Sequence[int]], list[list[int]]],
    tables: int,
) -> tuple[list[list[int]], list[list[list[int]]]]:
    """Classes and, by table, groups of the same rows: all begin again without those that one leaves out."""
    left = list(rows)
    while True:
        before, groups = len(left), []
        for table in range(tables):
            groups.append(group(table, left))
            left = [row for row in left if any(row in own for own in groups[-1])]
        if len(left) < before:
            continue
        classes = classify(left)
        left = [row for row in left if any(row in own for own in classes)]
        if len(left) == before:
            return classes, groups

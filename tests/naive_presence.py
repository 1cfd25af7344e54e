"""Presence in plain Python, written from the definition: shares of the records that show a group of values.

A record is the set of the values that it shows at a place, or anywhere in it. The values are 1, 2, 4 and 9,
with the levels and the tree of ``hierdata.testing.models``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from fractions import Fraction
from itertools import combinations
from typing import Any

Record = frozenset[int]
VALUES = (1, 2, 4, 9)
LEVEL = {1: 1, 2: 2, 4: 2, 9: 3}
PATH = {1: "*/low/1", 2: "*/low/2", 4: "*/4", 9: "*/high/9"}
BLOCK = {1: "small", 2: "small", 4: "small", 9: "large"}


def share(records: Iterable[Record], group: Callable[[int], bool]) -> Fraction:
    """The share of the records with values that have one of the group."""
    showing = [record for record in records if record]
    return Fraction(sum(any(map(group, record)) for record in showing), max(1, len(showing)))


def distance(one: int, other: int) -> Fraction:
    """Half the edges between two values."""
    left, right = PATH[one].split("/"), PATH[other].split("/")
    common = next((at for at, (a, b) in enumerate(zip(left, right, strict=False)) if a != b), len(left))
    if one == other:
        return Fraction(0)
    return Fraction(len(left) + len(right) - 2 * common, 2)


def component(value: int, e: Fraction) -> frozenset[int]:
    """The values that a chain of steps of at most e leads to."""
    found = {value}
    while more := {v for v in VALUES if v not in found and any(distance(v, own) <= e for own in found)}:
        found |= more
    return frozenset(found)


def group_of(model: Any, value: int) -> Any:
    if model.by == "level":
        return LEVEL[value]
    if model.by == "similarity":
        return component(value, model.e)
    return value


def is_near(model: Any, centre: int, value: int) -> bool:
    if model.kind == "delta-l-diversity":
        return abs(centre - value) <= 2 * model.delta
    return abs(centre - value) <= model.epsilon * (abs(centre) if model.relative else 1)


def holds(model: Any, records: Sequence[Record]) -> bool:
    """Whether a class of these records satisfies a model at this place; an empty set shows nothing."""
    shown = [value for value in VALUES if any(value in record for record in records)]
    if model.kind == "alpha-k":
        protected = [v for v in VALUES if model.values is None or str(v) in map(str, model.values)]
        groups = {group_of(model, value) for value in protected}
        return len(records) >= model.k and all(
            share(records, lambda v, own=group: group_of(model, v) == own) <= model.alpha  # type: ignore[misc]
            for group in groups
        )
    if model.kind == "frequency-l-diversity":
        groups = {group_of(model, value) for value in VALUES}
        return all(
            share(records, lambda v, own=group: group_of(model, v) == own) * model.l <= 1  # type: ignore[misc]
            for group in groups
        )
    if model.kind == "level-alpha-k":
        return len(records) >= model.k and all(
            share(records, lambda v, own=level: LEVEL[v] == own) <= model.alpha[level - 1]  # type: ignore[misc]
            for level in (1, 2, 3)
        )
    if model.kind in ("delta-l-diversity", "epsilon-m-anonymity"):
        least = model.l if model.kind == "delta-l-diversity" else model.m
        return all(
            share(records, lambda v, own=centre: is_near(model, own, v)) * least <= 1  # type: ignore[misc]
            for centre in shown
        )
    assert model.kind == "l-e-diversity"
    if model.repeats == "allow":
        return all(
            share(records, lambda v, own=value: v in component(own, model.e)) * model.l <= 1  # type: ignore[misc]
            for value in shown
        )
    showing = [record for record in records if record]
    apart = all(distance(u, v) > model.e for a, b in combinations(showing, 2) for u in a for v in b)
    return not showing or (len(showing) >= model.l and apart)


def ways_to_tie(values: Sequence[int], records: int, siblings: int) -> set[tuple[Record, ...]]:
    """All classes of m records, each of so many vertices, that show these values, one at most at a vertex."""
    classes = {((),) * records}
    for value in values:
        classes = {
            tuple(sorted(row if at != own else (*row, value) for at, row in enumerate(rows)))
            for rows in classes
            for own in range(records)
            if len(rows[own]) < siblings
        }
    return {tuple(map(frozenset, rows)) for rows in classes}


def holds_untied(model: Any, values: Sequence[int], records: int, siblings: int) -> bool:
    """Whether a class satisfies a model where nothing tells which values belong to one record.

    Shares are over the least number of records that show a value in any way to tie them.
    """
    fewest = min(sum(map(bool, own)) for own in ways_to_tie(values, records, siblings))

    def most(group: Callable[[int], bool]) -> Fraction:
        return Fraction(min(sum(map(group, values)), fewest), max(fewest, 1))

    if model.kind == "alpha-k":
        return records >= model.k and all(most(lambda v, own=o: v == own) <= model.alpha for o in VALUES)  # type: ignore[misc]
    assert model.kind == "frequency-l-diversity"
    return all(most(lambda v, own=o: v == own) * model.l <= 1 for o in VALUES)  # type: ignore[misc]

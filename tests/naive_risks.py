"""The slow, obvious twin of what attackers learn beside the rate: vertex by vertex, in fractions."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Callable, Hashable, Mapping
from fractions import Fraction
from typing import Literal

from hierdata.forest.forest import Forest
from tests.naive_joint import Table

Key = Callable[[int], Hashable]


def one_each(
    forest: Forest, vertices: list[int], key: Key, value: Key, weight: Literal["vertex", "person"]
) -> Table:
    """Each vertex has one key and one value; None is no value. Vertices of a person share their weight."""
    persons = Counter(int(forest.record_of[v]) for v in vertices)
    table: dict[Hashable, dict[Hashable, Fraction]] = defaultdict(lambda: defaultdict(Fraction))
    for v in vertices:
        if value(v) is not None:
            heavy = Fraction(1, persons[int(forest.record_of[v])]) if weight == "person" else Fraction(1)
            table[key(v)][value(v)] += heavy
    return table


def altogether(table: Table) -> dict[Hashable, Fraction]:
    """The share of each value over all keys."""
    sums: dict[Hashable, Fraction] = defaultdict(Fraction)
    for parts in table.values():
        for value, own in parts.items():
            sums[value] += own
    return shares(sums)


def shares(parts: Mapping[Hashable, Fraction]) -> dict[Hashable, Fraction]:
    return {value: own / sum(parts.values()) for value, own in parts.items()}


def distance(table: Table, before: Mapping[Hashable, Fraction]) -> Fraction:
    """The greatest half of the sum of differences."""
    return max(
        (
            sum((abs(shares(parts).get(x, Fraction(0)) - usual) for x, usual in before.items()), Fraction(0))
            / 2
            for parts in table.values()
        ),
        default=Fraction(0),
    )


def divergence(table: Table, before: Mapping[Hashable, Fraction]) -> float:
    """The greatest sum of p log2 (p / q)."""
    return max(
        (
            math.fsum(own * math.log2(own / before[x]) for x, own in shares(parts).items())
            for parts in table.values()
        ),
        default=0.0,
    )

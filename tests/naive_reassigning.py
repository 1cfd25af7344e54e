"""The slow, obvious twin of engines that give records other classes: TC section 4 with TC-4, TC-5, TC-6."""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations

from tests.naive_distributions import shares

Distance = Callable[[Mapping[Hashable, Fraction], Mapping[Hashable, Fraction]], Fraction]
Classes = list[list[int]]
Rows = Sequence[int]

UNIT = 2**30
"""Distances are ordered after rounding to this part of 1; what is within t is decided exactly."""


@dataclass(frozen=True)
class Attribute:
    """A sensitive attribute: the value of each row, None for a missing one; how far apart two mixes are."""

    values: Sequence[Hashable]
    distance: Distance
    bound: Fraction = Fraction(0)

    def of(self, rows: Rows) -> Fraction:
        """The distance of a class from the table, by the values that are present."""
        present = [self.values[row] for row in rows if self.values[row] is not None]
        every = [value for value in self.values if value is not None]
        return self.distance(shares(present), shares(every)) if present else Fraction(0)


def of_class(rows: Rows, attributes: Sequence[Attribute]) -> Fraction:
    """The largest distance over all attributes."""
    return max((attribute.of(rows) for attribute in attributes), default=Fraction(0))


def objective(classes: Sequence[Rows], attributes: Sequence[Attribute]) -> tuple[Fraction, Fraction]:
    """The largest distance of a class, then the mean, weighted by size (TC-5)."""
    found = [of_class(rows, attributes) for rows in classes]
    weighted = sum((len(rows) * one for rows, one in zip(classes, found, strict=True)), Fraction(0))
    return max(found), weighted / sum(map(len, classes))


def decode(keys: Sequence[float], sizes: Sequence[int]) -> Classes:
    """Random keys: sorted, ties by index, cut into the sizes (TC-5)."""
    order = sorted(range(len(keys)), key=lambda row: (keys[row], row))
    return [order[sum(sizes[:at]) : sum(sizes[: at + 1])] for at in range(len(sizes))]


def dealt(order: Rows, sizes: Sequence[int]) -> Classes:
    """Rows in an order, one to each class in turn; a class that is full is passed over."""
    classes: Classes = [[] for _ in sizes]
    left = list(order)
    while left:
        for own, size in zip(classes, sizes, strict=True):
            if left and len(own) < size:
                own.append(left.pop(0))
    return classes


def every_partition(rows: Rows, sizes: Sequence[int]) -> Iterator[Classes]:
    """All ways to divide rows into classes of these sizes; classes have no order."""
    if not rows:
        yield []
        return
    first, rest = rows[0], rows[1:]
    for size in sorted(set(sizes)):
        others = list(sizes)
        others.remove(size)
        for mates in combinations(rest, size - 1):
            for classes in every_partition([row for row in rest if row not in mates], others):
                yield [[first, *mates], *classes]


def optimum(sizes: Sequence[int], attributes: Sequence[Attribute]) -> Fraction:
    """The least largest distance that classes of these sizes can have."""
    rows = range(sum(sizes))
    return min(objective(classes, attributes)[0] for classes in every_partition(list(rows), sizes))


# The swarm


@dataclass
class Particle:
    """Where it is, how fast it moves, and the best place that it has seen."""

    keys: list[float]
    speed: list[float]
    best: list[float]


def move(
    particle: Particle,
    leader: Sequence[float],
    draws: tuple[Sequence[float], Sequence[float]],
    inertia: float,
    pulls: tuple[float, float],
    bound: float,
) -> None:
    """v = w v + c1 r1 (pbest - x) + c2 r2 (gbest - x), at most the bound; x = x + v, within 0..1 (TC-5)."""
    for at, (own, social) in enumerate(zip(*draws, strict=True)):
        x = particle.keys[at]
        speed = (
            inertia * particle.speed[at]
            + pulls[0] * own * (particle.best[at] - x)
            + pulls[1] * social * (leader[at] - x)
        )
        particle.speed[at] = min(bound, max(-bound, speed))
        particle.keys[at] = min(1.0, max(0.0, x + particle.speed[at]))


# Swaps


@dataclass
class Descent:
    """Two classes exchange a record as long as that lowers what they are beyond t, else what they lose.

    ``loss`` is that of publishing some rows as one class, ``allowed`` whether all other models let them be.
    """

    classes: Classes
    attributes: Sequence[Attribute]
    loss: Callable[[Rows], int]
    allowed: Callable[[Rows], bool]

    def beyond(self, rows: Rows) -> int:
        """How far the worst attribute is beyond its bound; 0 if all are within, at least 1 if not."""
        return max(
            (
                0 if one.of(rows) <= one.bound else max(1, round((one.of(rows) - one.bound) * UNIT))
                for one in self.attributes
            ),
            default=0,
        )

    def others(self, own: int) -> Iterator[int]:
        """The classes after and before, in turn, each once."""
        count = len(self.classes)
        seen = {own}
        for step in range(1, count):
            for at in ((own + step) % count, (own - step) % count):
                if at not in seen:
                    seen.add(at)
                    yield at

    def best(self, own: int, least: int) -> tuple[int, int, int] | None:
        """The partner and the two places of the swap that lowers most; None if none does by ``least``."""
        found: tuple[int, int, int] | None = None
        best: tuple[float, float] = (-least, math.inf if least else 0)
        here = self.classes[own]
        for partner in self.others(own):
            there = self.classes[partner]
            for theirs, y in enumerate(there):
                for mine, x in enumerate(here):
                    one = [*here[:mine], y, *here[mine + 1 :]]
                    other = [*there[:theirs], x, *there[theirs + 1 :]]
                    change = (
                        self.beyond(one) + self.beyond(other) - self.beyond(here) - self.beyond(there),
                        self.loss(one) + self.loss(other) - self.loss(here) - self.loss(there),
                    )
                    if change < best and self.allowed(one) and self.allowed(other):
                        found, best = (partner, mine, theirs), change
        return found

    def run(self, passes: int) -> None:
        """First the classes beyond their bounds, the farthest first; then passes over all."""
        while failing := [at for at, rows in enumerate(self.classes) if self.beyond(rows)]:
            for own in sorted(failing, key=lambda at: -self.beyond(self.classes[at])):
                while self.beyond(self.classes[own]) and self.swap(own, 1):
                    pass
            if sum(self.beyond(rows) > 0 for rows in self.classes) >= len(failing):
                break
        for _ in range(passes):
            for own in range(len(self.classes)):
                while self.swap(own, 0):
                    pass

    def swap(self, own: int, least: int) -> bool:
        found = self.best(own, least)
        if found is None:
            return False
        partner, mine, theirs = found
        here, there = self.classes[own], self.classes[partner]
        here[mine], there[theirs] = there[theirs], here[mine]
        return True

"""Rows, targets and classes in the layout of ``kernels.composing``."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import pairwise
from math import floor

import numpy as np
from numpy.typing import NDArray

from hierdata.engines.base import Constraints
from hierdata.engines.compose.kernel import NEVER, Classes, Rows, Targets
from hierdata.engines.rows.closeness import foreign, paths, weighted_sets
from hierdata.engines.rows.contents import accepted
from hierdata.engines.rows.order import Line
from hierdata.engines.rows.table import class_sizes, codes_of, summable
from hierdata.forest.forest import MISSING, Forest, Scope
from hierdata.forest.partition import SUPPRESSED
from hierdata.privacy.base import ClassView, Closeness

LARGEST = 1024
"""Larger classes are left as they are: a change costs as much as the class has rows."""
_PLACES = 1024
"""A quasi-identifier has a table of the joins of so many places at most."""
_SETS = 4096
"""A distance over more sets of values than that is not followed from change to change."""
_ORDERS = 12
_TERMS = 4
"""The loss of a change is the sum of so many terms, each at most the loss of the whole table."""
_ROOMY = 2**13
"""The room of a change, before it is divided by 1,024, is at most so many times the loss of one join."""


@dataclass(frozen=True)
class Bound:
    """A closeness at one sensitive attribute, without the sets of no weight.

    ``paths[code]`` are the positions of the sets that hold a value, from the least up.
    """

    position: int
    closeness: Closeness
    sets: tuple[int, ...]
    paths: tuple[tuple[int, ...], ...]

    @classmethod
    def of(cls, position: int, closeness: Closeness) -> Bound:
        """A closeness at the attribute of this position."""
        return cls(position, closeness, weighted_sets(closeness), paths(closeness))

    @property
    def largest(self) -> int:
        """Up to so many values present no distance times their number passes 2^62."""
        weights = sum(self.closeness.weight)
        return NEVER // max(1, self.closeness.total * max(weights, self.closeness.scale)) - 1

    def limit(self, present: int) -> int:
        """The largest sum of weight * |count * total - present * expected| that is within the bound."""
        closeness = self.closeness
        return floor(closeness.bound * closeness.scale * closeness.total * present)


@dataclass(frozen=True)
class Asked:
    """What the models ask, as far as changes can be judged by it.

    ``fixed`` says that some model is not of this form, so that classes keep what they hold; ``largest`` is
    the largest class that is changed.
    """

    bounds: tuple[Bound, ...]
    fixed: bool
    largest: int

    @classmethod
    def of(cls, forest: Forest, scope: Scope, constraints: Constraints) -> Asked:
        """What these constraints ask of a scope."""
        codes = codes_of(forest, scope)
        bounds: list[Bound] = []
        fixed = False
        for position, own in enumerate(constraints.on_values[scope.kind]):
            for one in own:
                stated = one.closeness
                if stated is None or len(stated.set_of) > _SETS or foreign(stated, codes[:, position]).any():
                    fixed = True
                else:
                    bounds.append(Bound.of(position, stated))
        fixed |= sum(len(one.sets) for one in bounds) > _SETS
        largest = min([LARGEST, len(codes), *(one.largest for one in bounds)])
        return cls(() if fixed else tuple(bounds), fixed, largest)


def combinations(codes: NDArray[np.int32]) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
    """The number of each row's combination of sensitive values, and the combinations."""
    different, numbers = np.unique(codes, axis=0, return_inverse=True)
    return numbers.ravel().astype(np.int64), different


def targets_of(asked: Asked, constraints: Constraints, different: NDArray[np.int32]) -> Targets:
    """The distances as sets of values, and which sizes the models on records allow."""
    first = np.cumsum([0, *(len(one.sets) for one in asked.bounds)])
    sets_of = [
        [
            base + at
            for base, one in zip(first.tolist(), asked.bounds, strict=False)
            for at in (() if own[one.position] == MISSING else one.paths[own[one.position]])
        ]
        for own in different.tolist()
    ]
    packed = np.full((len(sets_of), max(map(len, sets_of), default=0)), -1, np.int32)
    for value, path in enumerate(sets_of):
        packed[value, : len(path)] = path
    sizes = range(asked.largest + 2)
    least = constraints.min_class_size
    return Targets(
        packed,
        np.array([different[:, one.position] != MISSING for one in asked.bounds], np.int64).reshape(
            len(asked.bounds), len(different)
        ).T.copy(),
        first,
        _column(one.closeness.weight[at] for one in asked.bounds for at in one.sets),
        _column(one.closeness.expected[at] for one in asked.bounds for at in one.sets),
        _column(one.closeness.total for one in asked.bounds),
        np.array([[one.limit(size) for size in sizes] for one in asked.bounds], np.int64).reshape(
            len(asked.bounds), len(sizes)
        ),
        np.array(
            [size >= least and accepted(constraints.on_records, ClassView(size, {})) for size in sizes[:-1]],
            np.bool_,
        ),
        asked.fixed,
    )  # fmt: skip


def _column(values: Iterable[int]) -> NDArray[np.int64]:
    return np.array(list(values), np.int64)


def rows_of(line: Line, scope: Scope, values: NDArray[np.int64], rng: np.random.Generator) -> Rows:
    """The rows, with all joins worked out and the orders drawn.

    Neighbours among more than 1,024 places of a quasi-identifier share one: its join is that of its ends, so
    a loss is never below the true one.
    """
    count, width = line.places.shape
    (losses,) = summable([line.losses], max(_ROOMY, _TERMS * max(1, width) * count))
    places = np.empty((count, width), np.int32)
    counts, pairs = [], [np.zeros(0, np.int64)]
    for column, (start, stop) in enumerate(pairwise(line.first.tolist())):
        shared = np.arange(stop - start) * min(_PLACES, stop - start) // max(1, stop - start)
        places[:, column] = shared[line.places[:, column]]
        lowest = np.unique(shared, return_index=True)[1]
        counts.append(len(lowest))
        highest = np.append(lowest[1:], stop - start) - 1
        above = line.above[start:stop]
        pairs.append(_joined(above[lowest], above[highest], losses).ravel())
    orders = np.empty((_ORDERS, count), np.int32)
    ranks = np.empty((_ORDERS, count), np.int32)
    for at in range(_ORDERS):
        orders[at] = np.lexsort((rng.random(count), *line.places.T[rng.permutation(width)]))
        ranks[at, orders[at]] = np.arange(count)
    first_pair = np.cumsum([0, *map(len, pairs)])[1:-1]
    return Rows(
        places, np.array(counts, np.int64), np.concatenate(pairs), first_pair, orders, ranks, values,
        scope.records, bool(scope.kind),
    )  # fmt: skip


def _joined(low: NDArray[np.int32], high: NDArray[np.int32], losses: NDArray[np.int64]) -> NDArray[np.int64]:
    """The loss of the join of each of the first with each of the second: their deepest common entry's."""
    found = np.zeros((len(low), len(high)), np.int64)
    for one, other in zip(low.T, high.T, strict=True):
        shared = (one[:, None] == other[None, :]) & (one >= 0)[:, None]
        found = np.where(shared, losses[one][:, None], found)
    return found


def classes_in(
    classes: NDArray[np.int64], room: int, width: int, targets: Targets
) -> tuple[Classes, NDArray[np.int64]]:
    """Tables for the classes that have room, and the numbers of these; rows of others have none there."""
    numbers = np.flatnonzero(class_sizes(classes) <= room)
    new = np.full(int(classes.max(initial=SUPPRESSED)) + 2, SUPPRESSED, np.int64)
    new[numbers] = np.arange(len(numbers))
    return empty(new[classes], len(numbers), room, width, targets), numbers


def empty(class_of: NDArray[np.int64], count: int, room: int, width: int, targets: Targets) -> Classes:
    """Tables for so many classes of at most ``room`` rows, not filled in."""
    rows = len(class_of)
    return Classes(
        class_of,
        np.zeros(rows, np.int64),
        np.full((count, room), SUPPRESSED, np.int32),
        np.zeros(count, np.int64),
        np.zeros((count, 4, width), np.int32),
        np.zeros(count, np.int64),
        np.zeros(rows, np.int64),
        np.zeros((count, len(targets.weights)), np.int64),
        np.zeros((count, len(targets.totals)), np.int64),
    )

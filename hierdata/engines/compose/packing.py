"""Rows, targets and classes in the layout of ``kernels.composing``."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import pairwise
from math import floor

import numpy as np
from numpy.typing import NDArray

from hierdata.engines.base import Constraints
from hierdata.engines.compose.kernel import NEVER, ComposedClasses, ComposedRows, Targets
from hierdata.engines.nested_sets import paths, weighted_sets
from hierdata.engines.rows.closeness import foreign
from hierdata.engines.rows.contents import accepts_all
from hierdata.engines.rows.order import RowLine
from hierdata.engines.rows.table import class_sizes, codes_of, summable
from hierdata.forest.forest import MISSING, Forest, Scope
from hierdata.forest.partition import SUPPRESSED
from hierdata.privacy.base import ClassView, Closeness

LARGEST = 1024
"""Larger classes are not changed, since the cost of a change grows with the rows of the class."""
_PLACES = 1024
"""The most places of a quasi-identifier in its table of joins."""
_SETS = 4096
"""Distances over more sets of values than this are not updated with each change."""
_ORDERS = 12
_TERMS = 4
"""The number of terms in the loss of a change, each at most the loss of the whole table."""
_ROOMY = 2**13
"""The tolerance of a change, times 1,024, is at most this many times the loss of one join."""


@dataclass(frozen=True)
class ClosenessBound:
    """A closeness at one sensitive attribute, without the sets of weight 0.

    ``paths[code]`` are the positions of the sets that contain a value, from the smallest up.
    """

    position: int
    closeness: Closeness
    sets: tuple[int, ...]
    paths: tuple[tuple[int, ...], ...]

    @classmethod
    def of(cls, position: int, closeness: Closeness) -> ClosenessBound:
        """Build the bound of a closeness at the attribute of this position."""
        return cls(position, closeness, weighted_sets(closeness), paths(closeness))

    @property
    def largest(self) -> int:
        """The most present values for which no distance times their number exceeds 2^62."""
        weights = sum(self.closeness.weight)
        return NEVER // max(1, self.closeness.total * max(weights, self.closeness.scale)) - 1

    def limit(self, present: int) -> int:
        """Return the largest sum of weight * |count * total - present * expected| within the bound."""
        closeness = self.closeness
        return floor(closeness.bound * closeness.scale * closeness.total * present)


@dataclass(frozen=True)
class PackedModels:
    """The requirements of the models that can be checked at every change.

    ``fixed``: some model has another form, so classes keep their sensitive values. ``largest`` is the largest
    class that is changed.
    """

    bounds: tuple[ClosenessBound, ...]
    fixed: bool
    largest: int

    @classmethod
    def of(cls, forest: Forest, scope: Scope, constraints: Constraints) -> PackedModels:
        """Pack the requirements of constraints on a scope."""
        codes = codes_of(forest, scope)
        bounds: list[ClosenessBound] = []
        fixed = False
        for position, own in enumerate(constraints.on_values[scope.kind]):
            for one in own:
                stated = one.closeness
                if stated is None or len(stated.set_of) > _SETS or foreign(stated, codes[:, position]).any():
                    fixed = True
                else:
                    bounds.append(ClosenessBound.of(position, stated))
        fixed |= sum(len(one.sets) for one in bounds) > _SETS
        largest = min([LARGEST, len(codes), *(one.largest for one in bounds)])
        return cls(() if fixed else tuple(bounds), fixed, largest)


def combinations(codes: NDArray[np.int32]) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
    """Return the number of each row's combination of sensitive values, and the distinct combinations."""
    different, numbers = np.unique(codes, axis=0, return_inverse=True)
    return numbers.ravel().astype(np.int64), different


def targets_of(asked: PackedModels, constraints: Constraints, different: NDArray[np.int32]) -> Targets:
    """Pack the distances as sets of values, and the class sizes that the models on records allow."""
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
            [
                size >= least and accepts_all(constraints.on_records, ClassView(size, {}))
                for size in sizes[:-1]
            ],
            np.bool_,
        ),
        asked.fixed,
    )  # fmt: skip


def _column(values: Iterable[int]) -> NDArray[np.int64]:
    return np.array(list(values), np.int64)


def rows_of(line: RowLine, scope: Scope, values: NDArray[np.int64], rng: np.random.Generator) -> ComposedRows:
    """Build the rows, with precomputed joins and random orders.

    If a quasi-identifier has more than 1,024 places, neighbouring ones are merged: the join of a merged place
    is that of its ends, so a loss is never below the true one.
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
        pairs.append(_join_losses(above[lowest], above[highest], losses).ravel())
    orders = np.empty((_ORDERS, count), np.int32)
    ranks = np.empty((_ORDERS, count), np.int32)
    for at in range(_ORDERS):
        orders[at] = np.lexsort((rng.random(count), *line.places.T[rng.permutation(width)]))
        ranks[at, orders[at]] = np.arange(count)
    first_pair = np.cumsum([0, *map(len, pairs)])[1:-1]
    return ComposedRows(
        places, np.array(counts, np.int64), np.concatenate(pairs), first_pair, orders, ranks, values,
        scope.records, bool(scope.kind),
    )  # fmt: skip


def _join_losses(
    low: NDArray[np.int32], high: NDArray[np.int32], losses: NDArray[np.int64]
) -> NDArray[np.int64]:
    """Return the loss of the join of each ``low`` with each ``high``: that of their deepest common entry."""
    found = np.zeros((len(low), len(high)), np.int64)
    for one, other in zip(low.T, high.T, strict=True):
        shared = (one[:, None] == other[None, :]) & (one >= 0)[:, None]
        found = np.where(shared, losses[one][:, None], found)
    return found


def classes_in(
    classes: NDArray[np.int64], room: int, width: int, targets: Targets
) -> tuple[ComposedClasses, NDArray[np.int64]]:
    """Build tables for the classes of at most ``room`` rows; also return these classes' numbers."""
    numbers = np.flatnonzero(class_sizes(classes) <= room)
    new = np.full(int(classes.max(initial=SUPPRESSED)) + 2, SUPPRESSED, np.int64)
    new[numbers] = np.arange(len(numbers))
    return empty(new[classes], len(numbers), room, width, targets), numbers


def empty(
    class_of: NDArray[np.int64], count: int, room: int, width: int, targets: Targets
) -> ComposedClasses:
    """Build empty tables for ``count`` classes of at most ``room`` rows."""
    rows = len(class_of)
    return ComposedClasses(
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

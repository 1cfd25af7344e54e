"""One run of compose: pack the rows, start, exchange rows in passes, and check all models at the end."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from functools import partial
from itertools import pairwise
from math import floor

import numpy as np
from numpy.typing import NDArray

from hierdata.engines.base import Constraints, StepInput, accepts_all, silent
from hierdata.engines.compose.kernel import (
    NEVER,
    ComposedClasses,
    ComposedRows,
    Targets,
    chunks,
    compose,
    fill,
)
from hierdata.engines.mondrian.run import mondrian
from hierdata.engines.rows.constraints import check_classes, foreign
from hierdata.engines.rows.table import (
    RowLine,
    class_sizes,
    classes_of,
    codes_of,
    dense,
    join_losses,
    partition_of,
    summable,
    suppression_cost,
)
from hierdata.forest.forest import MISSING, Forest, Scope
from hierdata.forest.partition import SUPPRESSED, Partition
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
        return cls(position, closeness, closeness.weighted_sets, closeness.paths)

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
        for position, constraint in constraints.on_type(scope.kind):
            stated = constraint.closeness
            if stated is None or len(stated.set_of) > _SETS or foreign(stated, codes[:, position]).any():
                fixed = True
            else:
                bounds.append(ClosenessBound.of(position, stated))
        fixed |= sum(len(bound.sets) for bound in bounds) > _SETS
        largest = min([LARGEST, len(codes), *(bound.largest for bound in bounds)])
        return cls(() if fixed else tuple(bounds), fixed, largest)


def combinations(codes: NDArray[np.int32]) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
    """Return the number of each row's combination of sensitive values, and the distinct combinations."""
    different, numbers = np.unique(codes, axis=0, return_inverse=True)
    return numbers.ravel().astype(np.int64), different


def targets_of(asked: PackedModels, constraints: Constraints, different: NDArray[np.int32]) -> Targets:
    """Pack the distances as sets of values, and the class sizes that the models on records allow."""
    first = np.cumsum([0, *(len(bound.sets) for bound in asked.bounds)])
    sets_of = [
        [
            base + number
            for base, bound in zip(first.tolist(), asked.bounds, strict=False)
            for number in (() if codes[bound.position] == MISSING else bound.paths[codes[bound.position]])
        ]
        for codes in different.tolist()
    ]
    packed = np.full((len(sets_of), max(map(len, sets_of), default=0)), -1, np.int32)
    for value, path in enumerate(sets_of):
        packed[value, : len(path)] = path
    sizes = range(asked.largest + 2)
    least = constraints.min_class_size
    return Targets(
        packed,
        np.array([different[:, bound.position] != MISSING for bound in asked.bounds], np.int64).reshape(
            len(asked.bounds), len(different)
        ).T.copy(),
        first,
        _column(bound.closeness.weight[number] for bound in asked.bounds for number in bound.sets),
        _column(bound.closeness.expected[number] for bound in asked.bounds for number in bound.sets),
        _column(bound.closeness.total for bound in asked.bounds),
        np.array([[bound.limit(size) for size in sizes] for bound in asked.bounds], np.int64).reshape(
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
    return np.fromiter(values, np.int64)


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
        pairs.append(join_losses(above[lowest], above[highest], losses).ravel())
    orders = np.empty((_ORDERS, count), np.int32)
    ranks = np.empty((_ORDERS, count), np.int32)
    for number in range(_ORDERS):
        orders[number] = np.lexsort((rng.random(count), *line.places.T[rng.permutation(width)]))
        ranks[number, orders[number]] = np.arange(count)
    first_pair = np.cumsum([0, *map(len, pairs)])[1:-1]
    return ComposedRows(
        places, np.array(counts, np.int64), np.concatenate(pairs), first_pair, orders, ranks, values,
        scope.records, bool(scope.kind),
    )  # fmt: skip


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


_STARTS = 4
"""The number of orders of the rows that are cut into classes; the one that loses least is the start."""
_UNITED, _SHORT = 32, 32
"""Of every 64 neighbouring short classes, the first 32 are united to a reservoir: half of the rows."""
_HOTTEST, _COLDEST = 0.35, 0.03
"""What a change may add to the loss, on average, in the first pass and in the last but one, as a share of
the loss of suppressing one quasi-identifier of one row."""
_ROOMS = np.rint(-1024 * np.log((np.arange(1024) + 0.5) / 1024)).astype(np.int64)
"""Quantiles of the exponential distribution of mean 1, in 1024ths: integers, so that all machines agree."""
_ROOM = 24
_LEAST_ROOM = 16
"""A class may grow to ``_ROOM`` times the mean size, and to ``_LEAST_ROOM`` rows in any case."""


def compose_partition(step: StepInput, passes: int) -> Partition:
    """Partition the rows of the scope (see ``Compose``)."""
    forest, scope, constraints = step.problem
    cut = mondrian(replace(step, progress=silent))
    if constraints.population is not None or not len(scope.rows):
        step.progress(len(scope.rows))
        return cut
    work = _ComposeWork(forest, scope, constraints, step.rng)
    before = classes_of(cut, scope)
    cost = partial(suppression_cost, forest, scope)
    least = cost(before)
    for start in (work.start(), before):  # the second only if the first is no improvement
        if start is not None:
            after = work.search_classes(start, passes, step.progress)
            if cost(after) < least:
                return partition_of(forest, scope, after, cut.costs if start is before else Counter())
    return cut


class _ComposeWork:
    """The state that stays constant while classes change."""

    def __init__(
        self, forest: Forest, scope: Scope, constraints: Constraints, rng: np.random.Generator
    ) -> None:
        self._forest, self._scope, self._constraints, self._rng = forest, scope, constraints, rng
        self._asked = PackedModels.of(forest, scope, constraints)
        values, different = combinations(codes_of(forest, scope))
        self._targets = targets_of(self._asked, constraints, different)
        self._rows = rows_of(RowLine.of(forest, scope), scope, values, rng)
        self._dearest = int(self._rows.pairs.max(initial=0))

    def start(self) -> NDArray[np.int64] | None:
        """Cut the table into short classes, each distributed nearly like the whole; None if that fails.

        Rows of equal sensitive values are sorted by their quasi-identifiers; all are merged so that each
        combination is spread evenly, and cut as soon as a class is close. Runs of short classes are united to
        reservoirs, which stay close to the original under exchanges that short classes do not allow.
        """
        if not self._asked.bounds or self._rows.recur:
            return None
        least = self._constraints.min_class_size
        cost = partial(suppression_cost, self._forest, self._scope)
        cut = [self._chunks(self._spread(), least) for _ in range(_STARTS)]
        best = min((classes for classes in cut if classes is not None), key=cost, default=None)
        if best is None:
            return None
        united = min(_UNITED, self._asked.largest * (int(best.max()) + 1) // (2 * len(best)))
        run = united + _SHORT * united // _UNITED
        return best if united < 2 else dense(np.where(best % run < united, best // run * run, best))

    def _spread(self) -> NDArray[np.int64]:
        rows, values = self._rows, self._rows.values
        count, width = rows.places.shape
        order = np.lexsort((*rows.places.T[self._rng.permutation(width)], values))
        occurring = np.bincount(values)
        rank = np.arange(count) - (np.cumsum(occurring) - occurring)[values[order]]
        key = np.empty(count)
        key[order] = (rank + 0.5) / occurring[values[order]]
        return np.lexsort((values, key))

    def _chunks(self, sequence: NDArray[np.int64], least: int) -> NDArray[np.int64] | None:
        class_of = np.full(len(sequence), SUPPRESSED, np.int64)
        tables = empty(class_of, 1, 0, 0, self._targets)
        return class_of if chunks(least, sequence, self._rows.values, self._targets, tables) else None

    def search_classes(
        self, start: NDArray[np.int64], passes: int, progress: Callable[[int], None]
    ) -> NDArray[np.int64]:
        """Return the classes of least loss over all passes; the start if a model fails in the end."""
        sizes = class_sizes(start)
        room = max(_LEAST_ROOM, round(_ROOM * sizes.mean())) if len(sizes) else 0
        tables, numbers = classes_in(
            start, min(room, self._asked.largest), self._rows.places.shape[1], self._targets
        )
        if not len(numbers):
            return start
        fill(self._rows, self._targets, tables)
        state = self._rng.integers(1, 2**63, 1).astype(np.uint64)
        best, least = tables.class_of.copy(), int((tables.sizes * tables.loss).sum())
        for done, heat in enumerate(self._heats(passes), start=1):
            compose(heat, _ROOMS, state, self._rows, self._targets, tables)
            progress(len(start) * done // passes)
            lost = int((tables.sizes * tables.loss).sum())
            if lost < least:
                best, least = tables.class_of.copy(), lost
        searched = np.where(best >= 0, numbers[best], start)
        if not check_classes(self._forest, self._scope, self._constraints, searched).all():
            return start
        return searched

    def _heats(self, passes: int) -> list[int]:
        """Return the tolerance of each pass: falling by equal ratios, and 0 in the last."""
        ratio = _COLDEST / _HOTTEST
        shares = [_HOTTEST * ratio ** (number / max(1, passes - 2)) for number in range(passes - 1)]
        return [*(round(self._dearest * share) for share in shares), 0]

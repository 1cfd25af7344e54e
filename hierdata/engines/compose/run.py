"""One run of compose: a start, passes of exchanges, and a final check of the models."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from hierdata.engines.base import Constraints, StepInput, silent
from hierdata.engines.compose.kernel import chunks, compose, fill
from hierdata.engines.compose.packing import (
    PackedModels,
    classes_in,
    combinations,
    empty,
    rows_of,
    targets_of,
)
from hierdata.engines.mondrian.run import mondrian
from hierdata.engines.rows.contents import check_classes
from hierdata.engines.rows.order import RowLine
from hierdata.engines.rows.table import class_sizes, classes_of, codes_of, dense, losses_of, partition_of
from hierdata.forest.forest import Forest, Scope
from hierdata.forest.partition import SUPPRESSED, Partition

_STARTS = 4
"""The number of orders of the rows that are cut into classes; the one that loses least is the start."""
_UNITED, _SHORT = 44, 20
"""Of every 64 neighbouring short classes, the first 44 are united to a reservoir: two thirds of the rows."""
_HOTTEST, _COLDEST = 0.35, 0.07
"""What a change may add to the loss, on average, in the first pass and in the last but one, as a share of
the loss of suppressing one quasi-identifier of one row."""
_ROOMS = np.rint(-1024 * np.log((np.arange(1024) + 0.5) / 1024)).astype(np.int64)
"""Quantiles of the exponential distribution of mean 1, in 1024ths: integers, so that all machines agree."""
_ROOM = 24
_LEAST_ROOM = 16
"""A class may grow to ``_ROOM`` times the mean size, and to ``_LEAST_ROOM`` rows in any case."""


def compose_partition(given: StepInput, passes: int) -> Partition:
    """Partition the rows of the scope (see ``Compose``)."""
    forest, scope, constraints = given.problem
    cut = mondrian(replace(given, progress=silent))
    if constraints.population is not None or not len(scope.rows):
        given.progress(len(scope.rows))
        return cut
    work = _ComposeWork(forest, scope, constraints, given.rng)
    before = classes_of(cut, scope)
    least = work.suppression_cost(before)
    for start in (work.start(), before):  # the second only if the first is no improvement
        if start is not None:
            after = work.search_classes(start, passes, given.progress)
            if work.suppression_cost(after) < least:
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

    def suppression_cost(self, classes: NDArray[np.int64]) -> tuple[int, int]:
        """Return the number of rows without a class, then the loss of the others."""
        lost = losses_of(self._forest, self._scope, classes)
        return int((classes == SUPPRESSED).sum()), int(lost.sum())

    def start(self) -> NDArray[np.int64] | None:
        """Cut the table into short classes, each distributed nearly like the whole; None if that fails.

        Rows of equal sensitive values are sorted by their quasi-identifiers; all are merged so that each
        combination is spread evenly, and cut as soon as a class is close. Runs of short classes are united to
        reservoirs, which stay close to the original under exchanges that short classes do not allow.
        """
        if not self._asked.bounds or self._rows.recur:
            return None
        least = self._constraints.min_class_size
        cut = [self._chunks(self._spread(), least) for _ in range(_STARTS)]
        best = min((one for one in cut if one is not None), key=self.suppression_cost, default=None)
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
        found = np.where(best >= 0, numbers[best], start)
        if not check_classes(self._forest, self._scope, self._constraints, found).all():
            return start
        return found

    def _heats(self, passes: int) -> list[int]:
        """Return the tolerance of each pass: falling by equal ratios, and 0 in the last."""
        ratio = _COLDEST / _HOTTEST
        shares = [_HOTTEST * ratio ** (at / max(1, passes - 2)) for at in range(passes - 1)]
        return [*(round(self._dearest * share) for share in shares), 0]

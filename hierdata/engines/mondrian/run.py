"""One run of mondrian: thin the rows, cut them by least loss, unite equal classes, attach leftovers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from hierdata.engines.base import Constraints, StepInput
from hierdata.engines.mondrian.kernel import (
    CLOSED,
    CUT,
    LEFT,
    PASSING,
    RIGHT,
    SPANS,
    START,
    STATE,
    TOP,
    CutBuffers,
    advance,
)
from hierdata.engines.rows.constraints import (
    ClassConstraints,
    RowCaps,
    check_classes,
    confirm_classes,
    pack_row_caps,
    shortage,
    split_decided,
)
from hierdata.engines.rows.dealing import Apart, redealt, thin_rows
from hierdata.engines.rows.kernel import keeps_caps
from hierdata.engines.rows.leftovers import attach
from hierdata.engines.rows.table import (
    RowLine,
    dense,
    joins,
    mark_repeated,
    nodes_of,
    partition_of,
    unaccepted_cost,
)
from hierdata.forest.forest import Forest, Scope
from hierdata.forest.partition import SUPPRESSED, Partition

Judge: TypeAlias = Callable[[NDArray[np.int64]], bool]
"""Whether a class of these rows satisfies the constraints that the caps do not decide."""

TRIES = 64
"""The number of cuts of a region that are tried, the least loss first, before the region stays as it is.

This limit keeps the cost at O(rows log rows) if models refuse many cuts of attributes with many values.
"""


@dataclass(frozen=True)
class Regions:
    """``order[starts[i]:ends[i]]`` are the rows of region i; ``holds[i]``: it satisfies all constraints."""

    order: NDArray[np.int64]
    starts: NDArray[np.int64]
    ends: NDArray[np.int64]
    holds: NDArray[np.bool_]

    @property
    def numbers(self) -> NDArray[np.int64]:
        """The region of each row of ``order``."""
        return np.repeat(np.arange(len(self.starts)), self.ends - self.starts)

    def rows(self, region: int) -> NDArray[np.int64]:
        """The rows of a region."""
        return self.order[self.starts[region] : self.ends[region]]


def cut(
    line: RowLine,
    rows: NDArray[np.int64],
    caps: Sequence[RowCaps],
    least: int,
    judge: Judge | None,
    progress: Callable[[int], None],
) -> Regions:
    """Cut ``rows`` of a line until no allowed cut is left.

    A cut separates the first places of a quasi-identifier's depth-first order, or all places below one node
    of its hierarchy, from the rest, and leaves at least ``least`` rows on both sides. Its loss is the cost of
    publishing both sides: the rows of a side times LM' of the join of all its nodes, summed over the
    quasi-identifiers. A region that satisfies the constraints is cut by the cut of least loss for which both
    sides keep the caps and satisfy the ``judge``; ties go to the most even cut, then to the first. It is cut
    even if that saves nothing, as later cuts may.

    A region that violates the constraints may have parts that satisfy them. It is cut by the first cut after
    which one side satisfies them, or else by the cut of least loss, down to regions that are too small.
    """
    return _MondrianWork(line, rows, caps, least, judge).run(progress)


class _MondrianWork:
    """The arrays of one run, all of which are passed to every compiled call."""

    def __init__(
        self, line: RowLine, rows: NDArray[np.int64], caps: Sequence[RowCaps], least: int, judge: Judge | None
    ) -> None:
        count, width = len(rows), line.places.shape[1]
        places = np.diff(line.first)
        buckets = int(places.max(initial=0)) + 1
        regions = count // least + 2
        cuts = int((places + line.above.shape[1] * np.minimum(places, regions)).sum())
        self._judge = judge
        self._least = least
        self._order = rows.copy()
        self._state = np.zeros(STATE, np.int64)
        self._stack = np.zeros((regions, 3), np.int64)
        self._closed = np.zeros((regions, 3), np.int64)
        self._caps = pack_row_caps(caps, len(line.places))
        self._line = line._replace(places=line.places[rows])
        self._buffers = CutBuffers(
            np.empty((SPANS, buckets + 1, width), np.int32),
            np.empty((2, buckets), np.int64),
            np.empty(count, np.int32),
            np.empty((cuts, CUT), np.int64),
            np.empty(count, np.int64),
            np.empty((count, width), np.int32),
        )

    def run(self, progress: Callable[[int], None]) -> Regions:
        count = len(self._order)
        if count >= self._least:
            keeps = keeps_caps(0, count, self._order, self._caps)
            self._stack[0] = 0, count, bool(keeps) and self._holds(0, count)
            self._state[TOP] = 1
        verdict = 0
        while advance(
            verdict, self._judge is not None, self._least, TRIES, self._state, self._stack, self._closed,
            self._order, self._line, self._caps, self._buffers,
        ):  # fmt: skip
            start, middle, end, passing = self._state[START : PASSING + 1].tolist()
            verdict = LEFT if passing & LEFT and self._holds(start, middle) else 0
            if passing & RIGHT and self._holds(middle, end):
                verdict |= RIGHT
            progress(start)
        closed = self._closed[: self._state[CLOSED]]
        divided = self._order if len(closed) else self._order[:0]
        return Regions(divided, closed[:, 0], closed[:, 1], closed[:, 2] == 1)

    def _holds(self, start: int, end: int) -> bool:
        return self._judge is None or self._judge(self._order[start:end])


def mondrian(step: StepInput) -> Partition:
    """Partition the rows of the scope (see ``Mondrian``)."""
    forest, scope, constraints = step.problem
    count = len(scope.rows)
    caps, open_ones = split_decided(forest, scope, constraints)
    asked = ClassConstraints(forest, scope, open_ones)
    rows = thin_rows(np.arange(count), caps, step.rng)
    judge = asked if asked.has_constraints else None
    line, least = RowLine.of(forest, scope), constraints.min_class_size
    regions = cut(line, rows, caps, least, judge, step.progress)
    classes = np.full(count, SUPPRESSED, np.int64)
    numbers = regions.numbers
    classes[regions.order] = np.where(regions.holds[numbers], numbers, SUPPRESSED)
    if not regions.holds.all():
        failing = [regions.rows(region) for region in np.flatnonzero(~regions.holds).tolist()]
        for apart in _list_separations(caps):
            free = [rows[(classes[rows] == SUPPRESSED) & (apart.groups[rows] >= 0)] for rows in failing]
            dealt = apart.deal_blocks(
                line, scope, [apart.tracks(rows, Fraction(least)) for rows in free], least
            )
            classes = np.where(dealt >= 0, dealt + 1 + classes.max(), classes)
            classes = confirm_classes(forest, scope, constraints, classes)
    classes = redealt(forest, scope, constraints, line, dense(classes))
    classes = unite_equal_classes(forest, scope, constraints, classes)
    leftovers = np.flatnonzero(classes == SUPPRESSED)
    classes = attach(forest, scope, constraints, classes, leftovers, step.rng)
    step.progress(count)
    gone = int((classes == SUPPRESSED).sum())
    costs = Counter({unaccepted_cost(scope): gone, "rows_in_the_nearest_class": len(leftovers) - gone})
    reason = shortage(forest, scope, constraints) if gone == count else ""
    return partition_of(forest, scope, classes, costs, reason)


def _list_separations(caps: Sequence[RowCaps]) -> Iterator[Apart]:
    """Iterate over the groups to keep apart in failing regions: values that count together, or records."""
    for cap in reversed(caps):
        if len(set(cap.caps.share)) == 1:
            ends = cap.caps.reach or [(group, group) for group in range(len(cap.caps.share))]
            yield Apart(cap.groups, np.array([end for _, end in ends], np.int32))


def unite_equal_classes(
    forest: Forest, scope: Scope, constraints: Constraints, classes: NDArray[np.int64]
) -> NDArray[np.int64]:
    """Unite classes with equal nodes if the union satisfies the constraints."""
    if not (classes != SUPPRESSED).any():
        return classes
    published = joins(forest.hierarchies[scope.kind], nodes_of(forest, scope), classes)
    form = np.unique(published, axis=0, return_inverse=True)[1].ravel()
    kept = classes != SUPPRESSED
    unions = np.where(kept, form[classes], SUPPRESSED)
    holds = check_classes(forest, scope, constraints, unions)
    if scope.kind:
        holds[unions[mark_repeated(scope, unions)]] = False
    return dense(np.where(kept & holds[unions], unions, np.where(kept, classes + len(holds), SUPPRESSED)))

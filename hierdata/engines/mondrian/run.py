"""One run of mondrian: thin the rows, cut them, unite equal classes, attach leftovers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from hierdata.engines.base import Constraints, StepInput
from hierdata.engines.mondrian.cutter import cut
from hierdata.engines.rows.asking import ClassConstraints, confirm_classes
from hierdata.engines.rows.capacity import shortage
from hierdata.engines.rows.caps import RowCaps
from hierdata.engines.rows.contents import check_classes
from hierdata.engines.rows.decided_caps import split_decided
from hierdata.engines.rows.leftovers import attach
from hierdata.engines.rows.order import RowLine
from hierdata.engines.rows.redealing import redealt
from hierdata.engines.rows.table import class_sizes, dense, joins, nodes_of, partition_of, unaccepted_cost
from hierdata.engines.rows.thinning import thin_rows
from hierdata.engines.rows.tracks import Apart
from hierdata.forest.forest import Forest, Scope
from hierdata.forest.partition import SUPPRESSED, Partition


def mondrian(given: StepInput) -> Partition:
    """Partition the rows of the scope (see ``Mondrian``)."""
    forest, scope, constraints = given.problem
    count = len(scope.rows)
    caps, open_ones = split_decided(forest, scope, constraints)
    asked = ClassConstraints(forest, scope, open_ones)
    rows = thin_rows(np.arange(count), caps, given.rng)
    judge = asked if asked.has_constraints else None
    line, least = RowLine.of(forest, scope), constraints.min_class_size
    regions = cut(line, rows, caps, least, judge, given.progress)
    classes = np.full(count, SUPPRESSED, np.int64)
    numbers = regions.numbers
    classes[regions.order] = np.where(regions.holds[numbers], numbers, SUPPRESSED)
    if not regions.holds.all():
        failing = [regions.rows(at) for at in np.flatnonzero(~regions.holds).tolist()]
        for apart in _list_separations(caps):
            free = [rows[(classes[rows] == SUPPRESSED) & (apart.groups[rows] >= 0)] for rows in failing]
            dealt = apart.deal_blocks(
                line, scope, [apart.tracks(rows, Fraction(least)) for rows in free], least
            )
            classes = np.where(dealt >= 0, dealt + 1 + classes.max(), classes)
            classes = confirm_classes(forest, scope, constraints, classes)
    classes = redealt(forest, scope, constraints, line, dense(classes))
    classes = unite_equal_classes(forest, scope, constraints, classes)
    left = np.flatnonzero(classes == SUPPRESSED)
    classes = attach(forest, scope, constraints, classes, left, given.rng)
    given.progress(count)
    gone = int((classes == SUPPRESSED).sum())
    costs = Counter({unaccepted_cost(scope): gone, "rows_in_the_nearest_class": len(left) - gone})
    reason = shortage(forest, scope, constraints) if gone == count else ""
    return partition_of(forest, scope, classes, costs, reason)


def _list_separations(caps: Sequence[RowCaps]) -> Iterator[Apart]:
    """Iterate over the groups to keep apart in failing regions: values that count together, or records."""
    for own in reversed(caps):
        if len(set(own.caps.share)) == 1:
            ends = own.caps.reach or [(group, group) for group in range(len(own.caps.share))]
            yield Apart(own.groups, np.array([end for _, end in ends], np.int32))


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
        pairs = np.unique(unions[kept] * forest.record_count + scope.records[kept])
        members = np.bincount(pairs // forest.record_count, minlength=len(holds))
        holds &= members == class_sizes(unions)
    return dense(np.where(kept & holds[unions], unions, np.where(kept, classes + len(holds), SUPPRESSED)))

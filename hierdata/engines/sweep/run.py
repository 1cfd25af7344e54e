"""One run of sweep: close classes, gather, attach leftovers, or start from cuts; then improve."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from hierdata.engines.base import StepInput, silent
from hierdata.engines.mondrian.run import mondrian, unite_equal_classes
from hierdata.engines.rows.asking import confirm_classes
from hierdata.engines.rows.capacity import shortage
from hierdata.engines.rows.leftovers import attach
from hierdata.engines.rows.order import RowLine
from hierdata.engines.rows.table import classes_of, losses_of, partition_of, unaccepted_cost
from hierdata.engines.sweep.answers import Answers
from hierdata.engines.sweep.arrays import order_columns, pack_line
from hierdata.engines.sweep.closing import close_classes
from hierdata.engines.sweep.growing import gather_classes
from hierdata.engines.sweep.improving import improve_classes
from hierdata.forest.forest import Forest, Scope
from hierdata.forest.partition import SUPPRESSED, Partition

FEW, MANY = 64, 8
"""If nodes leave more than 1 row in FEW, cuts are tried; above 1 in MANY after gathering, used."""


def sweep_rows(given: StepInput, passes: int) -> Partition:
    """Partition the rows of the scope (see ``Sweep``)."""
    forest, scope, constraints = given.problem
    line, answers = order_columns(RowLine.of(forest, scope)), Answers(forest, scope, constraints)
    lines = pack_line(line)
    classes = close_classes(line, answers, given.progress)
    begun = []
    if FEW * int((classes == SUPPRESSED).sum()) > len(classes):
        begun.append(classes_of(mondrian(replace(given, progress=silent)), scope))
    classes = gather_classes(line, lines, answers, classes, given.rng)
    classes = confirm_classes(forest, scope, constraints, classes)
    left = np.flatnonzero(classes == SUPPRESSED)
    if not begun or MANY * len(left) <= len(classes):
        begun.append(attach(forest, scope, constraints, classes, left, given.rng))
    classes = min(begun, key=lambda own: _partition_loss(forest, scope, own))
    given.progress(len(classes))
    classes = unite_equal_classes(forest, scope, constraints, classes)
    classes = confirm_classes(forest, scope, constraints, improve_classes(lines, answers, classes, passes))
    classes = unite_equal_classes(forest, scope, constraints, classes)
    gone = int((classes == SUPPRESSED).sum())
    reason = shortage(forest, scope, constraints) if gone == len(classes) else ""
    return partition_of(forest, scope, classes, Counter({unaccepted_cost(scope): gone}), reason)


def _partition_loss(forest: Forest, scope: Scope, classes: NDArray[np.int64]) -> tuple[int, int]:
    """Return the number of rows without a class, and the loss of the others."""
    return int((classes == SUPPRESSED).sum()), int(losses_of(forest, scope, classes).sum())

"""One run of sweep: close, gather, attach what is left, or start from cuts; then improve."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from hierdata.engines.base import StepInput, silent
from hierdata.engines.mondrian.run import mondrian, united
from hierdata.engines.rows.asking import confirmed
from hierdata.engines.rows.capacity import shortage
from hierdata.engines.rows.leftovers import attach
from hierdata.engines.rows.order import Line
from hierdata.engines.rows.table import classes_of, losses_of, partition_of, unaccepted
from hierdata.engines.sweep.answers import Answers
from hierdata.engines.sweep.arrays import in_order, packed
from hierdata.engines.sweep.closing import closed
from hierdata.engines.sweep.growing import gathered
from hierdata.engines.sweep.improving import improved
from hierdata.forest.forest import Forest, Scope
from hierdata.forest.partition import SUPPRESSED, Partition

FEW, MANY = 64, 8
"""Where nodes leave more than one row in so many, cuts may lose less; where so many stay out, they do."""


def swept(given: StepInput, passes: int) -> Partition:
    """Partition the rows of the scope (see ``Sweep``)."""
    forest, scope, constraints = given.problem
    line, answers = in_order(Line.of(forest, scope)), Answers(forest, scope, constraints)
    lines = packed(line)
    classes = closed(line, answers, given.progress)
    begun = []
    if FEW * int((classes == SUPPRESSED).sum()) > len(classes):
        begun.append(classes_of(mondrian(replace(given, progress=silent)), scope))
    classes = gathered(line, lines, answers, classes, given.rng)
    classes = confirmed(forest, scope, constraints, classes)
    left = np.flatnonzero(classes == SUPPRESSED)
    if not begun or MANY * len(left) <= len(classes):
        begun.append(attach(forest, scope, constraints, classes, left, given.rng))
    classes = min(begun, key=lambda own: _lost(forest, scope, own))
    given.progress(len(classes))
    classes = united(forest, scope, constraints, classes)
    classes = confirmed(forest, scope, constraints, improved(lines, answers, classes, passes))
    classes = united(forest, scope, constraints, classes)
    gone = int((classes == SUPPRESSED).sum())
    reason = shortage(forest, scope, constraints) if gone == len(classes) else ""
    return partition_of(forest, scope, classes, Counter({unaccepted(scope): gone}), reason)


def _lost(forest: Forest, scope: Scope, classes: NDArray[np.int64]) -> tuple[int, int]:
    """How many rows have no class, and what the others lose."""
    return int((classes == SUPPRESSED).sum()), int(losses_of(forest, scope, classes).sum())

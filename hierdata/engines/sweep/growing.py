"""Gather classes around rows that no lattice node closed, where they stand closest first."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from hierdata.engines.base import silent
from hierdata.engines.mondrian.cutter import cut
from hierdata.engines.rows.order import Line
from hierdata.engines.sweep.answers import Answers
from hierdata.engines.sweep.kernel import Lines
from hierdata.engines.sweep.kernel_gather import crowding, gather, near
from hierdata.forest.partition import SUPPRESSED

_SAMPLE, _NEAREST = 2048, 5
"""How close rows stand is the loss of the join with the fifth nearest of so many."""
_COMPARED = 2**26
"""How many rows are compared in all, and how many with the sample."""
_NEAR = 64
"""From so many rows more than the least class size the members are taken."""
_REFUSED = 64
"""So many more rows than those with success may find no class around them."""


def gathered(
    line: Line, lines: Lines, answers: Answers, classes: NDArray[np.int64], rng: np.random.Generator
) -> NDArray[np.int64]:
    """The classes, and new ones of rows without a class.

    Around each row, where they stand closest first: of the nearest rows that are left those join it, one
    after the other, that raise the loss least, until all models hold. In large tables the nearest are looked
    for among rows that stand beside it in the order of the regions that ``mondrian`` would cut, so that no
    more than about 2^26 rows are compared. It ends where most rows find no class.
    """
    left = np.flatnonzero(classes == SUPPRESSED)
    least = answers.least
    if len(left) < least:
        return classes
    classes = classes.copy()
    window = 1 + _COMPARED * least // len(left)
    if window < len(left):
        left = cut(line, left, [], least, None, silent).order
    sample = rng.choice(left, min(len(left), _SAMPLE, 1 + _COMPARED // len(left)), replace=False)
    seeds = np.argsort(crowding(left, sample, _NEAREST, lines), kind="stable")
    found = np.empty(least + _NEAR, np.int64)
    first = made = int(classes.max()) + 1
    refused = 0
    for at in seeds.tolist():
        if classes[left[at]] != SUPPRESSED:
            continue
        start = max(0, min(at - window // 2, len(left) - window))
        count = near(left[at], start, min(start + window, len(left)), left, classes, lines, found)
        size = _least_that_holds(found[:count], lines, answers)
        if size:
            classes[found[:size]] = made
            made += 1
        elif (refused := refused + 1) > _REFUSED + made - first:
            break
    return classes


def _least_that_holds(found: NDArray[np.int64], lines: Lines, answers: Answers) -> int:
    """How many of the rows, as they are gathered, first satisfy all models; 0 if they never do."""
    size = 1
    for wanted in range(answers.least, len(found) + 1):
        gather(size, wanted, found, lines)
        size = wanted
        if answers.holds(found[:size]):
            return size
    return 0

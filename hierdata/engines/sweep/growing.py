"""Gather classes around rows that no lattice node closed, where rows are closest first."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from hierdata.engines.base import silent
from hierdata.engines.mondrian.cutter import cut
from hierdata.engines.rows.order import RowLine
from hierdata.engines.sweep.answers import Answers
from hierdata.engines.sweep.kernel import Lines
from hierdata.engines.sweep.kernel_gather import crowding, gather, near
from hierdata.forest.partition import SUPPRESSED

_SAMPLE, _NEAREST = 2048, 5
"""Sample size and rank: the closeness of a row is the loss of its join with the 5th nearest of 2,048 rows."""
_COMPARED = 2**26
"""The number of row comparisons in total, and also with the sample."""
_NEAR = 64
"""The number of candidates for the members of a class, beyond the least class size."""
_REFUSED = 64
"""The search ends when failures exceed successes by this number."""


def gather_classes(
    line: RowLine, lines: Lines, answers: Answers, classes: NDArray[np.int64], rng: np.random.Generator
) -> NDArray[np.int64]:
    """Return the classes, with new ones built from rows without a class.

    A class is built around each remaining row, where rows are closest first: of the nearest remaining rows,
    those that raise the loss least join one by one, until all models hold. In large tables the nearest rows
    are searched in a window of rows in the order of the regions that ``mondrian`` would cut, so that at most
    about 2^26 rows are compared. The search ends when most rows find no class.
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
    """Return the least number of gathered rows that satisfy all models; 0 if none does."""
    size = 1
    for wanted in range(answers.least, len(found) + 1):
        gather(size, wanted, found, lines)
        size = wanted
        if answers.holds(found[:size]):
            return size
    return 0

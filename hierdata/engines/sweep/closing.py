"""Close the groups of lattice nodes, the node of least loss first."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from hierdata.engines.rows.order import Line
from hierdata.engines.sweep.answers import Answers, by_loss
from hierdata.engines.sweep.arrays import generalized
from hierdata.engines.sweep.kernel import ASKED, LEFT, MADE, STATE, VISITS, spread_out, sweep
from hierdata.forest.partition import SUPPRESSED

VISITED = 256
"""So many nodes visit each row, on average, before the sweep ends."""
_WEIGHT = 256
"""A group that is asked about counts for as many visits."""


def closed(line: Line, answers: Answers, progress: Callable[[int], None]) -> NDArray[np.int64]:
    """The classes of the sweep; rows that no node closed have none.

    At each node the rows that are left are grouped by what they are published as at its depths; every group
    that is large enough and satisfies all models is a class.
    """
    count = len(line.places)
    classes = np.full(count, SUPPRESSED, np.int64)
    nodes = generalized(line.above)
    size = max(16, 2 ** (2 * count).bit_length())
    left, grouped = np.arange(count), np.empty(count, np.int64)
    state = np.zeros(STATE, np.int64)
    state[LEFT] = count
    groups = count // answers.least + 1
    asked, prints = np.empty((groups, 2), np.int64), np.empty(groups, np.uint64)
    arrays = (
        by_loss(line, nodes), line.places, line.first, nodes,
        spread_out(np.arange(len(line.losses))), answers.marks, left, classes, state,
        np.empty(count, np.int64), np.empty(size, np.uint64), np.empty(size, np.int64),
        grouped, asked, prints, answers.caps, answers.memory,
    )  # fmt: skip
    while sweep(answers.least, VISITED * count, answers.asking, *arrays):
        found = asked[: state[ASKED]].tolist()
        answers.ask([grouped[start:end] for start, end in found])
        state[VISITS] += _WEIGHT * len(found)
        progress(count - int(state[LEFT]))
    assert state[MADE] == int(classes.max(initial=SUPPRESSED)) + 1
    return classes

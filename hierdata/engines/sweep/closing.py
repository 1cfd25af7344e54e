"""Close the groups of lattice nodes, the node of least loss first."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from hierdata.engines.rows.order import RowLine
from hierdata.engines.sweep.answers import Answers, best_depths
from hierdata.engines.sweep.arrays import generalized_places
from hierdata.engines.sweep.kernel import (
    ASKED,
    LEFT,
    MADE,
    STATE,
    VISITS,
    LatticeArrays,
    SweepBuffers,
    mix_words,
    sweep,
)
from hierdata.forest.partition import SUPPRESSED

VISITED = 256
"""The average number of node visits per row after which the sweep ends."""
_WEIGHT = 256
"""The number of visits that checking one group counts for."""


def close_classes(line: RowLine, answers: Answers, progress: Callable[[int], None]) -> NDArray[np.int64]:
    """Return the classes of the sweep; rows that no node closed have no class.

    At each node the remaining rows are grouped by their published values at its depths. Every group that is
    large enough and satisfies all models becomes a class.
    """
    count = len(line.places)
    classes = np.full(count, SUPPRESSED, np.int64)
    nodes = generalized_places(line.above)
    size = max(16, 2 ** (2 * count).bit_length())
    codes = mix_words(np.arange(len(line.losses)))
    lattice = LatticeArrays(best_depths(line, nodes), line.places, line.first, nodes, codes)
    groups = count // answers.least + 1
    buffers = SweepBuffers(
        state=np.zeros(STATE, np.int64),
        left=np.arange(count),
        slots=np.empty(count, np.int64),
        keys=np.empty(size, np.uint64),
        counts=np.empty(size, np.int64),
        grouped=np.empty(count, np.int64),
        asked=np.empty((groups, 2), np.int64),
        asked_prints=np.empty(groups, np.uint64),
    )
    state = buffers.state
    state[LEFT] = count
    while sweep(
        answers.least, VISITED * count, answers.asking, lattice, answers.marks, classes, buffers,
        answers.caps, answers.memory,
    ):  # fmt: skip
        found = buffers.asked[: state[ASKED]].tolist()
        answers.ask([buffers.grouped[start:end] for start, end in found])
        state[VISITS] += _WEIGHT * len(found)
        progress(count - int(state[LEFT]))
    assert state[MADE] == int(classes.max(initial=SUPPRESSED)) + 1
    return classes

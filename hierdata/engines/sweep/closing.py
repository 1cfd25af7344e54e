"""Close the groups of lattice nodes, the node of least loss first."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from hierdata.engines.rows.order import RowLine
from hierdata.engines.sweep.answers import Answers, best_depths
from hierdata.engines.sweep.arrays import generalized_places
from hierdata.engines.sweep.kernel import ASKED, LEFT, MADE, STATE, VISITS, mix_words, sweep
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
    left, grouped = np.arange(count), np.empty(count, np.int64)
    state = np.zeros(STATE, np.int64)
    state[LEFT] = count
    groups = count // answers.least + 1
    asked, prints = np.empty((groups, 2), np.int64), np.empty(groups, np.uint64)
    arrays = (
        best_depths(line, nodes), line.places, line.first, nodes,
        mix_words(np.arange(len(line.losses))), answers.marks, left, classes, state,
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

"""Passes that dissolve classes and move rows to lower the loss."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from hierdata.engines.sweep.answers import Answers
from hierdata.engines.sweep.kernel import Lines
from hierdata.engines.sweep.kernel_improve import (
    ASKED,
    AT,
    CHANGED,
    COMPLETE,
    STATE,
    PassBuffers,
    SweepClasses,
    dissolve,
    move,
    start_classes,
)

_COMPARED = 64
"""The number of classes per row of the table that a pass considers to dissolve, and again to move;"""
_AFFORDED = 2**23
"""at least this number in total."""
_OPTIONS = 4
"""The number of classes that a row tries to join, the nearest first."""


def improve_classes(
    lines: Lines, answers: Answers, classes: NDArray[np.int64], passes: int
) -> NDArray[np.int64]:
    """Return the classes after some passes, with a lower loss; all models hold in them as before.

    A pass dissolves classes of at most twice the least size, then moves single rows. Both start with those
    considered least often, then those that lose most, then by number. A class is dissolved if its rows
    together lose less in other classes; a row is moved if both classes then lose less. The numbers of classes
    may have gaps afterwards.
    """
    count, columns = int(classes.max(initial=-1)) + 1, lines.places.shape[1]
    rows = len(classes)
    if not count:
        return classes
    own = SweepClasses(
        classes.copy(),
        np.full(count, -1),
        np.full(rows, -1),
        np.full(rows, -1),
        np.zeros(count, np.int64),
        np.zeros((count, columns), np.int32),
        np.zeros((count, columns), np.int32),
        np.zeros(count, np.int64),
        np.zeros(count, np.uint64),
    )
    start_classes(count, own, answers.marks, lines)
    seen = np.zeros(count, np.int64), np.zeros(rows, np.int64)
    for _ in range(passes):
        changes, complete = 0, True
        for work, looked_at in zip((dissolve, move), seen, strict=True):
            losing = own.losses if work is dissolve else np.append(own.losses, 0)[own.of]
            order = np.lexsort((-losing, looked_at))
            state = _run(work, order[losing[order] > 0], looked_at, own, lines, answers)
            changes += int(state[CHANGED])
            complete = complete and bool(state[COMPLETE])
        if complete and not changes:
            break
    return own.of


def _run(
    work: Callable[..., bool],
    order: NDArray[np.int64],
    looked_at: NDArray[np.int64],
    own: SweepClasses,
    lines: Lines,
    answers: Answers,
) -> NDArray[np.int64]:
    """Run one half of a pass; return its state."""
    rows = len(own.of)
    most = max(_AFFORDED, _COMPARED * rows)
    state, found, increases = np.zeros(STATE, np.int64), *np.empty((2, _OPTIONS), np.int64)
    buffers = PassBuffers(state, found, increases, np.empty(rows, np.int64))
    while work(
        answers.least, most, answers.asking, order, looked_at, own, lines, answers.marks, answers.caps,
        answers.memory, buffers,
    ):  # fmt: skip
        answers.ask([buffers.members[: state[ASKED]]])
    state[COMPLETE] = state[AT] == len(order)
    return state

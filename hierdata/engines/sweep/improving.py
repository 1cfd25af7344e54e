"""Passes over classes and rows that lose less elsewhere."""

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
"""A pass looks at so many classes for each row of the table, once to dissolve and once to move,"""
_AFFORDED = 2**23
"""and at so many in any case."""
_OPTIONS = 4
"""A row is offered to so many classes, the nearest first."""


def improve_classes(
    lines: Lines, answers: Answers, classes: NDArray[np.int64], passes: int
) -> NDArray[np.int64]:
    """The classes after some passes; what they lose falls, and all models hold in them as before.

    A pass dissolves classes of at most twice the least size, then moves single rows; each time
    those first that were looked at least often, of these those that lose most, then by their numbers. A
    class is dissolved if its rows lose less together in other classes, a row is moved if two classes then
    lose less. Numbers of classes may have gaps afterwards.
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
    """One half of a pass; answer its state."""
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

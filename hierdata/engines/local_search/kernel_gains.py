"""The gain of one exchange of local search, by alignments of the classes as they would be.

It is exact for closeness (``kernel_closeness``): vertices where such a model fails then count as suppressed.
"""

from __future__ import annotations

import numpy as np

from hierdata.engines.alignment.kernels.anonytree import align
from hierdata.engines.alignment.kernels.arrays import WEIGHT, Rules, Scratch, Settings
from hierdata.engines.alignment.kernels.representative import Ordinals, Rows
from hierdata.engines.jit import lean
from hierdata.engines.local_search.kernel_closeness import close_saving, close_saving_with
from hierdata.engines.local_search.kernel_state import (
    NOBODY,
    SearchBuffers,
    SearchInput,
    Standing,
    at_size,
    build,
)

UNKNOWN = -(2**63)
_UNFIT = UNKNOWN + 1
"""Of a class that a record leaves: its gain is not computed yet, or it may not be published."""


@lean
def _saving_with(
    rep: Rows,
    open_: Ordinals,
    size: int,
    record: int,
    settings: Settings,
    work: Scratch,
    rules: Rules,
    ground: SearchInput,
    buffers: SearchBuffers,
) -> np.int64:
    """Return the saving of a representative of ``size`` members with a record; -1 if that does not fit."""
    root = ground.roots[record]
    if ground.checks.words > 0:
        return close_saving_with(
            rep, open_, size, root, buffers.queue, settings, work, ground.rows, rules, ground.checks
        )
    loss = align(0, 1, root, 1, size, True, settings, work, rep, ground.rows, rules)
    if work.mates[0, 0] < 0:
        return np.int64(-1)
    return (settings.scale * np.int64(rep[0, WEIGHT] + ground.rows[root, WEIGHT]) - loss) // 2


@lean
def _gain_without(
    record: int,
    own: int,
    settings: Settings,
    work: Scratch,
    rules: Rules,
    ground: SearchInput,
    standing: Standing,
    buffers: SearchBuffers,
) -> np.int64:
    """Return the gain of a class that a record leaves, with the others aligned again; _UNFIT if they fail."""
    stay = standing.sizes[own]
    smaller = at_size(rules, ground.caps_of, stay - 1)
    vertices = build(standing.order[own], 0, stay, record, 0, 0, settings, work, smaller, ground, buffers)
    if vertices == 0:
        return np.int64(_UNFIT)
    saved = close_saving(
        buffers.rep, vertices, stay - 1, buffers.behind, buffers.open_, settings.scale, rules.losses,
        ground.checks,
    )  # fmt: skip
    return (stay - 1) * saved - stay * standing.saved[own] if saved >= 0 else np.int64(_UNFIT)


@lean
def _move_saving(
    record: int,
    own: int,
    to: int,
    settings: Settings,
    work: Scratch,
    rules: Rules,
    ground: SearchInput,
    standing: Standing,
    buffers: SearchBuffers,
) -> np.int64:
    """Return the gain of a move, with both classes aligned again; 0 if a root does not fit.

    The target class is aligned again only if the move gains something with the record aligned to it as it is.
    """
    scale, losses = settings.scale, rules.losses
    size = standing.sizes[to]
    larger = at_size(rules, ground.caps_of, size + 1)
    joined = _saving_with(
        standing.rows[to], standing.open_[to], size, record, settings, work, larger, ground, buffers
    )
    left = np.int64(0)
    if own >= 0 and joined >= 0:
        if buffers.left[0] == UNKNOWN:
            buffers.left[0] = _gain_without(record, own, settings, work, rules, ground, standing, buffers)
        left = buffers.left[0]
        if left == _UNFIT:
            return np.int64(0)
    here = size * standing.saved[to] - left
    if joined < 0 or (size + 1) * joined <= here:
        return np.int64(0)
    for at in range(size):
        buffers.records[at] = standing.order[to, at]
    buffers.records[size] = record
    vertices = build(buffers.records, 0, size + 1, NOBODY, 0, 0, settings, work, larger, ground, buffers)
    if vertices == 0:
        return np.int64(0)
    saved = close_saving(
        buffers.rep, vertices, size + 1, buffers.behind, buffers.open_, scale, losses, ground.checks
    )
    return (size + 1) * saved - here if saved >= 0 else np.int64(0)


@lean
def gain_of(
    record: int,
    to: int,
    who: int,
    promised: np.int64,
    bar: np.int64,
    settings: Settings,
    work: Scratch,
    rules: Rules,
    ground: SearchInput,
    standing: Standing,
    buffers: SearchBuffers,
) -> np.int64:
    """Return the gain of an exchange by alignments; 0 if a root does not fit or if it cannot exceed ``bar``.

    ``promised`` is an upper bound of the gain in the record's own class.
    """
    own = standing.class_of[record]
    if who == NOBODY:
        return _move_saving(record, own, to, settings, work, rules, ground, standing, buffers)
    size = standing.sizes[to]
    fitting = at_size(rules, ground.caps_of, size)
    joined = _saving_with(
        standing.rest_rows[who], standing.rest_open[who], size - 1, record, settings, work, fitting, ground,
        buffers,
    )  # fmt: skip
    if joined < 0:
        return np.int64(0)
    gain: np.int64 = size * (joined - standing.saved[to])
    if own < 0 or own == to:
        return gain
    if gain + promised <= bar:
        return np.int64(0)
    size = standing.sizes[own]
    fitting = at_size(rules, ground.caps_of, size)
    joined = _saving_with(
        standing.rest_rows[record], standing.rest_open[record], size - 1, who, settings, work, fitting,
        ground, buffers,
    )  # fmt: skip
    return gain + size * (joined - standing.saved[own]) if joined >= 0 else np.int64(0)

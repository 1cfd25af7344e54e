"""The largest gain of pairing two lists of leaves of which one is short, without the assignment solver."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from hierdata.engines.alignment.kernels.arrays import CHILD_COUNT, KIND, Rules, Settings
from hierdata.engines.alignment.kernels.vertices import fits, own_gain
from hierdata.engines.jit import inline_kernel

FEW = 3
"""The shorter of two lists has at most so many leaves; the other may be of any length."""


@inline_kernel
def few_leaves_gain(
    first_a: int,
    count_a: int,
    first_b: int,
    count_b: int,
    size: int,
    settings: Settings,
    rep: NDArray[np.int32],
    rows: NDArray[np.int32],
    rules: Rules,
    full: NDArray[np.int64],
) -> np.int64:
    """Return the largest gain of two lists of leaves; -1 if both are long, or children may be aligned.

    The leaves of the longer list are added one after the other. After each, the best gain with every set of
    partners among the shorter list is known; the numbers of a variable are those of the set.
    """
    short = min(count_a, count_b)
    if short > FEW:
        return np.int64(-1)
    scale = settings.scale
    first_slot = settings.first_slot
    pair_row, pair_losses, caps, losses, ancestors, _ = rules
    with_0 = with_1 = with_2 = with_01 = with_02 = with_12 = with_012 = np.int64(0)
    for at in range(max(count_a, count_b)):
        gain_0 = gain_1 = gain_2 = np.int64(0)
        for partner in range(short):
            u = first_a + (at if count_a > short else partner)
            v = first_b + (partner if count_a > short else at)
            if rep[u, KIND] != rows[v, KIND]:
                continue
            if rep[u, CHILD_COUNT] > 0 and rows[v, CHILD_COUNT] > 0:
                return np.int64(-1)
            gain = own_gain(u, v, scale, rep, rows, pair_row, pair_losses, losses, ancestors)
            if gain == 0 or not fits(u, v, size, first_slot, rep, rows, caps, full):
                continue
            if partner == 0:
                gain_0 = gain
            elif partner == 1:
                gain_1 = gain
            else:
                gain_2 = gain
        if short == FEW:
            with_012 = max(with_012, with_12 + gain_0, with_02 + gain_1, with_01 + gain_2)
            with_02 = max(with_02, with_2 + gain_0, with_0 + gain_2)
            with_12 = max(with_12, with_2 + gain_1, with_1 + gain_2)
            with_2 = max(with_2, gain_2)
        if short > 1:
            with_01 = max(with_01, with_1 + gain_0, with_0 + gain_1)
            with_1 = max(with_1, gain_1)
        with_0 = max(with_0, gain_0)
    return max(with_0, with_01, with_012)

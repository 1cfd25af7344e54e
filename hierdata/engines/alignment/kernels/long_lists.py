"""Candidates of vertices in long lists, where the gains of all pairs would take too long."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from hierdata.engines.alignment.kernels.arrays import (
    CHILD_COUNT,
    FIRST_CHILD,
    KIND,
    OWN,
    WEIGHT,
    Rules,
    Scratch,
    Settings,
)
from hierdata.engines.alignment.kernels.vertices import price_run
from hierdata.engines.jit import inline_kernel, part

CANDIDATES = 12
"""The number of candidates of each vertex."""
_UNFIT = np.int64(-(2**62))
"""The price of a pair that the caps rule out; others are 0 or more."""


@inline_kernel
def _weigh_common(x: int, y: int, rep: NDArray[np.int32], rows: NDArray[np.int32]) -> np.int64:
    """Return the weight of the children of two vertices that have a counterpart of their type, in order."""
    common = np.int64(0)
    u = rep[x, FIRST_CHILD]
    v = rows[y, FIRST_CHILD]
    end = u + rep[x, CHILD_COUNT]
    stop = v + rows[y, CHILD_COUNT]
    while u < end and v < stop:
        if rep[u, KIND] == rows[v, KIND]:
            common += min(rep[u, WEIGHT], rows[v, WEIGHT])
            u += 1
            v += 1
        elif rep[u, KIND] < rows[v, KIND]:
            u += 1
        else:
            v += 1
    return common


@part
def find_best(
    first_a: int,
    count_a: int,
    first_b: int,
    count_b: int,
    size: int,
    depth: int,
    settings: Settings,
    work: Scratch,
    rep: NDArray[np.int32],
    rows: NDArray[np.int32],
    rules: Rules,
) -> None:
    """Mark in ``near`` the best candidates of each vertex of the first list, of those that the caps allow.

    A candidate is better the more the two gain by themselves, the more weight their children of the same
    types have in common, and the less one has below it that the other has not. Of equal ones the first comes
    first, counted from the same relative place in the second list, and then from its beginning. Equal
    vertices therefore have different candidates.
    """
    near = work.near[depth]
    partners = work.partners[depth]
    gains = work.gains[depth]
    prices = work.prices[0]
    scale = settings.scale
    one = np.uint64(1)
    for i in range(count_a):
        x = first_a + i
        price_run(x, first_b, count_b, _UNFIT, size, settings, rep, rows, rules, work.full, prices)
        below = scale * (np.int64(rep[x, WEIGHT]) - rep[x, OWN])
        found = 0
        j = i * count_b // count_a
        for _ in range(count_b):
            y = first_b + j
            other = scale * (np.int64(rows[y, WEIGHT]) - rows[y, OWN])
            gain = prices[j] - below - other
            worst = gains[i, CANDIDATES - 1] if found == CANDIDATES else _UNFIT
            if prices[j] > _UNFIT and gain + 4 * min(below, other) > worst:
                if below > 0 and other > 0:
                    gain += 4 * scale * _weigh_common(x, y, rep, rows)
                if gain > worst:
                    place = min(found, CANDIDATES - 1)
                    while place > 0 and gains[i, place - 1] < gain:
                        gains[i, place] = gains[i, place - 1]
                        partners[i, place] = partners[i, place - 1]
                        place -= 1
                    gains[i, place] = gain
                    partners[i, place] = j
                    found = min(found + 1, CANDIDATES)
            j = j + 1 if j + 1 < count_b else 0
        for word in range((count_b + 63) >> 6):
            near[i, word] = np.uint64(0)
        for place in range(found):
            j = partners[i, place]
            near[i, j >> 6] |= one << np.uint64(j & 63)

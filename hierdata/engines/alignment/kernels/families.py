"""Gains of all pairs of two lists of vertices with at most two children, which are leaves.

The gains are those of computing pair by pair, but the loops have no branches that are hard to predict.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from hierdata.engines.alignment.kernels.arrays import (
    CHILD_COUNT,
    DEGREE,
    ELDER,
    FIRST_CHILD,
    KIND,
    YOUNGER,
    Rules,
    Scratch,
    Settings,
)
from hierdata.engines.alignment.kernels.vertices import price_run
from hierdata.engines.jit import inline_kernel, part

MOST = 64
"""The longest second list that is priced at once; in longer lists most pairs gain nothing."""


@part
def price_families(
    first_a: int,
    count_a: int,
    first_b: int,
    count_b: int,
    times: int,
    size: int,
    depth: int,
    settings: Settings,
    work: Scratch,
    rep: NDArray[np.int32],
    rows: NDArray[np.int32],
    rules: Rules,
) -> bool:
    """Write the possible partners of each vertex of the first run, and the gains, for the assignment.

    Both runs have one vertex type. Pairs that gain 0 count if ``times`` is more than 1
    (``assignment.gain_factor``). Return False, with the memory undefined, unless the second run has at most
    ``MOST`` vertices, no vertex has more than two children, all children have one type, and the children of
    the second run are leaves in consecutive rows.
    """
    desk = work.desk[depth]
    prices = work.prices
    nobody = _line_up(first_b, count_b, rows, desk) if count_b <= MOST else -1
    child_b = rows[first_b, FIRST_CHILD]
    if nobody <= 0 or not _small(first_a, count_a, rep, rows[child_b, KIND]):
        return False
    none = np.int64(0)
    unfit = -(np.int64(2**62) // times)  # outweighs any gain of children
    for i in range(count_a):
        x = first_a + i
        price_run(x, first_b, count_b, unfit, size, settings, rep, rows, rules, work.full, prices[0])
        for at in range(2):
            if at < rep[x, CHILD_COUNT]:
                price_run(
                    rep[x, FIRST_CHILD] + at, child_b, nobody, none, size, settings, rep, rows, rules,
                    work.full, prices[1 + at],
                )  # fmt: skip
            else:
                for v in range(nobody):
                    prices[1 + at, v] = 0
            prices[1 + at, nobody] = 0
        degree = 0
        for j in range(count_b):
            elder = desk[ELDER, j]
            younger = desk[YOUNGER, j]
            straight = prices[1, elder] + prices[2, younger]
            crossed = prices[2, elder] + prices[1, younger]
            gain = times * (prices[0, j] + max(straight, crossed)) + (times > 1)
            work.partners[depth, i, degree] = j
            work.gains[depth, i, degree] = gain
            degree += gain > 0
        desk[DEGREE, i] = degree
    return True


@inline_kernel
def _small(first: int, count: int, rep: NDArray[np.int32], kind: int) -> bool:
    """Return whether each vertex of a run has at most two children, all of this type."""
    small = True
    for x in range(first, first + count):
        small = small and rep[x, CHILD_COUNT] <= 2
        for u in range(rep[x, FIRST_CHILD], rep[x, FIRST_CHILD] + rep[x, CHILD_COUNT]):
            small = small and rep[u, KIND] == kind
    return small


@inline_kernel
def _line_up(first: int, count: int, rows: NDArray[np.int32], desk: NDArray[np.int64]) -> int:
    """Number the children of a run; return how many there are, -1 if the run does not qualify.

    ``desk[ELDER]`` and ``desk[YOUNGER]`` receive the numbers of the two children of a vertex. A missing child
    gets the number after the last one.
    """
    start = behind = rows[first, FIRST_CHILD]
    small = True
    for y in range(first, first + count):
        children = rows[y, CHILD_COUNT]
        desk[ELDER, y - first] = -1 if children < 1 else behind - start
        desk[YOUNGER, y - first] = -1 if children < 2 else behind - start + 1
        small = small and children <= 2 and (children == 0 or rows[y, FIRST_CHILD] == behind)
        for v in range(behind, behind + children if small else behind):
            small = small and rows[v, CHILD_COUNT] == 0 and rows[v, KIND] == rows[start, KIND]
        behind += children
    for y in range(count):
        if desk[ELDER, y] < 0:
            desk[ELDER, y] = behind - start
        if desk[YOUNGER, y] < 0:
            desk[YOUNGER, y] = behind - start
    return behind - start if small else -1

"""Which pairs of two lists may be matched: priced all at once in small families, candidates in long lists.

In families of at most two children, which are leaves, the gains are those of computing pair by pair, but the
loops have no branches that are hard to predict. In long lists, where the gains of all pairs would take too
long, each vertex has a few candidates.
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
    OWN,
    WEIGHT,
    YOUNGER,
    Lists,
    Sides,
)
from hierdata.engines.alignment.kernels.vertices import price_run
from hierdata.engines.jit import inline_kernel, part

FAMILIES = 64
"""The longest second list that is priced at once; in longer lists most pairs gain nothing."""


@part
def price_families(lists: Lists, times: int, depth: int, sides: Sides) -> bool:
    """Write the possible partners of each vertex of the first run, and the gains, for the assignment.

    Both runs have one vertex type. Pairs that gain 0 count if ``times`` is more than 1
    (``assignment.gain_factor``). Return False, with the memory undefined, unless the second run has at most
    ``FAMILIES`` vertices, no vertex has more than two children, all children have one type, and the children
    of the second run are leaves in consecutive rows.
    """
    first_a, count_a, first_b, count_b = lists
    work, rep, rows = sides.work, sides.rep, sides.rows
    desk = work.desk[depth]
    prices = work.prices
    nobody = _number_children(first_b, count_b, rows, desk) if count_b <= FAMILIES else -1
    child_b = rows[first_b, FIRST_CHILD]
    if nobody <= 0 or not _are_small_families(first_a, count_a, rep, rows[child_b, KIND]):
        return False
    none = np.int64(0)
    unfit = -(np.int64(2**62) // times)  # outweighs any gain of children
    for i in range(count_a):
        x = first_a + i
        price_run(x, first_b, count_b, unfit, sides, prices[0])
        for child in range(2):
            if child < rep[x, CHILD_COUNT]:
                price_run(rep[x, FIRST_CHILD] + child, child_b, nobody, none, sides, prices[1 + child])
            else:
                for v in range(nobody):
                    prices[1 + child, v] = 0
            prices[1 + child, nobody] = 0
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
def _are_small_families(first: int, count: int, rep: NDArray[np.int32], kind: int) -> bool:
    """Return whether each vertex of a run has at most two children, all of this type."""
    small = True
    for x in range(first, first + count):
        small = small and rep[x, CHILD_COUNT] <= 2
        for u in range(rep[x, FIRST_CHILD], rep[x, FIRST_CHILD] + rep[x, CHILD_COUNT]):
            small = small and rep[u, KIND] == kind
    return small


@inline_kernel
def _number_children(first: int, count: int, rows: NDArray[np.int32], desk: NDArray[np.int64]) -> int:
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


@part
def insert_best(
    best: NDArray[np.int64], values: NDArray[np.int64], count: int, item: int, value: np.int64
) -> int:
    """Insert an item into the list of the ``best``, if there is room or its value is above the least.

    The list is descending by ``values``; of equal values the earlier entry comes first. Return its length.
    """
    if count == len(best) and value <= values[count - 1]:
        return count
    position = min(count, len(best) - 1)
    while position > 0 and values[position - 1] < value:
        values[position] = values[position - 1]
        best[position] = best[position - 1]
        position -= 1
    values[position] = value
    best[position] = item
    return min(count + 1, len(best))


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
def find_candidates(lists: Lists, depth: int, sides: Sides) -> None:
    """Mark in ``near`` the best candidates of each vertex of the first list, of those that the caps allow.

    A candidate is better the more the two gain by themselves, the more weight their children of the same
    types have in common, and the less one has below it that the other has not. Of equal ones the first comes
    first, counted from the same relative place in the second list, and then from its beginning. Equal
    vertices therefore have different candidates.
    """
    first_a, count_a, first_b, count_b = lists
    _, settings, work, rep, rows, _ = sides
    near = work.near[depth]
    partners = work.partners[depth]
    gains = work.gains[depth]
    prices = work.prices[0]
    scale = settings.scale
    one = np.uint64(1)
    for i in range(count_a):
        x = first_a + i
        price_run(x, first_b, count_b, _UNFIT, sides, prices)
        below = scale * (np.int64(rep[x, WEIGHT]) - rep[x, OWN])
        best, best_gains = partners[i, :CANDIDATES], gains[i, :CANDIDATES]
        count = 0
        j = i * count_b // count_a
        for _ in range(count_b):
            y = first_b + j
            other = scale * (np.int64(rows[y, WEIGHT]) - rows[y, OWN])
            gain = prices[j] - below - other
            worst = best_gains[CANDIDATES - 1] if count == CANDIDATES else _UNFIT
            if prices[j] > _UNFIT and gain + 4 * min(below, other) > worst:
                if below > 0 and other > 0:
                    gain += 4 * scale * _weigh_common(x, y, rep, rows)
                count = insert_best(best, best_gains, count, j, gain)
            j = j + 1 if j + 1 < count_b else 0
        for word in range((count_b + 63) >> 6):
            near[i, word] = np.uint64(0)
        for position in range(count):
            j = best[position]
            near[i, j >> 6] |= one << np.uint64(j & 63)

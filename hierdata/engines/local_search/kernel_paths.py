"""Paths of trees: the hierarchy nodes that their values pass, with counts.

What two trees have in common there bounds the saving of their alignment from above
(``hierdata.engines.alignment.lower_bounds``).
"""

from __future__ import annotations

import numpy as np

from hierdata.engines.alignment.kernels.arrays import FIRST_NODE, QUASI_COUNT
from hierdata.engines.alignment.kernels.representative import Ordinals, Rows
from hierdata.engines.jit import part


@part
def trace(
    rep: Rows,
    first: int,
    count: int,
    open_: Ordinals,
    worth: Ordinals,
    passes: Ordinals,
    passed: Ordinals,
    paths: Rows,
) -> int:
    """Write the nodes that the values of a tree pass, with counts, to ``paths``; return how many nodes.

    Vertices without open values (``open_[vertex, word]``; no word: all have some) are left out.
    """
    length = 0
    words = open_.shape[1]
    for v in range(first, first + count):
        is_open = words == 0
        for word in range(words):
            is_open = is_open or open_[v, word] != 0
        if not is_open:
            continue
        for at in range(FIRST_NODE, FIRST_NODE + rep[v, QUASI_COUNT]):
            own = rep[v, at]
            for level in range(passes.shape[1]):
                node = passes[own, level]
                if node >= 0 and worth[node] > 0:
                    if passed[node] == 0:
                        paths[length, 0] = node
                        length += 1
                    passed[node] += 1
    for at in range(length):
        paths[at, 1] = passed[paths[at, 0]]
        passed[paths[at, 0]] = 0
    return length


@part
def mark_paths(paths: Rows, length: int, passed: Ordinals) -> None:
    """Write the counts of the paths of a tree to ``passed``, which must be 0."""
    for at in range(length):
        passed[paths[at, 0]] = paths[at, 1]


@part
def clear_paths(paths: Rows, length: int, passed: Ordinals) -> None:
    """Set ``passed`` to 0 again."""
    for at in range(length):
        passed[paths[at, 0]] = 0


@part
def common_worth(paths: Rows, length: int, passed: Ordinals, worth: Ordinals) -> np.int64:
    """Return an upper bound of the saving of two trees: the worth of all nodes that values of both pass."""
    most = np.int64(0)
    for at in range(length):
        node = paths[at, 0]
        most += worth[node] * min(np.int64(paths[at, 1]), passed[node])
    return most


@part
def insert_best(best: Ordinals, values: Ordinals, count: int, one: int, value: np.int64) -> int:
    """Insert one into the list of the ``best``, if there is room or its value is above the least.

    The list is descending by ``values``; of equal values the earlier entry comes first. Return its length.
    """
    if count == len(best) and value <= values[count - 1]:
        return count
    place = min(count, len(best) - 1)
    while place > 0 and values[place - 1] < value:
        values[place] = values[place - 1]
        best[place] = best[place - 1]
        place -= 1
    values[place] = value
    best[place] = one
    return min(count + 1, len(best))

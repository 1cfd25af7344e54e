"""The inner loop of KACA: the classes nearest to one by the weighted hierarchical distance."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from hierdata.engines.jit import jit
from hierdata.engines.kaca.distance import Distance
from hierdata.engines.rows.kernel import Numbers, Places


class CandidateArrays(NamedTuple):
    """Classes, or single rows, among which the nearest to a class are searched."""

    nodes: Places  # [candidate, quasi-identifier]
    sizes: Numbers  # [candidate]: rows
    firsts: Numbers  # [candidate]: its first row


@jit
def _weigh(own: Places, size: int, distance: Distance, here: Numbers, there: Numbers) -> None:
    """For every node of every hierarchy: what its join with the class's node there costs.

    ``here[node]`` is the cost for all rows of the class, ``there[node]`` for one row at the node.
    """
    starts, ancestors, costs = distance.starts, distance.ancestors, distance.costs
    for b in range(len(own)):
        mine = own[b]
        for node in range(starts[b], starts[b + 1]):
            depth = ancestors.shape[1] - 1
            while ancestors[node, depth] < 0 or ancestors[node, depth] != ancestors[mine, depth]:
                depth -= 1  # the root is common to all
            here[node] = size * costs[mine, depth]
            there[node] = costs[node, depth]


@jit
def nearest(
    own: Places,
    size: int,
    skipped: int,
    candidates: Numbers,
    known: CandidateArrays,
    by: Distance,
    here: Numbers,
    there: Numbers,
    found: Numbers,
    distances: Numbers,
) -> int:
    """Write the candidates nearest to a class to ``found``, best first; answer how many there are.

    The class has ``size`` rows at the nodes ``own``; ``skipped`` is left out. Nearest is what has the least
    distance, which is what generalizing the rows of both to the joins of their ``nodes`` costs; then the
    smaller candidate, then the lower of ``firsts``. Nodes are numbered through all hierarchies, each from one
    of ``starts``; ``costs[node, depth]`` is what generalizing one value at a node to its entry at a depth
    costs: so little that all rows at all hierarchies come to 2^62 at most (``engines.merging.distance``).
    ``here`` and ``there`` are working memory.
    """
    nodes, sizes, firsts = known
    _weigh(own, size, by, here, there)
    wanted = len(found)
    width = len(own)
    count = 0
    for at in range(len(candidates)):
        other = candidates[at]
        if other == skipped:
            continue
        distance = np.int64(0)
        for b in range(width):
            node = nodes[other, b]
            distance += here[node] + sizes[other] * there[node]
            if count == wanted and distance > distances[count - 1]:
                break
        place = count
        while place > 0:
            before = found[place - 1]
            if distance > distances[place - 1]:
                break
            tied = distance == distances[place - 1]
            if tied and (sizes[other], firsts[other]) > (sizes[before], firsts[before]):
                break
            place -= 1
        if place == wanted:
            continue
        count = min(count + 1, wanted)
        for after in range(count - 1, place, -1):
            found[after] = found[after - 1]
            distances[after] = distances[after - 1]
        found[place] = other
        distances[place] = distance
    return count

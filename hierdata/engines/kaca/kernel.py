"""Inner loop of KACA: the classes nearest to a class by the weighted hierarchical distance."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from hierdata.engines.jit import jit
from hierdata.engines.kaca.distance import Distance
from hierdata.engines.rows.kernel import Numbers, Places


class CandidateArrays(NamedTuple):
    """Classes, or single rows, among which the nearest ones to a class are searched."""

    nodes: Places  # [candidate, quasi-identifier]
    sizes: Numbers  # [candidate]: rows
    firsts: Numbers  # [candidate]: first row


@jit
def _weigh(own: Places, size: int, distance: Distance, here: Numbers, there: Numbers) -> None:
    """Compute, for every node, the costs of generalizing to its join with the class's node in the hierarchy.

    ``here[node]`` receives the cost for all rows of the class, ``there[node]`` that of one row at the node.
    """
    starts, ancestors, costs = distance.starts, distance.ancestors, distance.costs
    for b in range(len(own)):
        mine = own[b]
        for node in range(starts[b], starts[b + 1]):
            depth = ancestors.shape[1] - 1
            while ancestors[node, depth] < 0 or ancestors[node, depth] != ancestors[mine, depth]:
                depth -= 1  # all nodes share the root
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
    """Write the candidates nearest to a class to ``found``, best first; return how many there are.

    The class has ``size`` rows at the nodes ``own``; the candidate ``skipped`` is left out. The distance is
    the cost of generalizing the rows of both to the joins of their nodes. Of equal distances the smaller
    candidate comes first, then the one with the lower first row. ``distances`` receives the distances.

    Nodes are those of ``by``, whose costs are so small that the sum over all rows and hierarchies is at most
    2^62. ``here`` and ``there``, one entry for each node, are working memory.
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

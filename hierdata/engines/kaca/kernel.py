"""The weighted hierarchical distance as integers (KACA; TC section 3.1), and the classes nearest by it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from itertools import chain
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from hierdata.domains.base import Hierarchy
from hierdata.engines.jit import jit
from hierdata.engines.rows.kernel import Numbers, Places, insert_at, place_among
from hierdata.engines.rows.table import number_hierarchies

_LARGEST_SUM = 2**62
_ROUNDED_SCALE = 2**40


class Distance(NamedTuple):
    """The costs of generalization; the nodes of all hierarchies are numbered together, each from ``starts``.

    ``costs[node, depth]`` is WHD from a node to its ancestor at a depth, times ``scale``. It is exact, unless
    the sum over all rows and hierarchies would not fit into 64 bits; then the scale is a power of two, and
    each cost is rounded once.
    """

    starts: NDArray[np.int64]  # [quasi-identifiers + 1]: the first node of its hierarchy
    ancestors: NDArray[np.int32]  # [node, depth]: -1 where the node's path has no entry
    costs: NDArray[np.int64]  # [node, depth]
    scale: int

    @classmethod
    def of(cls, hierarchies: Sequence[Hierarchy], beta: int, rows: int) -> Distance:
        """Build the distances for a table of ``rows`` rows."""
        first, ancestors = number_hierarchies(hierarchies)
        starts = np.append(first, len(ancestors)).astype(np.int64)
        depths, lowest = _depths(ancestors)
        pairs, of_node = np.unique(np.stack([depths, lowest]), axis=1, return_inverse=True)
        weights = _weights(ancestors.shape[1], beta)
        exact = [
            [whd(weights, depth, above, leaf_depth) for above in range(ancestors.shape[1])]
            for depth, leaf_depth in pairs.T.tolist()
        ]
        scale = _scale(exact, max(1, rows * len(hierarchies)))
        table = [[round(cost * scale) for cost in costs] for costs in exact]
        shape = (len(table), ancestors.shape[1])
        return cls(starts, ancestors, np.array(table, np.int64).reshape(shape)[of_node.ravel()], scale)


def whd(weights: Sequence[Fraction], depth: int, above: int, lowest: int) -> Fraction:
    """Return the weighted hierarchical distance from a node at ``depth`` to its ancestor at depth ``above``.

    ``weights[d]`` is the sum of the weights from the root (depth 0) down to depth d; ``lowest`` is the
    greatest depth of a leaf at or below the node. The distance is 0 if ``above >= depth``.
    """
    if above >= depth:
        return Fraction(0)
    return (weights[depth] - weights[above]) / weights[lowest]


def _weights(depths: int, beta: int) -> list[Fraction]:
    """Return the weights summed from the root down; the step to depth d has the weight 1 / d^beta."""
    steps = [Fraction(1, depth**beta) for depth in range(1, depths)]
    return [sum(steps[:depth], Fraction(0)) for depth in range(depths)]


def _depths(ancestors: NDArray[np.int32]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the depth of each node, and the greatest depth of a node at or below it."""
    there = ancestors >= 0
    depths = ancestors.shape[1] - 1 - np.argmax(there[:, ::-1], axis=1)
    lowest = np.zeros(len(ancestors), np.int64)
    for column in range(ancestors.shape[1]):
        below = there[:, column]
        np.maximum.at(lowest, ancestors[below, column], depths[below])
    return depths.astype(np.int64), lowest


def _scale(costs: Sequence[Sequence[Fraction]], terms: int) -> int:
    """Return a common denominator if ``terms`` costs can be summed with it, else a power of two."""
    scale = 1
    for denominator in {cost.denominator for cost in chain.from_iterable(costs)}:
        scale = math.lcm(scale, denominator)
        if scale * terms > _LARGEST_SUM:
            return min(_ROUNDED_SCALE, 1 << (_LARGEST_SUM // terms).bit_length() - 1)
    return scale


class CandidateArrays(NamedTuple):
    """Classes, or single rows, among which the nearest ones to a class are searched."""

    nodes: Places  # [candidate, quasi-identifier]
    sizes: Numbers  # [candidate]: rows
    firsts: Numbers  # [candidate]: first row


@jit
def _weigh(nodes: Places, size: int, distance: Distance, here: Numbers, there: Numbers) -> None:
    """Compute, for every node, the costs of generalizing to its join with the class's node in the hierarchy.

    ``here[node]`` receives the cost for all rows of the class, ``there[node]`` that of one row at the node.
    """
    starts, ancestors, costs = distance.starts, distance.ancestors, distance.costs
    for b in range(len(nodes)):
        mine = nodes[b]
        for node in range(starts[b], starts[b + 1]):
            depth = ancestors.shape[1] - 1
            while ancestors[node, depth] < 0 or ancestors[node, depth] != ancestors[mine, depth]:
                depth -= 1  # all nodes share the root
            here[node] = size * costs[mine, depth]
            there[node] = costs[node, depth]


@jit
def nearest(
    class_nodes: Places,
    size: int,
    skipped: int,
    candidates: Numbers,
    known: CandidateArrays,
    by: Distance,
    here: Numbers,
    there: Numbers,
    out: Numbers,
    distances: Numbers,
) -> int:
    """Write the candidates nearest to a class to ``out``, best first; return how many there are.

    The class has ``size`` rows at the nodes ``class_nodes``; the candidate ``skipped`` is left out. The
    distance is the cost of generalizing the rows of both to the joins of their nodes. Of equal distances the
    smaller candidate comes first, then the one with the lower first row. ``distances`` receives theirs.

    Nodes are those of ``by``, whose costs are so small that the sum over all rows and hierarchies is at most
    2^62. ``here`` and ``there``, one entry for each node, are working memory.
    """
    nodes, sizes, firsts = known
    _weigh(class_nodes, size, by, here, there)
    wanted = len(out)
    width = len(class_nodes)
    count = 0
    for i in range(len(candidates)):
        other = candidates[i]
        if other == skipped:
            continue
        distance = np.int64(0)
        for b in range(width):
            node = nodes[other, b]
            distance += here[node] + sizes[other] * there[node]
            if count == wanted and distance > distances[count - 1]:
                break
        place = place_among(other, distance, count, out, distances, sizes, firsts)
        if place == wanted:
            continue
        count = insert_at(place, other, distance, count, out, distances)
    return count

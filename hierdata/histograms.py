"""Histograms of records over taxonomy nodes: a lower bound of what aligning two records loses.

LM' of the least node above two values is an ultrametric. A value pays, for each node on its path that its
partner does not share, what LM' gains from there to the parent; a suppressed value pays all of its path, from
LM' 0 up to 1. At a node that a of one record's values and b of the other's pass, at most min(a, b) pairs
share it, so

    bound = sum over nodes of (LM'(parent) - LM'(node)) * |a - b|        (the parent of a root counts 1)

is at most the loss of any alignment of the two records, both sides counted, whatever children go together
and whatever the models forbid. It is a metric: a weighted L1 distance of vectors.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from hierdata.domains.base import Hierarchy
from hierdata.forest import Forest

_HIGHEST = 255
"""Counts are clipped to this on both sides, which can only lower the bound."""


@dataclass(frozen=True)
class Histograms:
    """``counts[record, column]`` values pass the node of a column; ``weights[column]`` is what one is worth.

    Weights are LM' times the forest's scale. Columns are the nodes of all hierarchies, numbered through, of
    which those without weight are left out; ``columns`` has the numbers of those that are there.
    """

    counts: NDArray[np.uint8]
    weights: NDArray[np.int64]
    columns: NDArray[np.int64]

    def bounds(self, record: int) -> NDArray[np.int64]:
        """The bound of every record with one of them."""
        apart = np.abs(self.counts.astype(np.int16) - self.counts[record])
        bounds: NDArray[np.int64] = apart @ self.weights
        return bounds


def histograms(forest: Forest) -> Histograms:
    """The histograms of all records of a forest."""
    nodes = sum(len(tree.labels) for own in forest.hierarchies for tree in own)
    weights = np.zeros(nodes, np.int64)
    counts = np.zeros((forest.record_count, nodes), np.int64)
    start = 0
    for kind, own in enumerate(forest.losses):
        vertices = np.flatnonzero(forest.type == kind)
        records = forest.record_of[vertices]
        for position, losses in enumerate(own):
            paths, gains = _paths(forest.hierarchies[kind][position], losses, forest.scale)
            weights[start : start + len(losses)] = gains
            passed = paths[forest.nodes[forest.first_node[vertices] + position]]
            for level in range(passed.shape[1]):
                there = passed[:, level] >= 0
                np.add.at(counts, (records[there], start + passed[there, level]), 1)
            start += len(losses)
    columns = np.flatnonzero(weights)
    clipped = np.minimum(counts[:, columns], _HIGHEST).astype(np.uint8)
    return Histograms(clipped, weights[columns], columns)


def _paths(
    tree: Hierarchy, losses: NDArray[np.int64], scale: int
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The path of every node, from the root, and for each node what LM' gains from it to the one above.

    Where steps do not nest (2 and 5 years) LM' is no ultrametric. Paths then leave out the depths that
    values may share no node at although they share a deeper one, and what is above such a depth counts no
    more than the least loss there.
    """
    above = np.array(tree.ancestors, np.int64)
    depths = range(above.shape[1])
    closed = [
        depth for depth in depths if all(_tells(above[:, own], above[:, depth]) for own in depths[depth:])
    ]
    least = losses.copy()
    for left_out in set(depths) - set(closed):
        there = above[:, left_out] >= 0
        nearest = max(depth for depth in closed if depth < left_out)
        np.minimum.at(least, above[there, nearest], losses[above[there, left_out]])
    paths = above[:, closed]
    gains = np.zeros(len(losses), np.int64)
    over = np.full(len(losses), scale)
    for level in range(len(closed)):
        there = paths[:, level] >= 0
        own = paths[there, level]
        least[own] = np.minimum(least[own], over[there])
        gains[own] = over[there] - least[own]
        over[there] = least[own]
    return paths, gains


def _tells(deeper: NDArray[np.int64], depth: NDArray[np.int64]) -> bool:
    """Whether the node at one depth follows from the one at a deeper depth."""
    there = deeper >= 0
    pairs = np.unique(np.stack((deeper[there], depth[there])), axis=1)
    return bool(len(np.unique(pairs[0])) == pairs.shape[1])

"""Histograms of records over taxonomy nodes: a lower bound of the loss of aligning two records.

LM' of the least node above two values is an ultrametric. For each node on its path that its partner does not
share, a value pays the increase of LM' from the node to its parent; a suppressed value pays its whole path,
from its present loss up to 1. If a values of one record and b of the other are below a node, at most
min(a, b) pairs share it, so

    bound = sum over nodes of (LM'(parent) - LM'(node)) * |a - b|        (LM' of a root's parent is 1)

plus the present losses of the values of both, 0 for original values, is at most the loss of any alignment of
the two, both sides counted, for any pairing of children and any models. It is a weighted L1 distance of
vectors. A vertex that has no partner in any alignment is suppressed with all its descendants; if that is
known beforehand, the bound is tighter.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from hierdata.domains.base import Hierarchy
from hierdata.engines.alignment.arrays import first_nodes
from hierdata.engines.alignment.kernels.lower_bounds import Histograms, count_values
from hierdata.forest.forest import MISSING, Forest

__all__ = ["Histograms", "histograms"]

_MOST_COLUMNS = 1024
"""If more nodes have weight, nodes of similar weight share columns, and the bound is lower."""


def histograms(forest: Forest, alone: NDArray[np.bool_] | None = None) -> Histograms:
    """Compute the histograms of all records of a forest.

    ``alone`` marks the vertices that have no partner in any alignment, with all their descendants. Columns
    and weights depend on the hierarchies and the scale only.
    """
    paths, gains, lost = node_paths(forest)
    passes, weights, columns = _columns(paths, gains)
    counts = np.zeros((forest.record_count, len(weights)), np.uint8)
    found = Histograms(counts, weights, columns, np.zeros(forest.record_count, np.int64), passes, lost)
    if alone is None:
        alone = np.zeros(forest.vertex_count, np.bool_)
    quasi_count = forest.quasi_count
    count_values(
        np.repeat(forest.record_of, quasi_count),
        _number_nodes(forest),
        np.repeat(alone, quasi_count),
        forest.scale,
        found,
    )
    return found


def _number_nodes(forest: Forest) -> NDArray[np.int64]:
    """Return the nodes of all values, in one numbering over all hierarchies."""
    nodes = forest.nodes.astype(np.int64)
    for kind, starts in enumerate(first_nodes(forest)):
        vertices = np.flatnonzero(forest.type == kind)
        for position, start in enumerate(starts):
            nodes[forest.first_node[vertices] + position] += start
    return nodes


def node_paths(forest: Forest) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """Return for each node its path, padded with -1, the increase of LM' to the node above, and LM'."""
    found = [
        _paths(tree, losses, forest.scale)
        for trees, own in zip(forest.hierarchies, forest.losses, strict=True)
        for tree, losses in zip(trees, own, strict=True)
    ]
    count = sum(len(gains) for _, gains, _ in found)
    passes = np.full((count, max((paths.shape[1] for paths, _, _ in found), default=1)), MISSING, np.int64)
    start = 0
    for paths, gains, _ in found:
        passes[start : start + len(gains), : paths.shape[1]] = np.where(paths < 0, MISSING, paths + start)
        start += len(gains)
    none = np.zeros(0, np.int64)
    return (
        passes,
        np.concatenate([none, *(gains for _, gains, _ in found)]),
        np.concatenate([none, *(lost for _, _, lost in found)]),
    )


def _columns(
    paths: NDArray[np.int64], gains: NDArray[np.int64]
) -> tuple[NDArray[np.int32], NDArray[np.int64], NDArray[np.int64]]:
    """Return the columns on the path of each node, and the weight and the first node of each column.

    A column of several nodes has the least increase of LM' among them as its weight.
    """
    nodes = np.flatnonzero(gains)
    if len(nodes) > _MOST_COLUMNS:
        nodes = nodes[np.argsort(-gains[nodes], kind="stable")]
    column = np.arange(len(nodes)) * min(len(nodes), _MOST_COLUMNS) // max(len(nodes), 1)
    firsts = np.flatnonzero(np.diff(column, prepend=-1))
    column_of = np.full(len(gains) + 1, MISSING, np.int32)  # the last entry is for MISSING
    column_of[nodes] = column
    weights = np.minimum.reduceat(gains[nodes], firsts) if len(nodes) else gains[:0]
    return column_of[paths], weights, nodes[firsts]


def _paths(
    tree: Hierarchy, losses: NDArray[np.int64], scale: int
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """Return for every node its path from the root, the increase of LM' to the node above, and LM'.

    If steps do not nest (2 and 5 years) LM' is not an ultrametric. Paths then omit the depths at which
    values may share no node although they share a deeper one, and nodes above such a depth count at most the
    least loss there.
    """
    above = np.array(tree.ancestors, np.int64)
    depths = range(above.shape[1])
    closed = [
        depth for depth in depths if all(_tells(above[:, own], above[:, depth]) for own in depths[depth:])
    ]
    least = losses.copy()
    for left_out in set(depths) - set(closed):
        there = above[:, left_out] >= 0
        nearest = above[there, 0]
        for depth in (depth for depth in closed if depth < left_out):
            nearest = np.where(above[there, depth] >= 0, above[there, depth], nearest)
        np.minimum.at(least, nearest, losses[above[there, left_out]])
    paths = above[:, closed]
    gains = np.zeros(len(losses), np.int64)
    over = np.full(len(losses), scale)
    for level in range(len(closed)):
        there = paths[:, level] >= 0
        own = paths[there, level]
        least[own] = np.minimum(least[own], over[there])
        gains[own] = over[there] - least[own]
        over[there] = least[own]
    return paths, gains, over


def _tells(deeper: NDArray[np.int64], depth: NDArray[np.int64]) -> bool:
    """Return whether the node at a deeper depth determines the one at ``depth``."""
    there = np.flatnonzero(deeper >= 0)
    own, above = deeper[there], depth[there]
    found = np.empty(own.max(initial=MISSING) + 1, np.int64)
    found[own] = above
    return bool((found[own] == above).all())

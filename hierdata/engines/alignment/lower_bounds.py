"""Histograms of records over taxonomy nodes: a lower bound of the loss of aligning two records.

The loss of the least node above two values is an ultrametric. For each node on its path that its partner does
not share, a value pays the increase of the loss from the node to its parent; a suppressed value pays its
whole path, from its present loss up to its weight. If a values of one record and b of the other are below a
node, at most min(a, b) pairs share it, so

    bound = sum over nodes of (loss(parent) - loss(node)) * |a - b|      (of a root's parent: the weight)

plus the present losses of the values of both, 0 for original values, is at most the loss of any alignment of
the two, both sides counted, for any pairing of children and any models. It is a weighted L1 distance of
vectors. What else a vertex is worth, by its presence and its sensitive values, is lost if it has no partner.
It is added to the weight of its first quasi-identifier, and so to the increase from the root; a vertex
without any has a single node (``arrays.constant_nodes``). So with n vertices of the type on each side it adds
weight * |n_a - n_b|. A vertex that has no partner in any alignment is suppressed with all its descendants; if
that is known beforehand, the bound is tighter.
"""

from __future__ import annotations

from itertools import chain

import numpy as np
from numpy.typing import NDArray

from hierdata.engines.alignment.alignment import constant_nodes, first_nodes
from hierdata.engines.alignment.kernels.lower_bounds import Histograms, bounds_to, count_values
from hierdata.engines.compiler.ahead import KernelCall
from hierdata.forest.forest import MISSING, Forest
from hierdata.forest.worth import Worth

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
    totals = np.zeros(forest.record_count, np.int64)
    counted = Histograms(counts, weights, columns, totals, passes, lost, _whole_losses(forest))
    if alone is None:
        alone = np.zeros(forest.vertex_count, np.bool_)
    vertices, nodes = _number_nodes(forest)
    count_values(forest.record_of[vertices], nodes, alone[vertices], counted)
    return counted


def list_calls() -> list[KernelCall]:
    """Return calls of the kernels that count histograms and bound losses by them, on no records."""
    none, every = np.empty(0, np.int64), np.empty(0, np.bool_)
    counts, passes = np.empty((0, 0), np.uint8), np.empty((0, 0), np.int32)
    none_counted = Histograms(counts, none, none, none, passes, none, none)
    return [
        KernelCall(bounds_to, (np.empty(0, np.uint8), np.int64(0), none, none_counted, none)),
        KernelCall(count_values, (none, none, every, none_counted)),
    ]


def _number_nodes(forest: Forest) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the vertex and the node of each value, in one numbering over all hierarchies."""
    nodes = forest.nodes.astype(np.int64)
    for kind, starts in enumerate(first_nodes(forest)):
        vertices = np.flatnonzero(forest.type == kind)
        for position, start in enumerate(starts):
            nodes[forest.first_node[vertices] + position] += start
    parts = [(np.repeat(np.arange(forest.vertex_count), forest.quasi_count), nodes)]
    for kind, node in constant_nodes(forest).items():
        vertices = np.flatnonzero(forest.type == kind)
        parts.append((vertices, np.full(len(vertices), node)))
    owners, numbers = zip(*parts, strict=True)
    return np.concatenate(owners), np.concatenate(numbers)


def _wholes(forest: Forest) -> list[int]:
    """Return the loss of suppressing a value, by hierarchy, then for the ``constant_nodes``.

    The first value of a vertex includes what the vertex is worth apart from its quasi-identifiers.
    """
    worth = forest.sought or Worth.of_lm(forest.hierarchies, forest.domains)
    weights = [
        weight + (0 if position else forest.constants.get(kind, 0))
        for kind, of_kind in enumerate(worth.quasi)
        for position, weight in enumerate(of_kind)
    ]
    weights += [forest.constants[kind] for kind in constant_nodes(forest)]
    return [forest.scale * weight for weight in weights]


def _whole_losses(forest: Forest) -> NDArray[np.int64]:
    """Return the loss of suppressing a value of each node."""
    counts = [len(tree.labels) for tree in chain.from_iterable(forest.hierarchies)] + [1] * len(
        constant_nodes(forest)
    )
    return np.repeat(np.array(_wholes(forest), np.int64), counts)


def node_paths(forest: Forest) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """Return for each node its path (padded with -1), the increase of loss to the node above, its loss."""
    trees = [np.array(tree.ancestors, np.int64) for tree in chain.from_iterable(forest.hierarchies)]
    losses = [*chain.from_iterable(forest.losses)]
    for _ in constant_nodes(forest):
        trees.append(np.zeros((1, 1), np.int64))
        losses.append(np.zeros(1, np.int64))
    parts = [*map(_paths, trees, losses, _wholes(forest))]
    count = sum(len(gains) for _, gains, _ in parts)
    passes = np.full((count, max((paths.shape[1] for paths, _, _ in parts), default=1)), MISSING, np.int64)
    start = 0
    for paths, gains, _ in parts:
        passes[start : start + len(gains), : paths.shape[1]] = np.where(paths < 0, MISSING, paths + start)
        start += len(gains)
    none = np.zeros(0, np.int64)
    return (
        passes,
        np.concatenate([none, *(gains for _, gains, _ in parts)]),
        np.concatenate([none, *(lost for _, _, lost in parts)]),
    )


def _columns(
    paths: NDArray[np.int64], gains: NDArray[np.int64]
) -> tuple[NDArray[np.int32], NDArray[np.int64], NDArray[np.int64]]:
    """Return the columns on the path of each node, and the weight and the first node of each column.

    A column of several nodes has the least increase of the loss among them as its weight.
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
    above: NDArray[np.int64], losses: NDArray[np.int64], whole: int
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """Return for every node its path from the root, the increase of loss to the node above, and its loss.

    ``above`` are the ancestors of nodes, ``whole`` is the loss above the root. If steps do not nest (2 and 5
    years) the loss is not an ultrametric. Paths then omit the depths at which
    values may share no node although they share a deeper one, and nodes above such a depth count at most the
    least loss there.
    """
    depths = range(above.shape[1])
    closed = [
        depth
        for depth in depths
        if all(_tells(above[:, deeper], above[:, depth]) for deeper in depths[depth:])
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
    over = np.full(len(losses), whole)
    for level in range(len(closed)):
        there = paths[:, level] >= 0
        nodes = paths[there, level]
        least[nodes] = np.minimum(least[nodes], over[there])
        gains[nodes] = over[there] - least[nodes]
        over[there] = least[nodes]
    return paths, gains, over


def _tells(deeper: NDArray[np.int64], depth: NDArray[np.int64]) -> bool:
    """Return whether the node at a deeper depth determines the one at ``depth``."""
    there = np.flatnonzero(deeper >= 0)
    below, above = deeper[there], depth[there]
    above_of = np.empty(below.max(initial=MISSING) + 1, np.int64)
    above_of[below] = above
    return bool((above_of[below] == above).all())

"""The cut by root values alone: no root vector that one block publishes is published by another.

Bounded knowledge is a promise about all records of one published root vector, and its cuts differ from class
to class, so classes of two blocks must not look alike. Each node of this cut sends the records at or below
one node of a root's hierarchy to one side. Records of that side are published at that node or below it, and
no record of the other side is, however the blocks are searched: an engine publishes a class by nodes above
all its records that lie at or below the nodes that all records of its block share.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from hierdata.engines.blocking.tree import Cut, Integers, Sizes, unite_leaves
from hierdata.forest.forest import Forest
from hierdata.forest.nesting import nest_nodes

_MOST_COLUMNS = 512
"""The most nodes that are tried, the uppermost first."""
_LOOKED_AT = 4096
"""The most records from which a node of the cut is chosen."""


@dataclass(frozen=True)
class RootCut(Cut):
    """A cut by root values; its leaves are united, never divided."""

    def counts_of(self, forest: Forest) -> NDArray[np.uint8]:
        """See Cut.counts_of."""
        return below_nodes(forest)

    def settle_counts(self, counts: Integers) -> Cut:
        """Unite the leaves below the lowest cut after which a block would be too small."""
        return unite_leaves(self, counts)


class RootNodes(NamedTuple):
    """By column, the root quasi-identifier and the node, and what a record loses that is published by it.

    ``whole`` has by quasi-identifier what is lost at the root of its hierarchy.
    """

    position: Integers
    node: Integers
    loss: Integers
    whole: Integers


def root_nodes(forest: Forest) -> RootNodes:
    """Return the columns of the cut; they depend on the hierarchies and the scale only."""
    nodes = []
    for position, tree in enumerate(forest.hierarchies[0]):
        nest = nest_nodes(tree)
        for node in range(len(tree.labels)):
            if node and nest.published[node] and node != tree.missing:
                nodes.append((int(nest.depths[node]), position, node))
    chosen = sorted(sorted(nodes)[:_MOST_COLUMNS], key=lambda column: column[1:])
    losses = forest.losses[0]
    return RootNodes(
        np.array([position for _, position, _ in chosen], np.int64),
        np.array([node for _, _, node in chosen], np.int64),
        np.array([losses[position][node] for _, position, node in chosen], np.int64),
        np.array([of_tree[0] for of_tree in losses], np.int64),
    )


def below_nodes(forest: Forest) -> NDArray[np.uint8]:
    """Return for each record and column of ``root_nodes`` 1 if the record's value is at or below the node."""
    columns = root_nodes(forest)
    counts = np.zeros((forest.record_count, len(columns.node)), np.uint8)
    first = forest.first_node[forest.roots[:-1]]
    for position, tree in enumerate(forest.hierarchies[0]):
        parents = nest_nodes(tree).parents
        numbers = np.flatnonzero(columns.position == position)
        column_of = np.full(len(tree.labels), -1, np.int64)
        column_of[columns.node[numbers]] = numbers
        nodes = forest.nodes[first + position].astype(np.int64)
        rows = np.arange(forest.record_count)
        while len(rows):
            there = column_of[nodes] >= 0
            counts[rows[there], column_of[nodes[there]]] = 1
            above = parents[nodes]
            rows, nodes = rows[above >= 0], above[above >= 0]
    return counts


def grow_root_cut(counts: NDArray[np.uint8], columns: RootNodes, sizes: Sizes, salt: int) -> RootCut:
    """Grow the cut from ``below_nodes`` of all or some records; each node saves most of what roots lose."""
    directions: list[Integers] = []
    below: list[list[int]] = []
    leaves = 0
    waiting = [(np.arange(len(counts)), -1, 0)]
    while waiting:
        rows, parent, side = waiting.pop()
        column = _choose_column(counts[rows[:_LOOKED_AT]], columns, sizes, len(rows) / max(len(counts), 1))
        if column is None:
            child, leaves = ~leaves, leaves + 1
        else:
            child = len(below)
            directions.append(np.eye(1, counts.shape[1], column, dtype=np.int64)[0])
            below.append([0, 0])
            right = counts[rows, column] > 0
            waiting += [(rows[right], child, 1), (rows[~right], child, 0)]
        if parent >= 0:
            below[parent][side] = child
    return RootCut(
        sizes=sizes,
        salt=salt,
        directions=np.array(directions, np.int32).reshape(len(below), counts.shape[1]),
        threshold=np.ones(len(below), np.int64),
        tie=np.zeros(len(below), np.uint64),
        below=np.array(below, np.int64).reshape(-1, 2),
        first=np.arange(leaves),
        parts=np.ones(leaves, np.int64),
    )


def _choose_column(counts: NDArray[np.uint8], columns: RootNodes, sizes: Sizes, share: float) -> int | None:
    """Return the column after which the roots of some records lose least; None if a side is too small.

    The records stand for a ``share`` of the collection. Both sides are published at the finest nodes that
    their records share. Of equal columns the one that divides most evenly is taken.
    """
    size, population = len(counts), int(share * sizes.population)
    if population < 2 * sizes.smallest or not counts.shape[1]:
        return None
    least = -(-sizes.smallest * size // population)
    values = counts.astype(np.float32)
    together = (values.T @ values).astype(np.int64)  # exact: both are whole numbers below 2^24
    right = np.diagonal(together)
    left = size - right
    fits = (right >= least) & (left >= least)
    if not fits.any():
        return None
    lost = right * _lose(together == right[:, None], columns) + left * _lose(
        right[None, :] - together == left[:, None], columns
    )
    order = np.lexsort((np.arange(len(right)), np.abs(right - left), lost, ~fits))
    return int(order[0])


def _lose(shared: NDArray[np.bool_], columns: RootNodes) -> NDArray[np.float64]:
    """Return what a record loses at the finest of the columns that all ``shared``, by row."""
    total = np.zeros(len(shared))
    for position, whole in enumerate(columns.whole.tolist()):
        of_position = columns.position == position
        losses = np.where(shared[:, of_position], columns.loss[of_position], whole)
        total += losses.min(axis=1, initial=whole)
    return total

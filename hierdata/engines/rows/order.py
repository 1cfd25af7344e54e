"""Hierarchy nodes in depth-first order, in which a cut is a threshold."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from hierdata.domains.base import Hierarchy
from hierdata.engines.rows.table import nodes_of, summable
from hierdata.forest.forest import MISSING, Forest, Scope


class RowLine(NamedTuple):
    """The rows of a scope by the places of their nodes, in the layout of compiled code.

    The place of a node is its position in depth-first order among the nodes that occur at a quasi-identifier.
    The join of some nodes is the join of the two at their least and their greatest place.
    """

    places: NDArray[np.int32]  # [row, quasi-identifier]
    first: NDArray[np.int64]  # [quasi-identifiers + 1]: the row of ``above`` where its places begin
    above: NDArray[np.int32]  # [first + place, depth]: the node's ancestors, -1 where the path has no entry
    losses: NDArray[np.int64]  # [node, over all hierarchies]: LM' as an integer (``summable``)

    @classmethod
    def of(cls, forest: Forest, scope: Scope) -> RowLine:
        """Build the line of the rows of a scope."""
        hierarchies, losses = forest.hierarchies[scope.kind], forest.losses[scope.kind]
        nodes = nodes_of(forest, scope)
        places = np.empty(nodes.shape, np.int32)
        above: list[NDArray[np.int32]] = []
        first = [0]
        nodes_before = 0
        depth = max((len(tree.ancestors[0]) for tree in hierarchies), default=1)
        for column, tree in enumerate(hierarchies):
            occurring, where = np.unique(nodes[:, column], return_inverse=True)
            in_order = depth_first(tree, occurring.tolist())
            place_of = np.empty(len(occurring), np.int32)
            place_of[in_order] = np.arange(len(occurring))
            places[:, column] = place_of[where.ravel()]
            rows = np.full((len(occurring), depth), MISSING, np.int32)
            entries = np.array(tree.ancestors, np.int32)[occurring[in_order]]
            rows[:, : entries.shape[1]] = np.where(entries < 0, MISSING, entries + nodes_before)
            above.append(rows)
            first.append(first[-1] + len(occurring))
            nodes_before += len(tree.labels)
        fitting = summable(losses, len(nodes))
        return cls(
            places,
            np.array(first, np.int64),
            np.concatenate([*above, np.zeros((1, depth), np.int32)]),
            np.concatenate([*fitting, np.zeros(1, np.int64)]),
        )


def depth_first(tree: Hierarchy, nodes: Sequence[int]) -> list[int]:
    """Return the positions of the nodes in depth-first order; a node comes before what it generalizes.

    The join of nodes is the join of the first and the last of them in this order. Numbers and dates, whose
    finest nodes ascend, keep their own order, since levels need not nest: a bin that holds both ends holds
    everything in between.
    """
    if tree.axis is not None:
        return sorted(range(len(nodes)), key=nodes.__getitem__)
    return sorted(range(len(nodes)), key=lambda at: tree.ancestors[nodes[at]])

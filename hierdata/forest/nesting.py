"""Nodes whose subtrees are nested or disjoint: what records of one root class may be published by."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from hierdata.domains.base import Hierarchy


@dataclass(frozen=True)
class NodeNesting:
    """The nodes of a hierarchy by which records may be published together.

    ``parents`` has the parent of each node, -1 for the root; the subtrees of two ``published`` nodes are
    nested or disjoint, and no other node is published. ``missing`` is the node of a missing value, -1 if
    there is none.
    """

    parents: NDArray[np.int64]
    published: NDArray[np.bool_]
    missing: int

    @cached_property
    def depths(self) -> NDArray[np.int64]:
        """The number of nodes above each node."""
        depths = np.zeros(len(self.parents), np.int64)
        above = self.parents.copy()
        while (above >= 0).any():
            depths += above >= 0
            above = np.where(above >= 0, self.parents[above], -1)
        return depths

    def find_common(self, nodes: NDArray[np.int32]) -> int:
        """Return the deepest published node that all of some nodes lie at or below.

        A missing value lies below the root alone.
        """
        met = np.flatnonzero(np.bincount(nodes, minlength=1))
        if not len(met) or self.missing in met:
            return 0
        while len(met) > 1:
            depths = self.depths[met]
            met = np.unique(np.where(depths == depths.max(), self.parents[met], met))
        node = int(met[0])
        while not self.published[node]:
            node = int(self.parents[node])
        return node


def nest_nodes(tree: Hierarchy) -> NodeNesting:
    """Return the nesting of a hierarchy: parents by the depths that nest; nodes at these are published.

    Where two steps do not nest, as 4 and 6, or weeks and months, one is left out, so that most steps remain;
    of as many the finer ones.
    """
    rows = np.array(tree.ancestors, np.int64)
    own_depth = np.array(
        [max(depth for depth, node in enumerate(row) if node >= 0) for row in tree.ancestors]
    )
    kept = _longest_chain(rows, tree)
    parents = np.zeros(len(rows), np.int64)
    for depth in sorted(kept):
        above = (rows[:, depth] >= 0) & (depth < own_depth)
        parents[above] = rows[above, depth]
    parents[0] = -1
    return NodeNesting(parents, np.isin(own_depth, [0, *kept]), tree.missing)


def _longest_chain(rows: NDArray[np.int64], tree: Hierarchy) -> list[int]:
    """Return the most depths, from the finest up, of which each is nested in the next."""
    finest = tree.depths - 1
    chains = {finest: [finest]}
    for depth in range(finest - 1, 0, -1):
        below = [chain for finer, chain in chains.items() if _is_nested(rows, depth, finer, tree)]
        if below:
            chains[depth] = [*max(below, key=len), depth]
    return max(chains.values(), key=len)


def _is_nested(rows: NDArray[np.int64], depth: int, finer: int, tree: Hierarchy) -> bool:
    """Whether all that lies below a node of one depth lies below one node of a lesser depth.

    On a line, a bin over the edge of two wider ones has no node at their depth: it overlaps with both.
    """
    there = rows[(rows[:, finer] >= 0) & (rows[:, finer] != tree.missing)]
    pairs = np.unique(there[:, [finer, depth]], axis=0)
    is_over_edge = tree.axis is not None and bool((pairs[:, 1] < 0).any())
    return len(pairs) == len(np.unique(pairs[:, 0])) and not is_over_edge

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
        at = np.flatnonzero(np.bincount(nodes, minlength=1))
        if not len(at) or self.missing in at:
            return 0
        while len(at) > 1:
            depths = self.depths[at]
            at = np.unique(np.where(depths == depths.max(), self.parents[at], at))
        node = int(at[0])
        while not self.published[node]:
            node = int(self.parents[node])
        return node


def nest_nodes(tree: Hierarchy) -> NodeNesting:
    """Return the nesting of a hierarchy: parents by the depths that nest; nodes at these are published.

    Depths are taken from the finest up. Where two steps do not nest, as 4 and 6, the wider is left out.
    """
    rows = np.array(tree.ancestors, np.int64)
    own = np.array([max(depth for depth, node in enumerate(row) if node >= 0) for row in tree.ancestors])
    kept = [tree.depths - 1]
    for depth in range(tree.depths - 2, 0, -1):
        if all(_is_nested(rows, depth, finer) for finer in kept):
            kept.append(depth)
    parents = np.zeros(len(rows), np.int64)
    for depth in sorted(kept):
        above = (rows[:, depth] >= 0) & (depth < own)
        parents[above] = rows[above, depth]
    parents[0] = -1
    return NodeNesting(parents, np.isin(own, [0, *kept]), tree.missing)


def _is_nested(rows: NDArray[np.int64], depth: int, finer: int) -> bool:
    """Whether all that lies below a node of one depth lies below one node of a lesser depth."""
    there = rows[rows[:, finer] >= 0]
    pairs = np.unique(there[:, [finer, depth]], axis=0)
    return len(pairs) == len(np.unique(pairs[:, 0]))

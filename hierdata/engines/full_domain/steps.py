"""The depths to which the values of a quasi-identifier may be generalized, and how each leads to the next."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from hierdata.domains.base import Hierarchy

Nodes = NDArray[np.int32]


@dataclass(frozen=True)
class Steps:
    """The depths of one hierarchy at which the values of a table look different, the deepest first.

    ``published[step][node]`` is what a value is published as. ``onwards[step]`` leads there from what is
    published one step before; None where that does not tell it, as with intervals that do not nest.
    """

    published: tuple[Nodes, ...]
    onwards: tuple[Nodes | None, ...]

    @classmethod
    def of(cls, tree: Hierarchy, values: NDArray[np.int32]) -> Steps:
        """Those for the values that occur."""
        own = np.unique(values)
        published = [np.array(tree.at_depth(tree.depths - 1), np.int32)]
        onwards: list[Nodes | None] = [None]
        for depth in reversed(range(tree.depths - 1)):
            coarser = np.array(tree.at_depth(depth), np.int32)
            if (coarser[own] != published[-1][own]).any():
                onwards.append(_leading(published[-1][own], coarser[own], len(tree.labels)))
                published.append(coarser)
        return cls(tuple(published), tuple(onwards))


def _leading(finer: Nodes, coarser: Nodes, nodes: int) -> Nodes | None:
    """The nodes that the finer ones lead to; None where one would lead to two."""
    onwards = np.zeros(nodes, np.int32)
    onwards[finer] = coarser
    return onwards if (onwards[finer] == coarser).all() else None

"""The depths to which a quasi-identifier may be generalized, and the maps from each depth to the next."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from hierdata.domains.base import Hierarchy

Nodes = NDArray[np.int32]


@dataclass(frozen=True)
class Steps:
    """The distinct depths of one hierarchy, the deepest first.

    Depths at which the values of a table are published alike are one step. ``published[step][node]`` is the
    node as which a value is published. ``onwards[step]`` maps the nodes published one step before to those of
    this step; None if there is no such map, as with intervals that do not nest.
    """

    published: tuple[Nodes, ...]
    onwards: tuple[Nodes | None, ...]

    @classmethod
    def of(cls, tree: Hierarchy, values: NDArray[np.int32]) -> Steps:
        """Build the steps for the values that occur."""
        own = np.unique(values)
        published = [np.array(tree.at_depth(tree.depths - 1), np.int32)]
        onwards: list[Nodes | None] = [None]
        for depth in reversed(range(tree.depths - 1)):
            coarser = np.array(tree.at_depth(depth), np.int32)
            if (coarser[own] != published[-1][own]).any():
                onwards.append(_map_nodes(published[-1][own], coarser[own], len(tree.labels)))
                published.append(coarser)
        return cls(tuple(published), tuple(onwards))


def _map_nodes(finer: Nodes, coarser: Nodes, nodes: int) -> Nodes | None:
    """Map finer nodes to coarser ones; None if a node would map to two."""
    onwards = np.zeros(nodes, np.int32)
    onwards[finer] = coarser
    return onwards if (onwards[finer] == coarser).all() else None

"""Values that too many persons have: no release can show them under alpha, so they are left out first.

Where presence is asked for, a value that more than alpha of all persons have is too frequent in some pattern
of every release, the one without facts. Deleting facts until it is not would take nearly everything.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from hierdata.engines.base import BoundedValues, Constraints
from hierdata.forest.forest import Forest, concatenate_ranges
from hierdata.forest.partition import SUPPRESSED, Partition

LEFT_OUT = "vertices_with_a_frequent_value"
"""The name of the cost: vertices that are left out first."""


def find_frequent(
    forest: Forest, constraints: Constraints, removable: frozenset[int]
) -> tuple[NDArray[np.bool_], str]:
    """Return which vertices have a value, bounded by presence, that more than alpha of the persons have.

    Also says of which fields these are, and how many values.

    A value that is left out leaves fewer persons who show any, so others may become too frequent: the most
    frequent value is taken, and all are counted again. Vertices that cannot be removed stay.
    """
    gone = np.zeros(forest.vertex_count, np.bool_)
    knowledge, phrases = constraints.knowledge, []
    if knowledge is None or knowledge.alpha is None:
        return gone, ""
    for bounded in constraints.bounded:
        if bounded.presence and bounded.kind in removable:
            vertices, values = _find_of_attribute(forest, bounded, knowledge.alpha.as_integer_ratio())
            gone |= vertices
            if values:
                path = forest.domains[bounded.kind][bounded.position].path
                some = "1 value" if values == 1 else f"{values} values"
                phrases.append(f"{some} of {path} at {int(vertices.sum())} vertices")
    listed = " and ".join(phrases)
    return gone, f"left out first, as more than alpha of all persons have them: {listed}" if phrases else ""


def _find_of_attribute(
    forest: Forest, bounded: BoundedValues, alpha: tuple[int, int]
) -> tuple[NDArray[np.bool_], int]:
    """Return the vertices with a too frequent value of an attribute, and how many values these are."""
    vertices = np.flatnonzero(forest.type == bounded.kind)
    codes = forest.sensitive[forest.first_sensitive[vertices] + bounded.position]
    vertices, codes = vertices[codes >= 0], codes[codes >= 0]
    width = int(codes.max(initial=0)) + 1
    is_bounded = np.isin(np.arange(width), sorted(bounded.codes))
    pairs = np.unique(forest.record_of[vertices] * width + codes)  # of each record each value once
    dropped = np.zeros(width, np.bool_)
    while True:
        remaining = pairs[~dropped[pairs % width]]
        shares = np.where(is_bounded, np.bincount(remaining % width, minlength=width), 0)
        most = int(shares.argmax())
        if int(shares[most]) * alpha[1] <= alpha[0] * len(np.unique(remaining // width)):
            break
        dropped[most] = True
    gone = np.zeros(forest.vertex_count, np.bool_)
    gone[vertices[dropped[codes]]] = True
    return gone, int(dropped.sum())


@dataclass(frozen=True)
class ForestWithout:
    """A forest without some vertices and all below them: ``kept`` are the others, ``entries`` their nodes."""

    whole: Forest
    forest: Forest
    kept: NDArray[np.int64]
    entries: NDArray[np.int64]

    @classmethod
    def of(cls, forest: Forest, gone: NDArray[np.bool_]) -> ForestWithout:
        """Leave the vertices out."""
        gone = gone.copy()
        for kind in forest.schema.types[1:]:  # types come after those above them
            of_kind = np.flatnonzero(forest.type == kind.index)
            gone[of_kind] |= gone[forest.parent[of_kind]]
        kept = np.flatnonzero(~gone)
        number = np.full(forest.vertex_count, -1)
        number[kept] = np.arange(len(kept))
        above = forest.parent[kept]
        parent = np.where(above >= 0, number[above], -1)
        record = forest.record_of[kept]
        count = np.bincount(parent[parent >= 0], minlength=len(kept))
        quasi, sensitive = (
            np.array(list(map(len, by_kind)), np.int64)[forest.type[kept]]
            for by_kind in (forest.hierarchies, forest.domains)
        )
        entries = concatenate_ranges(forest.first_node[kept], quasi)
        values = concatenate_ranges(forest.first_sensitive[kept], sensitive)
        rest = replace(
            forest,
            roots=np.searchsorted(record, np.arange(forest.record_count + 1)).astype(np.int64),
            type=forest.type[kept],
            parent=parent,
            first_child=np.cumsum(count) - count + record + 1,
            child_count=count,
            first_node=np.cumsum(quasi) - quasi,
            nodes=forest.nodes[entries],
            first_sensitive=np.cumsum(sensitive) - sensitive,
            sensitive=forest.sensitive[values],
            spelling=forest.spelling[values],
            carried={},
        )
        return cls(forest, rest, kept, entries)

    def take_back(self, partition: Partition, reason: str) -> Partition:
        """Return a partition of what is left as one of the whole forest: the other vertices are removed.

        ``reason`` says why, unless no class was found.
        """
        shown = np.full(self.whole.vertex_count, SUPPRESSED)
        stands_for = partition.representative
        shown[self.kept] = np.where(stands_for >= 0, self.kept[stands_for], SUPPRESSED)
        nodes = np.zeros_like(self.whole.nodes)
        nodes[self.entries] = partition.nodes
        lost = Counter({LEFT_OUT: self.whole.vertex_count - len(self.kept)})
        costs, why = partition.costs + lost, partition.reason or reason
        return replace(partition, representative=shown, nodes=nodes, costs=costs, reason=why)

"""All records as integer arrays, and the scope that is partitioned."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from hierdata.documents.document import Scalar
from hierdata.domains.base import Hierarchy
from hierdata.domains.sensitive import SensitiveDomain
from hierdata.records.schema import Schema

MISSING = -1
_LARGEST_LOSS = 2**62
_ROUNDED_SCALE = 2**40


@dataclass(frozen=True)
class Forest:
    """Records as arrays over one numbering of vertices.

    A record's vertices are contiguous and in breadth-first order, so a vertex's children are contiguous too,
    grouped by vertex type. ``roots[r]`` is the root of record r; ``roots[-1]`` the number of vertices.
    ``nodes[first_node[v] + i]`` is the hierarchy node of the i-th quasi-identifier of vertex v,
    ``sensitive[first_sensitive[v] + i]`` the code of its i-th sensitive value or MISSING, and
    ``spelling`` at the same index is the position of the value's spelling in ``spellings``. ``weight[v]`` is
    the number of quasi-identifiers in v's subtree: the loss of suppressing it.

    ``losses[t][i][node]`` is LM' of a node times ``scale``; ``exact`` tells whether these are exact integers
    or rounded to 2^-40 (DECISIONS 17). For a part of a collection ``heaviest`` is the largest number of
    quasi-identifiers of any record of the whole, so that all parts have one scale.
    """

    schema: Schema
    hierarchies: tuple[tuple[Hierarchy, ...], ...]
    domains: tuple[tuple[SensitiveDomain, ...], ...]
    roots: NDArray[np.int64]
    type: NDArray[np.int32]
    parent: NDArray[np.int64]
    first_child: NDArray[np.int64]
    child_count: NDArray[np.int64]
    first_node: NDArray[np.int64]
    nodes: NDArray[np.int32]
    first_sensitive: NDArray[np.int64]
    sensitive: NDArray[np.int32]
    spelling: NDArray[np.int32]
    spellings: tuple[Scalar, ...]
    carried: dict[int, tuple[Scalar, ...]]
    heaviest: int = 0

    @property
    def record_count(self) -> int:
        """Number of records."""
        return len(self.roots) - 1

    @property
    def vertex_count(self) -> int:
        """Number of vertices of all records."""
        return len(self.type)

    @cached_property
    def record_of(self) -> NDArray[np.int64]:
        """The record of each vertex."""
        return np.repeat(np.arange(self.record_count), np.diff(self.roots))

    @cached_property
    def quasi_count(self) -> NDArray[np.int64]:
        """Number of quasi-identifiers of each vertex."""
        per_type = np.array([len(own) for own in self.hierarchies], np.int64)
        return per_type[self.type]

    @cached_property
    def weight(self) -> NDArray[np.int64]:
        """Number of quasi-identifiers in the subtree of each vertex."""
        weight = self.quasi_count.copy()
        for kind in reversed(self.schema.types[1:]):
            vertices = np.flatnonzero(self.type == kind.index)
            np.add.at(weight, self.parent[vertices], weight[vertices])
        return weight

    @cached_property
    def _scale(self) -> tuple[int, bool]:
        denominators = {loss.denominator for own in self.hierarchies for tree in own for loss in tree.lm}
        scale = math.lcm(*denominators)
        heaviest = int(self.weight[self.roots[:-1]].max(initial=max(self.heaviest, 1)))
        # Twice the loss of two trees, an intermediate result, must fit into 64 bits.
        return (scale, True) if 4 * heaviest * scale <= _LARGEST_LOSS else (_ROUNDED_SCALE, False)

    @property
    def scale(self) -> int:
        """The factor that makes LM' an integer."""
        return self._scale[0]

    @property
    def exact(self) -> bool:
        """Whether ``losses`` are exact; else each was rounded once."""
        return self._scale[1]

    @cached_property
    def losses(self) -> tuple[tuple[NDArray[np.int64], ...], ...]:
        """LM' of every node times ``scale``, by vertex type and quasi-identifier."""
        return tuple(tuple(self._scale_losses(tree.lm) for tree in own) for own in self.hierarchies)

    def _scale_losses(self, losses: Sequence[Fraction]) -> NDArray[np.int64]:
        return np.array([round(loss * self.scale) for loss in losses], np.int64)


@dataclass(frozen=True)
class Scope:
    """What is partitioned: the vertices of one type that are not yet suppressed, one row each.

    ``kind`` 0 means whole records. ``vertices`` are the rows' vertices, ascending unless ``shuffle_rows``;
    ``rows`` are their positions among all vertices of the type, the index of
    ``Partition.equivalence_class``; ``records`` are the records they belong to. A class takes at most one
    vertex of any record.
    """

    kind: int
    vertices: NDArray[np.int64]
    rows: NDArray[np.int64]
    records: NDArray[np.int64]

    @classmethod
    def of(cls, forest: Forest, kind: int = 0, gone: NDArray[np.bool_] | None = None) -> Scope:
        """Select the vertices of a type, without those that are ``gone`` already."""
        every = np.flatnonzero(forest.type == kind)
        rows = np.arange(len(every)) if gone is None else np.flatnonzero(~gone[every])
        vertices = every[rows]
        return cls(kind, vertices, rows, forest.record_of[vertices])

    def shuffle_rows(self, rng: np.random.Generator) -> Scope:
        """Return the rows in random order."""
        order = rng.permutation(len(self.rows))
        return Scope(self.kind, self.vertices[order], self.rows[order], self.records[order])


def look_up(table: Sequence[int], codes: NDArray[np.int32]) -> NDArray[np.int32]:
    """Look up each code in a table; MISSING for a missing value."""
    return np.array([*table, MISSING], np.int32)[codes]  # MISSING is -1: the last entry

"""All records as integer arrays, and the scope that is partitioned."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from itertools import chain

import numpy as np
from numpy.typing import NDArray

from hierdata.documents.document import Scalar
from hierdata.domains.base import Hierarchy
from hierdata.domains.sensitive import SensitiveDomain
from hierdata.forest.worth import NOTHING, UNKNOWN, Heaviest, Worth
from hierdata.ground.errors import InputError
from hierdata.records.schema import Schema

MISSING = -1
_LARGEST_LOSS = 2**62
_ROUNDED_SCALE = 2**40
_LEAST_SCALE = 2**20
_LARGEST_WEIGHT = 2**31 - 1
"""Of a record: kernels keep weights in 32 bits."""


@dataclass(frozen=True)
class Forest:
    """Records as arrays over one numbering of vertices.

    A record's vertices are contiguous and in breadth-first order, so a vertex's children are contiguous too,
    grouped by vertex type. ``roots[r]`` is the root of record r; ``roots[-1]`` the number of vertices.
    ``nodes[first_node[v] + i]`` is the hierarchy node of the i-th quasi-identifier of vertex v,
    ``sensitive[first_sensitive[v] + i]`` the code of its i-th sensitive value or MISSING, and
    ``spelling`` at the same index is the position of the value's spelling in ``spellings``.

    ``lm[t][i][node]`` is LM' of a node times ``lm_scale``; ``exact`` tells whether these are exact integers
    or rounded to 2^-40. ``losses[t][i][node]`` is what a search minimizes: LM' times the
    weight in ``sought``, times ``scale``; ``weight[v]`` times ``scale`` is the loss of suppressing the
    subtree of v. ``sought`` None are the weights of LM. ``worth`` are the weights of the policy, None where
    it states none. ``facts`` are by vertex type the sensitive attributes that are among its quasi-identifiers
    too, as the last ones. ``input_sensitive`` are the codes of the input, if some were left out since.
    For a part of a collection ``heaviest`` is that of the whole, so that all parts have one
    scale. ``texts`` are the quasi-identifiers, by vertex type and position, whose labels are written as text.
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
    heaviest: Heaviest = NOTHING
    worth: Worth | None = None
    sought: Worth | None = None
    facts: tuple[tuple[int, ...], ...] = ()
    input_sensitive: NDArray[np.int32] | None = None
    texts: frozenset[tuple[int, int]] = frozenset()

    @property
    def record_count(self) -> int:
        """Number of records."""
        return len(self.roots) - 1

    @property
    def vertex_count(self) -> int:
        """Number of vertices of all records."""
        return len(self.type)

    @cached_property
    def own_widths(self) -> tuple[int, ...]:
        """By vertex type the number of quasi-identifiers that are no sensitive values."""
        added = self.facts or ((),) * len(self.hierarchies)
        return tuple(len(trees) - len(more) for trees, more in zip(self.hierarchies, added, strict=True))

    def find_fact(self, kind: int, position: int) -> int | None:
        """Return which quasi-identifier of a type a sensitive attribute is too; None if it is none."""
        added = self.facts[kind] if self.facts else ()
        return self.own_widths[kind] + added.index(position) if position in added else None

    @property
    def input_values(self) -> NDArray[np.int32]:
        """The codes of the sensitive values of the input, also of those that were left out."""
        return self.sensitive if self.input_sensitive is None else self.input_sensitive

    @property
    def as_given(self) -> Forest:
        """The forest with the sensitive values of the input."""
        if self.input_sensitive is None:
            return self
        return replace(self, sensitive=self.input_sensitive, input_sensitive=None)

    def list_domains(self) -> Iterator[tuple[int, int, SensitiveDomain]]:
        """Yield each sensitive attribute: its vertex type, its position there, and its domain."""
        for kind, domains in enumerate(self.domains):
            yield from ((kind, position, domain) for position, domain in enumerate(domains))

    @property
    def root_hierarchies(self) -> tuple[Hierarchy, ...]:
        """The hierarchies of the root vector: without sensitive values."""
        return self.hierarchies[0][: self.own_widths[0]]

    @cached_property
    def record_of(self) -> NDArray[np.int64]:
        """The record of each vertex."""
        return np.repeat(np.arange(self.record_count), np.diff(self.roots))

    @cached_property
    def quasi_count(self) -> NDArray[np.int64]:
        """Number of quasi-identifiers of each vertex."""
        return np.array(list(map(len, self.hierarchies)), np.int64)[self.type]

    @cached_property
    def weight_by_type(self) -> NDArray[np.int64]:
        """Weight of a vertex of each type, without those below it."""
        return (self.sought or Worth.of_lm(self.hierarchies, self.domains)).by_type

    @cached_property
    def own_weight(self) -> NDArray[np.int64]:
        """Weight of each vertex, without those below it."""
        return self.weight_by_type[self.type]

    @cached_property
    def weight(self) -> NDArray[np.int64]:
        """Weight of the subtree of each vertex."""
        weight = self.own_weight.copy()
        for kind in reversed(self.schema.types[1:]):
            vertices = np.flatnonzero(self.type == kind.index)
            np.add.at(weight, self.parent[vertices], weight[vertices])
        return weight

    @cached_property
    def constants(self) -> dict[int, int]:
        """The weight of vertices apart from their quasi-identifiers, by vertex type where it is not 0."""
        constants = () if self.sought is None else self.sought.constants
        return {kind: constant for kind, constant in enumerate(constants) if constant}

    @cached_property
    def _common_scale(self) -> int:
        """The least factor that makes every LM' an integer."""
        trees = chain.from_iterable(self.hierarchies)
        return math.lcm(*{loss.denominator for tree in trees for loss in tree.lm})

    @cached_property
    def _scale(self) -> tuple[int, bool]:
        counts = np.add.reduceat(self.quasi_count, self.roots[:-1])
        heaviest = int(counts.max(initial=max(self.heaviest.quasi, 1)))
        # Twice the loss of two trees, an intermediate result, must fit into 64 bits.
        if 4 * heaviest * self._common_scale <= _LARGEST_LOSS:
            return self._common_scale, True
        return _ROUNDED_SCALE, False

    @property
    def lm_scale(self) -> int:
        """The factor that makes LM' an integer."""
        return self._scale[0]

    @property
    def exact(self) -> bool:
        """Whether ``lm`` is exact; else each was rounded once."""
        return self._scale[1]

    @cached_property
    def lm(self) -> tuple[tuple[NDArray[np.int64], ...], ...]:
        """LM' of every node times ``lm_scale``, by vertex type and quasi-identifier."""
        scale = self.lm_scale
        return tuple(tuple(_scale_losses(tree.lm, scale) for tree in trees) for trees in self.hierarchies)

    @cached_property
    def scale(self) -> int:
        """The factor that makes losses integers.

        It is exact where 4 * heaviest record * (most pairs + 1) * scale <= 2^62, so that sums fit and ties
        can favor more pairs; else the largest power of two that fits. Raises InputError below 2^20.
        """
        if self.sought is None:
            return self.lm_scale
        if self.heaviest == UNKNOWN:
            return _LEAST_SCALE
        heaviest = int(self.weight[self.roots[:-1]].max(initial=max(self.heaviest.weight, 1)))
        pairs = int(self.child_count.max(initial=self.heaviest.children))
        room = _LARGEST_LOSS // (4 * heaviest * (pairs + 1))
        if room < _LEAST_SCALE or heaviest > _LARGEST_WEIGHT:
            raise InputError(
                f"the weights of the values of one record add up to {heaviest} units and a list has {pairs} "
                "items, too much to compare losses exactly: state rounder weights, or divide the records"
            )
        return self._common_scale if self._common_scale <= room else 1 << (room.bit_length() - 1)

    @cached_property
    def losses(self) -> tuple[tuple[NDArray[np.int64], ...], ...]:
        """The loss of publishing every node, times ``scale``, by vertex type and quasi-identifier."""
        if self.sought is None:
            return self.lm
        by_type = zip(self.sought.quasi, self.hierarchies, strict=True)
        return tuple(
            tuple(_scale_losses(tree.lm, weight * self.scale) for weight, tree in zip(*pair, strict=True))
            for pair in by_type
        )


def _scale_losses(losses: Sequence[Fraction], scale: int) -> NDArray[np.int64]:
    # Nodes with as many leaves share one object; to look each fraction up by its value would take long.
    different = {id(loss): loss for loss in losses}
    scaled = {identity: round(loss * scale) for identity, loss in different.items()}
    return np.array([scaled[id(loss)] for loss in losses], np.int64)


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


def concatenate_ranges(first: NDArray[np.int64], count: NDArray[np.int64]) -> NDArray[np.int64]:
    """Concatenate ranges, given by start and length."""
    ends = np.cumsum(count)
    return np.repeat(first - (ends - count), count) + np.arange(ends[-1] if len(ends) else 0)

"""All records as integer arrays: encoded once, decoded once."""

from __future__ import annotations

import math
from array import array
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from hierdata.document import Scalar
from hierdata.domains.base import Hierarchy, Uncovered
from hierdata.domains.sensitive import SensitiveDomain
from hierdata.errors import InputError
from hierdata.records.record import Vertex
from hierdata.records.schema import Role, Schema

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
    ``spelling`` beside it the index of the value's spelling in ``spellings``. ``weight[v]`` counts the
    quasi-identifiers of v's subtree: what suppressing it costs.

    ``losses[t][i][node]`` is LM' of a node times ``scale``; ``exact`` tells whether that is an integer by
    nature or rounded to 2^-40 (DECISIONS 17).
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
        """Quasi-identifiers in the subtree of each vertex."""
        weight = self.quasi_count.copy()
        for kind in reversed(self.schema.types[1:]):
            vertices = np.flatnonzero(self.type == kind.index)
            np.add.at(weight, self.parent[vertices], weight[vertices])
        return weight

    @cached_property
    def _scale(self) -> tuple[int, bool]:
        denominators = {loss.denominator for own in self.hierarchies for tree in own for loss in tree.lm}
        scale = math.lcm(*denominators)
        heaviest = int(self.weight[self.roots[:-1]].max(initial=1))
        # The loss of two trees, doubled on the way, must fit into 64 bits.
        return (scale, True) if 4 * heaviest * scale <= _LARGEST_LOSS else (_ROUNDED_SCALE, False)

    @property
    def scale(self) -> int:
        """What LM' is multiplied by to be an integer."""
        return self._scale[0]

    @property
    def exact(self) -> bool:
        """Whether ``losses`` are exact multiples, or each was rounded once."""
        return self._scale[1]

    @cached_property
    def losses(self) -> tuple[tuple[NDArray[np.int64], ...], ...]:
        """LM' of every node times ``scale``, by vertex type and quasi-identifier."""
        return tuple(tuple(self._scaled(tree.lm) for tree in own) for own in self.hierarchies)

    def _scaled(self, losses: Sequence[Fraction]) -> NDArray[np.int64]:
        return np.array([round(loss * self.scale) for loss in losses], np.int64)


@dataclass(frozen=True)
class Scope:
    """What is partitioned: the vertices of one type that are still there, one row each.

    ``kind`` 0 means the records with all that belongs to them. ``vertices`` are the rows' vertices,
    ascending unless ``shuffled``; ``rows`` their positions among all vertices of the type, which
    ``Partition.class_of`` goes by; ``records`` the records they belong to. A class takes at most one vertex
    of any record.
    """

    kind: int
    vertices: NDArray[np.int64]
    rows: NDArray[np.int64]
    records: NDArray[np.int64]

    @classmethod
    def of(cls, forest: Forest, kind: int = 0, gone: NDArray[np.bool_] | None = None) -> Scope:
        """The vertices of a type, those left out that are ``gone`` already."""
        every = np.flatnonzero(forest.type == kind)
        rows = np.arange(len(every)) if gone is None else np.flatnonzero(~gone[every])
        vertices = every[rows]
        return cls(kind, vertices, rows, forest.record_of[vertices])

    def shuffled(self, rng: np.random.Generator) -> Scope:
        """The same rows in random order."""
        order = rng.permutation(len(self.rows))
        return Scope(self.kind, self.vertices[order], self.rows[order], self.records[order])


class _Encoder:
    """Collects the columns while records stream by."""

    def __init__(
        self,
        schema: Schema,
        hierarchies: Sequence[Sequence[Hierarchy]],
        domains: Sequence[Sequence[SensitiveDomain]],
    ) -> None:
        self._schema = schema
        self._node_of = [[tree.node_of for tree in own] for own in hierarchies]
        self._code_of = [[domain.code_of for domain in own] for own in domains]
        self.roots = array("q", [0])  # arrays take a fifth of the memory of lists
        self.type = array("i")
        self.parent = array("q")
        self.first_child = array("q")
        self.child_count = array("q")
        self.nodes = array("i")
        self.sensitive = array("i")
        self.spelling = array("i")
        self.spellings: dict[object, int] = {}
        self.spelled: list[Scalar] = []
        self.carried: dict[int, tuple[Scalar, ...]] = {}

    def add(self, record: Vertex) -> None:
        base = len(self.type)
        queue = [record]
        parents = [-1]
        for position, vertex in enumerate(queue):
            self.type.append(vertex.type)
            self.first_child.append(base + len(queue))
            self.child_count.append(len(vertex.children))
            if vertex.children:
                queue += vertex.children
                parents += [base + position] * len(vertex.children)
            try:
                lookups = zip(self._node_of[vertex.type], vertex.quasi, strict=True)
                self.nodes.extend([node_of(value) for node_of, value in lookups])
            except Uncovered:
                raise self._uncovered(vertex, Role.QUASI) from None
            if vertex.sensitive:
                self._add_sensitive(vertex)
            if vertex.carried:
                self.carried[base + position] = tuple(vertex.carried)
        self.parent.extend(parents)
        self.roots.append(base + len(queue))

    def _add_sensitive(self, vertex: Vertex) -> None:
        for code_of, value in zip(self._code_of[vertex.type], vertex.sensitive, strict=True):
            if value is None:
                self.sensitive.append(MISSING)
                self.spelling.append(MISSING)
                continue
            key = value if type(value) is str else (type(value), getattr(value, "text", None) or str(value))
            index = self.spellings.get(key)
            if index is None:
                index = self.spellings[key] = len(self.spelled)
                self.spelled.append(value)
            try:
                self.sensitive.append(code_of(value))
            except Uncovered:
                raise self._uncovered(vertex, Role.SENSITIVE) from None
            self.spelling.append(index)

    def _uncovered(self, vertex: Vertex, role: Role) -> InputError:
        """Find the attribute again, on the slow path; the value itself must stay out of the message."""
        attributes = self._schema.types[vertex.type].of_role(role)
        lookups = (self._node_of if role is Role.QUASI else self._code_of)[vertex.type]
        values = vertex.quasi if role is Role.QUASI else vertex.sensitive
        for attribute, lookup, value in zip(attributes, lookups, values, strict=True):
            try:
                if value is not None or role is Role.QUASI:
                    lookup(value)
            except Uncovered:
                return InputError(
                    "the value is outside the domain that the policy gives this field",
                    record=len(self.roots),
                    path=attribute.path,
                    revealed=(str(value),),
                )
        raise AssertionError("an encoder refused a value and accepted it the second time")


def encode(
    records: Iterable[Vertex],
    schema: Schema,
    hierarchies: Sequence[Sequence[Hierarchy]],
    domains: Sequence[Sequence[SensitiveDomain]],
) -> Forest:
    """Encode bound records; ``hierarchies`` and ``domains`` stand by vertex type and its attributes' order.

    Raises InputError for a value outside its domain (record and path, never the value).
    """
    encoder = _Encoder(schema, hierarchies, domains)
    for record in records:
        encoder.add(record)
    kinds = np.array(encoder.type, np.int32)

    def first(counts: Sequence[int]) -> NDArray[np.int64]:
        ends = np.cumsum(np.array(counts, np.int64)[kinds]) if len(kinds) else np.zeros(0, np.int64)
        return ends - np.array(counts, np.int64)[kinds]

    return Forest(
        schema=schema,
        hierarchies=tuple(tuple(own) for own in hierarchies),
        domains=tuple(tuple(own) for own in domains),
        roots=np.array(encoder.roots, np.int64),
        type=kinds,
        parent=np.array(encoder.parent, np.int64),
        first_child=np.array(encoder.first_child, np.int64),
        child_count=np.array(encoder.child_count, np.int64),
        first_node=first([len(own) for own in hierarchies]),
        nodes=np.array(encoder.nodes, np.int32),
        first_sensitive=first([len(own) for own in domains]),
        sensitive=np.array(encoder.sensitive, np.int32),
        spelling=np.array(encoder.spelling, np.int32),
        spellings=tuple(encoder.spelled),
        carried=encoder.carried,
    )

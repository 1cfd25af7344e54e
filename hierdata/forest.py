"""All records as integer arrays: encoded once, decoded once."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import islice
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hierdata.document import Scalar
from hierdata.domains.base import Hierarchy, Uncovered
from hierdata.domains.sensitive import SensitiveDomain
from hierdata.errors import InputError
from hierdata.records.record import Vertex
from hierdata.records.schema import Role, Schema

MISSING = -1
_BATCH = 1024
"""Records that are encoded at once."""
_TEXTS = frozenset({str, type(None)})
_ARRAYS = {
    **dict.fromkeys(("type", "nodes", "sensitive", "spelling"), np.int32),
    **dict.fromkeys(("size", "parent", "first_child", "child_count"), np.int64),
}
"""What is collected of all records, with its type; ``size`` is the number of a record's vertices."""
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


class _Lookup(dict[Any, int]):
    """What values came to, each looked up once; values stand in it by their keys (see _keys)."""

    def __init__(self, code_of: Callable[[Any], int], known: Mapping[Any, int] | None = None) -> None:
        super().__init__(known or {})
        self._code_of = code_of

    def __missing__(self, key: Any) -> int:
        code = self[key] = self._code_of(key[0] if type(key) is tuple else key)
        return code

    def all(self, keys: Sequence[Any]) -> NDArray[np.int32]:
        """What each of these came to."""
        return np.fromiter(map(self.__getitem__, keys), np.int32, len(keys))


def _keys(column: Sequence[Scalar]) -> Sequence[Any]:
    """What tells values apart that are spelled in different ways: True, 1, 1.0 and 1.00 are four."""
    if _TEXTS.issuperset(map(type, column)):
        return column
    return [
        value if type(value) in _TEXTS else (value, type(value), getattr(value, "text", None) or str(value))
        for value in column
    ]


class _Encoder:
    """Collects arrays while records stream by: batch after batch, and in a batch column after column."""

    def __init__(
        self,
        schema: Schema,
        hierarchies: Sequence[Sequence[Hierarchy]],
        domains: Sequence[Sequence[SensitiveDomain]],
    ) -> None:
        self._schema = schema
        self._nodes = [[_Lookup(tree.node_of) for tree in own] for own in hierarchies]
        self._codes = [[_Lookup(domain.code_of, {None: MISSING}) for domain in own] for own in domains]
        self._spellings = _Lookup(self._spelled, {None: MISSING})
        self._counts = [np.array(list(map(len, own)), np.int64) for own in (hierarchies, domains)]
        self.spelled: list[Scalar] = []
        self.carried: dict[int, tuple[Scalar, ...]] = {}
        self.records = self.vertices = 0
        self._found: dict[str, list[NDArray[Any]]] = {
            name: [np.zeros(0, kind)] for name, kind in _ARRAYS.items()
        }

    def _spelled(self, value: Scalar) -> int:
        self.spelled.append(value)
        return len(self.spelled) - 1

    def arrays(self) -> dict[str, NDArray[Any]]:
        """All that was collected, by the names of the forest."""
        return {name: np.concatenate(self._found.pop(name)) for name in _ARRAYS}

    def add(self, records: Sequence[Vertex]) -> None:
        """Encode some more records. Raises InputError."""
        order, sizes = _breadth_first(records)
        kinds = np.array([vertex.type for vertex in order], np.int32)
        record = np.repeat(np.arange(len(records)), sizes)
        first_node, first_sensitive = (np.cumsum(counts[kinds]) - counts[kinds] for counts in self._counts)
        nodes, codes, spellings = (
            np.empty(int(counts[kinds].sum()), np.int32)
            for counts in (self._counts[0], self._counts[1], self._counts[1])
        )
        try:
            for kind in np.unique(kinds).tolist():
                at = np.flatnonzero(kinds == kind)
                own = order if len(at) == len(order) else [order[place] for place in at.tolist()]
                quasi = zip(*[vertex.quasi for vertex in own], strict=True)
                for place, (lookup, column) in enumerate(zip(self._nodes[kind], quasi, strict=True)):
                    nodes[first_node[at] + place] = lookup.all(_keys(column))
                sensitive = zip(*[vertex.sensitive for vertex in own], strict=True)
                for place, (lookup, column) in enumerate(zip(self._codes[kind], sensitive, strict=True)):
                    keys = _keys(column)
                    codes[first_sensitive[at] + place] = lookup.all(keys)
                    spellings[first_sensitive[at] + place] = self._spellings.all(keys)
                if own[0].carried:
                    places = (at + self.vertices).tolist()
                    self.carried.update(zip(places, (tuple(vertex.carried) for vertex in own), strict=True))
        except Uncovered:
            raise self._uncovered(order, record) from None
        self._keep(
            size=np.array(sizes, np.int64),
            type=kinds,
            nodes=nodes,
            sensitive=codes,
            spelling=spellings,
            **self._edges(order, record),
        )
        self.records += len(records)
        self.vertices += len(order)

    def _edges(self, order: Sequence[Vertex], record: NDArray[np.int64]) -> dict[str, NDArray[Any]]:
        """Parents and children: in breadth-first order a vertex's children follow those of the one before."""
        count = np.array([len(vertex.children) for vertex in order], np.int64)
        parent = np.full(len(order), -1)
        below = np.diff(record, prepend=-1) == 0
        parent[below] = np.repeat(np.arange(len(order)) + self.vertices, count)
        first = np.cumsum(count) - count + record + 1 + self.vertices
        return {"parent": parent, "first_child": first, "child_count": count}

    def _keep(self, **found: NDArray[Any]) -> None:
        for name, array in found.items():
            self._found[name].append(array)

    def _uncovered(self, order: Sequence[Vertex], record: NDArray[np.int64]) -> InputError:
        """The first value outside its domain; the value itself must stay out of the message."""
        for place, vertex in enumerate(order):
            kind = self._schema.types[vertex.type]
            quasi = zip(kind.of_role(Role.QUASI), self._nodes[kind.index], vertex.quasi, strict=True)
            codes = self._codes[kind.index]
            sensitive = zip(kind.of_role(Role.SENSITIVE), codes, vertex.sensitive, strict=True)
            for attribute, lookup, value in (*quasi, *sensitive):
                try:
                    lookup.all(_keys([value]))
                except Uncovered:
                    return InputError(
                        "the value is outside the domain that the policy gives this field; "
                        "`hierdata lint --data` counts such values",
                        record=self.records + int(record[place]) + 1,
                        path=attribute.path,
                        revealed=(str(value),),
                    )
        raise AssertionError("an encoder refused a value and accepted it the second time")


def _breadth_first(records: Sequence[Vertex]) -> tuple[list[Vertex], list[int]]:
    """The vertices of one record after the other, each in breadth-first order; how many each record has."""
    order: list[Vertex] = []
    sizes = []
    for record in records:
        own = [record]
        if record.children:
            for vertex in own:
                own += vertex.children
        order += own
        sizes.append(len(own))
    return order, sizes


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
    stream = iter(records)
    while batch := list(islice(stream, _BATCH)):
        encoder.add(batch)
    arrays = encoder.arrays()

    def first(own: Sequence[Sequence[object]]) -> NDArray[np.int64]:
        counts: NDArray[np.int64] = np.array(list(map(len, own)), np.int64)[arrays["type"]]
        return np.cumsum(counts) - counts

    return Forest(
        schema=schema,
        hierarchies=tuple(tuple(own) for own in hierarchies),
        domains=tuple(tuple(own) for own in domains),
        roots=np.append(0, np.cumsum(arrays.pop("size"))),
        first_node=first(hierarchies),
        first_sensitive=first(domains),
        spellings=tuple(encoder.spelled),
        carried=encoder.carried,
        **arrays,
    )

"""Records to arrays: every value is looked up once on the way in."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import islice
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hierdata.document import Scalar
from hierdata.domains.base import Hierarchy, Uncovered
from hierdata.domains.sensitive import SensitiveDomain
from hierdata.errors import InputError
from hierdata.forest import MISSING, Forest
from hierdata.records.record import Vertex
from hierdata.records.schema import Role, Schema

_BATCH = 1024
"""Records that are encoded at once."""
_TEXTS = frozenset({str, type(None)})
_ARRAYS = {
    **dict.fromkeys(("type", "nodes", "sensitive", "spelling"), np.int32),
    **dict.fromkeys(("size", "parent", "first_child", "child_count"), np.int64),
}
"""What is collected of all records, with its type; ``size`` is the number of a record's vertices."""


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
                        "the value is outside the domain that the policy gives this field",
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

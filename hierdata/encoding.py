"""Records to arrays: every value is looked up once on the way in.

``Encoded`` is what of a few records must travel from where they are read to where they are clustered; a
forest is made of it, or of several.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
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
    **dict.fromkeys(("type", "child_count", "nodes", "sensitive", "spelling"), np.int32),
    "size": np.int64,
}
"""What is collected of all records, with its type; ``size`` is the number of a record's vertices."""


@dataclass(frozen=True)
class Encoded:
    """Some records as arrays, one record after the other: no more than a forest cannot be made without.

    ``ordinals`` are the records' places in the collection, from 0; ``size`` has the number of vertices of
    each. Vertices have a ``type`` and a ``child_count``; ``nodes``, ``sensitive`` and ``spelling`` follow one
    another as in a forest, with ``spellings`` of their own; ``carried`` goes by vertex.
    """

    ordinals: NDArray[np.int64]
    size: NDArray[np.int64]
    type: NDArray[np.int32]
    child_count: NDArray[np.int32]
    nodes: NDArray[np.int32]
    sensitive: NDArray[np.int32]
    spelling: NDArray[np.int32]
    spellings: tuple[Scalar, ...]
    carried: dict[int, tuple[Scalar, ...]]

    @property
    def record_count(self) -> int:
        """Number of records."""
        return len(self.size)


@dataclass(frozen=True)
class Frame:
    """What the records of a collection share: a forest is encoded records in a frame.

    ``hierarchies`` and ``domains`` stand by vertex type and its attributes' order.
    """

    schema: Schema
    hierarchies: tuple[tuple[Hierarchy, ...], ...]
    domains: tuple[tuple[SensitiveDomain, ...], ...]

    def forest(self, encoded: Encoded, heaviest: int = 0) -> Forest:
        """The records as a forest.

        ``heaviest`` is the most quasi-identifiers of any record of the collection, of which these may be a
        part: losses have one scale in all parts.
        """
        count = encoded.child_count.astype(np.int64)
        record = np.repeat(np.arange(encoded.record_count), encoded.size)
        roots = np.append(0, np.cumsum(encoded.size))
        below = np.ones(len(count), np.bool_)
        below[roots[:-1]] = False
        parent = np.full(len(count), -1)
        # In breadth-first order a vertex's children follow those of the one before.
        parent[below] = np.repeat(np.arange(len(count)), count)
        return Forest(
            schema=self.schema,
            hierarchies=self.hierarchies,
            domains=self.domains,
            roots=roots,
            type=encoded.type,
            parent=parent,
            first_child=np.cumsum(count) - count + record + 1,
            child_count=count,
            first_node=_firsts(self.hierarchies, encoded.type),
            nodes=encoded.nodes,
            first_sensitive=_firsts(self.domains, encoded.type),
            sensitive=encoded.sensitive,
            spelling=encoded.spelling,
            spellings=encoded.spellings,
            carried=encoded.carried,
            heaviest=heaviest,
        )


def _firsts(attributes: Sequence[Sequence[object]], types: NDArray[np.int32]) -> NDArray[np.int64]:
    """By vertex, where its own begin if each vertex has as many as its type has attributes."""
    counts: NDArray[np.int64] = np.array(list(map(len, attributes)), np.int64)[types]
    return np.cumsum(counts) - counts


def part(forest: Forest, ordinals: NDArray[np.int64], records: NDArray[np.int64]) -> Encoded:
    """Some records of a forest, in this order, with no spelling that they do not use.

    ``ordinals`` are the places in the collection of all records of the forest.
    """
    size = np.diff(forest.roots)[records]
    vertices = _ranges(forest.roots[records], size)
    types = forest.type[vertices]
    nodes, sensitive = (
        _ranges(first[vertices], np.array(list(map(len, own)), np.int64)[types])
        for first, own in (
            (forest.first_node, forest.hierarchies),
            (forest.first_sensitive, forest.domains),
        )
    )
    used, spelling = np.unique(forest.spelling[sensitive], return_inverse=True)
    missing = int(used[:1].sum() == MISSING) if len(used) else 0
    carried = (
        {
            place: forest.carried[vertex]
            for place, vertex in enumerate(vertices.tolist())
            if vertex in forest.carried
        }
        if forest.carried
        else {}
    )
    return Encoded(
        ordinals=ordinals[records],
        size=size,
        type=types,
        child_count=forest.child_count[vertices].astype(np.int32),
        nodes=forest.nodes[nodes],
        sensitive=forest.sensitive[sensitive],
        spelling=(spelling.reshape(-1) - missing).astype(np.int32),
        spellings=tuple(forest.spellings[one] for one in used[missing:].tolist()),
        carried=carried,
    )


def _ranges(first: NDArray[np.int64], count: NDArray[np.int64]) -> NDArray[np.int64]:
    """The numbers of several ranges, one range after the other."""
    ends = np.cumsum(count)
    return np.repeat(first - (ends - count), count) + np.arange(ends[-1] if len(ends) else 0)


def joined(parts: Sequence[Encoded]) -> Encoded:
    """The records of several parts, in their order; each spelling once."""
    if len(parts) == 1:
        return parts[0]
    places = _Lookup(lambda value: len(spellings))
    spellings: list[Scalar] = []
    spelled = [np.zeros(0, np.int32)]
    carried: dict[int, tuple[Scalar, ...]] = {}
    vertices = 0
    for one in parts:
        numbers = []
        for key, value in zip(_keys(one.spellings), one.spellings, strict=True):
            numbers.append(places[key])
            if numbers[-1] == len(spellings):
                spellings.append(value)
        spelled.append(np.array([*numbers, MISSING], np.int32)[one.spelling])
        carried.update((vertices + vertex, values) for vertex, values in one.carried.items())
        vertices += len(one.type)

    def all_of(name: str) -> NDArray[Any]:
        kind = _ARRAYS.get(name, np.int64)
        return np.concatenate([np.zeros(0, kind), *(getattr(one, name) for one in parts)])

    return Encoded(
        spelling=np.concatenate(spelled),
        spellings=tuple(spellings),
        carried=carried,
        **{name: all_of(name) for name in ("ordinals", "size", "type", "child_count", "nodes", "sensitive")},
    )


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

    def __init__(self, frame: Frame, before: int) -> None:
        self._schema = frame.schema
        self._nodes = [[_Lookup(tree.node_of) for tree in own] for own in frame.hierarchies]
        self._codes = [[_Lookup(domain.code_of, {None: MISSING}) for domain in own] for own in frame.domains]
        self._spellings = _Lookup(self._spelled, {None: MISSING})
        self._counts = [np.array(list(map(len, own)), np.int64) for own in (frame.hierarchies, frame.domains)]
        self._spelled_values: list[Scalar] = []
        self.records = self._first = before
        self._begin()

    def _begin(self) -> None:
        self._first = self.records
        self._vertices = 0
        self._carried: dict[int, tuple[Scalar, ...]] = {}
        self._found: dict[str, list[NDArray[Any]]] = {
            name: [np.zeros(0, kind)] for name, kind in _ARRAYS.items()
        }

    def _spelled(self, value: Scalar) -> int:
        self._spelled_values.append(value)
        return len(self._spelled_values) - 1

    def taken(self) -> Encoded:
        """All that was added since the last call."""
        arrays = {name: np.concatenate(found) for name, found in self._found.items()}
        ordinals = np.arange(self._first, self.records)
        encoded = Encoded(
            ordinals=ordinals, spellings=tuple(self._spelled_values), carried=self._carried, **arrays
        )
        self._begin()
        return encoded

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
                    places = (at + self._vertices).tolist()
                    self._carried.update(zip(places, (tuple(vertex.carried) for vertex in own), strict=True))
        except Uncovered:
            raise self._uncovered(order, record) from None
        found: dict[str, NDArray[Any]] = {
            "size": np.array(sizes, np.int64),
            "type": kinds,
            "child_count": np.array([len(vertex.children) for vertex in order], np.int32),
            "nodes": nodes,
            "sensitive": codes,
            "spelling": spellings,
        }
        for name, array in found.items():
            self._found[name].append(array)
        self.records += len(records)
        self._vertices += len(order)

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


def encoded(
    records: Iterable[Vertex], frame: Frame, before: int = 0, batch: int | None = None
) -> Iterator[Encoded]:
    """Encode bound records, in pieces of about ``batch`` records; None: all in one.

    ``before`` records of the collection came before these. Raises InputError for a value outside its domain
    (record and path, never the value).
    """
    encoder = _Encoder(frame, before)
    stream = iter(records)
    waiting = 0
    while rows := list(islice(stream, _BATCH)):
        encoder.add(rows)
        waiting += len(rows)
        if batch is not None and waiting >= batch:
            yield encoder.taken()
            waiting = 0
    if waiting or batch is None:
        yield encoder.taken()


def encode(
    records: Iterable[Vertex],
    schema: Schema,
    hierarchies: Sequence[Sequence[Hierarchy]],
    domains: Sequence[Sequence[SensitiveDomain]],
) -> Forest:
    """A forest of bound records; ``hierarchies`` and ``domains`` stand by vertex type and attributes' order.

    Raises InputError for a value outside its domain (record and path, never the value).
    """
    frame = Frame(schema, tuple(map(tuple, hierarchies)), tuple(map(tuple, domains)))
    (all_of_them,) = encoded(records, frame)
    return frame.forest(all_of_them)

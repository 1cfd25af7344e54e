"""Records to arrays: every value is looked up once on the way in."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hierdata.document import Scalar
from hierdata.domains.base import Hierarchy, Uncovered
from hierdata.domains.sensitive import SensitiveDomain
from hierdata.errors import InputError
from hierdata.forest import MISSING, Forest
from hierdata.pieces import Encoded, Frame, spellings_apart
from hierdata.records.record import Vertex
from hierdata.records.schema import Role, Schema

_BATCH = 4096
"""About so many vertices are encoded at once."""
_ARRAYS = {
    **dict.fromkeys(("type", "child_count", "nodes", "sensitive", "spelling"), np.int32),
    "size": np.int64,
}
"""What is collected of all records, with its type; ``size`` is the number of a record's vertices."""


class _Lookup(dict[Any, int]):
    """What values came to, each looked up once; values stand in it by their keys (see spellings_apart)."""

    def __init__(self, code_of: Callable[[Any], int], known: Mapping[Any, int] | None = None) -> None:
        super().__init__(known or {})
        self._code_of = code_of

    def __missing__(self, key: Any) -> int:
        code = self[key] = self._code_of(key[0] if type(key) is tuple else key)
        return code

    def all(self, keys: Sequence[Any]) -> NDArray[np.int32]:
        """What each of these came to."""
        return np.fromiter(map(self.__getitem__, keys), np.int32, len(keys))


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

    def add(self, order: Sequence[Vertex], sizes: Sequence[int]) -> None:
        """Encode some more records, each with so many of the vertices. Raises InputError."""
        kinds = np.array([vertex.type for vertex in order], np.int32)
        record = np.repeat(np.arange(len(sizes)), sizes)
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
                    nodes[first_node[at] + place] = lookup.all(spellings_apart(column))
                sensitive = zip(*[vertex.sensitive for vertex in own], strict=True)
                for place, (lookup, column) in enumerate(zip(self._codes[kind], sensitive, strict=True)):
                    keys = spellings_apart(column)
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
        self.records += len(sizes)
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
                    lookup.all(spellings_apart([value]))
                except Uncovered:
                    return InputError(
                        "the value is outside the domain that the policy gives this field",
                        record=self.records + int(record[place]) + 1,
                        path=attribute.path,
                        revealed=(str(value),),
                    )
        raise AssertionError("an encoder refused a value and accepted it the second time")


def _batches(records: Iterable[Vertex], most: int | None) -> Iterator[tuple[list[Vertex], list[int]]]:
    """The vertices of ``most`` records at most, each in breadth-first order; how many each has."""
    order: list[Vertex] = []
    sizes: list[int] = []
    for record in records:
        before = len(order)
        order.append(record)
        if record.children:
            own = [record]
            for vertex in own:
                own += vertex.children
            order += own[1:]
        sizes.append(len(order) - before)
        if len(order) >= _BATCH or len(sizes) == most:
            yield order, sizes
            order, sizes = [], []
    if order:
        yield order, sizes


def encoded(
    records: Iterable[Vertex], frame: Frame, before: int = 0, batch: int | None = None
) -> Iterator[Encoded]:
    """Encode bound records, in pieces of about ``batch`` records; None: all in one.

    ``before`` records of the collection came before these. Raises InputError for a value outside its domain
    (record and path, never the value).
    """
    encoder = _Encoder(frame, before)
    waiting = 0
    for order, sizes in _batches(records, batch):
        encoder.add(order, sizes)
        waiting += len(sizes)
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

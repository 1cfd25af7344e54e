"""Encoded records on their way: no more of them than a forest cannot be made without.

Records are encoded where they are read and clustered elsewhere, some of each together. ``Encoded`` is what
travels; what all records of a collection share, a ``Frame``, is there already.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from operator import attrgetter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hierdata.documents.document import Numeral, Scalar
from hierdata.documents.scalars import Decimal128, Double
from hierdata.domains.base import Hierarchy
from hierdata.domains.sensitive import SensitiveDomain
from hierdata.forest.forest import MISSING, Forest
from hierdata.records.schema import Schema

_TEXTS = frozenset({str, type(None)})
_DOUBLES = {Double}
_key_of = attrgetter("key")
_DECIMALS = frozenset({Decimal, Double, Decimal128})
_SPELLED = frozenset({*_DECIMALS, Numeral, *_TEXTS})


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
    places: dict[Any, int] = {}
    spellings: list[Scalar] = []
    spelled = [np.zeros(0, np.int32)]
    carried: dict[int, tuple[Scalar, ...]] = {}
    vertices = 0
    for one in parts:
        numbers = []
        for key, value in zip(spellings_apart(one.spellings), one.spellings, strict=True):
            numbers.append(places.setdefault(key, len(spellings)))
            if numbers[-1] == len(spellings):
                spellings.append(value)
        spelled.append(np.array([*numbers, MISSING], np.int32)[one.spelling])
        carried.update((vertices + vertex, values) for vertex, values in one.carried.items())
        vertices += len(one.type)

    def all_of(name: str) -> NDArray[Any]:
        return np.concatenate([getattr(one, name) for one in parts])

    return Encoded(
        spelling=np.concatenate(spelled),
        spellings=tuple(spellings),
        carried=carried,
        **{name: all_of(name) for name in ("ordinals", "size", "type", "child_count", "nodes", "sensitive")},
    )


def spellings_apart(column: Sequence[Scalar]) -> Sequence[Any]:
    """What tells values apart that are spelled in different ways: True, 1, 1.0 and 1.00 are four.

    Text stands for itself, anything else beside its type, decimal numbers by their spelling: that is told
    faster than their value.
    """
    kinds = set(map(type, column))
    if kinds <= _TEXTS:
        return column
    if kinds == _DOUBLES:
        return list(map(_key_of, column))
    if kinds <= _DECIMALS:
        return list(zip(map(str, column), map(type, column), strict=True))
    if kinds.isdisjoint(_SPELLED):
        return list(zip(column, map(type, column), strict=True))
    return [value if type(value) in _TEXTS else (_spelled(value), type(value)) for value in column]


def _spelled(value: Scalar) -> Scalar:
    if isinstance(value, Decimal):
        return value.text if isinstance(value, Numeral) else str(value)
    return value


def value_of(key: Any) -> Scalar:
    """The value that a key of ``spellings_apart`` stands for."""
    if type(key) is not tuple:
        return key  # type: ignore[no-any-return]
    text, kind = key
    return kind(text) if issubclass(kind, Decimal) else text  # type: ignore[no-any-return]

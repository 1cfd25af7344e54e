"""Encoded records between processes: the minimum needed to rebuild a Forest.

Records are encoded where they are read, and clustered elsewhere in other combinations. Only ``Encoded`` is
sent; every process already has the ``Frame``, which all records of a collection share.
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
from hierdata.forest.forest import MISSING, Forest, concatenate_ranges
from hierdata.forest.worth import NOTHING, Heaviest, Worth
from hierdata.records.schema import Schema

_TEXTS = frozenset({str, type(None)})
_DOUBLES = {Double}
_key_of = attrgetter("key")
_DECIMALS = frozenset({Decimal, Double, Decimal128})
_SPELLED = frozenset({*_DECIMALS, Numeral, *_TEXTS})


@dataclass(frozen=True)
class Encoded:
    """Some records as arrays, record by record: the minimum needed to rebuild a Forest.

    ``ordinals`` are the records' positions in the collection, from 0; ``size`` is the number of vertices of
    each. ``type`` and ``child_count`` are by vertex; ``nodes``, ``sensitive`` and ``spelling`` are laid out
    as in a Forest, with their own ``spellings``; ``carried`` is by vertex.
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
    """What the records of a collection share: encoded records and a frame make a Forest.

    ``hierarchies`` and ``domains`` are by vertex type and the order of its attributes. ``worth`` and
    ``sought`` are the weights of a Forest.
    """

    schema: Schema
    hierarchies: tuple[tuple[Hierarchy, ...], ...]
    domains: tuple[tuple[SensitiveDomain, ...], ...]
    worth: Worth | None = None
    sought: Worth | None = None

    def forest(self, encoded: Encoded, heaviest: Heaviest = NOTHING) -> Forest:
        """Build the Forest of the records; ``heaviest`` is that of the whole collection (see Forest)."""
        count = encoded.child_count.astype(np.int64)
        record = np.repeat(np.arange(encoded.record_count), encoded.size)
        roots = np.append(0, np.cumsum(encoded.size))
        below = np.ones(len(count), np.bool_)
        below[roots[:-1]] = False
        parent = np.full(len(count), -1)
        # In breadth-first order the children of a vertex follow those of the previous vertex.
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
            worth=self.worth,
            sought=self.sought,
        )

    def heaviest(self, encoded: Encoded) -> Heaviest:
        """Return the most of any of some records."""
        if not encoded.record_count:
            return NOTHING
        starts = np.cumsum(encoded.size) - encoded.size
        quasi = np.array(list(map(len, self.hierarchies)), np.int64)
        weights = quasi if self.sought is None else self.sought.by_type
        sums = (np.add.reduceat(by_type[encoded.type], starts) for by_type in (quasi, weights))
        most, heaviest = (int(of_record.max()) for of_record in sums)
        return Heaviest(most, heaviest, int(encoded.child_count.max()))


def _firsts(attributes: Sequence[Sequence[object]], types: NDArray[np.int32]) -> NDArray[np.int64]:
    """Return for each vertex where its entries begin; it has one entry per attribute of its type."""
    counts: NDArray[np.int64] = np.array(list(map(len, attributes)), np.int64)[types]
    return np.cumsum(counts) - counts


def part(forest: Forest, ordinals: NDArray[np.int64], records: NDArray[np.int64]) -> Encoded:
    """Extract some records of a forest, in the given order, with only the spellings that they use.

    ``ordinals`` are the positions in the collection of all records of the forest.
    """
    size = np.diff(forest.roots)[records]
    vertices = concatenate_ranges(forest.roots[records], size)
    types = forest.type[vertices]
    nodes, sensitive = (
        concatenate_ranges(first[vertices], np.array(list(map(len, attributes)), np.int64)[types])
        for first, attributes in (
            (forest.first_node, forest.hierarchies),
            (forest.first_sensitive, forest.domains),
        )
    )
    used, spelling = np.unique(forest.spelling[sensitive], return_inverse=True)
    missing = int(used[:1].sum() == MISSING) if len(used) else 0
    listed = enumerate(vertices.tolist()) if forest.carried else ()
    carried = {position: forest.carried[vertex] for position, vertex in listed if vertex in forest.carried}
    return Encoded(
        ordinals=ordinals[records],
        size=size,
        type=types,
        child_count=forest.child_count[vertices].astype(np.int32),
        nodes=forest.nodes[nodes],
        sensitive=forest.sensitive[sensitive],
        spelling=(spelling.reshape(-1) - missing).astype(np.int32),
        spellings=tuple(forest.spellings[number] for number in used[missing:].tolist()),
        carried=carried,
    )


def join_encoded(parts: Sequence[Encoded]) -> Encoded:
    """Concatenate the records of several parts, with each spelling once."""
    if len(parts) == 1:
        return parts[0]
    places: dict[Any, int] = {}
    spellings: list[Scalar] = []
    spelled = [np.zeros(0, np.int32)]
    carried: dict[int, tuple[Scalar, ...]] = {}
    vertices = 0
    for encoded in parts:
        numbers = []
        for key, value in zip(spelling_keys(encoded.spellings), encoded.spellings, strict=True):
            numbers.append(places.setdefault(key, len(spellings)))
            if numbers[-1] == len(spellings):
                spellings.append(value)
        spelled.append(np.array([*numbers, MISSING], np.int32)[encoded.spelling])
        carried.update((vertices + vertex, values) for vertex, values in encoded.carried.items())
        vertices += len(encoded.type)

    def all_of(name: str) -> NDArray[Any]:
        return np.concatenate([getattr(encoded, name) for encoded in parts])

    return Encoded(
        spelling=np.concatenate(spelled),
        spellings=tuple(spellings),
        carried=carried,
        **{name: all_of(name) for name in ("ordinals", "size", "type", "child_count", "nodes", "sensitive")},
    )


def spelling_keys(column: Sequence[Scalar]) -> Sequence[Any]:
    """Return keys that distinguish values by spelling: True, 1, 1.0 and 1.00 have four keys.

    A text is its own key; other values are paired with their type, decimal numbers by their spelling, which
    is compared faster than their value.
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
    return [value if type(value) in _TEXTS else (_spell_value(value), type(value)) for value in column]


def _spell_value(value: Scalar) -> Scalar:
    if isinstance(value, Decimal):
        return value.text if isinstance(value, Numeral) else str(value)
    return value


def value_of(key: Any) -> Scalar:
    """Return the value of a key of ``spelling_keys``."""
    if type(key) is not tuple:
        return key  # type: ignore[no-any-return]
    text, kind = key
    return kind(text) if issubclass(kind, Decimal) else text  # type: ignore[no-any-return]

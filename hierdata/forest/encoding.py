"""Encode records as arrays; every distinct value is looked up once."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import repeat
from operator import itemgetter
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from hierdata.documents.document import Scalar
from hierdata.domains.base import Hierarchy, Uncovered
from hierdata.domains.sensitive import SensitiveDomain
from hierdata.forest.encoded import Encoded, Frame, spelling_keys, value_of
from hierdata.forest.forest import MISSING, Forest
from hierdata.ground.errors import InputError
from hierdata.records.record import BoundRecords, Vertex, VertexRows, bind_by_column
from hierdata.records.schema import Role, Schema

_WAITING = 1 << 16
"""The number of vertices that are collected before they are sorted."""
_ARRAYS = {
    **dict.fromkeys(("type", "child_count", "nodes", "sensitive", "spelling"), np.int32),
    "size": np.int64,
}
"""The arrays that are collected, with their types; ``size`` is the number of a record's vertices."""

Ints: TypeAlias = "NDArray[np.int64]"
Codes: TypeAlias = "NDArray[np.int32]"


class _Lookup(dict[Any, int]):
    """The codes of values, each looked up once, by the key of the value (see spelling_keys).

    Values outside the domain have codes below MISSING, which index them in ``refused``.
    """

    def __init__(
        self,
        code_of: Callable[[Scalar], int],
        refused: list[Scalar],
        value_of: Callable[[Any], Scalar] = value_of,
    ) -> None:
        super().__init__()
        self._code_of = code_of
        self._refused = refused
        self._value_of = value_of

    def __missing__(self, key: Any) -> int:
        value = self._value_of(key)
        try:
            code = self._code_of(value)
        except Uncovered:
            self._refused.append(value)
            code = MISSING - len(self._refused)
        self[key] = code
        return code


@dataclass
class _Waiting:
    """Vertices of one type that were looked up: counts by parent, and one column per attribute.

    Columns of quasi-identifiers hold nodes, those of sensitive attributes spellings.
    """

    counts: array[int]
    nodes: list[array[int]]
    spellings: list[array[int]]
    carried: list[tuple[Scalar, ...]] = field(default_factory=list)


class RecordEncoder:
    """Collects arrays from a stream of records, batch by batch, and column by column in a batch."""

    def __init__(self, frame: Frame, before: int) -> None:
        self._schema = frame.schema
        self._values: list[Scalar] = []
        self._refused: list[Scalar] = []
        self._spellings = _Lookup(self._spelling_code, self._refused)
        self._spellings[None] = MISSING
        refused = self._refused
        self._nodes = [[_Lookup(tree.node_of, refused) for tree in trees] for trees in frame.hierarchies]
        self._codes = [[self._codes_of(domain) for domain in domains] for domains in frame.domains]
        self.records = self._first = before
        self._begin()

    def _codes_of(self, domain: SensitiveDomain) -> _Lookup:
        """Build the lookup of codes by spelling; spellings are looked up once for all attributes."""
        codes = _Lookup(domain.code_of, self._refused, self._values.__getitem__)
        codes[MISSING] = MISSING
        return codes

    def _begin(self) -> None:
        self._first = self._ordered = self.records
        self._vertices = 0
        self._carried: dict[int, tuple[Scalar, ...]] = {}
        self._pieces: dict[str, list[NDArray[Any]]] = {
            name: [np.zeros(0, kind)] for name, kind in _ARRAYS.items()
        }
        self._wait()

    def _wait(self) -> None:
        self._waiting = [
            _Waiting(array("q"), [array("i") for _ in nodes], [array("i") for _ in codes])
            for nodes, codes in zip(self._nodes, self._codes, strict=True)
        ]
        self._unordered = 0
        self._ordered = self.records

    def _spelling_code(self, value: Scalar) -> int:
        self._values.append(value)
        return len(self._values) - 1

    def take_encoded(self) -> Encoded:
        """Return everything that was added since the last call."""
        self.put_in_order()
        arrays = {name: np.concatenate(pieces) for name, pieces in self._pieces.items()}
        ordinals = np.arange(self._first, self.records)
        encoded = Encoded(ordinals=ordinals, spellings=tuple(self._values), carried=self._carried, **arrays)
        self._begin()
        return encoded

    def add(self, batch: BoundRecords) -> None:
        """Encode more records. Raises InputError for a value outside its domain."""
        for rows, kind in zip(batch.rows, self._schema.types, strict=True):
            if rows is not None:
                self._look_up(rows, kind.index)
            elif kind.parent is not None and (parent := batch.rows[kind.parent]) is not None:
                self._waiting[kind.index].counts.extend(repeat(0, parent.size))
        self.records += batch.size
        if self._unordered >= _WAITING:
            self.put_in_order()

    def _look_up(self, rows: VertexRows, kind: int) -> None:
        """Turn the values of one type into nodes and spellings."""
        quasi, sensitive, carried = rows.values
        waiting = self._waiting[kind]
        for collected, lookup, column in zip(waiting.nodes, self._nodes[kind], quasi, strict=True):
            collected.extend(map(lookup.__getitem__, spelling_keys(column)))
        for collected, column in zip(waiting.spellings, sensitive, strict=True):
            collected.extend(map(self._spellings.__getitem__, spelling_keys(column)))
        waiting.counts.extend(rows.counts)
        if carried:
            waiting.carried += zip(*carried, strict=True)
        self._unordered += rows.size

    def put_in_order(self) -> None:
        """Sort the collected vertices breadth first, by record. Raises InputError as ``add`` does."""
        if not self._unordered:
            return
        counts = [np.array(waiting.counts, np.int64) for waiting in self._waiting]
        order = _breadth_first(self._schema, counts, self.records - self._ordered)
        total = sum(map(len, order.places))
        kinds = np.empty(total, np.int32)
        for index, places in enumerate(order.places):
            kinds[places] = index
        child_count = np.zeros(total, np.int32)
        for kind in self._schema.types[1:]:
            child_count[order.places[kind.parent or 0]] += counts[kind.index].astype(np.int32)
        nodes = _flat(kinds, order.places, [waiting.nodes for waiting in self._waiting])
        spellings = _flat(kinds, order.places, [waiting.spellings for waiting in self._waiting])
        codes = _flat(kinds, order.places, [*map(self._code_spellings, range(len(self._codes)))])
        self._check(order, kinds, nodes, codes)
        for waiting, places in zip(self._waiting, order.places, strict=True):
            if waiting.carried:
                self._carried.update(zip((places + self._vertices).tolist(), waiting.carried, strict=True))
        arrays: dict[str, NDArray[Any]] = {
            "size": order.sizes,
            "type": kinds,
            "child_count": child_count,
            "nodes": nodes,
            "sensitive": codes,
            "spelling": spellings,
        }
        for name, entries in arrays.items():
            self._pieces[name].append(entries)
        self._vertices += total
        self._wait()

    def _code_spellings(self, kind: int) -> list[Sequence[int]]:
        """Return the codes of the collected spellings of each sensitive attribute of a type."""
        columns = zip(self._codes[kind], self._waiting[kind].spellings, strict=True)
        return [array("i", map(lookup.__getitem__, column)) for lookup, column in columns]

    def _check(self, order: _Order, kinds: Codes, nodes: Codes, codes: Codes) -> None:
        """Raise InputError for the first value outside its domain; the message does not contain the value."""
        if min(nodes.min(initial=0), codes.min(initial=0)) >= MISSING:
            return
        refused = []
        by_role = ((Role.QUASI, nodes, self._nodes), (Role.SENSITIVE, codes, self._codes))
        for role, collected, lookups in by_role:
            ends = np.cumsum(np.array(list(map(len, lookups)))[kinds])
            for entry in np.flatnonzero(collected < MISSING)[:1].tolist():
                vertex = int(np.searchsorted(ends, entry, side="right"))
                kind = self._schema.types[kinds[vertex]]
                position = entry - int(ends[vertex]) + len(lookups[kind.index])
                value = self._refused[MISSING - 1 - collected[entry]]
                refused.append((vertex, kind.of_role(role)[position].path, value))
        vertex, path, value = min(refused, key=itemgetter(0))
        raise InputError(
            "the value is outside the domain that the policy gives this field",
            record=self._ordered + int(np.repeat(np.arange(len(order.sizes)), order.sizes)[vertex]) + 1,
            path=path,
            revealed=(str(value),),
        )


def _flat(
    kinds: Codes, places: Sequence[Ints], columns: Sequence[Sequence[Sequence[int]]]
) -> NDArray[np.int32]:
    """Interleave the columns of all types in one array, vertex by vertex."""
    widths = np.array(list(map(len, columns)), np.int64)[kinds]
    first = np.cumsum(widths) - widths
    flat = np.empty(int(widths.sum()), np.int32)
    for of_type, vertices in zip(columns, places, strict=True):
        for position, column in enumerate(of_type):
            flat[first[vertices] + position] = column
    return flat


@dataclass(frozen=True)
class _Order:
    """The breadth-first order of vertices: positions by type, and the number of vertices of each record."""

    places: list[Ints]
    sizes: Ints


def _breadth_first(schema: Schema, counts: Sequence[Ints], records: int) -> _Order:
    """Order vertices by record and level; ``counts`` is, by type, the number below each parent vertex."""
    none = np.zeros(0, np.int64)
    record, rank, key = ([none] * len(schema.types) for _ in range(3))
    record[0] = rank[0] = np.arange(records)
    most = sum(int(below.sum()) for below in counts) + 1
    level, depth = [schema.root], 0
    while level:
        groups = [(parent, number, child) for parent in level for number, child in enumerate(parent.children)]
        places = []
        for parent in level:
            key[parent.index] = (record[parent.index] * len(schema.types) + depth) * most + rank[parent.index]
        for parent, number, child in groups:
            record[child] = np.repeat(record[parent.index], counts[child])
            places.append(np.repeat(rank[parent.index] * len(schema.types) + number, counts[child]))
        for (_, _, child), ranks in zip(groups, _rank_numbers(places), strict=True):
            rank[child] = ranks
        level, depth = [schema.types[child] for _, _, child in groups], depth + 1
    sizes = np.bincount(np.concatenate(record), minlength=records)
    return _Order(_rank_numbers(key), sizes)


def _rank_numbers(parts: Sequence[Ints]) -> list[Ints]:
    """Return the rank of each number among those of all parts; ties keep their order."""
    if not parts:
        return []
    whole = np.concatenate(parts)
    rank = np.empty(len(whole), np.int64)
    rank[np.argsort(whole, kind="stable")] = np.arange(len(whole))
    return np.split(rank, np.cumsum([len(part) for part in parts])[:-1])


def encode_records(
    batches: Iterable[BoundRecords], frame: Frame, before: int = 0, batch: int | None = None
) -> Iterator[Encoded]:
    """Encode bound records, in pieces of about ``batch`` records; None: all in one.

    ``before`` is the number of records of the collection before these. Raises InputError for a value outside
    its domain; the message has record and path, never the value.
    """
    encoder = RecordEncoder(frame, before)
    waiting = 0
    stream = iter(batches)
    while bound := _next(stream, encoder):
        encoder.add(bound)
        waiting += bound.size
        if batch is not None and waiting >= batch:
            yield encoder.take_encoded()
            waiting = 0
    if waiting or batch is None:
        yield encoder.take_encoded()


def _next(batches: Iterator[BoundRecords], encoder: RecordEncoder) -> BoundRecords | None:
    """Return the next batch. Of two errors, the one of the earlier record is raised."""
    try:
        return next(batches, None)
    except InputError as error:
        wrong = error
    encoder.put_in_order()
    raise wrong


def encode(
    records: Iterable[Vertex],
    schema: Schema,
    hierarchies: Sequence[Sequence[Hierarchy]],
    domains: Sequence[Sequence[SensitiveDomain]],
) -> Forest:
    """Build a Forest of bound records; ``hierarchies`` and ``domains`` are by vertex type and attribute.

    Raises InputError for a value outside its domain; the message has record and path, never the value.
    """
    frame = Frame(schema, tuple(map(tuple, hierarchies)), tuple(map(tuple, domains)))
    (all_of_them,) = encode_records(bind_by_column(records, schema), frame)
    return frame.forest(all_of_them)

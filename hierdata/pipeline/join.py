"""Join the rows of keyed tables in files, beyond memory: rows travel to the bin of the record they belong to.

A row's record is known from the row where it refers to a row of the root. Where some row refers only to a row
between, a second look at the rows finds the records of all rows between, in 16 bytes a row.
"""

from __future__ import annotations

import pickle
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from hashlib import blake2b
from itertools import accumulate
from operator import attrgetter
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from hierdata.documents.document import Document, Scalar
from hierdata.executors import Held
from hierdata.pipeline.reorder import BINS, PlacedDocument, return_in_order
from hierdata.pipeline.resources import RunContext
from hierdata.records.joining import JoinTally, join_rows
from hierdata.records.keyed import KeyedRow, Ref, Table, refuse
from hierdata.sources import Collection, InputSplit
from hierdata.sources.rows import LookedUp, RowReading, RowSplit, merge_looked_up

_MOST_WAITING = 1 << 14
"""The most rows of a split that wait to be sent together to their bins."""
_UNKNOWN = -1


def list_splits(collection: Collection) -> Sequence[InputSplit | RowSplit]:
    """Return what is read of a collection: parts of its records, or of the rows that they are joined from."""
    return collection.splits() if collection.rows is None else collection.rows.cut()


def join_splits(collection: Collection, spread: RunContext) -> Sequence[InputSplit]:
    """Return splits of documents, joined from rows if the collection is one of keyed tables in files.

    Documents are in the order of the root's rows. Raises InputError if rows are broken or cannot be joined.
    """
    if collection.rows is None:
        return collection.splits()
    reading, splits = collection.rows.reading, collection.rows.cut()
    looked_up = _look_up(reading, splits, spread)
    bins = max(BINS, len(splits))
    _, watch = spread.progress_callbacks("joining", None, len(splits))
    numbered = spread.executor.hold(list(enumerate(splits)))
    scattered = numbered.exchange(ScatterRows(reading, looked_up, bins), bins, watch)
    joined = scattered.map(partial(join_bin, reading.tables))
    scattered.release()
    if any(joined.map(attrgetter("lost")).collect()):
        joined.release()
        index = _index_records(numbered, reading, looked_up, bins)
        scattered = numbered.exchange(ScatterRows(reading, looked_up, bins, index), bins, watch)
        joined = scattered.map(partial(join_bin, reading.tables))
        scattered.release()
    befores, size = _check_joined(joined, reading, splits, looked_up)
    return return_in_order(joined, befores, size, spread, "joined")


def _look_up(reading: RowReading, splits: Sequence[RowSplit], spread: RunContext) -> LookedUp:
    """Return the rows of lookups."""
    looked_up: dict[str, dict[Scalar, Document]] = {lookup.name: {} for lookup in reading.lookups}
    if reading.lookups:
        for rows in spread.executor.hold([split.parts for split in splits]).map(reading.look_up).collect():
            merge_looked_up(looked_up, rows)
    return looked_up


@dataclass(frozen=True)
class RecordIndex:
    """The bins of the records that rows between belong to: digests of rows, ascending, and a bin for each."""

    digests: NDArray[np.uint64]
    bins: NDArray[np.int64]

    def find(self, ref: Ref) -> int:
        """Return the bin of a row; _UNKNOWN for a row that does not exist."""
        digest = np.uint64(_digest(ref))
        position = int(np.searchsorted(self.digests, digest))
        is_known = position < len(self.digests) and self.digests[position] == digest
        return int(self.bins[position]) if is_known else _UNKNOWN


_Waiting: TypeAlias = "tuple[list[KeyedRow], list[int], list[bool]]"
"""Rows of a bin, the ranks of those of the root, and a mark for each of which no record is known."""


class _RowBatch(NamedTuple):
    """Pickled rows of one split; ``lost`` are rows of which no record is known, ``ranks`` those of roots."""

    rows: bytes
    ranks: tuple[int, ...]
    lost: bool


@dataclass(frozen=True)
class ScatterRows:
    """Send the rows of a split to bins by their record."""

    reading: RowReading
    looked_up: LookedUp
    bins: int
    index: RecordIndex | None = None

    def __call__(self, numbered: tuple[int, RowSplit]) -> Iterator[tuple[int, _RowBatch]]:
        """Yield batches of rows by bin."""
        number, split = numbered
        waiting: dict[int, _Waiting] = {}
        count = rank = 0
        for row in self.reading.read(number, split.parts, self.looked_up):
            to = self._find_bin(row)
            rows, ranks, lost = waiting.setdefault(max(to, 0), ([], [], []))
            rows.append(row)
            if row.parent is None:
                ranks.append(rank)
                rank += 1
            if to == _UNKNOWN and self.index is None:
                lost.append(True)
            count += 1
            if count == _MOST_WAITING:
                yield from _pack(waiting)
                waiting.clear()
                count = 0
        yield from _pack(waiting)

    def _find_bin(self, row: KeyedRow) -> int:
        record = find_root(row, self.reading.tables[0].name)
        if record is not None:
            return _digest(record) % self.bins
        assert row.parent is not None, "a row of the root is its own record"
        return _UNKNOWN if self.index is None else self.index.find(row.parent)


def find_root(row: KeyedRow, root: str) -> Ref | None:
    """Return the row of the root that a row is or refers to; None where it refers to none."""
    if row.parent is None:
        return root, row.key
    return next((ref for ref in (row.parent, *row.claims) if ref[0] == root), None)


def _pack(waiting: dict[int, _Waiting]) -> Iterator[tuple[int, _RowBatch]]:
    for to, (rows, ranks, lost) in waiting.items():
        yield to, _RowBatch(pickle.dumps([tuple(row) for row in rows], protocol=5), tuple(ranks), bool(lost))


def _digest(ref: Ref) -> int:
    """Return the number by which a row is found; equal keys of any type have the same."""
    table, key = ref
    spelled = f"{table}\0{type(key).__name__ if isinstance(key, str) else ''}\0{key}"
    return int.from_bytes(blake2b(spelled.encode("utf-8", "surrogatepass"), digest_size=8).digest())


@dataclass
class JoinedBin:
    """The documents of a bin, each with its place; what could not be joined; what the bin's rows were.

    ``keys`` are digests of the keys of rows between, which no other bin may have.
    """

    pieces: list[PlacedDocument] = field(default_factory=list)
    tally: JoinTally = field(default_factory=JoinTally)
    roots: Counter[int] = field(default_factory=Counter)
    lost: int = 0
    keys: dict[str, bytes] = field(default_factory=dict)
    size: int = 0


def join_bin(tables: tuple[Table, ...], batches: list[_RowBatch]) -> JoinedBin:
    """Join the rows of a bin, unless the records of some rows are not known yet."""
    joined = JoinedBin(lost=sum(batch.lost for batch in batches))
    if joined.lost:
        return joined
    rows = [KeyedRow(*fields) for batch in batches for fields in pickle.loads(batch.rows)]
    ranks = [rank for batch in batches for rank in batch.ranks]
    between = {parent for table in tables for parent, _ in table.links}
    digests: dict[str, list[int]] = {}
    for row in rows:
        if row.parent is not None and row.table in between and row.key is not None:
            digests.setdefault(row.table, []).append(_digest((row.table, row.key)))
    joined.keys = {name: np.array(numbers, np.uint64).tobytes() for name, numbers in digests.items()}
    for row, rank in zip(join_rows(tables, rows, joined.tally), ranks, strict=True):
        pickled = pickle.dumps(row.document, protocol=5)
        joined.pieces.append(PlacedDocument(row.place[0], rank, pickled))
        joined.roots[row.place[0]] += 1
        joined.size += len(pickled)
    return joined


def _check_joined(
    joined: Held[JoinedBin], reading: RowReading, splits: Sequence[RowSplit], looked_up: LookedUp
) -> tuple[tuple[int, ...], int]:
    """Return the number of documents before each split and of all, and the bytes of all.

    Raises InputError where rows cannot be joined.
    """
    tally, roots, size = JoinTally(), Counter[int](), 0
    keys: dict[str, list[bytes]] = {}
    for bin_ in joined.map(partial(replace, pieces=[])).collect():
        tally.merge(bin_.tally)
        roots += bin_.roots
        size += bin_.size
        for name, digests_of_bin in bin_.keys.items():
            keys.setdefault(name, []).append(digests_of_bin)
    reading.check(tally, splits, looked_up)
    for name, all_keys in keys.items():
        digests = np.frombuffer(b"".join(all_keys), np.uint64)
        if len(np.unique(digests)) < len(digests):
            refuse(name, "two rows have the same key: `key` must identify rows")
    return tuple(accumulate((roots[number] for number in range(len(splits))), initial=0)), size


def link_rows(
    reading: RowReading, looked_up: LookedUp, bins: int, numbered: tuple[int, RowSplit]
) -> NDArray[np.uint64]:
    """Find for the rows between of a split the bin of their record, or the row that they belong to.

    Returns (digest of the row, its bin or the number of bins, digest of its parent) by row.
    """
    number, split = numbered
    root = reading.tables[0].name
    between = {parent for table in reading.tables for parent, _ in table.links} - {root}
    links: list[tuple[int, int, int]] = []
    for row in reading.read(number, split.parts, looked_up):
        if row.table in between and row.parent is not None:
            record = find_root(row, root)
            to = bins if record is None else _digest(record) % bins
            links.append((_digest((row.table, row.key)), to, _digest(row.parent)))
    return np.array(links, np.uint64).reshape(-1, 3)


def _index_records(
    numbered: Held[tuple[int, RowSplit]], reading: RowReading, looked_up: LookedUp, bins: int
) -> RecordIndex:
    """Find the bins of all rows between, level by level."""
    links = np.concatenate([*numbered.map(partial(link_rows, reading, looked_up, bins)).collect()])
    links = links[np.argsort(links[:, 0], kind="stable")]
    digests, to, above = links[:, 0].copy(), links[:, 1].astype(np.int64), links[:, 2]
    to[to == bins] = _UNKNOWN
    for _ in reading.tables:
        open_ones = np.flatnonzero(to == _UNKNOWN)
        if not len(open_ones) or not len(digests):
            break
        parents = np.minimum(np.searchsorted(digests, above[open_ones]), len(digests) - 1)
        to[open_ones] = np.where(digests[parents] == above[open_ones], to[parents], _UNKNOWN)
    return RecordIndex(digests, to)

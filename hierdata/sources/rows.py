"""Rows of several tables, in parts that can be read in parallel: what is joined into documents."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from itertools import islice
from typing import Protocol, TypeAlias

from hierdata.documents.document import Document, Scalar
from hierdata.documents.formats import WHOLE, Split
from hierdata.ground.errors import HierdataError, InputError
from hierdata.records.joining import JoinTally, Place, join_rows
from hierdata.records.keyed import KeyedRow, Lookup, Table, copy_looked_up, read_key, read_row, refuse
from hierdata.sources.splits import SIZE, FileSplit, InputSplit

LookedUp: TypeAlias = "Mapping[str, Mapping[Scalar, Document]]"
"""The rows of lookups by their keys, with the columns that are copied."""


class Standard(Protocol):
    """Takes documents apart into the rows of tables, as a standard says (see ``resources``)."""

    def take_apart(self, document: Document, table: str | None) -> Iterator[tuple[str, Document]]:
        """Yield (table, row) for a document of a file; ``table`` is the one that the file's name states."""

    def finish(self, row: Document) -> None:
        """Remove from a row what no document holds, once lookups are done."""


@dataclass(frozen=True)
class RowPart:
    """A part of a file. Its rows are those of ``table``; None where each document says what it is.

    ``name`` is what messages call the file, ``size`` its bytes, ``first`` the number of documents before it
    that are counted with it.
    """

    table: str | None
    name: str
    split: InputSplit
    size: int = 0
    first: int = 0

    @property
    def is_packed(self) -> bool:
        """Whether the file is compressed."""
        return isinstance(self.split, FileSplit) and self.split.source.name.lower().endswith(".gz")

    @property
    def is_later(self) -> bool:
        """Whether other parts of the file come before it."""
        return isinstance(self.split, FileSplit) and self.split.split.start > 0

    def count_before(self) -> int:
        """Return the number of documents before it in the file."""
        if not self.is_later:
            return 0
        assert isinstance(self.split, FileSplit)
        earlier = replace(self, split=replace(self.split, split=Split(0, self.split.split.start)))
        return sum(1 for _ in earlier.documents())

    def whole(self) -> RowPart:
        """Return all of the file."""
        assert isinstance(self.split, FileSplit)
        return replace(self, split=replace(self.split, split=WHOLE))

    def documents(self) -> Iterator[Document]:
        """Yield the documents; errors have the name of the file."""
        try:
            yield from self.split.documents()
        except HierdataError as error:
            raise type(error)(
                [f"{self.name}: {line}" for line in str(error).split("\n")], revealed=error.revealed
            ) from None


@dataclass(frozen=True)
class RowReading:
    """How rows are read: tables with the root first, lookups, and the standard that they follow, if any."""

    tables: tuple[Table, ...]
    lookups: tuple[Lookup, ...] = ()
    standard: Standard | None = None

    def _take_apart(self, part: RowPart) -> Iterator[tuple[int, str, Document]]:
        """Yield (number of the document in the part, table, row)."""
        for number, document in enumerate(part.documents(), part.first + 1):
            if self.standard is None:
                assert part.table is not None, "without a standard the name of a file states its table"
                yield number, part.table, document
            else:
                for table, row in self._follow(part, number, document):
                    yield number, table, row

    def _follow(self, part: RowPart, number: int, document: Document) -> Iterator[tuple[str, Document]]:
        assert self.standard is not None
        try:
            yield from self.standard.take_apart(document, part.table)
        except InputError as error:
            raise InputError(error.message, record=number, path=error.path or part.name) from None

    def look_up(self, parts: Sequence[RowPart]) -> dict[str, dict[Scalar, Document]]:
        """Return the rows of lookups in some parts. Raises InputError for two rows with one key."""
        names = {lookup.name: lookup for lookup in self.lookups}
        looked_up: dict[str, dict[Scalar, Document]] = {name: {} for name in names}
        for _, number, name, row in _rows_of(parts, names, self._take_apart):
            add_looked_up(looked_up, names[name], number, row)
        return looked_up

    def read(self, number: int, parts: Sequence[RowPart], looked_up: LookedUp) -> Iterator[KeyedRow]:
        """Yield the rows of split ``number`` in order, without those of lookups.

        Raises InputError for the first broken row, with its number in its file.
        """
        tables = {table.name: table for table in self.tables}
        rows = _rows_of(parts, tables, self._take_apart_again)
        for index, (part, ordinal, name, document) in enumerate(rows, 1):
            yield self._read_row(part, tables[name], (number, index), ordinal, document, looked_up)

    def _take_apart_again(self, part: RowPart) -> Iterator[tuple[int, str, Document]]:
        """Yield as ``_take_apart``; errors in a later part of a file have the number in the file."""
        try:
            yield from self._take_apart(part)
        except InputError:
            if part.is_later:
                for _ in self._take_apart(part.whole()):
                    pass
            raise

    def _read_row(
        self, part: RowPart, table: Table, place: Place, ordinal: int, document: Document, looked_up: LookedUp
    ) -> KeyedRow:
        try:
            for lookup in self.lookups:
                copy_looked_up(document, lookup, table, ordinal, looked_up[lookup.name])
            if self.standard is not None:
                self.standard.finish(document)
            return read_row(table, place, ordinal, document)
        except InputError:
            ordinal += part.count_before()
            with suppress(StopIteration):  # the same error, by the number of the row in its file
                for lookup in self.lookups:
                    copy_looked_up(document, lookup, table, ordinal, looked_up[lookup.name])
                read_row(table, place, ordinal, document)
            raise

    def locate(self, splits: Sequence[RowSplit], place: Place, looked_up: LookedUp) -> str:
        """Return where the row of a place is: its number in its file, and the file's name."""
        names = {table.name for table in self.tables}
        rows = _rows_of(splits[place[0]].parts, names, self._take_apart)
        part, number, *_ = next(islice(rows, place[1] - 1, None))
        return f"row {part.count_before() + number} of {part.name}"

    def join(self, splits: Sequence[RowSplit]) -> Iterator[Document]:
        """Join all rows in memory; return the documents of the root's rows, in order."""
        looked_up: dict[str, dict[Scalar, Document]] = {lookup.name: {} for lookup in self.lookups}
        for split in splits if self.lookups else ():
            merge_looked_up(looked_up, self.look_up(split.parts))
        tally = JoinTally()
        rows = (row for index, split in enumerate(splits) for row in self.read(index, split.parts, looked_up))
        whole = join_rows(self.tables, rows, tally)
        self.check(tally, splits, looked_up)
        return (row.document for row in whole)

    def check(self, tally: JoinTally, splits: Sequence[RowSplit], looked_up: LookedUp) -> None:
        """Raise InputError if a row cannot be joined, or there are no records."""
        tally.check(self.tables, lambda _, place: self.locate(splits, place, looked_up))
        if not tally.rows.get(self.tables[0].name):
            refuse(self.tables[0].name, "it has no rows, so that there are no records")


def _rows_of(
    parts: Sequence[RowPart],
    tables: Collection[str],
    take_apart: Callable[[RowPart], Iterator[tuple[int, str, Document]]],
) -> Iterator[tuple[RowPart, int, str, Document]]:
    """Yield the rows of some tables: (part, number of the document in it, table, row)."""
    for part in parts:
        if part.table is None or part.table in tables:
            for number, table, row in take_apart(part):
                if table in tables:
                    yield part, number, table, row


def add_looked_up(
    looked_up: dict[str, dict[Scalar, Document]], lookup: Lookup, number: int, row: Document
) -> None:
    """Add a row of a lookup. Raises InputError, without a value, if it has no key or one that occurred."""
    value = row.get(lookup.key)
    if value is None or isinstance(value, dict | list):
        refuse(lookup.name, f"row {number} has no value in the column {lookup.key}, which identifies it")
    key = read_key(value, lookup.name)
    wanted = {source.split(".")[0] for *_, copies in lookup.uses for source, _ in copies}
    copied: Document = {name: row[name] for name in row if name in wanted}
    if looked_up[lookup.name].setdefault(key, copied) != copied:
        refuse(lookup.name, f"row {number} has the same key as an earlier row: `key` must identify rows")


def merge_looked_up(into: dict[str, dict[Scalar, Document]], other: LookedUp) -> None:
    """Add the rows of lookups of other parts."""
    for name, rows in other.items():
        for key, row in rows.items():
            if into[name].setdefault(key, row) != row:
                refuse(name, "two rows have the same key: `key` must identify rows")


@dataclass(frozen=True)
class RowSplit:
    """Parts that are read together."""

    parts: tuple[RowPart, ...]


def group_parts(parts: Sequence[RowPart], size: int = SIZE) -> tuple[RowSplit, ...]:
    """Group parts, in order, into splits of about ``size`` bytes."""
    splits: list[RowSplit] = []
    together: list[RowPart] = []
    weight = 0
    for part in parts:
        together.append(part)
        weight += part.size
        if weight >= size:
            splits.append(RowSplit(tuple(together)))
            together, weight = [], 0
    if together or not splits:
        splits.append(RowSplit(tuple(together)))
    return tuple(splits)


@dataclass(frozen=True)
class KeyedRows:
    """The rows of a collection of keyed tables, before they are joined."""

    reading: RowReading
    cut: Callable[[], Sequence[RowSplit]]

    @classmethod
    def of(cls, reading: RowReading, parts: Sequence[RowPart]) -> KeyedRows:
        """Return the rows of some parts."""
        return cls(reading, partial(group_parts, parts))

    def documents(self) -> Iterator[Document]:
        """Join all rows in memory (see RowReading.join)."""
        return self.reading.join(self.cut())

"""Rows of flat tables by column: the distinct values of each column, and the codes of the rows."""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, islice, repeat
from typing import TypeAlias, cast

import numpy as np
from numpy.typing import NDArray

from hierdata.documents.document import Document, Scalar, Value
from hierdata.domains.base import Uncovered
from hierdata.domains.number import canonical, identity
from hierdata.ground.errors import InputError, PolicyError
from hierdata.ground.progress import Progress, count_items
from hierdata.metrics.rates import Split, split_cells

_Array = NDArray[np.int64]

_DENSE = 4
"""Numbers are counted in a dense array as long as it has at most this many entries per row."""
_LARGEST = 2**62


OpenTable: TypeAlias = tuple[Sequence[str] | None, Iterator[tuple[Document, int]]]
"""The columns of a table, None without a header, and its documents, each with the number of its copies."""


@dataclass(frozen=True)
class TableColumn:
    """The distinct values of a column, and the code of each row."""

    values: tuple[Scalar, ...]
    codes: _Array

    def recode_values(self, values: tuple[Scalar, ...], code_of: Mapping[Scalar, int]) -> TableColumn:
        """Replace the values by others; ``code_of`` maps each old value to the index of its new one."""
        moved = np.array([code_of.get(value, -1) for value in self.values], np.int64)
        return TableColumn(values, moved[self.codes])


@dataclass(frozen=True)
class TableRows:
    """Rows, each with its count in the table; equal rows need not be merged."""

    columns: Mapping[str, TableColumn]
    counts: _Array

    def of(self, mask: NDArray[np.bool_]) -> TableRows:
        """Select rows by a mask."""
        kept = {name: TableColumn(own.values, own.codes[mask]) for name, own in self.columns.items()}
        return TableRows(kept, self.counts[mask])

    def total(self) -> int:
        """Return the number of rows."""
        return int(self.counts.sum())

    def sums(self, column: TableColumn) -> _Array:
        """Count each value of a column."""
        return _sums(column.codes, len(column.values), self.counts)

    def values(self, name: str) -> dict[Scalar, int]:
        """Count each value of a column that occurs."""
        column = self.columns[name]
        counts = zip(column.values, self.sums(column).tolist(), strict=True)
        return {value: count for value, count in counts if count}

    def table(self, of: TableColumn, by: Sequence[TableColumn]) -> ContingencyTable:
        """Count each value of one column with each combination of values of the others."""
        shown, row_of, place = _number_combinations(by)
        width = len(of.values)
        cells, counts = _totals(place * width + of.codes, len(row_of) * width, self.counts)
        return ContingencyTable(shown, cells // width, cells % width, counts)


@dataclass(frozen=True)
class ContingencyTable:
    """The non-empty cells of a contingency table, row by row.

    ``shown`` has for each row y its codes at the columns that distinguish rows; rows ascend by them. A cell
    is in the row ``place``, in the column ``code``, and has the count ``counts``.
    """

    shown: tuple[_Array, ...]
    place: _Array
    code: _Array
    counts: _Array

    def split(self) -> Split:
        """Return how the rows split into cells."""
        return split_cells(_sums(self.place, len(self.shown[0]), self.counts)[self.place], self.counts)

    def rows(self) -> Iterator[bytes]:
        """Yield the cells of each row as bytes, so that equal rows are equal."""
        cells = np.stack([self.code, self.counts], axis=1)
        ends = np.cumsum(np.bincount(self.place, minlength=len(self.shown[0]))).tolist()
        for start, end in zip([0, *ends], ends, strict=False):
            yield cells[start:end].tobytes()

    @staticmethod
    def cells(row: bytes) -> dict[int, int]:
        """Return the counts of a row, by column."""
        cells = np.frombuffer(row, np.int64).tolist()
        return dict(zip(cells[::2], cells[1::2], strict=True))


def _number_combinations(columns: Sequence[TableColumn]) -> tuple[tuple[_Array, ...], _Array, _Array]:
    """Number the combinations of values of columns: their codes, one row of each, and each row's number."""
    joint = np.zeros(len(columns[0].codes), np.int64)
    width = 1
    for column in columns:
        if width * len(column.values) > _LARGEST:
            _, joint = _rank_numbers(joint, width)
            width = len(joint)
        joint = joint * len(column.values) + column.codes
        width *= len(column.values)
    row_of, place = _rank_numbers(joint, width)
    return tuple(column.codes[row_of] for column in columns), row_of, place


def _rank_numbers(numbers: _Array, width: int) -> tuple[_Array, _Array]:
    """Return one index of each distinct number below ``width``, in their order, and the rank of all."""
    if width > _DENSE * len(numbers):
        _, first, rank = np.unique(numbers, return_index=True, return_inverse=True)
        return first, rank.reshape(-1)
    last = np.full(width, -1)
    last[numbers] = np.arange(len(numbers))
    there = last >= 0
    return last[there], (np.cumsum(there) - 1)[numbers]


def _totals(numbers: _Array, width: int, counts: _Array) -> tuple[_Array, _Array]:
    """Return the distinct numbers below ``width``, ascending, and the sum of the counts of each."""
    place_of, rank = _rank_numbers(numbers, width)
    return numbers[place_of], _sums(rank, len(place_of), counts)


def _sums(places: _Array, size: int, counts: _Array) -> _Array:
    """Sum the counts by place; exact up to 2^53 rows."""
    return np.bincount(places, weights=counts, minlength=size).astype(np.int64)


_BATCH = 1 << 12
_PLAIN = {str, type(None)}
"""Types of cells that need no conversion."""


class _Codes(dict[Scalar, int]):
    """The code of each value; a new value gets the next code."""

    def __missing__(self, value: Scalar) -> int:
        code = self[value] = len(self)
        return code


def read_rows(table: OpenTable, columns: Sequence[str], progress: Progress) -> TableRows:
    """Read the rows of a table by columns.

    Equal numbers are one value, None is missing. Raises PolicyError for a missing column, InputError for
    nested values and for a table without rows.
    """
    header, documents = table
    _require(columns, columns if header is None else header)
    unseen = set(columns if header is None else ())
    known: dict[tuple[type, Scalar], Scalar] = {}
    values = [_Codes() for _ in columns]
    codes = [array("q") for _ in columns]
    counts = array("q")
    items = count_items(documents, "reading", None, progress, lambda item: item[1])
    while batch := list(islice(items, _BATCH)):
        cells = [[document.get(column) for column in columns] for document, _ in batch]
        if not _PLAIN.issuperset(map(type, chain.from_iterable(cells))):
            for ordinal, row in enumerate(cells, len(counts) + 1):
                row[:] = map(_single, row, repeat(known), repeat(ordinal), columns)
        counts.extend([times for _, times in batch])
        for own, code_of, column in zip(codes, values, zip(*cells, strict=True), strict=True):
            own.extend(map(code_of.__getitem__, cast("tuple[Scalar, ...]", column)))
        if unseen:
            unseen.difference_update(*[document for document, _ in batch])
    if not counts:
        raise InputError("the table has no rows")
    _require(columns, [column for column in columns if column not in unseen])
    found = [
        TableColumn(tuple(own), np.array(code, np.int64)) for own, code in zip(values, codes, strict=True)
    ]
    return TableRows(dict(zip(columns, found, strict=True)), np.array(counts, np.int64))


def _require(columns: Iterable[str], there: Sequence[str]) -> None:
    for column in columns:
        if column not in there:
            raise PolicyError(f"the table has no column {column}")


def _single(value: Value, known: dict[tuple[type, Scalar], Scalar], ordinal: int, column: str) -> Scalar:
    """Return the canonical form of a value, equal for equal numbers; ``known`` is the cache."""
    if value is None or isinstance(value, str):
        return value
    if isinstance(value, dict | list):
        raise InputError(
            "a table must be flat, but this value is an object or array: name what is below it by a path, "
            "such as $.visits[*].ward",
            record=ordinal,
            path=column,
        )
    place = (value.__class__, value)  # True equals 1
    if place not in known:
        try:
            key = identity(value)
        except Uncovered:
            raise InputError("the number has too many digits", record=ordinal, path=column) from None
        known[place] = key if isinstance(key, str) else canonical(key)
    return known[place]

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
from hierdata.metrics.cells import pack_columns
from hierdata.metrics.joint_counts import JointTally
from hierdata.metrics.numbering import Numbers

_Array = NDArray[np.int64]

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
        columns = self.columns.items()
        kept = {name: TableColumn(column.values, column.codes[mask]) for name, column in columns}
        return TableRows(kept, self.counts[mask])

    def total(self) -> int:
        """Return the number of rows."""
        return int(self.counts.sum())

    def sums(self, column: TableColumn) -> _Array:
        """Count each value of a column."""
        # Exact up to 2^53 rows.
        sums = np.bincount(column.codes, weights=self.counts, minlength=len(column.values))
        return sums.astype(np.int64)

    def values(self, name: str) -> dict[Scalar, int]:
        """Count each value of a column that occurs."""
        column = self.columns[name]
        counts = zip(column.values, self.sums(column).tolist(), strict=True)
        return {value: count for value, count in counts if count}

    def tally(self, of: TableColumn, by: Sequence[TableColumn]) -> JointTally:
        """Count each value of one column with each combination of values of the others."""
        values = Numbers((of.codes,), len(of.values))
        ones = np.ones(len(self.counts), np.int64)
        return JointTally.of(number_combinations(by), values, self.counts, ones, self.total())


def number_combinations(columns: Sequence[TableColumn]) -> Numbers:
    """Number the combinations of values of columns, row by row, in the order of their codes."""
    lanes, span = pack_columns([(column.codes, len(column.values)) for column in columns])
    return Numbers(tuple(lanes), span if len(lanes) == 1 else None)


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
    unmet = set(columns if header is None else ())
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
        for column_codes, code_of, column in zip(codes, values, zip(*cells, strict=True), strict=True):
            column_codes.extend(map(code_of.__getitem__, cast("tuple[Scalar, ...]", column)))
        if unmet:
            unmet.difference_update(*[document for document, _ in batch])
    if not counts:
        raise InputError("the table has no rows")
    _require(columns, [column for column in columns if column not in unmet])
    read = {
        name: TableColumn(tuple(code_of), np.array(column_codes, np.int64))
        for name, code_of, column_codes in zip(columns, values, codes, strict=True)
    }
    return TableRows(read, np.array(counts, np.int64))


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
    typed = (value.__class__, value)  # True equals 1
    if typed not in known:
        try:
            key = identity(value)
        except Uncovered:
            raise InputError("the number has too many digits", record=ordinal, path=column) from None
        known[typed] = key if isinstance(key, str) else canonical(key)
    return known[typed]

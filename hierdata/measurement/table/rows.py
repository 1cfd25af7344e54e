"""Rows by column: the values of each column, and which of them a row has."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from hierdata.documents.document import Scalar
from hierdata.metrics.rates import Split, split_cells

_Array = NDArray[np.int64]

_DENSE = 4
"""Numbers are counted in an array of their own as long as it has no more entries a row than this."""
_LARGEST = 2**62


@dataclass(frozen=True)
class Column:
    """The different values of a column, and which of them each row has."""

    values: tuple[Scalar, ...]
    codes: _Array

    def recoded(self, values: tuple[Scalar, ...], code_of: Mapping[Scalar, int]) -> Column:
        """Other values, each in the place of some of these."""
        moved = np.array([code_of.get(value, -1) for value in self.values], np.int64)
        return Column(values, moved[self.codes])


@dataclass(frozen=True)
class Rows:
    """Rows, each with how often it stands in the table; equal ones need not be together."""

    columns: Mapping[str, Column]
    counts: _Array

    def of(self, there: NDArray[np.bool_]) -> Rows:
        """Some of the rows."""
        kept = {name: Column(own.values, own.codes[there]) for name, own in self.columns.items()}
        return Rows(kept, self.counts[there])

    def total(self) -> int:
        """The number of rows."""
        return int(self.counts.sum())

    def sums(self, column: Column) -> _Array:
        """How often each value of a column occurs."""
        return _sums(column.codes, len(column.values), self.counts)

    def values(self, name: str) -> dict[Scalar, int]:
        """How often each value of a column occurs, of those that do."""
        column = self.columns[name]
        counts = zip(column.values, self.sums(column).tolist(), strict=True)
        return {value: count for value, count in counts if count}

    def table(self, of: Column, by: Sequence[Column]) -> Table:
        """How often each value of one column occurs with each value of the others together."""
        shown, row_of, place = _numbered(by)
        width = len(of.values)
        cells, counts = _totals(place * width + of.codes, len(row_of) * width, self.counts)
        return Table(shown, cells // width, cells % width, counts)


@dataclass(frozen=True)
class Table:
    """The cells of a contingency table that are not empty, row by row.

    ``shown`` has for each row y its codes at the columns that tell rows apart; rows ascend by them. A cell
    stands in the row ``place``, in the column ``code``, and counts ``counts``.
    """

    shown: tuple[_Array, ...]
    place: _Array
    code: _Array
    counts: _Array

    def split(self) -> Split:
        """How the rows fall into cells."""
        return split_cells(_sums(self.place, len(self.shown[0]), self.counts)[self.place], self.counts)

    def rows(self) -> Iterator[bytes]:
        """The cells of each row, spelled so that equal rows are equal."""
        cells = np.stack([self.code, self.counts], axis=1)
        ends = np.cumsum(np.bincount(self.place, minlength=len(self.shown[0]))).tolist()
        for start, end in zip([0, *ends], ends, strict=False):
            yield cells[start:end].tobytes()

    @staticmethod
    def cells(row: bytes) -> dict[int, int]:
        """What is counted in a row, by column."""
        cells = np.frombuffer(row, np.int64).tolist()
        return dict(zip(cells[::2], cells[1::2], strict=True))


def _numbered(columns: Sequence[Column]) -> tuple[tuple[_Array, ...], _Array, _Array]:
    """The different values of some columns together: their codes, one row of each, and which a row has."""
    joint = np.zeros(len(columns[0].codes), np.int64)
    width = 1
    for column in columns:
        if width * len(column.values) > _LARGEST:
            _, joint = _ranked(joint, width)
            width = len(joint)
        joint = joint * len(column.values) + column.codes
        width *= len(column.values)
    row_of, place = _ranked(joint, width)
    return tuple(column.codes[row_of] for column in columns), row_of, place


def _ranked(numbers: _Array, width: int) -> tuple[_Array, _Array]:
    """A place where each different number below ``width`` stands, in their order, and the rank of all."""
    if width > _DENSE * len(numbers):
        _, first, rank = np.unique(numbers, return_index=True, return_inverse=True)
        return first, rank.reshape(-1)
    last = np.full(width, -1)
    last[numbers] = np.arange(len(numbers))
    there = last >= 0
    return last[there], (np.cumsum(there) - 1)[numbers]


def _totals(numbers: _Array, width: int, counts: _Array) -> tuple[_Array, _Array]:
    """The different numbers below ``width``, ascending, and the sum of the counts of each."""
    place_of, rank = _ranked(numbers, width)
    return numbers[place_of], _sums(rank, len(place_of), counts)


def _sums(places: _Array, size: int, counts: _Array) -> _Array:
    """The sum of the counts at each place; exact up to 2^53 rows."""
    return np.bincount(places, weights=counts, minlength=size).astype(np.int64)

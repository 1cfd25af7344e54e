"""Counts of cells over several parts of a release: compact, sorted, added exactly."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

Array: TypeAlias = NDArray[np.int64]
Lanes: TypeAlias = tuple[NDArray[Any], ...]
"""A name for each cell, spread over arrays of integers of equal length, its lanes."""

_LARGEST = 2**62
_RUN = 2**22
"""Longer runs are not joined any more, so that joining needs little extra memory."""
_PIECE = 2**20
"""About this many cells are processed together."""


@dataclass(frozen=True)
class CellRun:
    """Distinct cells, sorted by their lanes, with counts; stored in the smallest integer types that fit."""

    lanes: Lanes
    counts: NDArray[Any]

    @classmethod
    def of(cls, lanes: Sequence[Array], counts: Array) -> CellRun:
        """Build a run from counts of cells that may repeat, in any order."""
        lanes, counts, starts = order_cells(lanes, counts)
        return cls(
            tuple(_narrow(lane[starts]) for lane in lanes),
            _narrow(np.add.reduceat(counts, starts) if len(starts) else counts),
        )

    def __len__(self) -> int:
        return len(self.counts)

    def slice_lanes(self, low: int | None, high: int | None) -> CellRun:
        """Return the cells with ``low`` <= first lane < ``high``; None: no bound."""
        first = self.lanes[0]
        start = 0 if low is None else int(np.searchsorted(first, low))
        end = len(first) if high is None else int(np.searchsorted(first, high))
        return CellRun(tuple(lane[start:end] for lane in self.lanes), self.counts[start:end])

    def shift_lanes(self, by: int) -> CellRun:
        """Return the cells with ``by`` added to the first lane."""
        first, *others = self.lanes
        return CellRun((_narrow(first.astype(np.int64) + by), *others), self.counts)


def join_runs(runs: Sequence[CellRun]) -> tuple[list[Array], Array]:
    """Concatenate the lanes and counts of all runs."""
    pieces = zip(*(run.lanes for run in runs), strict=True)
    lanes = [np.concatenate(lane).astype(np.int64) for lane in pieces]
    return lanes, np.concatenate([run.counts for run in runs]).astype(np.int64)


@dataclass(frozen=True)
class Cells:
    """Cells with their counts, in one or a few sorted runs; ``+`` adds the counts of equal cells.

    Its memory grows with the number of distinct cells, by 2 to 9 bytes per lane and cell. Above 4 million
    distinct cells some are stored more than once, at most once for each part that has them.
    """

    runs: tuple[CellRun, ...]

    @classmethod
    def of(cls, lanes: Sequence[Array], counts: Array) -> Cells:
        """Build cells from counts of cells that may repeat, in any order."""
        return cls((CellRun.of(lanes, counts),))

    def __add__(self, other: Cells) -> Cells:
        runs = sorted((*self.runs, *other.runs), key=len, reverse=True)
        # Join the two smallest runs while their sizes are similar, so that cells are moved only a few times.
        while len(runs) > 1 and 2 * len(runs[-1]) >= len(runs[-2]) and len(runs[-2]) <= _RUN:
            runs.append(CellRun.of(*join_runs([runs.pop(), runs.pop()])))
        return Cells(tuple(runs))

    def shift_lanes(self, by: int) -> Cells:
        """Return the cells with ``by`` added to the first lane."""
        return Cells(tuple(run.shift_lanes(by) for run in self.runs))


def borders(cells: Sequence[Cells], width: int) -> Iterator[tuple[int | None, int | None]]:
    """Yield bounds that cut the first lane at multiples of ``width`` into pieces of limited size."""
    runs = [run for of_part in cells for run in of_part.runs]
    pieces = -(-sum(map(len, runs)) // _PIECE)
    longest = max(runs, key=len)
    cuts = {
        int(longest.lanes[0][len(longest) * piece // pieces]) // width * width for piece in range(1, pieces)
    }
    yield from pairwise([None, *sorted(cuts), None])


def order_cells(lanes: Sequence[Array], counts: NDArray[Any]) -> tuple[list[Array], NDArray[Any], Array]:
    """Sort cells and counts; also return where each distinct cell begins."""
    order = np.argsort(lanes[0]) if len(lanes) == 1 else np.lexsort(lanes[::-1])
    lanes = [lane[order] for lane in lanes]
    return lanes, counts[order], starts(lanes)


def starts(lanes: Sequence[Array]) -> Array:
    """Return where each distinct cell begins among sorted cells."""
    new = np.zeros(len(lanes[0]), np.bool_)
    new[:1] = True
    for lane in lanes:
        new[1:] |= lane[1:] != lane[:-1]
    return np.flatnonzero(new)


def rank_cells(lanes: Sequence[Array]) -> tuple[Array, Array]:
    """Return one index of each distinct cell, in sorted order, and the rank of all cells."""
    order = np.argsort(lanes[0]) if len(lanes) == 1 else np.lexsort(lanes[::-1])
    first = starts([lane[order] for lane in lanes])
    rank = np.empty(len(order), np.int64)
    rank[order] = np.repeat(np.arange(len(first)), np.diff(first, append=len(order)))
    return order[first], rank


def pack_columns(columns: Sequence[tuple[Array, int]]) -> tuple[list[Array], int]:
    """Pack columns of numbers, with widths, into as few lanes as possible; return lanes and last width.

    The numbers of a column are below its width. Sorting by lanes is sorting by columns.
    """
    lanes: list[Array] = []
    span = _LARGEST
    for numbers, width in columns:
        if span * width < _LARGEST:
            lanes[-1] = lanes[-1] * width + numbers
            span *= width
        else:
            lanes.append(numbers.astype(np.int64))
            span = width
    return lanes, span


def _narrow(numbers: NDArray[Any]) -> NDArray[Any]:
    """Return the numbers in the smallest integer type that fits."""
    least, most = int(numbers.min(initial=0)), int(numbers.max(initial=0))
    kinds = (np.uint8, np.uint16, np.uint32) if least >= 0 else ()
    return numbers.astype(next((kind for kind in kinds if most <= np.iinfo(kind).max), np.int64))

"""Counts of cells that lie in several parts of a release: compact, sorted, added up without loss."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

Array: TypeAlias = NDArray[np.int64]
Lanes: TypeAlias = tuple[NDArray[Any], ...]
"""One name for each cell, spread over arrays of integers of equal length: lanes."""

_LARGEST = 2**62
_RUN = 2**22
"""Runs of more cells than this are not joined any more: what joining needs beside them stays small."""
_PIECE = 2**20
"""About so many cells are looked at together."""


@dataclass(frozen=True)
class CellRun:
    """Different cells in the order of their lanes, and the count of each; in as few bytes as hold these."""

    lanes: Lanes
    counts: NDArray[Any]

    @classmethod
    def of(cls, lanes: Sequence[Array], counts: Array) -> CellRun:
        """Counts of cells that may repeat, in no order."""
        lanes, counts, starts = order_cells(lanes, counts)
        return cls(
            tuple(_narrow(lane[starts]) for lane in lanes),
            _narrow(np.add.reduceat(counts, starts) if len(starts) else counts),
        )

    def __len__(self) -> int:
        return len(self.counts)

    def slice_lanes(self, low: int | None, high: int | None) -> CellRun:
        """The cells whose first lane is from ``low`` to below ``high``; None: no end."""
        first = self.lanes[0]
        start = 0 if low is None else int(np.searchsorted(first, low))
        end = len(first) if high is None else int(np.searchsorted(first, high))
        return CellRun(tuple(lane[start:end] for lane in self.lanes), self.counts[start:end])

    def shift_lanes(self, by: int) -> CellRun:
        """The same cells, farther along in the first lane."""
        first, *others = self.lanes
        return CellRun((_narrow(first.astype(np.int64) + by), *others), self.counts)


def join_runs(runs: Sequence[CellRun]) -> tuple[list[Array], Array]:
    """Lanes and counts of all runs, one after the other."""
    lanes = [np.concatenate(own).astype(np.int64) for own in zip(*(run.lanes for run in runs), strict=True)]
    return lanes, np.concatenate([run.counts for run in runs]).astype(np.int64)


@dataclass(frozen=True)
class Cells:
    """Cells with their counts, in one or a few sorted runs: ``+`` adds the counts of equal ones.

    It grows with the number of different cells, by 2 to 9 bytes a lane and cell; above 4 million different
    ones some are held more than once, up to as often as parts have them.
    """

    runs: tuple[CellRun, ...]

    @classmethod
    def of(cls, lanes: Sequence[Array], counts: Array) -> Cells:
        """Counts of cells that may repeat, in no order."""
        return cls((CellRun.of(lanes, counts),))

    def __add__(self, other: Cells) -> Cells:
        runs = sorted((*self.runs, *other.runs), key=len, reverse=True)
        # As long as the two smallest are of like size: so each cell is moved a few times only.
        while len(runs) > 1 and 2 * len(runs[-1]) >= len(runs[-2]) and len(runs[-2]) <= _RUN:
            runs.append(CellRun.of(*join_runs([runs.pop(), runs.pop()])))
        return Cells(tuple(runs))

    def shift_lanes(self, by: int) -> Cells:
        """The same cells, farther along in the first lane."""
        return Cells(tuple(run.shift_lanes(by) for run in self.runs))


def borders(cells: Sequence[Cells], width: int) -> Iterator[tuple[int | None, int | None]]:
    """Where to cut the first lane, at multiples of ``width``, so that not many cells lie between two cuts."""
    runs = [run for own in cells for run in own.runs]
    pieces = -(-sum(map(len, runs)) // _PIECE)
    longest = max(runs, key=len)
    cuts = {
        int(longest.lanes[0][len(longest) * piece // pieces]) // width * width for piece in range(1, pieces)
    }
    yield from pairwise([None, *sorted(cuts), None])


def order_cells(lanes: Sequence[Array], counts: NDArray[Any]) -> tuple[list[Array], NDArray[Any], Array]:
    """Cells and counts in order, and where each different cell begins."""
    order = np.argsort(lanes[0]) if len(lanes) == 1 else np.lexsort(lanes[::-1])
    lanes = [lane[order] for lane in lanes]
    return lanes, counts[order], starts(lanes)


def starts(lanes: Sequence[Array]) -> Array:
    """Where each different cell begins, of cells in order."""
    new = np.zeros(len(lanes[0]), np.bool_)
    new[:1] = True
    for lane in lanes:
        new[1:] |= lane[1:] != lane[:-1]
    return np.flatnonzero(new)


def rank_cells(lanes: Sequence[Array]) -> tuple[Array, Array]:
    """Of each different cell a place where it stands, in their order; and the rank of all."""
    order = np.argsort(lanes[0]) if len(lanes) == 1 else np.lexsort(lanes[::-1])
    first = starts([lane[order] for lane in lanes])
    rank = np.empty(len(order), np.int64)
    rank[order] = np.repeat(np.arange(len(first)), np.diff(first, append=len(order)))
    return order[first], rank


def pack_columns(columns: Sequence[tuple[Array, int]]) -> tuple[list[Array], int]:
    """Columns of numbers, each below its width, in as few lanes as hold them; the width of the last lane.

    Lanes in order are columns in order.
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
    """The same numbers in as few bytes as hold them all."""
    least, most = int(numbers.min(initial=0)), int(numbers.max(initial=0))
    kinds = (np.uint8, np.uint16, np.uint32) if least >= 0 else ()
    return numbers.astype(next((kind for kind in kinds if most <= np.iinfo(kind).max), np.int64))

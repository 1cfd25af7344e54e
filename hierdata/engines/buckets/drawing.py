"""Draw classes from buckets, in the order that a subclass defines."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from hierdata.engines.buckets.buckets import Buckets

_AHEAD = 16
"""How many rows of a bucket are searched for a record that the class does not have yet."""
_REPORTED = 1024


class Drawing(ABC):
    """The rows left in each bucket, and the room of a class for each group.

    A class that cannot be filled returns its rows, and the bucket that it began with begins no other class.
    After ``_patience`` consecutive failures no more classes are tried.
    """

    _patience: ClassVar[int] = 64

    def __init__(self, buckets: Buckets, records: NDArray[np.int64], rng: np.random.Generator) -> None:
        self._size = buckets.class_size
        self._rows, self._groups = _fill_buckets(buckets, rng)
        self._rooms = [buckets.room(coordinate) for coordinate in buckets.coordinates]
        self._room = [rows for room in self._rooms for rows in room] or [self._size]
        repeated = len(np.unique(records)) < len(records)
        self._record_of = records.tolist() if repeated else None
        self._ties = _draws(rng)
        self._given_up: set[int] = set()

    def run(self, progress: Callable[[int], None]) -> list[int]:
        """Draw all classes; return their rows, class by class."""
        drawn: list[int] = []
        failed = 0
        while True:
            rows, of = self._fill()
            if not rows:
                break
            if len(rows) == self._size:
                drawn += rows
                failed = 0
                if len(drawn) % (_REPORTED * self._size) == 0:
                    progress(len(drawn))
                continue
            failed += 1
            for row, bucket in zip(rows, of, strict=True):
                self._rows[bucket].append(row)
            if failed == self._patience or not self._enough():
                break
            self._given_up.add(of[0])
            self._take_back(of)
        return drawn

    @abstractmethod
    def _fill(self) -> tuple[list[int], list[int]]:
        """Draw the rows of a class, with their buckets; fewer than a class needs if no more have room."""

    @abstractmethod
    def _take_back(self, of: list[int]) -> None:
        """Update the state after rows returned to these buckets, and the first of them was given up."""

    def _row(self, bucket: int, taken: list[int]) -> int | None:
        """Take a row of a bucket; None if the last few are of records that the class has already."""
        rows = self._rows[bucket]
        if self._record_of is None:
            return rows.pop()
        met = {self._record_of[row] for row in taken}
        for back in range(1, min(_AHEAD, len(rows)) + 1):
            if self._record_of[rows[-back]] not in met:
                rows[-back], rows[-1] = rows[-1], rows[-back]
                return rows.pop()
        return None

    def _enough(self) -> bool:
        """Return whether the remaining rows could still fill a class, by each coordinate alone."""
        left = [0] * len(self._room)
        for rows, groups in zip(self._rows, self._groups, strict=True):
            for group in groups:
                left[group] += len(rows)
        first = 0
        for room in self._rooms:
            if sum(map(min, left[first : first + len(room)], room)) < self._size:
                return False
            first += len(room)
        return sum(map(len, self._rows)) >= self._size


def _draws(rng: np.random.Generator) -> Iterator[float]:
    while True:
        yield from rng.random(4096).tolist()


def _fill_buckets(
    buckets: Buckets, rng: np.random.Generator
) -> tuple[list[list[int]], list[tuple[int, ...]]]:
    """Return the rows of each bucket in random order, and its groups, numbered over all coordinates."""
    complete = np.ones(buckets.rows, np.bool_)
    for coordinate in buckets.coordinates:
        complete &= coordinate.group_of >= 0
    rows = rng.permutation(np.flatnonzero(complete))
    numbers = np.zeros(len(rows), np.int64)
    for coordinate in buckets.coordinates:
        keys = numbers * len(coordinate.share) + coordinate.group_of[rows]
        numbers = np.unique(keys, return_inverse=True)[1]
    order = np.argsort(numbers, kind="stable")
    parts = np.split(rows[order], np.flatnonzero(np.diff(numbers[order])) + 1) if len(rows) else []
    counts = [len(coordinate.share) for coordinate in buckets.coordinates]
    firsts = [sum(counts[:at]) for at in range(len(counts))]
    vectors = [
        tuple(
            first + int(one.group_of[part[0]]) for first, one in zip(firsts, buckets.coordinates, strict=True)
        )
        for part in parts
    ]
    return [part.tolist() for part in parts], vectors

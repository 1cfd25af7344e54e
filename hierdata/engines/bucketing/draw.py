"""Classes drawn from the largest buckets (LE algorithm 1, steps 1 and 2)."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from heapq import heapify, heappop, heappush
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from hierdata.engines.bucketing.buckets import Buckets
from hierdata.partition import SUPPRESSED

_AHEAD = 16
"""How deep a bucket is searched for a row of a record that the class does not have yet."""
_PATIENCE = 64
"""How many largest buckets in a row may fail to begin a class before no more are tried."""
_REPORTED = 1024
_Entry: TypeAlias = tuple[int, float, int]
"""How many rows a bucket has left, negative, a number drawn for ties, and the bucket."""


def draw(
    buckets: Buckets, records: NDArray[np.int64], rng: np.random.Generator, progress: Callable[[int], None]
) -> NDArray[np.int64]:
    """The class of each row, SUPPRESSED for what is left in the buckets or belongs to none."""
    drawn = _Drawing(buckets, records, rng).run(progress)
    classes = np.full(buckets.rows, SUPPRESSED, np.int64)
    count = len(drawn) // buckets.class_size
    classes[np.array(drawn, np.int64)] = np.repeat(np.arange(count), buckets.class_size)
    return classes


class _Drawing:
    """Buckets by what is left in them, equal ones in random order.

    Each has an entry in the heap of its leading group, its group of the coordinate that has the fewest; the
    heap over all groups holds the first of each, and what it held before. A group without room is so passed
    over at once, however many buckets it has.
    """

    def __init__(self, buckets: Buckets, records: NDArray[np.int64], rng: np.random.Generator) -> None:
        self._size = buckets.class_size
        self._rows, self._groups = _bucketed(buckets, rng)
        self._rooms = [buckets.room(coordinate) for coordinate in buckets.coordinates]
        self._room = [rows for room in self._rooms for rows in room] or [self._size]
        self._held = [0] * len(self._room)
        repeated = len(np.unique(records)) < len(records)
        self._record_of = records.tolist() if repeated else None
        self._ties = _draws(rng)
        self._given_up: set[int] = set()
        fewest = min(range(len(self._rooms)), key=lambda at: len(self._rooms[at]), default=0)
        self._leading = [groups[fewest] if groups else 0 for groups in self._groups]
        self._heaps: dict[int, list[_Entry]] = {}
        self._first: list[_Entry] = []
        self._refill()

    def run(self, progress: Callable[[int], None]) -> list[int]:
        """The rows of all classes, class after class."""
        drawn: list[int] = []
        failed = 0
        while self._first:
            rows, of = self._fill()
            if len(rows) == self._size:
                drawn += rows
                failed = 0
                if len(drawn) % (_REPORTED * self._size) == 0:
                    progress(len(drawn))
                continue
            failed += 1
            for row, bucket in zip(rows, of, strict=True):
                self._rows[bucket].append(row)
            if failed == _PATIENCE or not self._enough():
                break
            self._given_up.add(of[0])
            self._refill()
        return drawn

    def _fill(self) -> tuple[list[int], list[int]]:
        """The rows of a class and their buckets: from the largest that has room, again and again."""
        first, heaps, leading = self._first, self._heaps, self._leading
        rows: list[int] = []
        of: list[int] = []
        aside: list[_Entry] = []
        passed: set[int] = set()
        while first and len(rows) < self._size:
            entry = heappop(first)
            group = leading[entry[2]]
            heap = heaps[group]
            if not heap or heap[0] != entry:
                continue  # the group has had another first one since
            if self._held[group] >= self._room[group]:
                passed.add(group)
                continue
            heappop(heap)
            left = self._take(entry, rows, of)
            if left is not None:
                if left is not entry and self._has_room(entry[2]):
                    heappush(heap, left)
                else:
                    aside.append(left)
            if heap:
                heappush(first, heap[0])
        self._restore(aside, passed, of)
        return rows, of

    def _take(self, entry: _Entry, rows: list[int], of: list[int]) -> _Entry | None:
        """Add a row of a bucket; answer its entry after that, the same if it has none for this class."""
        bucket = entry[2]
        row = self._row(bucket, rows) if self._has_room(bucket) else None
        if row is None:
            return entry
        rows.append(row)
        of.append(bucket)
        for group in self._groups[bucket]:
            self._held[group] += 1
        left = len(self._rows[bucket])
        return (-left, next(self._ties), bucket) if left else None

    def _restore(self, aside: list[_Entry], passed: set[int], of: list[int]) -> None:
        """Enter again what had no room in a class that took rows of these buckets."""
        for entry in aside:
            heappush(self._heaps[self._leading[entry[2]]], entry)
        for group in passed.union(self._leading[bucket] for _, _, bucket in aside):
            heappush(self._first, self._heaps[group][0])
        for bucket in of:
            for group in self._groups[bucket]:
                self._held[group] = 0

    def _has_room(self, bucket: int) -> bool:
        held, room = self._held, self._room
        for group in self._groups[bucket]:  # noqa: SIM110  (twice as fast as all())
            if held[group] >= room[group]:
                return False
        return True

    def _row(self, bucket: int, taken: list[int]) -> int | None:
        """The next row of a bucket; of a record that the class does not have yet, a few places deep."""
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
        """Whether what is left, coordinate by coordinate, could still fill a class."""
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

    def _refill(self) -> None:
        """Enter every bucket that has rows, room, and has not been given up."""
        self._heaps = {group: [] for group in self._leading}
        for bucket, rows in enumerate(self._rows):
            if rows and bucket not in self._given_up and self._has_room(bucket):
                self._heaps[self._leading[bucket]].append((-len(rows), next(self._ties), bucket))
        for heap in self._heaps.values():
            heapify(heap)
        self._first = [heap[0] for heap in self._heaps.values() if heap]
        heapify(self._first)


def _draws(rng: np.random.Generator) -> Iterator[float]:
    while True:
        yield from rng.random(4096).tolist()


def _bucketed(buckets: Buckets, rng: np.random.Generator) -> tuple[list[list[int]], list[tuple[int, ...]]]:
    """The rows of each bucket in random order, and its groups, numbered through all coordinates."""
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

"""The largest bucket first: the order of mbf, and optionally of msb."""

from __future__ import annotations

from heapq import heapify, heappop, heappush
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from hierdata.engines.buckets.buckets import Buckets
from hierdata.engines.buckets.drawing import Drawing

_Entry: TypeAlias = tuple[int, float, int]
"""Minus the number of rows left in a bucket, a random number for ties, and the bucket."""


class BySize(Drawing):
    """Draws by the number of rows left in a bucket, with random ties.

    Each bucket has an entry in the heap of its leading group, which is its group in the coordinate with the
    fewest groups. The heap over all groups has the first entry of each, and stale ones. So a group without
    room is skipped at once, however many buckets it has.
    """

    def __init__(self, buckets: Buckets, records: NDArray[np.int64], rng: np.random.Generator) -> None:
        super().__init__(buckets, records, rng)
        self._held = [0] * len(self._room)
        fewest = min(range(len(self._rooms)), key=lambda at: len(self._rooms[at]), default=0)
        self._leading = [groups[fewest] if groups else 0 for groups in self._groups]
        self._heaps: dict[int, list[_Entry]] = {}
        self._first: list[_Entry] = []
        self._refill()

    def _fill(self) -> tuple[list[int], list[int]]:
        """Return the rows of a class and their buckets, each from the largest bucket that has room."""
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
                continue  # stale: the group has another first entry now
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
        """Add a row of a bucket; return its new entry, or the same one if it has no row for this class."""
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
        """Put back the entries that had no room in a class that took rows of these buckets."""
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

    def _take_back(self, of: list[int]) -> None:
        self._refill()

    def _refill(self) -> None:
        """Add every bucket that has rows and room and has not been given up."""
        self._heaps = {group: [] for group in self._leading}
        for bucket, rows in enumerate(self._rows):
            if rows and bucket not in self._given_up and self._has_room(bucket):
                self._heaps[self._leading[bucket]].append((-len(rows), next(self._ties), bucket))
        for heap in self._heaps.values():
            heapify(heap)
        self._first = [heap[0] for heap in self._heaps.values() if heap]
        heapify(self._first)

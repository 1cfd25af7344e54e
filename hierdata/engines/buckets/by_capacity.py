"""Buckets of the largest capacities first: the orders of multi-sensitive bucketization (MSB)."""

from __future__ import annotations

from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from hierdata.engines.buckets.buckets import Buckets
from hierdata.engines.buckets.drawing import Drawing
from hierdata.engines.buckets.kernel import largest


class ByCapacity(Drawing):
    """Draws by the capacities of a bucket's coordinates: the largest of them, or their sum if ``summed``.

    The capacity of a group of values is the number of rows left with it. Ties go to the larger bucket, then
    to a random one. A draw lowers only the capacities of the bucket's own groups, which are masked once the
    class has no more room for them. So every draw scans the buckets once, in compiled code.
    """

    # The buckets of the largest sums are similar and may all fail: with 512, Adult loses 6 of 10 drawn rows.
    _patience: ClassVar[int] = 4096

    def __init__(
        self, buckets: Buckets, records: NDArray[np.int64], rng: np.random.Generator, *, summed: bool
    ) -> None:
        super().__init__(buckets, records, rng)
        self._summed = summed
        count = len(self._rows)
        self._vectors = np.array(self._groups, np.int64).reshape(count, len(self._rooms))
        self._most = np.array(self._room, np.int64)
        self._held = np.zeros(len(self._room), np.int64)
        self._tie = np.array([next(self._ties) for _ in range(count)], np.float64)
        self._left = np.array([len(rows) for rows in self._rows], np.int64)
        self._capacity = np.zeros(len(self._room), np.int64)
        np.add.at(self._capacity, self._vectors, self._left[:, None])
        self._masked = np.zeros(count, np.bool_)

    def _fill(self) -> tuple[list[int], list[int]]:
        rows: list[int] = []
        of: list[int] = []
        passed: list[int] = []
        while len(rows) < self._size:
            bucket = largest(
                self._vectors, self._left, self._tie, self._masked, self._capacity, self._held,
                self._most, self._summed,
            )  # fmt: skip
            if bucket < 0:
                break
            row = self._row(bucket, rows)
            if row is None:
                self._masked[bucket] = True
                passed.append(bucket)
                continue
            rows.append(row)
            of.append(bucket)
            self._left[bucket] -= 1
            self._capacity[self._vectors[bucket]] -= 1
            self._held[self._vectors[bucket]] += 1
            self._tie[bucket] = next(self._ties)
        self._held[self._vectors[of]] = 0
        self._masked[passed] = False
        return rows, of

    def _take_back(self, of: list[int]) -> None:
        for bucket in of:  # a bucket may occur several times
            self._left[bucket] += 1
            self._capacity[self._vectors[bucket]] += 1
        self._masked[of[0]] = True

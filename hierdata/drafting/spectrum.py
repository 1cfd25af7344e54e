"""Count the frequencies of any number of values in bounded memory."""

from __future__ import annotations

from math import sqrt
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

Hashes: TypeAlias = NDArray[np.uint64]
"""64 bits for each value; equal values have equal bits."""

ABSENT = np.uint64(0)
"""The hash of a missing value."""

_ODD: Hashes = np.array([0x9E3779B97F4A7C15], np.uint64)
_FIRST: Hashes = np.array([0xBF58476D1CE4E5B9], np.uint64)
_SECOND: Hashes = np.array([0x94D049BB133111EB], np.uint64)


def mix_hashes(first: Hashes, second: Hashes) -> Hashes:
    """Return one hash for each pair (the finalizer of splitmix64, by Steele, Lea and Flood)."""
    bits = first + _ODD * (second ^ (second >> np.uint64(29))) + _ODD
    bits = (bits ^ (bits >> np.uint64(30))) * _FIRST
    bits = (bits ^ (bits >> np.uint64(27))) * _SECOND
    mixture: Hashes = bits ^ (bits >> np.uint64(31))
    return mixture


class Spectrum:
    """The counts of at most ``most`` distinct values.

    The counts are exact up to that number. Beyond it, only values whose hash ends in ``level`` zero bits are
    kept, each with all of its occurrences: a random sample of the values, not of their occurrences (distinct
    sampling, by Gibbons). So the count of a kept value is exact. The result does not depend on the order of
    additions, nor on how they are distributed over merged instances.

    >>> spectrum = Spectrum(4)
    >>> spectrum.add(np.array([8, 8, 3, 5], np.uint64))
    >>> spectrum.distinct, spectrum.below(2), spectrum.largest
    (3, 2, 2)
    """

    __slots__ = ("_counts", "_keys", "_level", "_most", "_pending", "_waiting")

    def __init__(self, most: int) -> None:
        self._most = most
        self._level = 0
        self._keys: Hashes = np.empty(0, np.uint64)
        self._counts: NDArray[np.int64] = np.empty(0, np.int64)
        self._pending: list[Hashes] = []
        self._waiting = 0

    def add(self, hashes: Hashes) -> None:
        """Count one more occurrence of each hash."""
        kept = hashes[hashes & self._mask == 0] if self._level else hashes
        self._pending.append(kept)
        self._waiting += len(kept)
        if self._waiting >= self._most:
            self._settle()

    def merge(self, other: Spectrum) -> None:
        """Add the counts of another instance with the same ``most``."""
        other._settle()
        self._settle()
        self._level = max(self._level, other._level)
        self._unite(np.concatenate([self._keys, other._keys]), np.concatenate([self._counts, other._counts]))

    def copy(self) -> Spectrum:
        """Return an independent copy."""
        self._settle()
        other = Spectrum(self._most)
        other._level, other._keys, other._counts = self._level, self._keys, self._counts
        return other

    def within(self, other: Spectrum) -> bool:
        """Return whether all values are among those of another instance, as far as both kept them."""
        self._settle()
        other._settle()
        mask = np.uint64((1 << max(self._level, other._level)) - 1)
        return bool(np.isin(self._keys[self._keys & mask == 0], other._keys).all())

    @property
    def exact(self) -> bool:
        """Whether all values are counted."""
        self._settle()
        return self._level == 0

    @property
    def distinct(self) -> int:
        """Number of distinct values, estimated if not exact."""
        self._settle()
        return len(self._keys) << self._level

    @property
    def total(self) -> int:
        """Number of all occurrences, estimated if not exact."""
        self._settle()
        return int(self._counts.sum()) << self._level

    @property
    def largest(self) -> int:
        """Count of the most frequent kept value."""
        self._settle()
        return int(self._counts.max(initial=0))

    def below(self, size: int) -> int:
        """Return the number of occurrences of values that occur fewer than ``size`` times."""
        self._settle()
        return int(self._counts[self._counts < size].sum()) << self._level

    def error(self, size: int) -> float:
        """Return the standard error of ``below(size)``: each value is kept with probability 2 ** -level."""
        self._settle()
        squares = int((self._counts[self._counts < size] ** 2).sum())
        scale = 1 << self._level
        return sqrt(squares * (scale - 1) * scale)

    @property
    def _mask(self) -> np.uint64:
        return np.uint64((1 << self._level) - 1)

    def _settle(self) -> None:
        if not self._pending:
            return
        new, times = np.unique(np.concatenate(self._pending), return_counts=True)
        self._pending, self._waiting = [], 0
        self._unite(np.concatenate([self._keys, new]), np.concatenate([self._counts, times]))

    def _unite(self, keys: Hashes, counts: NDArray[np.int64]) -> None:
        """Add up the counts of equal values, and raise the level until at most ``most`` remain."""
        self._keys, places = np.unique(keys, return_inverse=True)
        self._counts = np.zeros(len(self._keys), np.int64)
        np.add.at(self._counts, places, counts)
        self._thin()
        while len(self._keys) > self._most:
            self._level += 1
            self._thin()

    def _thin(self) -> None:
        if self._level:
            kept = self._keys & self._mask == 0
            self._keys, self._counts = self._keys[kept], self._counts[kept]

"""Blocks by a tree: where each record goes, and what becomes of leaves of the wrong size."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from hierdata.engines.blocking.kernel import find_leaves

Integers = NDArray[np.int64]


@dataclass(frozen=True)
class Sizes:
    """How large blocks should be.

    ``population`` is the number of records of the collection, ``size`` of a block: blocks have from two
    thirds of it to four thirds. None has fewer than ``least``. Where all records are known while the tree is
    made, blocks have multiples of ``unit`` records, the size of a class, but for one with the rest.
    """

    population: int
    size: int
    least: int
    unit: int = 1

    @property
    def smallest(self) -> int:
        """The fewest records on a side."""
        return max(-(-2 * self.size // 3), self.least, 1)


@dataclass(frozen=True)
class Cut:
    """The tree, as arrays by inner node; leaves are numbered from left to right.

    ``below[node]`` has the node to the left and to the right, ~leaf for a leaf. A record goes right if its
    sum is above ``threshold``, or equal and its hash is not below ``tie``. ``first`` is the number of a
    leaf's first block, ``parts`` how many it has: of these, another hash of the ordinal picks one.
    """

    sizes: Sizes
    salt: int
    directions: NDArray[np.int32]
    threshold: Integers
    tie: NDArray[np.uint64]
    below: Integers
    first: Integers
    parts: Integers

    @property
    def leaves(self) -> int:
        """Number of leaves: what ``settled`` needs a count of."""
        return len(self.first)

    @property
    def blocks(self) -> int:
        """Number of blocks."""
        return int((self.first + self.parts).max())

    def leaf_of(self, counts: NDArray[np.uint8], ordinals: Integers) -> Integers:
        """The leaf of each of some records; who else is among them makes no difference."""
        found = np.zeros(len(ordinals), np.int64)
        if len(self.below):
            hashes = hashes_of(ordinals, self.salt)
            tree = (self.directions, self.threshold, self.tie, self.below)
            find_leaves(np.ascontiguousarray(counts), hashes, *tree, found)
        return found

    def block_of(self, counts: NDArray[np.uint8], ordinals: Integers) -> Integers:
        """The block of each of some records, by histogram and place in the collection."""
        leaves = self.leaf_of(counts, ordinals)
        other = (hashes_of(ordinals, self.salt + 1) >> np.uint64(33)).astype(np.int64)
        blocks: Integers = self.first[leaves] + (other * self.parts[leaves] >> 31)
        return blocks

    def settled(self, counts: Integers) -> Cut:
        """The cut for so many records at each leaf: no block too small, none far too large.

        A leaf with fewer than ``least`` records goes to the smallest block on the other side of the cut above
        it. Blocks of more than twice ``size`` are dealt out evenly.
        """
        first, parts = np.zeros(self.leaves, np.int64), np.ones(self.leaves, np.int64)
        block = 0
        for leaves, count in self._groups(counts.tolist()):
            number = self._dealt(count)
            first[leaves], parts[leaves] = block, number
            block += number
        return replace(self, first=first, parts=parts)

    def _groups(self, counts: list[int]) -> list[tuple[list[int], int]]:
        """Leaves that are one block, with their records: all of ``least``, or there is but one."""
        if not len(self.below):
            return [([0], counts[0])]
        found: dict[int, list[tuple[list[int], int]]] = {}
        for node in range(len(self.below) - 1, -1, -1):  # children stand behind their parents
            left, right = (
                found.pop(child) if child >= 0 else [([~child], counts[~child])]
                for child in self.below[node].tolist()
            )
            if left[0][1] < self.sizes.least:
                right = _joined(right, left[0])
                left = []
            elif right[0][1] < self.sizes.least:
                left = _joined(left, right[0])
                right = []
            found[node] = left + right
        return found[0]

    def _dealt(self, count: int) -> int:
        """In how many blocks so many records are dealt by a hash: one comes below ``least`` once in 10^9."""
        if count <= 2 * self.sizes.size:
            return 1
        number = count // self.sizes.size
        mean = count // number
        return number if mean > self.sizes.least and (mean - self.sizes.least) ** 2 >= 49 * mean else 1


def _joined(groups: list[tuple[list[int], int]], small: tuple[list[int], int]) -> list[tuple[list[int], int]]:
    """The groups, the smallest of them with some more leaves."""
    place = min(range(len(groups)), key=lambda at: groups[at][1])
    leaves, count = groups[place]
    return [*groups[:place], (leaves + small[0], count + small[1]), *groups[place + 1 :]]


def hashes_of(ordinals: Integers, salt: int) -> NDArray[np.uint64]:
    """64 bits of each ordinal, different for each: the finalizer of splitmix64 (Steele et al., 2014)."""
    mixed = (ordinals.astype(np.uint64) + np.uint64(1)) * np.uint64(0x9E3779B97F4A7C15)
    mixed ^= np.uint64(salt % 2**64)
    for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
        mixed = (mixed ^ mixed >> np.uint64(shift)) * np.uint64(factor)
    return mixed ^ mixed >> np.uint64(31)

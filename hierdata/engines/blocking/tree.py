"""Blocks by a tree: assign records to leaves, and adjust leaves of the wrong size."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from hierdata.engines.alignment.lower_bounds import histograms
from hierdata.engines.jit import jit
from hierdata.forest.forest import Forest

Integers = NDArray[np.int64]


@dataclass(frozen=True)
class Sizes:
    """The intended sizes of blocks.

    ``population`` is the number of records of the collection, ``size`` that of a block: blocks have from two
    thirds to four thirds of it, and none has fewer than ``least``. If all records are known while the tree is
    grown, the sizes of blocks are multiples of ``unit``, the size of a class, except one with the rest.
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
    leaf's first block, ``parts`` the number of its blocks, of which another hash of the ordinal picks one.
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
        """Number of leaves; ``settle_counts`` needs a count for each."""
        return len(self.first)

    @property
    def blocks(self) -> int:
        """Number of blocks."""
        return int((self.first + self.parts).max())

    def counts_of(self, forest: Forest) -> NDArray[np.uint8]:
        """Return the rows of numbers by which this cut divides the records of a forest."""
        return histograms(forest).counts

    def leaf_of(self, counts: NDArray[np.uint8], ordinals: Integers) -> Integers:
        """Return the leaf of each record; it does not depend on the other records."""
        leaves = np.zeros(len(ordinals), np.int64)
        if len(self.below):
            hashes = hashes_of(ordinals, self.salt)
            tree = (self.directions, self.threshold, self.tie, self.below)
            find_leaves(np.ascontiguousarray(counts), hashes, *tree, leaves)
        return leaves

    def block_of(self, counts: NDArray[np.uint8], ordinals: Integers) -> Integers:
        """Return the block of each record, by its histogram and position in the collection."""
        leaves = self.leaf_of(counts, ordinals)
        other = (hashes_of(ordinals, self.salt + 1) >> np.uint64(33)).astype(np.int64)
        blocks: Integers = self.first[leaves] + (other * self.parts[leaves] >> 31)
        return blocks

    def settle_counts(self, counts: Integers) -> Cut:
        """Adjust the cut to the number of records at each leaf: no block is too small or far too large.

        A leaf with fewer than ``least`` records joins the smallest block on the other side of the cut above
        it. Blocks of more than twice ``size`` are divided evenly.
        """
        first, parts = np.zeros(self.leaves, np.int64), np.ones(self.leaves, np.int64)
        block = 0
        for leaves, count in self._groups(counts.tolist()):
            number = self._block_count(count)
            first[leaves], parts[leaves] = block, number
            block += number
        return replace(self, first=first, parts=parts)

    def _groups(self, counts: list[int]) -> list[tuple[list[int], int]]:
        """Group leaves into blocks of at least ``least`` records, or into one block; with their records."""
        if not len(self.below):
            return [([0], counts[0])]
        groups: dict[int, list[tuple[list[int], int]]] = {}
        for node in range(len(self.below) - 1, -1, -1):  # children follow their parents
            left, right = (
                groups.pop(child) if child >= 0 else [([~child], counts[~child])]
                for child in self.below[node].tolist()
            )
            if left[0][1] < self.sizes.least:
                right = _merge_small_groups(right, left[0])
                left = []
            elif right[0][1] < self.sizes.least:
                left = _merge_small_groups(left, right[0])
                right = []
            groups[node] = left + right
        return groups[0]

    def _block_count(self, count: int) -> int:
        """Return the number of blocks of ``count`` records; a hash fills one below ``least`` once in 10^9."""
        if count <= 2 * self.sizes.size:
            return 1
        number = count // self.sizes.size
        mean = count // number
        return number if mean > self.sizes.least and (mean - self.sizes.least) ** 2 >= 49 * mean else 1


def _merge_small_groups(
    groups: list[tuple[list[int], int]], small: tuple[list[int], int]
) -> list[tuple[list[int], int]]:
    """Add the small group to the smallest of the groups."""
    smallest = min(range(len(groups)), key=lambda number: groups[number][1])
    leaves, count = groups[smallest]
    return [*groups[:smallest], (leaves + small[0], count + small[1]), *groups[smallest + 1 :]]


def unite_leaves(cut: Cut, counts: Integers) -> Cut:
    """Unite all leaves below a node as one block if one of them has fewer records than a block may have."""
    first = np.zeros(cut.leaves, np.int64)
    below: dict[int, list[list[int]]] = {}
    groups = [[0]]
    for node in range(len(cut.below) - 1, -1, -1):  # children follow their parents
        groups = [
            group
            for child in cut.below[node].tolist()
            for group in (below.pop(child) if child >= 0 else [[~child]])
        ]
        if min(int(counts[group].sum()) for group in groups) < cut.sizes.least:
            groups = [[leaf for group in groups for leaf in group]]
        below[node] = groups
    for block, leaves in enumerate(groups):
        first[leaves] = block
    return replace(cut, first=first, parts=np.ones(cut.leaves, np.int64))


def hashes_of(ordinals: Integers, salt: int) -> NDArray[np.uint64]:
    """Hash ordinals to 64 bits, one to one: the finalizer of splitmix64 (Steele et al., 2014)."""
    mixed = (ordinals.astype(np.uint64) + np.uint64(1)) * np.uint64(0x9E3779B97F4A7C15)
    mixed ^= np.uint64(salt % 2**64)
    for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
        mixed = (mixed ^ mixed >> np.uint64(shift)) * np.uint64(factor)
    return mixed ^ mixed >> np.uint64(31)


@jit
def find_leaves(
    counts: NDArray[np.uint8],
    hashes: NDArray[np.uint64],
    directions: NDArray[np.int32],
    threshold: NDArray[np.int64],
    tie: NDArray[np.uint64],
    below: NDArray[np.int64],
    out: NDArray[np.int64],
) -> None:
    """Write the leaf of each record to ``out``, in a tree of cuts with at least one inner node."""
    columns = counts.shape[1]
    for record in range(len(counts)):
        row = counts[record]
        node = np.int64(0)
        while node >= 0:
            direction = directions[node]
            total = np.int32(0)  # the absolute entries of a direction, times 255, sum up to less than 2^24
            for column in range(columns):
                total += np.int32(row[column]) * direction[column]
            right = total > threshold[node] or (total == threshold[node] and hashes[record] >= tie[node])
            node = below[node, 1 if right else 0]
        out[record] = ~node

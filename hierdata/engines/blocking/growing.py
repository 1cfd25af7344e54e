"""Grow the tree of a cut from the root."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from hierdata.engines.alignment.lower_bounds import Histograms
from hierdata.engines.blocking.directions import best, sums_along
from hierdata.engines.blocking.shares import ValueShares, no_shares
from hierdata.engines.blocking.tree import Cut, Integers, Sizes, hashes_of

_LOOKED_AT = 2048
"""The most records from which a node chooses its cut."""
_WEIGHT = 2**15
"""The sum of the columns' weights, before rounding up."""


def grow_cut(
    counts: NDArray[np.uint8],
    weights: Integers,
    ordinals: Integers,
    sizes: Sizes,
    salt: int = 0,
    shares: ValueShares | None = None,
) -> Cut:
    """Grow the cut of a collection from the histograms of all or some of its records.

    ``ordinals`` are these records' positions in the collection, all different; their order here does not
    matter. ``salt``, 64 bits of the seed, keys the hashes. ``shares`` are those of the same records.
    """
    shares = no_shares(len(counts)) if shares is None else shares
    return _Grower(counts, weights, ordinals, sizes, salt, shares).cut()


class _Grower:
    """Grows a tree, node by node from the root. Rows are the records in the order of their hashes."""

    def __init__(
        self,
        counts: NDArray[np.uint8],
        weights: Integers,
        ordinals: Integers,
        sizes: Sizes,
        salt: int,
        shares: ValueShares,
    ) -> None:
        hashes = hashes_of(ordinals, salt)
        order = np.argsort(hashes)
        self._hashes = hashes[order]
        self._sample = _weigh_histograms(np.ascontiguousarray(counts[order]), weights)
        self._shares = shares.of(order)
        self._sizes, self._salt = sizes, salt
        self._known = len(counts) == sizes.population

    def cut(self) -> Cut:
        """Grow the tree: parents before their children, leaves from left to right."""
        nodes: list[tuple[Integers, int, int]] = []
        below: list[list[int]] = []
        leaves = 0
        waiting = [(np.arange(len(self._hashes)), -1, 0)]
        while waiting:
            rows, parent, side = waiting.pop()
            if len(rows) < 2 or self._records(len(rows)) < 2 * self._sizes.smallest:
                child, leaves = ~leaves, leaves + 1
            else:
                child = len(below)
                node, right = self._divide_rows(rows)
                nodes.append(node)
                below.append([0, 0])
                waiting += [(rows[right], child, 1), (rows[~right], child, 0)]
            if parent >= 0:
                below[parent][side] = child
        columns = self._sample.counts.shape[1]
        return Cut(
            sizes=self._sizes,
            salt=self._salt,
            directions=np.array([own for own, _, _ in nodes], np.int32).reshape(len(below), columns),
            threshold=np.array([own for _, own, _ in nodes], np.int64),
            tie=np.array([own for _, _, own in nodes], np.uint64),
            below=np.array(below, np.int64).reshape(-1, 2),
            first=np.arange(leaves),
            parts=np.ones(leaves, np.int64),
        )

    def _records(self, rows: int) -> int:
        """Estimate the number of records of the collection that ``rows`` rows represent."""
        return rows * self._sizes.population // len(self._hashes)

    def _divide_rows(self, rows: Integers) -> tuple[tuple[Integers, int, int], NDArray[np.bool_]]:
        """Return direction, threshold and tie of a node, and the mask of its rows that go right."""
        records = self._records(len(rows))
        looked_at = rows[:_LOOKED_AT]
        share = min(-(-self._sizes.smallest * len(looked_at) // records), len(looked_at) // 2)
        direction, threshold = best(self._sample, looked_at, share, self._shares.of(looked_at))
        sums = sums_along(self._sample.counts[rows], direction)
        if threshold is None:
            blocks = max(records // self._sizes.size, 2)
            place = max(len(rows) * (blocks // 2) // blocks, 1)
        elif self._known:
            place = int((sums < threshold).sum())
        else:
            return (direction, threshold, 0), sums >= threshold
        place = self._nearest_even_cut(place, len(rows)) if self._known else place
        order = np.argsort(sums, kind="stable")
        right = np.ones(len(rows), np.bool_)
        right[order[:place]] = False
        before, first = order[place - 1 : place + 1]
        tie = int(self._hashes[rows[first]]) if sums[before] == sums[first] else 0
        return (direction, int(sums[first]), tie), right

    def _nearest_even_cut(self, place: int, count: int) -> int:
        """Return the nearest place to cut ``count`` records so that the left side has whole classes."""
        unit, smallest = self._sizes.unit, self._sizes.smallest
        low, high = -(-smallest // unit) * unit, (count - smallest) // unit * unit
        return min(max((place + unit // 2) // unit * unit, low), high) if low <= high else place


def _weigh_histograms(counts: NDArray[np.uint8], weights: Integers) -> Histograms:
    """Return histograms with proportional weights that are small enough for all sums here."""
    every = weights.tolist()
    small = np.array([-(-own * _WEIGHT // sum(every)) for own in every], np.int64)
    totals = (counts @ small.astype(np.float64)).astype(np.int64)
    columns, unused = np.arange(len(small)), np.zeros(0, np.int64)
    return Histograms(counts, small, columns, totals, np.zeros((0, 0), np.int32), unused, unused)

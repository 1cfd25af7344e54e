"""Grow the tree of a cut: each node is cut where that separates the fewest neighbors.

If a share cap allows a group ``s`` of the values at a vertex, and a block has n vertices of the type with c
values of the group, then at least (c - s n) / (1 - s) of them are lost, however the block is clustered. Two
sides of a cut may have to lose what the records together need not, so such values have shares of their own.
"""

from __future__ import annotations

from math import floor
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from hierdata.engines.alignment.kernels.lower_bounds import bounds_to
from hierdata.engines.alignment.lower_bounds import Histograms
from hierdata.engines.base import Constraints
from hierdata.engines.blocking.tree import Cut, Integers, Sizes, hashes_of
from hierdata.forest.forest import Forest, look_up
from hierdata.privacy.base import FrequencyCaps

_UNIT = 2**10
"""Excess is counted in this part of a weight, rounded down."""

_MOST_GROUPS = 60


class ValueShares(NamedTuple):
    """By record the weight that each group has above its share, below 0 for less, and the whole weight."""

    excess: NDArray[np.int64]  # [record, group]: times ``_UNIT``
    weights: NDArray[np.int64]  # [record]: times ``_UNIT``

    def of(self, rows: NDArray[np.int64]) -> ValueShares:
        """Select records."""
        return ValueShares(self.excess[rows], self.weights[rows])

    def added_loss(self, order: NDArray[np.int64], counts: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return what is lost in addition if the records in this order are cut after ``counts`` of them."""
        before = np.zeros((len(order) + 1, self.excess.shape[1]), np.int64)
        np.cumsum(self.excess[order], axis=0, out=before[1:])
        parts = np.maximum(before[counts], 0) + np.maximum(before[-1] - before[counts], 0)
        added: NDArray[np.int64] = (parts - np.maximum(before[-1], 0)).sum(axis=1)
        return added


def no_shares(records: int) -> ValueShares:
    """Return the shares of records whose values may be cut anyhow."""
    return ValueShares(np.zeros((records, 0), np.int64), np.zeros(records, np.int64))


def shares(forest: Forest, constraints: Constraints) -> ValueShares:
    """Return the shares of all records of a forest.

    Only caps on the values at a vertex count, not those on records. Nothing counts if there are over 60
    groups: of so many, none has much more than its share.
    """
    columns = []
    for kind in range(len(constraints.on_values)):
        vertices = np.flatnonzero(forest.type == kind)
        for position, cap in constraints.caps(kind):
            if not cap.of_records:
                codes = forest.sensitive[forest.first_sensitive[vertices] + position]
                columns += _excess(
                    forest, kind, forest.record_of[vertices], look_up(cap.group_of, codes), cap
                )
    if not columns or len(columns) > _MOST_GROUPS:
        columns = [np.zeros((forest.record_count, 0), np.int64)]
    weights = _UNIT * forest.weight[forest.roots[:-1]]
    return ValueShares(np.column_stack(columns), weights)


def _excess(
    forest: Forest, kind: int, records: NDArray[np.int64], groups: NDArray[np.int32], cap: FrequencyCaps
) -> list[NDArray[np.int64]]:
    """Return by group of a cap the excess of each record; ``records`` and ``groups`` are by vertex."""
    vertices = np.bincount(records, minlength=forest.record_count)
    weight = _UNIT * int(forest.weight_by_type[kind])
    columns = []
    for group, share in enumerate(cap.share):
        if share < 1:
            values = np.bincount(records[groups == group], minlength=forest.record_count)
            pairs, of = np.unique(np.stack((values, vertices)), axis=1, return_inverse=True)
            over = [
                floor((count - share * length) * weight / (1 - share)) for count, length in pairs.T.tolist()
            ]
            columns.append(np.array(over, np.int64)[of.ravel()])
    return columns


Reals = NDArray[np.float64]

_PIVOTS = 256
"""The most records whose neighbors are considered."""
_NEIGHBORS = 10
_PLACES = 31
"""The number of thresholds that are tried along a direction."""
_COLUMNS = 24
"""The number of single columns that are tried as directions, those of the greatest spread."""
_COMPANIES = 8
"""The number of these that are also tried together with the columns that vary with them."""
_ROUNDS = 8
_DEAR = 200
_NEVER = 2**62
_LARGEST_SUM = 2**16 - 1
"""The largest sum of absolute numbers of a direction: times a count of 255 it stays below 2^24."""


def best(sample: Histograms, rows: Integers, share: int, shares: ValueShares) -> tuple[Integers, int | None]:
    """Return the best direction for some rows, and its threshold; ``shares`` are those of the rows.

    Cuts after which more than one in ``_DEAR`` of the weight would have to be lost in addition are avoided;
    if there are only such, the one that adds least is the best.
    Both sides must have at least ``share`` rows. If no threshold allows that, the threshold is None, and the
    direction is the one along which the rows differ most, or all zeros if the rows are equal.
    """
    directions = _directions(sample.counts[rows], sample.weights)
    sums = sums_along(sample.counts[rows], directions)
    left_sizes, thresholds = _gaps(np.sort(sums, axis=0), share)
    pivots, near = _neighbors(sample, rows)
    low, high = np.minimum(sums[pivots], sums[near]), np.maximum(sums[pivots], sums[near])
    parted = np.array([((low < limits) & (limits <= high)).sum(axis=0) for limits in thresholds])
    fair = np.maximum(left_sizes * (len(rows) - left_sizes), 1)
    cost = np.where(left_sizes > 0, ((parted + 1) * len(rows) ** 2 << 10) // fair, _NEVER)
    cost = _avoid_losses(cost, sums, left_sizes, shares)
    stretch, direction = divmod(int(cost.argmin()), cost.shape[1])
    if not left_sizes[stretch, direction]:
        return directions[:, -1], None
    return directions[:, direction], int(thresholds[stretch, direction])


def _avoid_losses(cost: Integers, sums: Integers, left_sizes: Integers, shares: ValueShares) -> Integers:
    """Return the costs without the cuts that add too much loss; the losses if all do."""
    if not shares.excess.shape[1]:
        return cost
    orders = np.argsort(sums, axis=0, kind="stable")
    added = np.stack(
        [shares.added_loss(order, counts) for order, counts in zip(orders.T, left_sizes.T, strict=True)],
        axis=1,
    )
    fine = (left_sizes > 0) & (_DEAR * added <= shares.weights.sum())
    if fine.any():
        return np.where(fine, cost, _NEVER)
    return np.where(left_sizes > 0, added, _NEVER)


def _gaps(ordered: Integers, share: int) -> tuple[Integers, Integers]:
    """Find thresholds by stretch and direction: the widest gap in each stretch of the sorted sums.

    Returns the number of rows left of each threshold, 0 if the stretch has no gap, and the thresholds.
    """
    wide = np.diff(ordered, axis=0)
    every = np.arange(ordered.shape[1])
    left_sizes, thresholds = [], []
    for stretch in np.array_split(np.arange(share - 1, len(ordered) - share), _PLACES):
        if len(stretch):
            widest = stretch[0] + wide[stretch].argmax(axis=0)
            left_sizes.append(np.where(wide[widest, every] > 0, widest + 1, 0))
            thresholds.append(ordered[widest + 1, every])
    return np.array(left_sizes), np.array(thresholds)


def _directions(counts: NDArray[np.uint8], weights: Integers) -> Integers:
    """Return the directions to try, as columns; the last is the one of the greatest spread.

    These are: single columns; single columns with those that vary with them; the difference of two halves,
    iterated by cutting along it (2-means); the first principal component, by power iteration.
    """
    if not len(weights):
        return np.zeros((0, 1), np.int64)
    values = counts.astype(np.float64)
    n = len(values)
    spread = (n * (values * values).sum(axis=0) - values.sum(axis=0) ** 2).astype(np.int64)
    spread = spread // n * weights
    widest = np.argsort(-spread, kind="stable")[:_COLUMNS]
    directions = [*np.eye(len(weights), dtype=np.int64)[widest]]
    directions += [_along(values, values[:, column], weights) for column in widest[:_COMPANIES]]
    first = directions[len(widest)]
    for _ in range(_ROUNDS):
        first = _along(values, values @ first, weights)
    halves = first
    for _ in range(_ROUNDS):
        behind = np.zeros(n)
        behind[np.argsort(values @ halves, kind="stable")[n // 2 :]] = n
        halves = _along(values, behind, weights)
    return np.array([*directions, halves, first]).T


def _along(values: Reals, sums: Reals, weights: Integers) -> Integers:
    """Return the direction in which sums vary: each column's covariance with them, times its weight."""
    centered = sums - int(sums.sum()) // len(sums)
    together = (values.T @ centered).astype(np.int64)
    shift = max(int(np.abs(together).max(initial=0)).bit_length() - 26, 0)
    worth = (np.abs(together) >> shift) * weights
    direction: Integers = np.sign(together) * (worth * _LARGEST_SUM // max(int(worth.sum()), 1))
    return direction


def _neighbors(sample: Histograms, rows: Integers) -> tuple[Integers, Integers]:
    """Return pairs of a row and a near row, nearest by the bound, then by position."""
    pivots = min(len(rows), _PIVOTS)
    number = min(_NEIGHBORS, len(rows) - 1)
    near = np.empty((pivots, number), np.int64)
    bounds = np.empty(len(rows), np.int64)
    for pivot, row in enumerate(rows[:pivots].tolist()):
        bounds_to(sample.counts[row], sample.totals[row], rows, sample, bounds)
        bounds[pivot] = 2**40
        # All keys differ, so the smallest ones do not depend on the algorithm of the partition.
        near[pivot] = np.partition(bounds * len(rows) + np.arange(len(rows)), number - 1)[:number] % len(rows)
    return np.repeat(np.arange(pivots), number), near.ravel()


def sums_along(counts: NDArray[np.uint8], directions: Integers) -> Integers:
    """Return the dot products of counts and directions."""
    with np.errstate(invalid="ignore"):  # some builds of BLAS raise it for whole numbers, even for zeros
        sums: Integers = (counts.astype(np.float32) @ directions.astype(np.float32)).astype(np.int64)
    return sums


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
            directions=np.array([direction for direction, _, _ in nodes], np.int32).reshape(
                len(below), columns
            ),
            threshold=np.array([threshold for _, threshold, _ in nodes], np.int64),
            tie=np.array([tie for _, _, tie in nodes], np.uint64),
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
            left_size = max(len(rows) * (blocks // 2) // blocks, 1)
        elif self._known:
            left_size = int((sums < threshold).sum())
        else:
            return (direction, threshold, 0), sums >= threshold
        left_size = self._nearest_even_cut(left_size, len(rows)) if self._known else left_size
        order = np.argsort(sums, kind="stable")
        right = np.ones(len(rows), np.bool_)
        right[order[:left_size]] = False
        before, first = order[left_size - 1 : left_size + 1]
        tie = int(self._hashes[rows[first]]) if sums[before] == sums[first] else 0
        return (direction, int(sums[first]), tie), right

    def _nearest_even_cut(self, left_size: int, count: int) -> int:
        """Return the nearest place to cut ``count`` records so that the left side has whole classes."""
        unit, smallest = self._sizes.unit, self._sizes.smallest
        low, high = -(-smallest // unit) * unit, (count - smallest) // unit * unit
        return min(max((left_size + unit // 2) // unit * unit, low), high) if low <= high else left_size


def _weigh_histograms(counts: NDArray[np.uint8], weights: Integers) -> Histograms:
    """Return histograms with proportional weights that are small enough for all sums here."""
    every = weights.tolist()
    small = np.array([-(-weight * _WEIGHT // sum(every)) for weight in every], np.int64)
    totals = (counts @ small.astype(np.float64)).astype(np.int64)
    columns, unused = np.arange(len(small)), np.zeros(0, np.int64)
    return Histograms(counts, small, columns, totals, np.zeros((0, 0), np.int32), unused, unused)

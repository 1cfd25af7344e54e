"""Choose the direction and threshold by which a node of the cut separates the fewest neighbors."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from hierdata.engines.alignment.kernels.lower_bounds import bounds_to
from hierdata.engines.alignment.lower_bounds import Histograms
from hierdata.engines.blocking.shares import ValueShares
from hierdata.engines.blocking.tree import Integers

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
    left, thresholds = _gaps(np.sort(sums, axis=0), share)
    pivots, near = _neighbors(sample, rows)
    low, high = np.minimum(sums[pivots], sums[near]), np.maximum(sums[pivots], sums[near])
    parted = np.array([((low < own) & (own <= high)).sum(axis=0) for own in thresholds])
    fair = np.maximum(left * (len(rows) - left), 1)
    cost = np.where(left > 0, ((parted + 1) * len(rows) ** 2 << 10) // fair, _NEVER)
    cost = _avoid_losses(cost, sums, left, shares)
    place, at = divmod(int(cost.argmin()), cost.shape[1])
    if not left[place, at]:
        return directions[:, -1], None
    return directions[:, at], int(thresholds[place, at])


def _avoid_losses(cost: Integers, sums: Integers, left: Integers, shares: ValueShares) -> Integers:
    """Return the costs without the cuts that add too much loss; the losses if all do."""
    if not shares.excess.shape[1]:
        return cost
    orders = np.argsort(sums, axis=0, kind="stable")
    added = np.stack([shares.added_loss(own, at) for own, at in zip(orders.T, left.T, strict=True)], axis=1)
    fine = (left > 0) & (_DEAR * added <= shares.weights.sum())
    if fine.any():
        return np.where(fine, cost, _NEVER)
    return np.where(left > 0, added, _NEVER)


def _gaps(ordered: Integers, share: int) -> tuple[Integers, Integers]:
    """Find thresholds by stretch and direction: the widest gap in each stretch of the sorted sums.

    Returns the number of rows left of each threshold, 0 if the stretch has no gap, and the thresholds.
    """
    wide = np.diff(ordered, axis=0)
    every = np.arange(ordered.shape[1])
    left, thresholds = [], []
    for stretch in np.array_split(np.arange(share - 1, len(ordered) - share), _PLACES):
        if len(stretch):
            own = stretch[0] + wide[stretch].argmax(axis=0)
            left.append(np.where(wide[own, every] > 0, own + 1, 0))
            thresholds.append(ordered[own + 1, every])
    return np.array(left), np.array(thresholds)


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
    found = [*np.eye(len(weights), dtype=np.int64)[widest]]
    found += [_along(values, values[:, column], weights) for column in widest[:_COMPANIES]]
    first = found[len(widest)]
    for _ in range(_ROUNDS):
        first = _along(values, values @ first, weights)
    halves = first
    for _ in range(_ROUNDS):
        behind = np.zeros(n)
        behind[np.argsort(values @ halves, kind="stable")[n // 2 :]] = n
        halves = _along(values, behind, weights)
    return np.array([*found, halves, first]).T


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
    sums: Integers = (counts.astype(np.float32) @ directions.astype(np.float32)).astype(np.int64)
    return sums

"""Values of which a block has more than its classes can publish.

If a share cap allows a group ``s`` of the values at a vertex, and a block has n vertices of the type with c
values of the group, then at least (c - s n) / (1 - s) of them are lost, however the block is clustered. Two
sides of a cut may have to lose what the records together need not.
"""

from __future__ import annotations

from math import floor
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from hierdata.engines.base import Constraints
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

    def added_loss(self, order: NDArray[np.int64], left: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return what is lost in addition if the records in this order are cut after ``left`` of them."""
        before = np.zeros((len(order) + 1, self.excess.shape[1]), np.int64)
        np.cumsum(self.excess[order], axis=0, out=before[1:])
        parts = np.maximum(before[left], 0) + np.maximum(before[-1] - before[left], 0)
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
    found = []
    for group, share in enumerate(cap.share):
        if share < 1:
            values = np.bincount(records[groups == group], minlength=forest.record_count)
            pairs, of = np.unique(np.stack((values, vertices)), axis=1, return_inverse=True)
            over = [
                floor((count - share * length) * weight / (1 - share)) for count, length in pairs.T.tolist()
            ]
            found.append(np.array(over, np.int64)[of.ravel()])
    return found

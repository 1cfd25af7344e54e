"""Two vertices: the least node above two nodes, whether the caps let them be aligned, and what that gains."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from hierdata.kernels.arrays import (
    CAP,
    FIRST_NODE,
    HIGH,
    LOW,
    QUASI_COUNT,
    SLOT_COUNT,
)
from hierdata.kernels.jit import inlined, lean


@lean
def join(a: int, b: int, ancestors: NDArray[np.int32]) -> int:
    """The least node above both: the deepest common entry of their ancestor rows."""
    if a == b:
        return a
    node: int
    for level in range(ancestors.shape[1] - 1, -1, -1):
        node = ancestors[a, level]
        if node >= 0 and node == ancestors[b, level]:
            break
    return node  # all share the root


@inlined
def fits(
    x: int,
    y: int,
    size: int,
    first_slot: int,
    rep: NDArray[np.int32],
    rows: NDArray[np.int32],
    caps: NDArray[np.int64],
) -> bool:
    """Whether vertex ``y`` of a record may join ``x`` of a class of ``size``, both of one type."""
    for slot in range(rows[y, SLOT_COUNT]):
        own = first_slot + slot * size
        group = rows[y, first_slot + slot]
        if group >= 0:
            low = caps[group, LOW]
            high = caps[group, HIGH]
            count = 1
            for member in range(size):
                if low <= rep[x, own + member] <= high:
                    count += 1
            if count > caps[group, CAP]:
                return False
            for member in range(size if low < high else 0):
                other = rep[x, own + member]
                if other < low or other > high:
                    continue
                count = 1  # the newcomer is among those around it
                for third in range(size):
                    if caps[other, LOW] <= rep[x, own + third] <= caps[other, HIGH]:
                        count += 1
                if count > caps[other, CAP]:
                    return False
        if size == 1 and rep[x, own] >= 0 and caps[rep[x, own], CAP] <= 0:
            return False  # nobody has checked the seed itself yet
    return True


@inlined
def own_gain(
    x: int,
    y: int,
    scale: int,
    rep: NDArray[np.int32],
    rows: NDArray[np.int32],
    pair_row: NDArray[np.int64],
    pair_losses: NDArray[np.int64],
    losses: NDArray[np.int64],
    ancestors: NDArray[np.int32],
) -> np.int64:
    """What two vertices of one type gain by their own quasi-identifiers if the caps allow it; 0 or more."""
    gain = 2 * scale * np.int64(rows[y, QUASI_COUNT])
    for node in range(FIRST_NODE, FIRST_NODE + rows[y, QUASI_COUNT]):
        left = rep[x, node]
        right = rows[y, node]
        if pair_row[left] >= 0:
            gain -= pair_losses[pair_row[left] + right]
        else:
            gain -= losses[join(left, right, ancestors)]
    return gain

"""Pairs of vertices: the join of two nodes, whether the caps allow aligning them, and the gain."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from hierdata.engines.alignment.kernels.arrays import (
    CAP,
    FIRST_NODE,
    HELD,
    HIGH,
    LAST,
    LOW,
    MASK,
    OWN,
    POOL_COUNT,
    POOL_FIRST,
    QUASI_COUNT,
    SHOWN,
    SLOT_COUNT,
    STAMP,
    WEIGHT,
    Lists,
    Sides,
)
from hierdata.engines.jit import inline_kernel, lean, part, shared

# Bits of ``full_of``; the lower bits are groups.
FEW_GROUPS = 60
"""The group bits are valid: there are few groups, and each cap is on its own group alone."""
CROWDED = 61
"""Some group of the vertex has reached its cap."""
CLOSED = 62
"""No vertex may join it."""


@lean
def join(a: int, b: int, ancestors: NDArray[np.int32]) -> int:
    """Return the join of two nodes: the deepest common entry of their ancestor rows."""
    if a == b:
        return a
    node: int
    for level in range(ancestors.shape[1] - 1, -1, -1):
        node = ancestors[a, level]
        if node >= 0 and node == ancestors[b, level]:
            break
    return node  # all nodes share the root


@shared
def open_alignment(caps: NDArray[np.int64], full: NDArray[np.int64]) -> None:
    """Invalidate the results in ``full``, because class and caps may have changed, unless they are held."""
    if full[full.shape[0] - 1, HELD] == 1:
        return
    one = np.int64(1)
    mask = np.int64(0)
    few = caps.shape[0] <= FEW_GROUPS
    for group in range(caps.shape[0] if few else 0):
        few = few and caps[group, LOW] == caps[group, HIGH]
        if caps[group, CAP] <= 0:
            mask |= one << group
    last = full.shape[0] - 1
    full[last, MASK] = mask | (one << FEW_GROUPS) if few else 0
    full[last, STAMP] += 1


@inline_kernel
def open_lists(
    lists: Lists, rep: NDArray[np.int32], rows: NDArray[np.int32], mates: NDArray[np.int64]
) -> np.int64:
    """Leave all trees of two lists without a partner; return their weight, which suppression loses."""
    first_a, count_a, first_b, count_b = lists
    weight = np.int64(0)
    for i in range(count_a):
        mates[i] = -1
        weight += rep[first_a + i, WEIGHT]
    for j in range(count_b):
        weight += rows[first_b + j, WEIGHT]
    return weight


@lean
def hold(full: NDArray[np.int64], held: bool) -> None:
    """Set whether the next alignments have the class and the caps of the last one."""
    full[full.shape[0] - 1, HELD] = held


@inline_kernel
def meets(first: int, stop: int, column: int, low: int, high: int, rep: NDArray[np.int32]) -> bool:
    """Return whether some row from ``first`` to before ``stop`` has a group in this range in a column."""
    met = False
    for z in range(first, stop):
        met |= low <= rep[z, column] <= high
    return met


@lean
def _find_full(
    x: int,
    size: int,
    first_slot: int,
    rep: NDArray[np.int32],
    caps: NDArray[np.int64],
    full: NDArray[np.int64],
) -> np.int64:
    """Compute ``full_of``. The code is long and runs once a vertex, so callers do not inline it."""
    last = full.shape[0] - 1
    one = np.int64(1)
    mask: np.int64 = full[last, MASK]
    few = (mask >> FEW_GROUPS) & 1
    first = x
    stop = x + 1
    if rep[x, POOL_COUNT] > 0:
        first = rep[x, POOL_FIRST]
        stop = first + rep[first, POOL_COUNT]
    for slot in range(rep[x, SLOT_COUNT]):
        column = first_slot + slot * size
        for member in range(size):
            for z in range(first, stop):
                group = rep[z, column + member]
                if group >= 0 and caps[group, LAST] <= member:
                    caps[group, LAST] = member + 1
                    caps[group, SHOWN] += 1
        for z in range(first, stop):
            for member in range(size):
                group = rep[z, column + member]
                if group < 0:
                    continue
                known = caps[group, SHOWN] == 0 or (few and (mask >> group) & 1)
                if not known and caps[group, SHOWN] + 1 > caps[group, CAP]:
                    mask |= one << CROWDED
                    if few:
                        mask |= one << group
                caps[group, SHOWN] = caps[group, LAST] = 0
        if size == 1 and rep[x, column] >= 0 and caps[rep[x, column], CAP] <= 0:
            mask |= one << CLOSED  # the seed itself has not been checked yet
    full[x, MASK] = mask
    full[x, STAMP] = full[last, STAMP]
    return mask


@inline_kernel
def full_of(x: int, sides: Sides) -> np.int64:
    """Return what the caps rule out at vertex ``x`` of a representative, as bits; cached for an alignment.

    In a pool a value counts once for each record. It may shrink by this alignment, so caps may ask for too
    much. If bit ``FEW_GROUPS`` is set, bit ``group`` says that no further value of the group may join.
    """
    full = sides.work.full
    mask: np.int64 = full[x, MASK]
    if full[x, STAMP] == full[full.shape[0] - 1, STAMP]:
        return mask
    return _find_full(x, sides.size, sides.settings.first_slot, sides.rep, sides.rules.caps, full)


@lean
def _fits_ranges(x: int, y: int, crowded: bool, sides: Sides) -> bool:
    """Compute ``fits`` for caps on ranges of groups; ``crowded`` if a group of ``x`` has reached its cap."""
    size, first_slot, rep, rows, caps = (
        sides.size, sides.settings.first_slot, sides.rep, sides.rows, sides.rules.caps,
    )  # fmt: skip
    first = x
    stop = x + 1
    if rep[x, POOL_COUNT] > 0:
        first = rep[x, POOL_FIRST]
        stop = first + rep[first, POOL_COUNT]
    for slot in range(rows[y, SLOT_COUNT]):
        column = first_slot + slot * size
        group = rows[y, first_slot + slot]
        if group >= 0:
            low = caps[group, LOW]
            high = caps[group, HIGH]
            if low == high and not crowded:  # no group that is here has reached its cap
                if caps[group, CAP] < 1:
                    return False
                continue
            count = 1
            for member in range(size):
                if meets(first, stop, column + member, low, high, rep):
                    count += 1
            if count > caps[group, CAP]:
                return False
            for z in range(first, stop if low < high else first):
                for member in range(size):
                    other = rep[z, column + member]
                    if other < low or other > high:
                        continue
                    count = 1  # the newcomer, which lies in the range of ``other``
                    for third in range(size):
                        if meets(first, stop, column + third, caps[other, LOW], caps[other, HIGH], rep):
                            count += 1
                    if count > caps[other, CAP]:
                        return False
    return True


@inline_kernel
def fits(x: int, y: int, sides: Sides) -> bool:
    """Return whether the caps let vertex ``y`` of a record join vertex ``x`` of the same type."""
    mask = full_of(x, sides)
    if (mask >> CLOSED) & 1:
        return False
    if (mask >> FEW_GROUPS) & 1:
        for slot in range(sides.rows[y, SLOT_COUNT]):
            group = sides.rows[y, sides.settings.first_slot + slot]
            if group >= 0 and (mask >> group) & 1:
                return False
        return True
    return _fits_ranges(x, y, bool((mask >> CROWDED) & 1), sides)


@inline_kernel
def own_gain(x: int, y: int, sides: Sides) -> np.int64:
    """Return the gain, 0 or more, of two vertices of one type without their children; ignore caps."""
    rep, rows = sides.rep, sides.rows
    pair_row, pair_losses, _, losses, ancestors, _ = sides.rules
    gain = 2 * sides.settings.scale * np.int64(rows[y, OWN])
    for node in range(FIRST_NODE, FIRST_NODE + rows[y, QUASI_COUNT]):
        x_node = rep[x, node]
        y_node = rows[y, node]
        if pair_row[x_node] >= 0:
            gain -= pair_losses[pair_row[x_node] + y_node]
        else:
            gain -= losses[join(x_node, y_node, ancestors)]
    return gain


@part
def price_run(
    x: int, first: int, count: int, unfit: np.int64, sides: Sides, prices: NDArray[np.int64]
) -> None:
    """Write the gain of ``x``, without its children, with each of ``count`` vertices of its type.

    Vertices that the caps rule out get ``unfit``.
    """
    _, settings, _, rep, rows, rules = sides
    first_slot = settings.first_slot
    pair_row, pair_losses, _, losses, ancestors, _ = rules
    mask = full_of(x, sides)
    most = 2 * settings.scale * np.int64(rows[first, OWN])
    for j in range(count):
        prices[j] = most
    for column in range(FIRST_NODE, FIRST_NODE + rows[first, QUASI_COUNT]):
        x_node = rep[x, column]
        start = pair_row[x_node]
        if start >= 0:
            for j in range(count):
                prices[j] -= pair_losses[start + rows[first + j, column]]
        else:
            for j in range(count):
                prices[j] -= losses[join(x_node, rows[first + j, column], ancestors)]
    if (mask >> CLOSED) & 1:
        for j in range(count):
            prices[j] = unfit
    elif (mask >> FEW_GROUPS) & 1:
        for column in range(first_slot, first_slot + rows[first, SLOT_COUNT]):
            for j in range(count):
                group = rows[first + j, column]  # a missing value is bit 63, which is never set
                prices[j] = unfit if (mask >> (group & 63)) & 1 else prices[j]
    else:
        for j in range(count):
            if not fits(x, first + j, sides):
                prices[j] = unfit

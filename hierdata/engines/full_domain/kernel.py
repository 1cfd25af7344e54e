"""Inner loops of full-domain search: merge equal lines, and compute the loss of a recoding."""

from __future__ import annotations

from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from hierdata.engines.jit import jit
from hierdata.engines.rows.kernel import Flags, Numbers

Nodes: TypeAlias = "NDArray[np.int32]"

_ODD = np.uint64(0x9E3779B97F4A7C15)
_SHIFT = np.uint64(29)


class Near(NamedTuple):
    """Bounds on the distances of groups from the original.

    Bound b reads the columns of the sums from ``first[b]`` on. The first one counts the values present, each
    other one those in a set. The sum of ``weight`` |count * total - expected * present| over the sets, times
    ``times``, must be at most ``most`` times the values present. Both sides fit into 64 bits even with all
    rows in one group (``engines.full_domain.bounds``).
    """

    first: Numbers  # [bounds + 1]
    weight: Numbers  # [column]
    expected: Numbers  # [column]: values of the original in the set
    total: Numbers  # [bound]: values of the original
    times: Numbers  # [bound]
    most: Numbers  # [bound]


class GroupTable(NamedTuple):
    """Groups of rows: the published nodes of each, its size, and the sums that ``Near`` reads."""

    values: Nodes  # [group, column]
    sizes: Numbers  # [group]
    sums: Numbers  # [group, column of the sums]


@jit
def sum_equal_lines(table: GroupTable) -> tuple[GroupTable, Nodes]:
    """Merge groups of equal values, in the order of the first ones; O(lines x columns).

    Return the table with sizes and sums added up, and the new group of each line.
    """
    values, sizes, sums = table
    lines, width = values.shape
    slots = np.uint64(16)
    while slots < np.uint64(2 * lines):
        slots *= np.uint64(2)
    mask = slots - np.uint64(1)
    at_slot = np.full(np.int64(slots), -1, np.int32)
    of = np.empty(lines, np.int32)
    merged = np.empty((lines, width), np.int32)
    merged_sizes = np.empty(lines, np.int64)
    merged_sums = np.empty((lines, sums.shape[1]), np.int64)
    count = 0
    for line in range(lines):
        mixed = np.uint64(width)
        for column in range(width):
            mixed = (mixed ^ np.uint64(values[line, column])) * _ODD
            mixed ^= mixed >> _SHIFT
        slot = mixed & mask
        while True:
            group = at_slot[slot]
            if group < 0:
                break
            same = True
            for column in range(width):
                if merged[group, column] != values[line, column]:
                    same = False
                    break
            if same:
                break
            slot = (slot + np.uint64(1)) & mask
        if group < 0:
            group = count
            count += 1
            at_slot[slot] = group
            merged[group] = values[line]
            merged_sizes[group] = sizes[line]
            merged_sums[group] = sums[line]
        else:
            merged_sizes[group] += sizes[line]
            for column in range(sums.shape[1]):
                merged_sums[group, column] += sums[line, column]
        of[line] = group
    return GroupTable(merged[:count].copy(), merged_sizes[:count].copy(), merged_sums[:count].copy()), of


@jit
def may_hold(table: GroupTable, least: int, near: Near) -> Flags:
    """Return which groups have the least size and keep every bound."""
    sizes, sums = table.sizes, table.sums
    holds = sizes >= least
    for group in range(len(sizes)):
        for bound in range(len(near.total)):
            if not holds[group]:
                break
            base = near.first[bound]
            present = sums[group, base]
            moved = np.int64(0)
            for column in range(base + 1, near.first[bound + 1]):
                off = sums[group, column] * near.total[bound] - near.expected[column] * present
                moved += near.weight[column] * abs(off)
            holds[group] = moved * near.times[bound] <= near.most[bound] * present
    return holds


@jit
def generalization_loss(
    table: GroupTable, least: int, near: Near, first: Numbers, losses: Numbers, whole: int
) -> tuple[int, int]:
    """Return the loss of publishing groups by their values, and the number of suppressed rows.

    Groups that fail a bound or the least size are suppressed. ``losses[first[column] + node]`` is the loss of
    a value, ``whole`` that of a suppressed row; times the number of rows it fits into 64 bits.
    """
    values, sizes, _ = table
    holds = may_hold(table, least, near)
    suppressed = 0
    total = 0
    for group in range(len(sizes)):
        loss = np.int64(whole)
        if holds[group]:
            loss = np.int64(0)
            for column in range(values.shape[1]):
                loss += losses[first[column] + values[group, column]]
        else:
            suppressed += int(sizes[group])
        total += int(sizes[group] * loss)
    return total, suppressed

"""The inner loops of full-domain search: equal rows added up, and what a recoding of them loses."""

from __future__ import annotations

from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from hierdata.engines.jit import jit

Numbers: TypeAlias = "NDArray[np.int64]"
Nodes: TypeAlias = "NDArray[np.int32]"

_ODD = np.uint64(0x9E3779B97F4A7C15)
_SHIFT = np.uint64(29)


class Near(NamedTuple):
    """Bounds on how far groups are from the original; the b-th reads the sums from column ``first[b]``.

    The first of these columns counts the values present, each other one those in a set, of which ``expected``
    of ``total`` are in the original. The ``weight``-ed sum of |count * total - expected * present| times
    ``times`` is at most ``most`` times the values present. Both fit into 64 bits with all rows in one group
    (``engines.lattice.bounds.fits``).
    """

    first: Numbers
    weight: Numbers
    expected: Numbers
    total: Numbers
    times: Numbers
    most: Numbers


@jit
def added_up(values: Nodes, sizes: Numbers, sums: Numbers) -> tuple[Nodes, Numbers, Numbers, Nodes]:
    """The different lines of ``values``, their ``sizes`` and ``sums`` added up, and where each line went.

    Groups stand in the order of their first lines. O(lines x columns).
    """
    lines, width = values.shape
    slots = np.uint64(16)
    while slots < np.uint64(2 * lines):
        slots *= np.uint64(2)
    mask = slots - np.uint64(1)
    at_slot = np.full(np.int64(slots), -1, np.int32)
    of = np.empty(lines, np.int32)
    own = np.empty((lines, width), np.int32)
    own_sizes = np.empty(lines, np.int64)
    own_sums = np.empty((lines, sums.shape[1]), np.int64)
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
                if own[group, column] != values[line, column]:
                    same = False
                    break
            if same:
                break
            slot = (slot + np.uint64(1)) & mask
        if group < 0:
            group = count
            count += 1
            at_slot[slot] = group
            own[group] = values[line]
            own_sizes[group] = sizes[line]
            own_sums[group] = sums[line]
        else:
            own_sizes[group] += sizes[line]
            for column in range(sums.shape[1]):
                own_sums[group, column] += sums[line, column]
        of[line] = group
    return own[:count].copy(), own_sizes[:count].copy(), own_sums[:count].copy(), of


@jit
def may_hold(sizes: Numbers, sums: Numbers, least: int, near: Near) -> NDArray[np.bool_]:
    """Which groups have the least size and keep every bound."""
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
def lost(
    values: Nodes,
    sizes: Numbers,
    sums: Numbers,
    least: int,
    near: Near,
    first: Numbers,
    losses: Numbers,
    whole: int,
) -> tuple[int, int]:
    """What publishing groups by their values loses where those that cannot hold are suppressed; their rows.

    ``losses[first[column] + node]`` is that of a value, ``whole`` that of a suppressed row, of which all rows
    together fit into 64 bits.
    """
    holds = may_hold(sizes, sums, least, near)
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

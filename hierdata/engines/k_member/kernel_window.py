"""Inner loops of k-member's windows: the records that may join the class around a seed."""

from __future__ import annotations

import numpy as np

from hierdata.engines.alignment.kernels.representative import Ordinals
from hierdata.engines.alignment.kernels.room import CappedValues
from hierdata.engines.jit import branching


@branching
def nearest(bounds: Ordinals, others: Ordinals, seed: int, near: Ordinals) -> int:
    """Fill ``near`` with the others of least ``bounds[record]``, without the seed; return their number.

    Equal bounds stay in the order of ``others``.
    """
    window = len(near)
    found = np.empty(window, np.int64)
    count = 0
    for at in range(len(others)):
        bound = bounds[others[at]]
        if others[at] == seed or (count == window and bound >= found[window - 1]):
            continue
        place = min(count, window - 1)
        while place > 0 and found[place - 1] > bound:
            found[place] = found[place - 1]
            near[place] = near[place - 1]
            place -= 1
        found[place] = bound
        near[place] = others[at]
        count = min(count + 1, window)
    return count


@branching
def window_of(bounds: Ordinals, others: Ordinals, seed: int, near: Ordinals, values: CappedValues) -> int:
    """Fill ``near`` as ``nearest`` does, but to a third with records that relieve the seed, if there are any.

    A record relieves the seed if each group that has more than its share in the seed has less in the record.
    If they are less than a third of the nearest, the nearest of them take the places of the last others.
    Return the number of records.
    """
    count = nearest(bounds, others, seed, near)
    over = values.over[seed]
    wanted = len(near) // 3
    for at in range(count):
        wanted -= values.under[near[at]] & over == over
    if over == 0 or wanted <= 0 or count < len(near):
        return count
    relieving = np.empty(len(others), np.int64)
    rest = np.empty(len(others), np.int64)
    some = 0
    for at in range(len(others)):
        if values.under[others[at]] & over == over:
            relieving[some] = others[at]
            some += 1
        else:
            rest[at - some] = others[at]
    first = np.empty(len(near) // 3, np.int64)
    found = nearest(bounds, relieving[:some], seed, first)
    second = np.empty(len(near) - found, np.int64)
    left = nearest(bounds, rest[: len(others) - some], seed, second)
    a = b = 0
    for at in range(found + left):
        from_first = b == left or (
            a < found and (bounds[first[a]], first[a]) < (bounds[second[b]], second[b])
        )
        if from_first:
            near[at] = first[a]
            a += 1
        else:
            near[at] = second[b]
            b += 1
    return found + left

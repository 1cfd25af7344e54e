"""The inner loops of recursive cutting: the cuts of a region by their loss, and the work list of regions.

A region is a run of rows, ``order[start:end]``. ``places[at]`` holds, for the row at that place of the run,
the place of its node in each hierarchy's depth-first order: rows are moved with the run, so a region is read
straight through. In that order the join of a set of nodes is the join of its first and its last, so a side
of a cut is known by the least and the greatest place of every hierarchy.
"""

from __future__ import annotations

from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from hierdata.engines.jit import jit

Numbers: TypeAlias = "NDArray[np.int64]"
Places: TypeAlias = "NDArray[np.int32]"


class Caps(NamedTuple):
    """Share caps in the layout of ``within_caps``."""

    groups: Places
    first_group: Numbers
    most: Numbers
    reach: Numbers
    shares: Numbers
    tally: Numbers


@jit
def loss_between(low: int, high: int, above: Places, losses: Numbers) -> int:
    """The loss of the join of the nodes at two places: the deepest entry that both rows share."""
    loss: int
    level = above.shape[1] - 1
    while level > 0 and (above[low, level] < 0 or above[low, level] != above[high, level]):
        level -= 1
    loss = losses[above[low, level]]
    return loss


@jit
def within_caps(
    start: int,
    end: int,
    order: Numbers,
    groups: Places,
    first_group: Numbers,
    most: Numbers,
    reach: Numbers,
    shares: Numbers,
    tally: Numbers,
) -> bool:
    """Whether ``order[start:end]`` keeps every cap, exactly.

    ``groups[cap, row]`` is a row's group in a cap, -1 for a missing value; ``first_group[cap]`` its first row
    in ``reach`` (first and last group that count together with it) and ``shares`` (numerator, denominator);
    ``most[cap]`` the bound that no size lifts. ``tally`` is 0 between calls.
    """
    holds = True
    for cap in range(groups.shape[0]):
        if not holds:
            break
        base = first_group[cap]
        count = first_group[cap + 1] - base
        present = 0
        apart = True
        for at in range(start, end):
            group = groups[cap, order[at]]
            if group >= 0:
                present += 1
                tally[group] += 1
                apart = apart and reach[base + group, 0] == reach[base + group, 1]
        if apart:
            for at in range(start, end):
                group = groups[cap, order[at]]
                if group >= 0 and (
                    tally[group] > most[cap]
                    or tally[group] * shares[base + group, 1] > shares[base + group, 0] * present
                ):
                    holds = False
                    break
        else:
            few = 8 * present < count
            occurring = np.empty(present if few else count, np.int32)
            if few:
                filled = 0
                for at in range(start, end):
                    group = groups[cap, order[at]]
                    if group >= 0:
                        occurring[filled] = group
                        filled += 1
                occurring.sort()
            else:
                filled = 0
                for group in range(count):
                    if tally[group] > 0:
                        occurring[filled] = group
                        filled += 1
            # The first and last of the occurring places that count together with each, and their sum.
            low = 0
            high = 0
            near = 0
            for at in range(filled):
                group = occurring[at]
                while high < filled and occurring[high] <= reach[base + group, 1]:
                    near += 1 if few else tally[occurring[high]]
                    high += 1
                while occurring[low] < reach[base + group, 0]:
                    near -= 1 if few else tally[occurring[low]]
                    low += 1
                if near > most[cap] or near * shares[base + group, 1] > shares[base + group, 0] * present:
                    holds = False
                    break
        for at in range(start, end):
            group = groups[cap, order[at]]
            if group >= 0:
                tally[group] = 0
    return holds

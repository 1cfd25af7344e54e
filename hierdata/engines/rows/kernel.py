"""Loops that the row engines share: the loss of a join, and whether some rows keep the frequency caps."""

from __future__ import annotations

from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from hierdata.engines.jit import jit

Numbers: TypeAlias = "NDArray[np.int64]"
Places: TypeAlias = "NDArray[np.int32]"


class Caps(NamedTuple):
    """The frequency caps of a scope, for rows numbered from 0.

    The groups of all caps are numbered consecutively: those of cap c begin at ``first_group[c]``.
    """

    groups: Places  # [cap, row]: group within the cap, -1 for a missing value
    first_group: Numbers  # [caps + 1]
    most: Numbers  # [cap]: bound on the rows of a group in a class of any size, 2^62 for none
    reach: Numbers  # [group, 2]: first and last group, within the cap, that count together with this one
    shares: Numbers  # [group, 2]: numerator and denominator of the largest share of a class
    tally: Numbers  # [group within a cap]: working memory, 0 between calls


@jit
def loss_between(low: int, high: int, above: Places, losses: Numbers) -> int:
    """Return the loss of the join of the nodes at two places: the deepest common entry of their ancestors."""
    loss: int
    level = above.shape[1] - 1
    while level > 0 and (above[low, level] < 0 or above[low, level] != above[high, level]):
        level -= 1
    loss = losses[above[low, level]]
    return loss


@jit
def keeps_caps(start: int, end: int, order: Numbers, caps: Caps) -> bool:
    """Return whether the rows ``order[start:end]`` keep every cap as one class, exactly."""
    groups, first_group, most, reach, shares, tally = caps
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
            # A sliding window over the occurring groups that count together with each group, and its count.
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

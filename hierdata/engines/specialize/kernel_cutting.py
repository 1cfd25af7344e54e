"""Count the supports of nodes by group, and find the cut of each group that is expected to lose least."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from hierdata.engines.jit import lean
from hierdata.engines.rows.kernel import Flags, Numbers


@lean
def add_supports(
    group_of: Numbers,
    records: Numbers,
    nodes: Numbers,
    counts: Numbers,
    support: NDArray[np.float64],
    occurrences: NDArray[np.float64],
) -> None:
    """Add pairs of record and node, with their numbers of occurrences, to the rows of the records' groups."""
    for pair in range(len(records)):
        group = group_of[records[pair]]
        if group >= 0:
            support[group, nodes[pair]] += 1
            occurrences[group, nodes[pair]] += counts[pair]


@lean
def choose_cuts(
    parents: Numbers,
    order: Numbers,
    published: Flags,
    losses: NDArray[np.float64],
    support: NDArray[np.float64],
    occurrences: NDArray[np.float64],
    tau: NDArray[np.float64],
    sums: NDArray[np.float64],
    lost: NDArray[np.float64],
    is_cut: Flags,
) -> None:
    """Write the least expected loss of each group, and which nodes are in its cut; the root is never.

    ``order`` has all nodes, those below others first. ``sums`` is space for two numbers of each node.
    """
    absent = losses[0]
    for group in range(len(tau)):
        sums[:] = 0
        for node in order:
            there = occurrences[group, node]
            # What lies at the node itself can only be deleted if the cut is below it.
            divided = sums[0, node] + (there - sums[1, node]) * absent
            if node == 0:
                whole = there * absent
                if divided >= whole:
                    is_cut[group] = False
            else:
                whole = np.inf
                if published[node]:
                    ratio = support[group, node] / tau[group]
                    share = 1 / (1 + ratio * ratio)
                    whole = there * (share * absent + (1 - share) * losses[node])
                is_cut[group, node] = whole <= divided
                sums[0, parents[node]] += min(whole, divided)
                sums[1, parents[node]] += there
            lost[group] = min(whole, divided)

"""Inner loop of blocking: the leaf of each record in a tree of cuts (``hierdata.engines.blocking``)."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from hierdata.engines.jit import jit


@jit
def find_leaves(
    counts: NDArray[np.uint8],
    hashes: NDArray[np.uint64],
    directions: NDArray[np.int32],
    threshold: NDArray[np.int64],
    tie: NDArray[np.uint64],
    below: NDArray[np.int64],
    out: NDArray[np.int64],
) -> None:
    """Write the leaf of each record to ``out``, in a tree with at least one inner node."""
    columns = counts.shape[1]
    for record in range(len(counts)):
        own = counts[record]
        node = np.int64(0)
        while node >= 0:
            direction = directions[node]
            total = np.int32(0)  # the absolute entries of a direction, times 255, sum up to less than 2^24
            for column in range(columns):
                total += np.int32(own[column]) * direction[column]
            right = total > threshold[node] or (total == threshold[node] and hashes[record] >= tie[node])
            node = below[node, 1 if right else 0]
        out[record] = ~node

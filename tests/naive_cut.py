"""Which leaf of a tree of cuts a record comes to, written from the definition."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from hierdata.engines.blocking import Cut


def leaf_of(cut: Cut, counts: NDArray[np.uint8], hashed: int) -> int:
    """Python's integers, one record."""
    if not len(cut.below):
        return 0
    node = 0
    while node >= 0:
        pairs = zip(counts.tolist(), cut.directions[node].tolist(), strict=True)
        total = sum(count * number for count, number in pairs)
        goes_right = (total, hashed) >= (int(cut.threshold[node]), int(cut.tie[node]))
        node = int(cut.below[node, int(goes_right)])
    return ~node

"""Numbers for keys, from 0 in ascending order."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

_SPARSE = 4
"""Keys are sorted where a table of all possible ones would be so many times as long."""


def number_keys(keys: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return where each distinct key occurs first, in ascending order of keys, and the number of each key.

    Keys are at least 0.
    """
    span = int(keys.max(initial=-1)) + 1
    if span > _SPARSE * len(keys):
        _, first, number = np.unique(keys, return_index=True, return_inverse=True)
        return first, number.reshape(-1)
    first = np.full(span, -1, np.int64)
    first[keys[::-1]] = np.arange(len(keys))[::-1]  # of a key that repeats, the last assignment stays
    there = first >= 0
    return first[there], (np.cumsum(there) - 1)[keys]

"""The alignment for tests: the package's own is compiled as a part of kernels, and not called from Python."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from hierdata.engines.alignment.kernels import anonytree
from hierdata.engines.alignment.kernels.arrays import Rules, Scratch, Settings
from hierdata.engines.jit import lean


@lean
def align(
    first_a: int,
    count_a: int,
    first_b: int,
    count_b: int,
    size: int,
    roots: bool,
    settings: Settings,
    work: Scratch,
    rep: NDArray[np.int32],
    rows: NDArray[np.int32],
    rules: Rules,
) -> np.int64:
    """Return the loss of aligning two lists of sibling trees, as ``anonytree.align`` does."""
    return anonytree.align(first_a, count_a, first_b, count_b, size, roots, settings, work, rep, rows, rules)

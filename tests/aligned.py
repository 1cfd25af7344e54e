"""The alignment for tests: the package's own is compiled as a part of kernels, and not called from Python."""

from __future__ import annotations

import numpy as np

from hierdata.engines.alignment.kernels import anonytree
from hierdata.engines.alignment.kernels.arrays import Sides
from hierdata.engines.jit import lean


@lean
def align(first_a: int, count_a: int, first_b: int, count_b: int, roots: bool, sides: Sides) -> np.int64:
    """Return the loss of aligning two lists of sibling trees, as ``anonytree.align`` does."""
    return anonytree.align(first_a, count_a, first_b, count_b, roots, sides)

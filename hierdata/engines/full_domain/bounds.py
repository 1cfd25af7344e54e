"""How far from the original a group may be, as sums of counts: t-closeness while groups are added up."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from hierdata.engines.full_domain.kernel import Near
from hierdata.engines.rows.closeness import foreign, paths, weighted_sets
from hierdata.privacy.base import Closeness

_LARGEST = 2**62
_CELLS = 2**26
"""So many sums are kept of a table at most; closeness with more is asked of the model alone."""


def fits(one: Closeness, codes: NDArray[np.int32]) -> bool:
    """Whether the sums of a closeness fit into 64 bits and memory, and it knows all values."""
    rows, sets = len(codes), len(one.parent)
    moved = sum(one.weight) * rows * one.total * one.bound.denominator
    most = max(moved, one.bound.numerator * one.scale * one.total * rows)
    return most < _LARGEST and rows * sets < _CELLS and not foreign(one, codes).any()


def counted(one: Closeness, codes: NDArray[np.int32]) -> NDArray[np.int64]:
    """One line a code: whether a value is present, and in which of the sets that count it is."""
    within = np.zeros((len(one.set_of) + 1, 1 + len(weighted_sets(one))), np.int64)
    within[:-1, 0] = 1
    for code, path in enumerate(paths(one)):
        within[code, 1:][list(path)] = 1
    return within[codes]  # MISSING is -1: the last


def packed(bound: Sequence[Closeness]) -> Near:
    """The bounds in the layout of the kernel."""
    columns = [(one, held) for one in bound for held in (-1, *weighted_sets(one))]
    return Near(
        np.cumsum([0, *(1 + len(weighted_sets(one)) for one in bound)]),
        np.array([0 if held < 0 else one.weight[held] for one, held in columns], np.int64),
        np.array([0 if held < 0 else one.expected[held] for one, held in columns], np.int64),
        np.array([one.total for one in bound], np.int64),
        np.array([one.bound.denominator for one in bound], np.int64),
        np.array([one.bound.numerator * one.scale * one.total for one in bound], np.int64),
    )

"""t-closeness as bounds on sums of counts, which add up when groups are united."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from hierdata.engines.full_domain.kernel import Near
from hierdata.engines.nested_sets import paths, weighted_sets
from hierdata.engines.rows.closeness import foreign
from hierdata.privacy.base import Closeness

_LARGEST = 2**62
_CELLS = 2**26
"""The most sums stored for a table; a closeness that needs more is checked by the model only."""


def fits(one: Closeness, codes: NDArray[np.int32]) -> bool:
    """Whether the sums of a closeness fit into 64 bits and memory, and the original has all values."""
    rows, sets = len(codes), len(one.parent)
    moved = sum(one.weight) * rows * one.total * one.bound.denominator
    most = max(moved, one.bound.numerator * one.scale * one.total * rows)
    return most < _LARGEST and rows * sets < _CELLS and not foreign(one, codes).any()


def count_codes(one: Closeness, codes: NDArray[np.int32]) -> NDArray[np.int64]:
    """Return one line per code: whether a value is present, and for each weighted set whether it holds it."""
    within = np.zeros((len(one.set_of) + 1, 1 + len(weighted_sets(one))), np.int64)
    within[:-1, 0] = 1
    for code, path in enumerate(paths(one)):
        within[code, 1:][list(path)] = 1
    return within[codes]  # MISSING is -1: the last


def pack_bounds(bound: Sequence[Closeness]) -> Near:
    """Pack the bounds in the layout of the kernel."""
    columns = [(one, held) for one in bound for held in (-1, *weighted_sets(one))]
    return Near(
        np.cumsum([0, *(1 + len(weighted_sets(one)) for one in bound)]),
        np.array([0 if held < 0 else one.weight[held] for one, held in columns], np.int64),
        np.array([0 if held < 0 else one.expected[held] for one, held in columns], np.int64),
        np.array([one.total for one in bound], np.int64),
        np.array([one.bound.denominator for one in bound], np.int64),
        np.array([one.bound.numerator * one.scale * one.total for one in bound], np.int64),
    )

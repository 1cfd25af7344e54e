"""Closeness of the values at the vertices of a class, exact.

A model with a closeness (``hierdata.privacy.base.Closeness``) is one **check** at the vertices of a type.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from hierdata.engines.alignment.kernels.arrays import CHILD_COUNT, FIRST_CHILD, KIND
from hierdata.engines.alignment.kernels.representative import Ordinals, Rows
from hierdata.engines.jit import lean, part

FOREIGN_SET = -2
"""The first set of a value that the original lacks: no class may hold it."""

BITS = 64
"""Open values in a word."""


class ClosenessChecks(NamedTuple):
    """The checks, those of one vertex type next to each other, and the sets of values that they compare.

    Each value of a check has a number among those of its vertex type; the last value of a check is the
    missing one. With n values present the distance is the sum of ``weight`` |held * total - expected * n|
    over the sets of the check; it may be ``limit`` * n / ``bottom`` at most.
    """

    words: int  # 64-bit words of the open values of a vertex; 0 without checks
    first_check: Ordinals  # [vertex type + 1]
    first_value: Ordinals  # [check]: its first value, as a number of the vertex type
    paths: NDArray[np.int32]  # [check, value, level]: the sets that hold a value, then -1; FOREIGN_SET first
    counts: Ordinals  # [check]: its values
    first_set: Ordinals  # [check + 1]
    weight: Ordinals  # [set]
    expected: Ordinals  # [set]: values of the original in it
    total: Ordinals  # [check]: values of the original
    limit: Ordinals  # [check]: bound * scale * total * bottom
    bottom: Ordinals  # [check]: denominator of the bound
    values: NDArray[np.int32]  # [vertex, check of its type]: position of its value in the check
    held: Ordinals  # [set]: working memory


@part
def count_held(
    v: int, check: int, column: int, have: int, behind: Ordinals, checks: ClosenessChecks
) -> np.int64:
    """Count the values at a vertex of ``have`` members by set: ``held``; return how many are present.

    ``column`` is the check's place among those of the vertex type. -1 if there is a value that the original
    lacks.
    """
    held, paths = checks.held, checks.paths
    for value_set in range(checks.first_set[check], checks.first_set[check + 1]):
        held[value_set] = 0
    missing = checks.counts[check] - 1
    present = np.int64(0)
    for member in range(have):
        value = checks.values[behind[member, v], column]
        if value == missing:
            continue
        present += 1
        for level in range(paths.shape[2]):
            value_set = paths[check, value, level]
            if value_set == FOREIGN_SET:
                return np.int64(-1)
            if value_set < 0:
                break
            held[value_set] += 1
    return present


@part
def _is_close(v: int, check: int, column: int, have: int, behind: Ordinals, checks: ClosenessChecks) -> bool:
    """Return whether a check holds at a vertex of ``have`` members."""
    present = count_held(v, check, column, have, behind, checks)
    total = checks.total[check]
    distance = np.int64(0)
    for value_set in range(checks.first_set[check], checks.first_set[check + 1]):
        distance += checks.weight[value_set] * abs(
            checks.held[value_set] * total - checks.expected[value_set] * present
        )
    return bool(present >= 0 and distance * checks.bottom[check] <= checks.limit[check] * present)


@lean
def find_close(
    rep: Rows, count: int, have: int, behind: Ordinals, checks: ClosenessChecks, kept: NDArray[np.bool_]
) -> None:
    """Unmark the first ``count`` vertices where, or above which, a check fails with ``have`` members."""
    for v in range(count):
        first = checks.first_check[rep[v, KIND]]
        for check in range(first, checks.first_check[rep[v, KIND] + 1]):
            kept[v] = kept[v] and _is_close(v, check, check - first, have, behind, checks)
        below = rep[v, FIRST_CHILD]
        for child in range(below, min(below + rep[v, CHILD_COUNT], count) if not kept[v] else below):
            kept[child] = False

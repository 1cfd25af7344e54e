"""The most classes of rows that share no group, found exactly where few combinations of cells are possible.

Which rows to group is set packing, which no fast algorithm solves for three attributes and more. With few
cells all combinations can be listed, and an integer program says how often to take each.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice

import numpy as np
from numpy.typing import NDArray

from hierdata.engines.buckets.attainable import NODES, JointCounts
from hierdata.engines.buckets.buckets import Buckets
from hierdata.forest.partition import SUPPRESSED

_COMBINATIONS = 20_000
"""More combinations of cells are not tried: a draw with exchanges comes near the most in larger tables."""
Combinations = NDArray[np.int64]


def pack_rows(buckets: Buckets, rows: NDArray[np.int64]) -> NDArray[np.int64] | None:
    """Return the class of each row, in as many classes of the least size as there can be.

    A class takes one row of a group, of equal ones the last of ``rows``. These are the rows with all values,
    in random order; others are in no class. Returns None if there are too many combinations, or if the search
    ends early.
    """
    cells = JointCounts.of(buckets.of_rows(rows).coordinates, len(rows))
    listed = list(islice(_combine(cells.groups, buckets.class_size), _COMBINATIONS + 1))
    if not listed or len(listed) > _COMBINATIONS:
        return None
    combinations = np.array(listed, np.int64)
    times = _solve(combinations, cells.count())
    if times is None:
        return None
    classes = np.full(buckets.rows, SUPPRESSED, np.int64)
    waiting = [rows[cells.of_row == cell].tolist() for cell in range(len(cells.groups))]
    for number, combination in enumerate(np.repeat(combinations, times, axis=0).tolist()):
        classes[[waiting[cell].pop() for cell in combination]] = number
    return classes


def _combine(groups: NDArray[np.int64], size: int) -> Iterator[tuple[int, ...]]:
    """Yield all sets of ``size`` cells of which no two share a group."""
    apart = (groups[:, None] != groups[None]).all(axis=2)
    # The cells after each that share no group with it, as the bits of a number.
    after = [
        sum(1 << int(other) for other in np.flatnonzero(row) if other > cell)
        for cell, row in enumerate(apart)
    ]

    def extend(chosen: tuple[int, ...], possible: int) -> Iterator[tuple[int, ...]]:
        if len(chosen) == size:
            yield chosen
            return
        while possible.bit_count() >= size - len(chosen):
            cell = (possible & -possible).bit_length() - 1
            possible &= possible - 1
            yield from extend((*chosen, cell), possible & after[cell])

    return extend((), (1 << len(groups)) - 1)


def _solve(combinations: Combinations, available: NDArray[np.int64]) -> NDArray[np.int64] | None:
    """Return how often to take each combination, so that no cell is taken more often than it has rows."""
    from scipy import sparse
    from scipy.optimize import Bounds, LinearConstraint, milp

    count, size = combinations.shape
    places = combinations.ravel(), np.repeat(np.arange(count), size)
    taken = sparse.csr_matrix((np.ones(count * size), places), shape=(len(available), count))
    solution = milp(
        -np.ones(count),
        integrality=np.ones(count),
        bounds=Bounds(0, np.inf),
        constraints=LinearConstraint(taken, -np.inf, available),
        options={"node_limit": NODES},
    )
    if solution.x is None:
        return None
    times = np.rint(solution.x).astype(np.int64)
    return times if (taken.astype(np.int64) @ times <= available).all() else None

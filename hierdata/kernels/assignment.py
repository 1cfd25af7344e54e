"""The cheapest assignment of one side's items to the other's (Hungarian method with potentials)."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from hierdata.kernels.jit import jit


@jit
def assign(cost: NDArray[np.int64], rows: int, columns: int, column_of: NDArray[np.int64]) -> None:
    """Write to ``column_of[row]`` the column of each row in a cheapest assignment; rows <= columns.

    Exact on integers, O(rows^2 columns). Deterministic: equal totals are settled by the order of rows and
    columns.
    """
    infinity = np.int64(2**62)
    row_potential = np.zeros(rows + 1, np.int64)
    column_potential = np.zeros(columns + 1, np.int64)
    row_at = np.zeros(columns + 1, np.int32)  # 1-based row in each column, 0 free
    came_from = np.zeros(columns + 1, np.int32)
    slack = np.empty(columns + 1, np.int64)
    done = np.empty(columns + 1, np.bool_)
    for row in range(1, rows + 1):
        row_at[0] = row
        column = 0
        slack[:] = infinity
        done[:] = False
        while row_at[column] != 0:
            done[column] = True
            current = row_at[column]
            delta = infinity
            following = 0
            for j in range(1, columns + 1):
                if not done[j]:
                    reduced = cost[current - 1, j - 1] - row_potential[current] - column_potential[j]
                    if reduced < slack[j]:
                        slack[j] = reduced
                        came_from[j] = column
                    if slack[j] < delta:
                        delta = slack[j]
                        following = j
            for j in range(columns + 1):
                if done[j]:
                    row_potential[row_at[j]] += delta
                    column_potential[j] -= delta
                else:
                    slack[j] -= delta
            column = following
        while column != 0:
            previous = came_from[column]
            row_at[column] = row_at[previous]
            column = previous
    for j in range(1, columns + 1):
        if row_at[j] != 0:
            column_of[row_at[j] - 1] = j - 1

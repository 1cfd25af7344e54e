"""Assignment problems: the cheapest assignment of all rows, and the matching of largest gain."""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from hierdata.engines.alignment.kernels.arrays import (
    COLUMN_OF,
    COLUMN_WORTH,
    DEGREE,
    DISTANCE,
    FROM,
    REACHED,
    ROW_OF,
    ROW_WORTH,
    WAITING,
)
from hierdata.engines.jit import jit, lean, shared

Edges: TypeAlias = "NDArray[np.int64]"


@jit
def assign(cost: NDArray[np.int64], rows: int, columns: int, column_of: NDArray[np.int64]) -> None:
    """Write the column of each row in a cheapest assignment to ``column_of``; rows <= columns.

    Exact on integers, O(rows^2 columns). Ties are broken by the order of rows and columns.
    """
    infinity = np.int64(2**62)
    row_potential = np.zeros(rows + 1, np.int64)
    column_potential = np.zeros(columns + 1, np.int64)
    row_at = np.zeros(columns + 1, np.int32)  # 1-based row of each column, 0 for a free column
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


@lean
def gain_factor(most: np.int64, pairs: int) -> int:
    """Return the factor for gains that leaves room to add 1 for each pair, so that ties favor more pairs.

    Pairs that gain nothing are then kept rather than suppressed, such as vertices without quasi-identifiers.
    ``most`` bounds the gain of all pairs. The factor is 1, without that effect, if the product is too large,
    which the scale of weighted losses excludes (``Forest.scale``).
    """
    return pairs + 1 if most <= 2**62 // (2 * (pairs + 1)) else 1


@shared
def match(partners: Edges, gains: Edges, rows: int, columns: int, desk: NDArray[np.int64]) -> np.int64:
    """Return the largest gain of a matching; ``desk[COLUMN_OF, row]`` receives the row's column, or -1.

    Row i may be matched with the columns ``partners[i, :desk[DEGREE, i]]``, with the positive gains
    ``gains[i, :desk[DEGREE, i]]``; rows may stay unmatched. Exact on integers.

    Rows whose best column is free take it. The others bid for it (the row reduction of Jonker and Volgenant),
    and for rows still left shortest alternating paths are searched. The potentials (worths) are always
    feasible: ``row + column >= gain``, with equality for matched pairs. At the end unmatched rows and columns
    have the potential 0. Ties are broken by the order of rows and edges.
    """
    for j in range(columns):
        desk[COLUMN_WORTH, j] = 0
        desk[ROW_OF, j] = -1
        desk[DISTANCE, j] = -1
    waiting = 0
    for i in range(rows):
        best = np.int64(0)
        column = -1
        for k in range(desk[DEGREE, i]):
            j = partners[i, k]
            gain = gains[i, k]
            if gain > best or (
                gain == best and column >= 0 and desk[ROW_OF, column] >= 0 and desk[ROW_OF, j] < 0
            ):
                best = gain
                column = j
        desk[ROW_WORTH, i] = best
        desk[COLUMN_OF, i] = -1
        if column >= 0 and desk[ROW_OF, column] < 0:
            desk[ROW_OF, column] = i
            desk[COLUMN_OF, i] = column
        elif column >= 0:
            desk[WAITING, waiting] = i
            waiting += 1
    if waiting > 0:
        waiting = _bid(partners, gains, waiting, desk)
    for k in range(waiting):
        _search(partners, gains, desk[WAITING, k], desk)
    total = np.int64(0)  # the sum of the potentials is an upper bound, which this matching reaches
    for i in range(rows):
        total += desk[ROW_WORTH, i]
    for j in range(columns):
        total += desk[COLUMN_WORTH, j]
    return total


@lean
def _bid(partners: Edges, gains: Edges, waiting: int, desk: NDArray[np.int64]) -> int:
    """Let each waiting row take its best column at the price that makes its second best column as good.

    A row that loses its column bids in turn while prices rise, up to a limit. Return the number of rows that
    still wait.
    """
    again = 0
    k = 0
    bids = 4 * waiting
    while k < waiting:
        i = desk[WAITING, k]
        k += 1
        best = second = np.int64(0)
        column = other = -1
        for edge in range(desk[DEGREE, i]):
            j = partners[i, edge]
            worth = gains[i, edge] - desk[COLUMN_WORTH, j]
            if worth > best:
                second = best
                other = column
                best = worth
                column = j
            elif worth > second:
                second = worth
                other = j
        desk[ROW_WORTH, i] = second
        if column < 0:
            continue  # no column gains anything
        loser = desk[ROW_OF, column]
        if best > second:
            desk[COLUMN_WORTH, column] += best - second
        elif loser >= 0:
            column = other
            loser = desk[ROW_OF, column]
        desk[ROW_OF, column] = i
        desk[COLUMN_OF, i] = column
        if loser >= 0:
            desk[COLUMN_OF, loser] = -1
            bids -= 1
            if best > second and bids > 0:
                k -= 1
                desk[WAITING, k] = loser
            else:
                desk[WAITING, again] = loser
                again += 1
    return again


@lean
def _search(partners: Edges, gains: Edges, start: int, desk: NDArray[np.int64]) -> None:
    """Match a row along the shortest alternating path, to a free column or a row that gives up its column."""
    limit = desk[ROW_WORTH, start]  # the cost of leaving ``last`` without a column
    last = i = start
    distance = np.int64(0)
    reached = 0  # number of columns with a final distance, the first ones in REACHED
    known = 0
    end = -1
    while True:
        for edge in range(desk[DEGREE, i]):
            j = partners[i, edge]
            further = distance + desk[ROW_WORTH, i] - gains[i, edge] + desk[COLUMN_WORTH, j]
            if further < limit and (desk[DISTANCE, j] < 0 or further < desk[DISTANCE, j]):
                if desk[DISTANCE, j] < 0:
                    desk[REACHED, known] = j
                    known += 1
                desk[DISTANCE, j] = further
                desk[FROM, j] = i
        if reached == known:
            break
        nearest = reached
        for k in range(reached + 1, known):
            if desk[DISTANCE, desk[REACHED, k]] < desk[DISTANCE, desk[REACHED, nearest]]:
                nearest = k
        column = desk[REACHED, nearest]
        distance = desk[DISTANCE, column]
        if distance >= limit:
            break
        if desk[ROW_OF, column] < 0:
            end = column
            limit = distance
            break
        desk[REACHED, nearest] = desk[REACHED, reached]
        desk[REACHED, reached] = column
        reached += 1
        i = desk[ROW_OF, column]
        if distance + desk[ROW_WORTH, i] < limit:
            limit = distance + desk[ROW_WORTH, i]
            last = i
    desk[ROW_WORTH, start] -= limit
    for k in range(known):
        j = desk[REACHED, k]
        if k < reached:
            desk[ROW_WORTH, desk[ROW_OF, j]] -= limit - desk[DISTANCE, j]
            desk[COLUMN_WORTH, j] += limit - desk[DISTANCE, j]
        desk[DISTANCE, j] = -1
    if end < 0:
        end = desk[COLUMN_OF, last]
        desk[COLUMN_OF, last] = -1
    while end >= 0:
        i = desk[FROM, end]
        before = desk[COLUMN_OF, i]
        desk[ROW_OF, end] = i
        desk[COLUMN_OF, i] = end
        end = before if i != start else -1

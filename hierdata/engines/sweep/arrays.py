"""The rows of a scope and the joins of their nodes, in the layout of ``kernels.sweeping``."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from hierdata.engines.rows.kernel import Numbers, Places
from hierdata.engines.rows.order import Line
from hierdata.engines.sweep.kernel import Lines

_TABLED = 256
"""The joins of so many places of a quasi-identifier, and no more, are put into a table."""


def in_order(line: Line) -> Line:
    """The line with the quasi-identifiers that have most places first, since they tell most rows apart."""
    order = np.argsort(-np.diff(line.first), kind="stable")
    places = np.ascontiguousarray(line.places[:, order])
    return Line(places, np.append(line.first[order], line.first[-1]), line.above, line.losses)


def packed(line: Line) -> Lines:
    """The line for compiled code, with a table of joins where there are few places."""
    first = line.first[:-1]
    width = line.places.max(axis=0, initial=-1).astype(np.int64) + 1
    tables = [np.zeros(0, np.int64)]
    pair_first = np.full(len(first), -1)
    for column, (start, count) in enumerate(zip(first.tolist(), width.tolist(), strict=True)):
        if count <= _TABLED:
            pair_first[column] = sum(map(len, tables))
            tables.append(_joins(line.above[start : start + count], line.losses).ravel())
    return Lines(line.places, first, width, pair_first, np.concatenate(tables), line.above, line.losses)


def generalized(above: Places) -> Places:
    """The node at each depth of a place; where a path ends above it or skips it, the last one before."""
    found = above.copy()
    for depth in range(1, found.shape[1]):
        found[:, depth] = np.where(found[:, depth] < 0, found[:, depth - 1], found[:, depth])
    return found


def _joins(above: Places, losses: Numbers) -> NDArray[np.int64]:
    """The loss of the join of each two places."""
    found = np.zeros((len(above), len(above)), np.int64)
    for depth in range(above.shape[1]):
        own = above[:, depth]
        shared = (own[:, None] == own[None, :]) & (own >= 0)[:, None]
        found = np.where(shared, losses[own][:, None], found)
    return found

"""The rows of a scope and the joins of their nodes, in the layout of ``sweep.kernel``."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from hierdata.engines.rows.kernel import Numbers, Places
from hierdata.engines.rows.order import RowLine
from hierdata.engines.sweep.kernel import Lines

_TABLED = 256
"""The largest number of places of a quasi-identifier for which a table of joins is built."""


def order_columns(line: RowLine) -> RowLine:
    """Order the quasi-identifiers, those with most places first, as they distinguish most rows."""
    order = np.argsort(-np.diff(line.first), kind="stable")
    places = np.ascontiguousarray(line.places[:, order])
    return RowLine(places, np.append(line.first[order], line.first[-1]), line.above, line.losses)


def pack_line(line: RowLine) -> Lines:
    """Pack the line for compiled code, with a table of joins for quasi-identifiers with few places."""
    first = line.first[:-1]
    width = line.places.max(axis=0, initial=-1).astype(np.int64) + 1
    tables = [np.zeros(0, np.int64)]
    pair_first = np.full(len(first), -1)
    for column, (start, count) in enumerate(zip(first.tolist(), width.tolist(), strict=True)):
        if count <= _TABLED:
            pair_first[column] = sum(map(len, tables))
            tables.append(_joins(line.above[start : start + count], line.losses).ravel())
    return Lines(line.places, first, width, pair_first, np.concatenate(tables), line.above, line.losses)


def generalized_places(above: Places) -> Places:
    """Return the node of each place at each depth; if its path has none there, the last node before."""
    found = above.copy()
    for depth in range(1, found.shape[1]):
        found[:, depth] = np.where(found[:, depth] < 0, found[:, depth - 1], found[:, depth])
    return found


def _joins(above: Places, losses: Numbers) -> NDArray[np.int64]:
    """Return the losses of the joins of all pairs of places."""
    found = np.zeros((len(above), len(above)), np.int64)
    for depth in range(above.shape[1]):
        own = above[:, depth]
        shared = (own[:, None] == own[None, :]) & (own >= 0)[:, None]
        found = np.where(shared, losses[own][:, None], found)
    return found

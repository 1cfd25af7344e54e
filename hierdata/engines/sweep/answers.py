"""Pack the rows of a scope for the kernels, and decide which rows may be a class.

Caps are checked in compiled code, other models once for each content.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from hierdata.engines.base import Constraints
from hierdata.engines.rows.constraints import ClassConstraints, pack_row_caps, split_decided
from hierdata.engines.rows.kernel import Numbers, Places, keeps_caps
from hierdata.engines.rows.table import RowLine, codes_of, nodes_of
from hierdata.engines.sweep.kernel import Lines, Memory, mix_words, remember
from hierdata.forest.forest import Forest, Scope

NODES = 2**14
"""The number of nodes listed: all nodes of eight usual hierarchies, and the cheapest of larger lattices."""


def best_depths(line: RowLine, generalized: Places, most: int = NODES) -> NDArray[np.int32]:
    """Return the depths of every quasi-identifier at the ``most`` nodes of least loss, best first.

    The loss of a node is the loss of publishing all rows at its depths. It is a sum over the
    quasi-identifiers, so the best nodes are among the best nodes of all quasi-identifiers but the last,
    combined with every depth of the last. Ties are in the order of the depths. Depths that change nothing
    are left out.
    """
    sums = np.zeros(1, np.int64)
    nodes = np.zeros((1, 0), np.int32)
    for column, start in enumerate(line.first[:-1].tolist()):
        places = line.places[:, column]
        own = generalized[start : start + int(places.max(initial=-1)) + 1]
        depths = [0] + [at for at in range(1, own.shape[1]) if (own[:, at] != own[:, at - 1]).any()]
        losses = [int(line.losses[own[places, depth]].sum()) for depth in depths]
        sums = (sums[:, None] + np.array(losses, np.int64)).ravel()
        with_depth = np.tile(np.array(depths, np.int32), len(nodes))[:, None]
        nodes = np.hstack([np.repeat(nodes, len(depths), axis=0), with_depth])
        kept = np.sort(np.argsort(sums, kind="stable")[:most])
        sums, nodes = sums[kept], nodes[kept]
    found: NDArray[np.int32] = nodes[np.argsort(sums, kind="stable")]
    return found


_REMEMBERED = 8
"""Slots of the memory per row."""


class Answers:
    """The decisions of the constraints about classes of a scope's rows.

    ``marks[row]`` is a 64-bit hash of what the models see of a row; the sum over a class is the hash of its
    content. A collision is very unlikely, and every published class is checked once more.
    """

    def __init__(self, forest: Forest, scope: Scope, constraints: Constraints) -> None:
        bound, open_ones = split_decided(forest, scope, constraints)
        rows = len(scope.rows)
        self.least = constraints.min_class_size
        self.caps = pack_row_caps(bound, rows)
        self._asked = ClassConstraints(forest, scope, open_ones)
        self.asking = self._asked.has_constraints
        seen = codes_of(forest, scope)
        if constraints.population is not None:
            seen = np.hstack([seen, nodes_of(forest, scope)])
        alike = np.unique(seen, axis=0, return_inverse=True)[1] if self.asking else np.zeros(rows, np.int64)
        self.marks = mix_words(alike.ravel().astype(np.int64))
        places = 2 ** (_REMEMBERED * rows + 1024).bit_length() if self.asking else 2
        self.memory = Memory(np.zeros(places, np.uint64), np.zeros(places, np.int8), np.zeros(1, np.int64))

    def holds(self, rows: NDArray[np.int64]) -> bool:
        """Whether these rows may be a class."""
        return bool(keeps_caps(0, len(rows), rows, self.caps)) and (not self.asking or self._asked(rows))

    def ask(self, groups: Sequence[NDArray[np.int64]]) -> None:
        """Check groups that keep the caps, and store the decisions."""
        prints = np.array([self.marks[rows].sum(dtype=np.uint64) for rows in groups], np.uint64)
        remember(prints, np.array([self._asked(rows) for rows in groups], np.bool_), self.memory)


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

"""Deal rows to classes in which no two rows count together, and count how many rows can be dealt."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from hierdata.engines.rows.kernel_dealing import deal, keep
from hierdata.engines.rows.order import RowLine
from hierdata.forest.forest import Scope

WIDEST = 32
"""The number of rows assigned to classes at a time; the cost of a row is its square."""


@dataclass(frozen=True)
class Apart:
    """The rows that may not be in one class because their groups count together.

    ``groups`` is by row, -1 for a missing value; ``ends`` is by group: the last group above it that counts
    together with it.
    """

    groups: NDArray[np.int32]
    ends: NDArray[np.int32]

    def tracks(self, rows: NDArray[np.int64], each: Fraction) -> NDArray[np.int64]:
        """Return the most rows that fit into classes of ``each`` rows or more on average, by ascending group.

        f(g), the most rows with at most g in any window, is found from the least group up. f(g) / g does not
        rise, so bisection finds the largest g with f(g) >= each * g. O(rows log rows).
        """
        rows = self._ascending(rows)
        groups = self.groups[rows]
        kept = np.empty(len(rows), np.int64)
        enough, too_many = 0, len(rows) // each + 1
        while too_many - enough > 1:
            middle = (enough + too_many) // 2
            if int(keep(middle, groups, self.ends, kept)) >= each * middle:
                enough = middle
            else:
                too_many = middle
        count = int(keep(enough, groups, self.ends, kept)) if enough else 0
        chosen: NDArray[np.int64] = rows[kept[:count]]
        return chosen

    def count_tracks(self, rows: NDArray[np.int64]) -> int:
        """Return the least number of classes to which all rows can be dealt: the most in any window."""
        groups = np.sort(self.groups[rows])
        within = np.searchsorted(groups, self.ends[groups], side="right") - np.arange(len(groups))
        return int(within.max(initial=0))

    def one_track(self, rows: NDArray[np.int64]) -> int:
        """Return the largest number of rows of which no two count together."""
        rows = self._ascending(rows)
        return int(keep(1, self.groups[rows], self.ends, np.empty(len(rows), np.int64)))

    def deal_blocks(
        self, line: RowLine, scope: Scope, blocks: Sequence[NDArray[np.int64]], least: int
    ) -> NDArray[np.int64]:
        """Deal blocks to classes of ``least`` rows or more; return the class of each row, -1 for none.

        A block must not have more rows in a window than it has room for classes. If two rows of a record
        would be in one class, one of them gets no class.
        """
        lengths = np.array([len(block) for block in blocks], np.int64)
        ends = np.cumsum(lengths)
        order = np.concatenate([*blocks, np.zeros(0, np.int64)])
        order = order[np.lexsort((self.groups[order], np.repeat(np.arange(len(blocks)), lengths)))]
        class_of = np.full(len(self.groups), -1, np.int64)
        below = bool(scope.kind)
        deal(
            ends - lengths, ends, least, WIDEST, below, order, self.groups, self.ends, scope.records, line,
            class_of,
        )  # fmt: skip
        if below:
            there = np.flatnonzero(class_of >= 0)
            keys = class_of[there] * (int(scope.records.max(initial=0)) + 1) + scope.records[there]
            again = np.ones(len(there), np.bool_)
            again[np.unique(keys, return_index=True)[1]] = False
            class_of[there[again]] = -1
        return class_of

    def _ascending(self, rows: NDArray[np.int64]) -> NDArray[np.int64]:
        """Sort the rows by their groups, keeping the order of equal ones."""
        return rows[np.argsort(self.groups[rows], kind="stable")]

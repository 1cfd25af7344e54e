"""Deal rows to classes in which no two rows count together, and remove rows that cannot be dealt."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from hierdata.engines.base import Constraints
from hierdata.engines.rows.constraints import RowCaps, check_classes
from hierdata.engines.rows.kernel import deal, keep
from hierdata.engines.rows.table import RowLine, class_sizes, codes_of, dense, losses_of, mark_repeated
from hierdata.forest.forest import Forest, Scope
from hierdata.forest.partition import SUPPRESSED

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
            class_of[mark_repeated(scope, class_of)] = SUPPRESSED
        return class_of

    def _ascending(self, rows: NDArray[np.int64]) -> NDArray[np.int64]:
        """Sort the rows by their groups, keeping the order of equal ones."""
        return rows[np.argsort(self.groups[rows], kind="stable")]


def redealt(
    forest: Forest, scope: Scope, constraints: Constraints, line: RowLine, classes: NDArray[np.int64]
) -> NDArray[np.int64]:
    """Deal classes into smaller ones where that loses less and satisfies all models.

    A class just within its caps cannot be cut: of two sides by quasi-identifiers, one has too many of some
    value. If its rows are dealt in the order of the sensitive values, each of g classes gets at most c / g,
    rounded up, of c equal values, so its distribution is like that of the whole. Sizes are tried from the
    least up, each 1.5 times the one before; the first that works is used. The loss never rises.
    O(rows log rows) for each size.
    """
    judged = [bool(models) for models in constraints.on_values[scope.kind]]
    if not any(judged):
        return classes
    codes = codes_of(forest, scope)[:, judged]
    value = np.unique(codes, axis=0, return_inverse=True)[1].ravel()
    in_order = np.lexsort((*line.places.T[::-1], value))
    for size in _sizes(constraints.min_class_size, len(classes)):
        room = np.append(class_sizes(classes) // size, 0)  # SUPPRESSED is -1: the last
        rows = in_order[room[classes[in_order]] >= 2]
        if not len(rows):
            break
        rows = rows[np.argsort(classes[rows], kind="stable")]
        dealt = _chunks(rows, classes, value, room).deal_blocks(line, scope, _blocks(rows, classes), size)
        taken = _better(forest, scope, constraints, classes, dealt)
        classes = dense(np.where(taken[classes], dealt + 1 + classes.max(), classes))
    return classes


def _sizes(least: int, rows: int) -> Iterator[int]:
    size = least
    while 2 * size <= rows:
        yield size
        size += (size + 1) // 2


def _blocks(rows: NDArray[np.int64], classes: NDArray[np.int64]) -> list[NDArray[np.int64]]:
    return np.split(rows, np.flatnonzero(np.diff(classes[rows])) + 1)


def _chunks(
    rows: NDArray[np.int64], classes: NDArray[np.int64], value: NDArray[np.int64], room: NDArray[np.int64]
) -> Apart:
    """Keep equal values of a class apart, in chunks of as many rows as the class has room for classes."""
    changes = (np.diff(classes[rows]) != 0) | (np.diff(value[rows]) != 0)
    first = np.append(True, changes)
    position = np.arange(len(rows))
    since = position - np.maximum.accumulate(np.where(first, position, 0))
    groups = np.full(len(classes), -1, np.int32)
    groups[rows] = np.cumsum(since % room[classes[rows]] == 0) - 1
    return Apart(groups, np.arange(int(groups.max()) + 1, dtype=np.int32))


def _better(
    forest: Forest,
    scope: Scope,
    constraints: Constraints,
    classes: NDArray[np.int64],
    dealt: NDArray[np.int64],
) -> NDArray[np.bool_]:
    """By class, whether dealing it leaves no row out, keeps all models and loses less; the last is False."""
    count = int(classes.max()) + 1
    there = dealt != SUPPRESSED
    complete = np.bincount(classes[there], minlength=count) == class_sizes(classes)
    parent = np.empty(int(dealt.max(initial=-1)) + 1, np.int64)
    parent[dealt[there]] = classes[there]
    whole = np.bincount(parent[~check_classes(forest, scope, constraints, dealt)], minlength=count) == 0
    after = np.zeros(count, np.int64)
    np.add.at(after, parent, losses_of(forest, scope, dealt))
    return np.append(complete & whole & (after < losses_of(forest, scope, classes)), False)


def thin_rows(
    rows: NDArray[np.int64], bound: Iterable[RowCaps], rng: np.random.Generator
) -> NDArray[np.int64]:
    """Return the rows without those that exceed the share of their group, chosen at random in the group.

    For one cap the fewest possible rows are removed: N rows can keep it if and only if each group has at most
    share * N of them. Several caps are applied in turn until none removes any more rows. Caps with a bound
    that does not grow with the class, or with groups that count together, do not limit the whole table and
    are ignored.
    """
    plain = [cap for cap in bound if cap.caps.most is None and cap.caps.reach is None]
    before = -1
    while len(rows) != before:
        before = len(rows)
        for cap in plain:
            rows = _thin_own_rows(rows, cap, rng)
    return rows


def _thin_own_rows(rows: NDArray[np.int64], caps: RowCaps, rng: np.random.Generator) -> NDArray[np.int64]:
    groups = caps.groups[rows]
    shares = caps.caps.share
    counts = np.bincount(groups[groups >= 0], minlength=len(shares)).tolist()
    # Iterate down to the largest total that keeps the cap.
    total, kept = -1, sum(counts)
    while kept != total:
        total = kept
        kept = sum(min(count, total * share // 1) for count, share in zip(counts, shares, strict=True))
    if total == sum(counts):
        return rows
    allowed = np.array([total * share // 1 for share in shares], np.int64)
    mixed = rng.permutation(len(rows))
    mixed = mixed[np.argsort(groups[mixed], kind="stable")]
    in_order = groups[mixed]
    rank = np.arange(len(rows)) - np.searchsorted(in_order, in_order)
    gone = mixed[(in_order >= 0) & (rank >= allowed[in_order])]
    staying: NDArray[np.int64] = np.delete(rows, gone)
    return staying

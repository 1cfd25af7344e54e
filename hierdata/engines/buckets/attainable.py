"""The most rows that groups of several sensitive attributes can hold, found exactly over joint counts.

No group of values may have more than its share of the rows of a class, so it has no more of all published
rows. How many rows of each combination of groups to keep is an integer program. Its answer is checked
again in integers.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from math import ceil
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from hierdata.engines.base import Constraints
from hierdata.engines.buckets.buckets import Coordinate, shares_at
from hierdata.engines.rows.table import codes_of
from hierdata.forest.forest import Forest, Scope, look_up

Counts: TypeAlias = NDArray[np.int64]


def coordinates_of(forest: Forest, scope: Scope, constraints: Constraints) -> list[Coordinate]:
    """Return the groups of every share cap that each class must keep, of whatever size.

    Models without such caps bound no share of the published rows.
    """
    codes = codes_of(forest, scope)
    coordinates = []
    for position, caps in constraints.caps(scope.kind):
        if caps.necessary and caps.reach is None and not caps.of_records:
            groups = look_up(caps.group_of, codes[:, position]).astype(np.int64)
            path = forest.domains[scope.kind][position].path
            coordinates.append(Coordinate(path, groups, shares_at(caps, constraints.min_class_size)))
    return coordinates


@dataclass(frozen=True)
class JointCounts:
    """Rows by the vector of their groups: ``groups[cell, coordinate]``, and ``of_row`` the cell of a row."""

    coordinates: tuple[Coordinate, ...]
    groups: NDArray[np.int64]
    of_row: NDArray[np.int64]

    @classmethod
    def of(cls, coordinates: Sequence[Coordinate], rows: int) -> JointCounts:
        """Build the cells of a scope with this number of rows."""
        columns = np.array([coordinate.group_of for coordinate in coordinates], np.int64)
        vectors = columns.reshape(len(coordinates), rows).T
        groups, of_row = np.unique(vectors, axis=0, return_inverse=True)
        return cls(tuple(coordinates), groups, of_row.ravel())

    def count(self, rows: NDArray[np.bool_] | None = None) -> Counts:
        """Return the number of rows of each cell, all or some of them."""
        cells = self.of_row if rows is None else self.of_row[rows]
        return np.bincount(cells, minlength=len(self.groups)).astype(np.int64)

    def excesses(self, counts: Counts) -> Iterator[tuple[int, int]]:
        """Yield the coordinate and group of everything that has more than its share of these rows. Exact."""
        for number, coordinate in enumerate(self.coordinates):
            there = self.groups[:, number] >= 0
            held = np.zeros(len(coordinate.share), np.int64)
            np.add.at(held, self.groups[there, number], counts[there])
            total = int(held.sum())
            for group in np.flatnonzero(held).tolist():
                if int(held[group]) > coordinate.share[group] * total:
                    yield number, group

    def with_shares(self, least: Fraction) -> JointCounts:
        """Return the cells with no share below ``least``."""
        eased = (
            replace(coordinate, share=tuple(max(share, least) for share in coordinate.share))
            for coordinate in self.coordinates
        )
        return replace(self, coordinates=tuple(eased))


def keep_most(
    cells: JointCounts,
    available: Counts,
    left_out: Counts | None = None,
    least: int = 0,
    rng: np.random.Generator | None = None,
) -> Counts:
    """Return how many rows of each cell to keep: as many as possible, none of a group above its share.

    At most ``available`` of each cell are kept. With ``left_out``, the rows of each cell that are not
    available, the rows that are not kept are at least ``least`` and keep all shares too; no rows are kept
    where that is not possible. ``rng`` draws which of the choices of as many rows is taken.
    """
    if not cells.coordinates or (left_out is None and not any(cells.excesses(available))):
        return available
    kept = np.minimum(_solve(cells, available, left_out, least, rng), available)
    if left_out is not None:
        rest = available + left_out - kept
        bad = any(cells.excesses(kept)) or any(cells.excesses(rest)) or int(rest.sum()) < least
        return np.zeros_like(available) if bad else kept
    return _trim(cells, kept)


def _solve(
    cells: JointCounts,
    available: Counts,
    left_out: Counts | None,
    least: int,
    rng: np.random.Generator | None,
) -> Counts:
    """Solve the integer program in floating point; the answer is rounded and not checked.

    The variables are the rows to keep of each cell, then the values that each attribute keeps. Weights that
    ``rng`` draws decide between answers of as many rows: together they are worth less than a row.
    """
    from scipy.optimize import Bounds, LinearConstraint, milp

    count, width = cells.groups.shape
    over, sums = _rules(cells)
    rules = [LinearConstraint(over, -np.inf, 0), LinearConstraint(sums, 0, 0)]
    of_cell = np.append(np.ones(count), np.zeros(width))
    if left_out is not None:
        whole = available + left_out
        totals = [int(whole[column >= 0].sum()) for column in cells.groups.T]
        rules.append(LinearConstraint(over, over @ np.append(whole, totals), np.inf))
        rules.append(LinearConstraint(of_cell[None], 0, int(whole.sum()) - least))
    most = np.append(available, np.full(width, int(available.sum())))
    worth = of_cell.copy()
    if rng is not None:
        worth[:count] += rng.random(count) / (2 * max(1, int(available.sum())))
    solution = milp(
        -worth, integrality=of_cell, bounds=Bounds(0, most), constraints=rules, options={"node_limit": NODES}
    )
    if solution.x is None:
        return np.zeros(count, np.int64) if left_out is not None else available
    answer: Counts = np.rint(solution.x[:count]).astype(np.int64)
    return answer


def _rules(cells: JointCounts) -> tuple[Any, Any]:
    """Return the matrices of "a group minus its share of all is at most 0" and "the values are the total"."""
    from scipy import sparse

    count, width = cells.groups.shape
    blocks, totals = [], []
    for number, coordinate in enumerate(cells.coordinates):
        shares = np.array([-float(share) for share in coordinate.share])
        there = np.flatnonzero(cells.groups[:, number] >= 0)
        ones = np.ones(len(there))
        held = sparse.csr_matrix((ones, (cells.groups[there, number], there)), shape=(len(shares), count))
        places = np.arange(len(shares)), np.full(len(shares), number)
        blocks.append(sparse.hstack([held, sparse.csr_matrix((shares, places), shape=(len(shares), width))]))
        totals.append(sparse.csr_matrix((ones, (np.zeros(len(there)), there)), shape=(1, count)))
    return sparse.vstack(blocks).tocsr(), sparse.hstack([sparse.vstack(totals), -sparse.eye(width)]).tocsr()


NODES = 2_000
"""Steps of the branching search; the first nearly always ends it. No time, so that answers are the same."""


def _trim(cells: JointCounts, kept: Counts) -> Counts:
    """Take rows away, one by one, until no group has more than its share: what rounding may have missed."""
    kept = kept.copy()
    while (excess := next(cells.excesses(kept), None)) is not None:
        coordinate, group = excess
        inside = np.flatnonzero((cells.groups[:, coordinate] == group) & (kept > 0))
        kept[inside[np.argmax(kept[inside])]] -= 1
    return kept


def draw_rows(
    cells: JointCounts, kept: Counts, rows: NDArray[np.bool_], rng: np.random.Generator
) -> NDArray[np.bool_]:
    """Draw which of the ``rows`` of each cell are kept."""
    mixed = rng.permutation(np.flatnonzero(rows))
    mixed = mixed[np.argsort(cells.of_row[mixed], kind="stable")]
    sizes = cells.count(rows)
    ranks = np.arange(len(mixed)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    chosen = np.zeros(len(rows), np.bool_)
    chosen[mixed[ranks < kept[cells.of_row[mixed]]]] = True
    return chosen


def explain_shortage(cells: JointCounts, rows: int, least: int) -> str:
    """Say why fewer than ``least`` rows can be published, and the largest possible k and l; "" if not so.

    The same exact count as that of ``keep_most``.
    """
    if rows < least:
        return f"a class needs {least} rows and there are {rows}: k and l can be at most {rows}"
    available = cells.count()
    most = int(keep_most(cells, available).sum())
    if most >= max(least, 1):
        return ""
    paths = ", ".join(dict.fromkeys(coordinate.path for coordinate in cells.coordinates))
    reason = (
        f"at most {most} of {rows} rows can be chosen so that no value or group of values at {paths} has "
        f"more than its share of them, and a class needs {least}"
    )
    possible = [f"k can be at most {most} with this l"] if most else []
    if all(len(set(coordinate.share)) == 1 for coordinate in cells.coordinates):
        possible.append(_largest_l(cells, available, least))
    return f"{reason}: {'; '.join(possible)}" if possible else reason


def _largest_l(cells: JointCounts, available: Counts, least: int) -> str:
    """Say which whole l is the largest with which ``least`` rows can be published."""
    too_large = ceil(max(1 / coordinate.share[0] for coordinate in cells.coordinates))
    possible, rows = 1, 0
    while too_large - possible > 1:
        l = (possible + too_large) // 2  # noqa: E741  (the letter of the model)
        most = int(keep_most(cells.with_shares(Fraction(1, l)), available).sum())
        possible, too_large, rows = (l, too_large, most) if most >= max(least, 1) else (possible, l, rows)
    if possible == 1:
        return "no l above 1 is possible with this k"
    return f"l can be at most {possible}, and k then at most {rows}"


def explain_left_out(cells: JointCounts, kept: int, rows: int) -> str:
    """Say why only ``kept`` of the rows are published, and with which l all would be; "" if for no share."""
    counts = cells.count()
    over = dict.fromkeys(cells.coordinates[number].path for number, _ in cells.excesses(counts))
    if not over:
        return ""
    text = (
        f"{kept} of {rows} rows are the most that can be published while no value or group of values at "
        f"{', '.join(over)} has more than its share of them"
    )
    sizes = [coordinate.sizes for coordinate in cells.coordinates]
    sparing = min((int(held.sum()) // int(held.max()) for held in sizes if held.any()), default=0)
    return f"{text}; with l of at most {sparing} none would be left out" if sparing > 1 else text

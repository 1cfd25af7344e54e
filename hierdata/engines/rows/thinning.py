"""Remove rows from a table until it can keep frequency caps as a whole."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from hierdata.engines.rows.caps import RowCaps


def thin_rows(
    rows: NDArray[np.int64], bound: Iterable[RowCaps], rng: np.random.Generator
) -> NDArray[np.int64]:
    """Return the rows without those that exceed the share of their group, chosen at random in the group.

    For one cap the fewest possible rows are removed: N rows can keep it if and only if each group has at most
    share * N of them. Several caps are applied in turn until none removes any more rows. Caps with a bound
    that does not grow with the class, or with groups that count together, do not limit the whole table and
    are ignored.
    """
    plain = [own for own in bound if own.caps.most is None and own.caps.reach is None]
    before = -1
    while len(rows) != before:
        before = len(rows)
        for own in plain:
            rows = _thin_own_rows(rows, own, rng)
    return rows


def _thin_own_rows(rows: NDArray[np.int64], own: RowCaps, rng: np.random.Generator) -> NDArray[np.int64]:
    groups = own.groups[rows]
    shares = own.caps.share
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
    left: NDArray[np.int64] = np.delete(rows, gone)
    return left

"""What must be left out of a table before it can keep share caps as a whole."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from hierdata.engines.rows.caps import RowCaps


def thinned(rows: NDArray[np.int64], bound: Iterable[RowCaps], rng: np.random.Generator) -> NDArray[np.int64]:
    """The rows, without those by which a group has more than its share; a random choice among its rows.

    Of one cap as few are taken as possible: N rows can keep it if and only if the groups have N rows with at
    most share * N of each. Several caps are kept in turns until none takes any more. Caps with a bound that
    does not grow with the class, or whose groups count together, say nothing of the whole and are left.
    """
    plain = [own for own in bound if own.caps.most is None and own.caps.reach is None]
    before = -1
    while len(rows) != before:
        before = len(rows)
        for own in plain:
            rows = _thinned(rows, own, rng)
    return rows


def _thinned(rows: NDArray[np.int64], own: RowCaps, rng: np.random.Generator) -> NDArray[np.int64]:
    groups = own.groups[rows]
    shares = own.caps.share
    counts = np.bincount(groups[groups >= 0], minlength=len(shares)).tolist()
    # What fits in falls with every round, at last to what keeps the cap.
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

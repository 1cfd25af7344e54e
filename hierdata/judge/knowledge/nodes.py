"""Whether published labels stand for disjoint sets of values."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import pairwise

from hierdata.documents.document import Scalar
from hierdata.domains.base import Labels, Uncovered


def overlap(labels: Iterable[Scalar], domain: Labels) -> bool:
    """Return whether two of these different labels may stand for the same value.

    >>> from pathlib import Path
    >>> from hierdata.domains.interval import Interval
    >>> ages = Interval(steps=[1, 5, 10]).labels(Path())
    >>> overlap(["[0, 4]", "[5, 9]", 12], ages), overlap(["[0, 9]", 7], ages)
    (False, True)
    """
    extents = []
    unknown = 0
    for label in labels:
        try:
            extents.append(domain.extent(label))
        except Uncovered:
            unknown += 1
    if unknown:
        return unknown + len(extents) > 1
    extents.sort()
    # In this order two overlap if two neighbours do: the one before may only end later.
    return any(following[0] <= before[1] for before, following in pairwise(extents))

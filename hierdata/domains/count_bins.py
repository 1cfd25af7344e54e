"""Bins of counts: how a number of vertices is published where only its bin is known."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence


def label_count(count: int, edges: Sequence[int]) -> str:
    """Return the label of the bin that a count is in; ``edges`` are where bins begin, ascending.

    >>> [label_count(count, (1, 2, 5)) for count in (0, 1, 3, 7)]
    ['0', '1', '[2, 4]', '5 or more']
    """
    at = bisect_right(edges, count)
    if at == len(edges):
        return f"{edges[-1]} or more"
    low, high = (edges[at - 1] if at else 0), edges[at] - 1
    return str(low) if low == high else f"[{low}, {high}]"

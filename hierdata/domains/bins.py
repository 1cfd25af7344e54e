"""Bins: hierarchies over points on a line, and bins of counts."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from typing import Any

from hierdata.documents.document import Scalar
from hierdata.domains.base import ROOT_LABEL, Axis, Bin, Hierarchy, Key, finder


def line_up(
    points: Mapping[Key, int],
    key_of: Callable[[Scalar], Key],
    finest: Sequence[Bin],
    wider: Sequence[Callable[[int], Bin]],
    *,
    span: int,
    closed: bool,
    codebook: dict[str, Any],
) -> Hierarchy:
    """Build the hierarchy over the ``finest`` bins (ascending, disjoint) and ``wider`` steps, widest first.

    Its nodes are the root, bins from the widest step down to the finest, the finest bins, and missing.
    ``points`` has the point of each observed value by its key, ``key_of`` gives the key of a value.

    LM' of a bin is (hi - lo) / ``span``, where ``span`` is max - min of the domain; a bin that extends beyond
    the domain costs no more than the root, 1. The last point of a ``closed`` bin is its end ([1985, 1989]),
    so that a single point has LM' 0; another bin ends before the first point beyond ([0.5, 1.0)). Only bins
    that hold a finest bin become nodes; a finest bin that extends over the edge of a wider one (a week over
    that of a month) has no node at that depth.
    """
    bins, columns = _bins(finest, wider)
    first = 1 + len(bins)
    missing = first + len(finest)
    depth = len(wider) + 1
    holders = zip(*columns, strict=True) if columns else [()] * len(finest)
    none, whole = Fraction(0), Fraction(1 if span else 0)
    every = [*bins, *finest]
    widths = [bin.high - bin.low - closed for bin in every]
    loss = {width: min(Fraction(width, span), whole) if span else none for width in set(widths)}
    axis = Axis(first, tuple(finest), span, closed)
    nodes = dict(zip(points, axis.holders(points.values()), strict=True))
    return Hierarchy(
        labels=(ROOT_LABEL, *[bin.label for bin in every], None),
        ancestors=(
            (0, *[-1] * depth),
            *_rows_of_bins(bins, columns, depth),
            *[(0, *above, node) for node, above in enumerate(holders, first)],
            (0, missing, *[-1] * (depth - 1)),
        ),
        lm=(whole, *[loss[width] for width in widths], none),
        node_of=finder(nodes, key_of, missing),
        codebook=codebook,
        axis=axis,
    )


def nest_bins(
    periods: Sequence[tuple[int, int]],
    period_of: Callable[[Scalar], tuple[int, int]],
    steps: Sequence[Callable[[int], Bin]],
    *,
    span: int,
    codebook: dict[str, Any],
) -> Hierarchy:
    """Build the hierarchy over periods, each from its first to its last point, by ``steps``, widest first.

    The node of a period is the bin of the finest step that holds all of it, the root if there is none. Nodes
    are as in ``line_up``, but no step is the finest for all values, so there is no axis.
    """
    bins: dict[tuple[int, int], Bin] = {}
    node_keys: dict[tuple[int, int], tuple[int, int] | None] = {}
    for low, high in periods:
        holders = [(depth, step(low)) for depth, step in enumerate(steps, 1)]
        finest = next((holder for holder in reversed(holders) if high < holder[1].high), None)
        node_keys[low, high] = None if finest is None else (finest[0], finest[1].low)
        if finest is None:
            continue
        for depth, bin in holders[: finest[0]]:
            if bin.low <= finest[1].low and finest[1].high <= bin.high:
                bins[depth, bin.low] = bin
    numbers = {key: number for number, key in enumerate(sorted(bins), 1)}
    rows = [(0, *[-1] * len(steps))]
    for key in sorted(bins):
        depth, bin = key[0], bins[key]
        wider = [(above, step(bin.low)) for above, step in enumerate(steps[: depth - 1], 1)]
        row = [
            numbers.get((above, holder.low), -1) if bin.high <= holder.high else -1 for above, holder in wider
        ]
        rows.append((0, *row, numbers[key], *[-1] * (len(steps) - depth)))
    missing, whole = len(rows), Fraction(1 if span else 0)
    widths = [bins[key].high - bins[key].low - 1 for key in sorted(bins)]
    losses = [min(Fraction(width, span), whole) if span else whole for width in widths]
    nodes = {period: 0 if key is None else numbers[key] for period, key in node_keys.items()}
    return Hierarchy(
        labels=(ROOT_LABEL, *[bins[key].label for key in sorted(bins)], None),
        ancestors=(*rows, (0, missing, *[-1] * (len(steps) - 1))),
        lm=(whole, *losses, Fraction(0)),
        node_of=finder(nodes, period_of, missing),
        codebook=codebook,
    )


def bins_around(points: Sequence[int], step: Callable[[int], Bin]) -> list[Bin]:
    """Return the bins of one step that hold any of the ascending points, ascending."""
    bins: list[Bin] = []
    for point in points:
        if not bins or point >= bins[-1].high:
            bins.append(step(point))
    return bins


def _bins(finest: Sequence[Bin], wider: Sequence[Callable[[int], Bin]]) -> tuple[list[Bin], list[list[int]]]:
    """Return the bins that hold a finest bin, and for each step the node around every finest bin, or -1."""
    bins: list[Bin] = []
    columns: list[list[int]] = []
    for step in wider:
        column: list[int] = []
        last: Bin | None = None
        for bin in finest:
            if last is None or bin.low >= last.high:
                holder = step(bin.low)
                if bin.high > holder.high:
                    column.append(-1)
                    continue
                last = holder
                bins.append(last)
            # The root is node 0, so the n-th bin is node n.
            column.append(len(bins) if bin.high <= last.high else -1)
        columns.append(column)
    return bins, columns


def _rows_of_bins(bins: Sequence[Bin], columns: Sequence[Sequence[int]], depth: int) -> list[tuple[int, ...]]:
    """Return the ancestors of each bin: the bins of wider steps that contain it, -1 where none does."""
    rows: list[tuple[int, ...]] = []
    for step, column in enumerate(columns):
        last = 0
        for position, node in enumerate(column):
            if node in (last, -1):
                continue
            last = node
            this = bins[node - 1]
            row = [0]
            for wider in columns[:step]:
                above = wider[position]
                contains = above > 0 and bins[above - 1].low <= this.low and this.high <= bins[above - 1].high
                row.append(above if contains else -1)
            rows.append((*row, node, *[-1] * (depth - step - 1)))
    return rows


def label_count(count: int, edges: Sequence[int]) -> str:
    """Return the label of the bin that a count is in; ``edges`` are where bins begin, ascending.

    >>> [label_count(count, (1, 2, 5)) for count in (0, 1, 3, 7)]
    ['0', '1', '[2, 4]', '5 or more']
    """
    position = bisect_right(edges, count)
    if position == len(edges):
        return f"{edges[-1]} or more"
    low, high = (edges[position - 1] if position else 0), edges[position] - 1
    return str(low) if low == high else f"[{low}, {high}]"

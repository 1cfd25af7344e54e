"""Hierarchies over points on a line: the values, the bins of each step around them, and the root."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction

from hierdata.documents.document import Scalar
from hierdata.domains.base import ROOT_LABEL, Axis


@dataclass(frozen=True)
class Bin:
    """The points ``low`` <= point < ``high``, published as ``label``."""

    low: int
    high: int
    label: str


@dataclass(frozen=True)
class BinLine:
    """The nodes: the root, bins from the widest step down, the points of ``axis``, last the missing value."""

    labels: tuple[Scalar, ...]
    ancestors: tuple[tuple[int, ...], ...]
    lm: tuple[Fraction, ...]
    axis: Axis
    missing: int


def line(
    points: Sequence[tuple[int, Scalar]],
    steps: Sequence[Callable[[int], Bin]],
    span: int,
    closed: bool,
) -> BinLine:
    """Build the nodes for ``points`` (ascending, each with its label) and ``steps`` (widest first).

    LM' of a bin is (hi - lo) / ``span``, where ``span`` is max - min of the domain; a bin that extends beyond
    the domain costs no more than the root, 1. The label of a ``closed`` bin ends with its last point ([1985,
    1989]), that of another bin with the first point beyond ([0.5, 1.0)). Only bins that hold a point become
    nodes.
    """
    bins, columns = _bins(points, steps)
    first_point = 1 + len(bins)
    missing = first_point + len(points)
    depth = len(steps) + 1
    holders = zip(*columns, strict=True) if columns else [()] * len(points)
    none, whole = Fraction(0), Fraction(1 if span else 0)
    widths = [bin.high - bin.low - closed for bin in bins]
    loss = {width: min(Fraction(width, span), whole) if span else none for width in set(widths)}
    return BinLine(
        labels=(ROOT_LABEL, *[bin.label for bin in bins], *[label for _, label in points], None),
        ancestors=(
            (0, *[-1] * depth),
            *_rows_of_bins(bins, columns, depth),
            *[(0, *above, node) for node, above in enumerate(holders, first_point)],
            (0, missing, *[-1] * (depth - 1)),
        ),
        lm=(whole, *[loss[width] for width in widths], *[none] * len(points), none),
        axis=Axis(first_point, tuple(point for point, _ in points), span),
        missing=missing,
    )


def _bins(
    points: Sequence[tuple[int, Scalar]], steps: Sequence[Callable[[int], Bin]]
) -> tuple[list[Bin], list[list[int]]]:
    """Return the bins that hold a point, and for each step the node of every point's bin."""
    bins: list[Bin] = []
    columns: list[list[int]] = []
    for step in steps:
        column: list[int] = []
        for point, _ in points:
            if not column or point >= bins[-1].high:
                bins.append(step(point))
            column.append(len(bins))  # the root is node 0, so the n-th bin is node n
        columns.append(column)
    return bins, columns


def _rows_of_bins(bins: Sequence[Bin], columns: Sequence[Sequence[int]], depth: int) -> list[tuple[int, ...]]:
    """Return the ancestors of each bin: the bins of wider steps that contain it, -1 where none does."""
    rows: list[tuple[int, ...]] = []
    for own, column in enumerate(columns):
        last = 0
        for position, node in enumerate(column):
            if node == last:
                continue
            last = node
            this = bins[node - 1]
            row = [0]
            for wider in columns[:own]:
                holder = bins[wider[position] - 1]
                row.append(wider[position] if holder.low <= this.low and this.high <= holder.high else -1)
            rows.append((*row, node, *[-1] * (depth - own - 1)))
    return rows

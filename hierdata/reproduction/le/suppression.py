"""What algorithm 1 of LE suppresses: MBF against the most that any method can publish (LE-3)."""

from __future__ import annotations

from collections.abc import Sequence

from hierdata.policy.load import from_data
from hierdata.reproduction.encoded import encode_records
from hierdata.reproduction.exhibit import Cell, Exhibit, Grid
from hierdata.reproduction.le.experiment import search_classes

CASES: tuple[tuple[tuple[int, ...], int], ...] = (
    ((3, 3, 3), 3),
    ((2, 2, 1), 2),
    ((4, 1, 1), 2),
    ((5, 2, 2, 1), 3),
    ((9, 3, 3, 3), 3),
    ((5, 5, 1), 4),
)
"""Sizes of the buckets, and l; the first is the worked example."""


def most_publishable(sizes: Sequence[int], l: int) -> int:  # noqa: E741  (the paper's letter)
    """Return the most rows in classes of l rows or more with at most one row of each bucket (LE-3).

    g classes hold at most g rows of a bucket, and need l g rows.

    >>> most_publishable((9, 3, 3, 3), 3)
    13
    """
    held = [sum(min(size, g) for size in sizes) for g in range(sum(sizes) + 1)]
    return max(rows for g, rows in enumerate(held) if rows >= l * g)


def publish_buckets(sizes: Sequence[int], l: int) -> int:  # noqa: E741
    """Return how many rows MBF publishes of a table with buckets of these sizes."""
    tree = {f"bucket {at}": [f"value {at}"] for at in range(len(sizes))}
    rows = [{"row": 0, "value": f"value {at}"} for at, size in enumerate(sizes) for _ in range(size)]
    policy = from_data(
        {
            "version": 1,
            "fields": {
                "$.row": {"role": "quasi", "flat": True},
                "$.value": {"role": "sensitive", "taxonomy": {"tree": {"*": tree}}},
            },
            "models": [{"kind": "l-e-diversity", "l": l, "e": 1}],
            "engine": {"preset": "MBF"},
        }
    )
    return int((search_classes(encode_records(rows, policy), 1).equivalence_class >= 0).sum())


def show_suppression() -> Exhibit:
    """Return what is published of small tables, by the sizes of their buckets."""
    columns = ("sizes of buckets, l", "rows", "published", "suppressed")
    derived, ours = (
        Grid(columns, tuple(_row(sizes, l, of(sizes, l)) for sizes, l in CASES))  # noqa: E741
        for of in (most_publishable, publish_buckets)
    )
    return Exhibit(
        "Section III",
        "What algorithm 1 suppresses",
        "Rows that no class can take are suppressed; the paper does not say how many. The first grid is "
        "the most that any method can publish, from the sizes alone.",
        derived=derived,
        ours=ours,
        differs=describe_gap(derived, ours),
        errata=("LE-3", "LE-4"),
    )


def describe_gap(most: Grid, ours: Grid) -> str:
    """Return a sentence on tables of which MBF publishes less than is possible, empty if there is none."""
    less = [str(own[0]) for own, best in zip(ours.rows, most.rows, strict=True) if own != best]
    return f"MBF does not publish what is possible for {'; '.join(less)}." if less else ""


def _row(sizes: Sequence[int], l: int, published: int) -> tuple[Cell, ...]:  # noqa: E741
    return (f"{', '.join(map(str, sizes))}; l = {l}", sum(sizes), published, sum(sizes) - published)

"""The slow, obvious twin of msb: groups of tuples from multi-dimensional buckets, from the definition.

Ties that msb breaks at random go to the bucket whose vector comes first; of a bucket the last row goes first.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal

Vector = tuple[int, ...]
Order = Literal["bucket", "single", "multi"]
Buckets = dict[Vector, list[int]]
Room = Mapping[tuple[int, int], int]
"""How many tuples of a group may have a value: by dimension and value; one where nothing is said."""


def buckets_of(vectors: Sequence[Vector | None]) -> Buckets:
    """The rows of each vector of sensitive values; None has no bucket."""
    found: Buckets = {}
    for row, vector in enumerate(vectors):
        if vector is not None:
            found.setdefault(vector, []).append(row)
    return found


def capacity(buckets: Buckets, dimension: int, value: int) -> int:
    """The tuples that are left with a value."""
    return sum(len(rows) for vector, rows in buckets.items() if vector[dimension] == value)


def selectivity(buckets: Buckets, vector: Vector, order: Order) -> int:
    """What the greatest bucket is the greatest of."""
    capacities = [capacity(buckets, at, value) for at, value in enumerate(vector)]
    if order == "bucket":
        return len(buckets[vector])
    return max(capacities, default=0) if order == "single" else sum(capacities)


def group(
    buckets: Buckets, least: int, order: Order, out: set[Vector], room: Room, records: Sequence[int] | None
) -> tuple[list[int], list[Vector]]:
    """Tuples drawn one after the other until there are ``least``, or no bucket may be drawn from."""
    rows: list[int] = []
    drawn: list[Vector] = []
    passed: set[Vector] = set()
    while len(rows) < least:
        open_ = [
            vector
            for vector, own in buckets.items()
            if own
            and vector not in out | passed
            and all(
                sum(other[at] == value for other in drawn) < room.get((at, value), 1)
                for at, value in enumerate(vector)
            )
        ]
        if not open_:
            break
        best = min(open_, key=lambda v: (-selectivity(buckets, v, order), -len(buckets[v]), v))
        met = set() if records is None else {records[row] for row in rows}
        free = [row for row in buckets[best] if records is None or records[row] not in met]
        if not free:
            passed.add(best)
            continue
        buckets[best].remove(free[-1])
        rows.append(free[-1])
        drawn.append(best)
    return rows, drawn


def draw(
    vectors: Sequence[Vector | None],
    least: int,
    order: Order,
    room: Room | None = None,
    records: Sequence[int] | None = None,
) -> list[list[int]]:
    """The groups. Where one cannot be filled its tuples go back, and its first bucket begins no other."""
    buckets = buckets_of(vectors)
    out: set[Vector] = set()
    groups: list[list[int]] = []
    while True:
        rows, drawn = group(buckets, least, order, out, room or {}, records)
        if not rows:
            return groups
        if len(rows) == least:
            groups.append(rows)
            continue
        for row, vector in zip(rows, drawn, strict=True):
            buckets[vector].append(row)
        out.add(drawn[0])

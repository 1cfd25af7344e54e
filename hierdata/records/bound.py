"""Bound records by column: what is done with values of one attribute is done with all of a batch at once."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, islice, repeat

from hierdata.documents.document import Scalar
from hierdata.records.record import Vertex
from hierdata.records.schema import Schema

_BATCH = 4096
"""About so many vertices go together."""


@dataclass(frozen=True, slots=True)
class Rows:
    """The vertices of one type in a batch, those of one parent together and in the parents' order.

    ``counts`` is how many each vertex of the parent's type has (each record one root); ``values`` are the
    columns by role and attribute, with an entry a vertex; None is missing. ``size`` is their number.
    """

    size: int
    counts: Sequence[int]
    values: Sequence[Sequence[Sequence[Scalar]]]


@dataclass(frozen=True, slots=True)
class Bound:
    """Some records, one after the other: the rows of each vertex type, None where it has no vertex."""

    rows: Sequence[Rows | None]

    @property
    def size(self) -> int:
        """Number of records."""
        root = self.rows[0]
        return 0 if root is None else root.size


def vertices(bound: Bound, schema: Schema) -> list[Vertex]:
    """The same records as trees."""
    made: list[list[Vertex]] = [[] for _ in schema.types]
    for kind in reversed(schema.types):  # children stand after their parents
        rows = bound.rows[kind.index]
        if rows is None:
            continue
        groups = [
            _apart(below, made[child]) for child in kind.children if (below := bound.rows[child]) is not None
        ]
        children = (tuple(chain.from_iterable(own)) for own in zip(*groups, strict=True))
        own = [zip(*columns, strict=True) if columns else repeat((), rows.size) for columns in rows.values]
        made[kind.index] = list(
            map(Vertex, repeat(kind.index), *own, children if groups else repeat((), rows.size))
        )
    return made[0]


def _apart(rows: Rows, made: Iterable[Vertex]) -> Iterator[Sequence[Vertex]]:
    """The vertices of each parent."""
    stream = iter(made)
    return (tuple(islice(stream, count)) for count in rows.counts)


def by_column(records: Iterable[Vertex], schema: Schema) -> Iterator[Bound]:
    """Trees by column, in batches of about so many vertices."""
    batch: list[Vertex] = []
    waiting = 0
    for record in records:
        batch.append(record)
        waiting += _count(record)
        if waiting >= _BATCH:
            yield together(batch, schema)
            batch, waiting = [], 0
    if batch:
        yield together(batch, schema)


def _count(record: Vertex) -> int:
    own = [record]
    for vertex in own:
        own += vertex.children
    return len(own)


def together(records: list[Vertex], schema: Schema) -> Bound:
    """Trees by column, in one batch."""
    found: list[list[Vertex]] = [[] for _ in schema.types]
    counts: list[Sequence[int]] = [[1] * len(records) for _ in schema.types]
    found[0] = records
    for kind in schema.types:
        for child in kind.children:
            own = [
                [below for below in vertex.children if below.type == child] for vertex in found[kind.index]
            ]
            counts[child] = list(map(len, own))
            found[child] = list(chain.from_iterable(own))
    rows = [
        Rows(len(own), count, [_columns(own, role) for role in ("quasi", "sensitive", "carried")])
        for own, count in zip(found, counts, strict=True)
    ]
    return Bound([one if one.size else None for one in rows])


def _columns(own: Sequence[Vertex], role: str) -> Sequence[Sequence[Scalar]]:
    return list(zip(*[getattr(vertex, role) for vertex in own], strict=True))

"""A record: one individual's rooted tree, bound to a schema, and bound records by column.

All values of one attribute in a batch are processed at once.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, islice, repeat

from hierdata.documents.document import Scalar
from hierdata.records.schema import Schema, VertexType

_BATCH = 4096
"""Approximate number of vertices per batch."""


class MisfitError(Exception):
    """A document does not fit what a policy says of the records; the caller knows the record's number."""

    def __init__(self, path: str, message: str) -> None:
        super().__init__(message)
        self.path = path


class Vertex:
    """A vertex of a record, and with its children the record itself.

    ``quasi``, ``sensitive`` and ``carried`` hold the raw values in the order of the vertex type's attributes
    of that role; None is missing. ``children`` are grouped by vertex type in schema order and keep the
    document's order inside a group.
    """

    __slots__ = ("carried", "children", "quasi", "sensitive", "type")

    def __init__(
        self,
        type: int,
        quasi: Sequence[Scalar],
        sensitive: Sequence[Scalar],
        carried: Sequence[Scalar],
        children: Sequence[Vertex],
    ) -> None:
        self.type = type
        self.quasi = quasi
        self.sensitive = sensitive
        self.carried = carried
        self.children = children


@dataclass(frozen=True, slots=True)
class VertexRows:
    """The vertices of one type in a batch, grouped by parent in the parents' order.

    ``size`` is their number. ``counts`` is how many each vertex of the parent's type has (each record has one
    root). ``values`` are the columns by role and attribute, with one entry per vertex; None is missing.
    """

    size: int
    counts: Sequence[int]
    values: Sequence[Sequence[Sequence[Scalar]]]


@dataclass(frozen=True, slots=True)
class BoundRecords:
    """A batch of records: the rows of each vertex type, None if it has no vertex."""

    rows: Sequence[VertexRows | None]

    @property
    def size(self) -> int:
        """Number of records."""
        root = self.rows[0]
        return 0 if root is None else root.size


def vertices(bound: BoundRecords, schema: Schema) -> list[Vertex]:
    """Return the records as trees."""
    of_type: list[list[Vertex]] = [[] for _ in schema.types]
    for kind in reversed(schema.types):  # children come after their parents
        rows = bound.rows[kind.index]
        if rows is None:
            continue
        groups = [
            _split_by_parent(below, of_type[child])
            for child in kind.children
            if (below := bound.rows[child]) is not None
        ]
        children = (tuple(chain.from_iterable(siblings)) for siblings in zip(*groups, strict=True))
        columns_by_role = [
            zip(*columns, strict=True) if columns else repeat((), rows.size) for columns in rows.values
        ]
        of_type[kind.index] = list(
            map(Vertex, repeat(kind.index), *columns_by_role, children if groups else repeat((), rows.size))
        )
    return of_type[0]


def _split_by_parent(rows: VertexRows, vertices: Iterable[Vertex]) -> Iterator[Sequence[Vertex]]:
    """Yield the vertices of each parent."""
    stream = iter(vertices)
    return (tuple(islice(stream, count)) for count in rows.counts)


def bind_by_column(records: Iterable[Vertex], schema: Schema) -> Iterator[BoundRecords]:
    """Convert trees to columns, in batches of about ``_BATCH`` vertices."""
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
    below = [record]
    for vertex in below:
        below += vertex.children
    return len(below)


def together(records: list[Vertex], schema: Schema) -> BoundRecords:
    """Convert trees to columns, in one batch."""
    rows: list[VertexRows | None] = [None for _ in schema.types]
    waiting: list[tuple[VertexType, list[Vertex], list[int]]] = [(schema.root, records, [1] * len(records))]
    for kind, of_kind, counts in waiting:
        values = [_columns(of_kind, role) for role in ("quasi", "sensitive", "carried")]
        rows[kind.index] = VertexRows(len(of_kind), counts, values) if of_kind else None
        for child in kind.children:
            groups = [[below for below in vertex.children if below.type == child] for vertex in of_kind]
            waiting.append((schema.types[child], list(chain.from_iterable(groups)), list(map(len, groups))))
    return BoundRecords(rows)


def _columns(vertices: Sequence[Vertex], role: str) -> Sequence[Sequence[Scalar]]:
    return list(zip(*[getattr(vertex, role) for vertex in vertices], strict=True))

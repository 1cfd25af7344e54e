"""What a recoding is, and the canonical order in which every recoding writes."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from functools import cached_property
from itertools import compress, groupby
from operator import itemgetter
from typing import Any, ClassVar, TypeAlias, TypeVar, cast

import numpy as np
from numpy.typing import NDArray

from hierdata.documents.document import Document, Scalar, Value
from hierdata.forest.forest import Forest
from hierdata.forest.isomorphism import ranks
from hierdata.forest.partition import Partition
from hierdata.forest.publication import Part, Publication, generalized
from hierdata.recodings import RecodingTraits
from hierdata.records.binding import hang, items_of
from hierdata.records.schema import Role, Schema, VertexType

_BLOCK = 1024
"""Records that are made at once."""
RECORDS = "records"
"""The name of the part that holds the records."""


Columns: TypeAlias = "list[list[Scalar]]"
"""The values of one attribute after the other, each with an entry a vertex; None is missing."""
ColumnsOf: TypeAlias = Callable[[VertexType, NDArray[np.int64]], Columns]
"""What vertices of one type have of its attributes of one role."""
Rows: TypeAlias = "list[tuple[Any, ...]]"
"""What each of some vertices has, one value after the other."""
Key: TypeAlias = tuple[Any, ...]
"""By what siblings are put in order."""
Asked = TypeVar("Asked")
Tables: TypeAlias = "int | tuple[tuple[str, ...], ...] | None"
"""Which sensitive attributes share a table: written out by their paths; in at most so many; None: none do."""


class Recoding(ABC):
    """In what form classes are published.

    ``stated``: what the policy says of sensitive tables, for a recoding that has several. ``traits`` are what
    other modules ask for (see hierdata.recodings).
    """

    traits: ClassVar[RecodingTraits]

    def __init__(self, stated: Tables = None) -> None:
        self.stated = stated

    def prepare(self, forest: Forest, partition: Partition) -> tuple[Forest, Partition]:
        """The nodes by which classes of whole records are published, and the forest that has them.

        A recoding may choose other nodes than the search, and bring nodes of its own: then the forest has
        hierarchies with them. What coincides by these nodes is judged together before it is published.
        """
        return forest, partition

    @abstractmethod
    def publish(self, forest: Forest, partitions: Sequence[Partition], order: Sequence[int]) -> Publication:
        """What is published of prepared partitions; ``order`` lists all records as they are published."""


def whole(partitions: Sequence[Partition]) -> Partition:
    """The one partition of whole records that a recoding by generalization publishes."""
    (partition,) = partitions
    assert partition.kind == 0, "the policy has made sure of it"
    return partition


class ByRecord(Recoding):
    """One document a record: the labels of its class, its own sensitive values, suppressed vertices absent.

    Children are written in one order common to the class: by form, and equal forms by what they hold, so
    that no position tells which original vertex is behind it.
    """

    def publish(self, forest: Forest, partitions: Sequence[Partition], order: Sequence[int]) -> Publication:
        """See Recoding.publish."""
        partition = whole(partitions)

        def documents() -> Iterator[Document]:
            published = Published(forest, partition.representative, partition.nodes)
            class_of = partition.class_of.tolist()
            kept = [record for record in order if class_of[record] >= 0]
            return published.documents(kept, forest.schema, published.sensitive, _ByForm(published))

        part = Part(RECORDS, documents, int((partition.class_of >= 0).sum()))
        return generalized(forest, partition, part)


class SiblingOrder(ABC):
    """By what siblings are put in order: nothing of it may follow the input."""

    @abstractmethod
    def own(self, vertices: NDArray[np.int64]) -> list[Key]:
        """What each of some vertices has by itself."""

    @abstractmethod
    def key(self, own: Key, below: list[Key]) -> Key:
        """The key of a vertex: what it has by itself, and the keys of its children, in order."""


class _ByForm(SiblingOrder):
    """By form, and equal forms by what they hold."""

    def __init__(self, published: Published) -> None:
        self._published = published

    def own(self, vertices: NDArray[np.int64]) -> list[Key]:
        """See SiblingOrder.own."""
        published = self._published
        columns = (
            map(published.rank.__getitem__, published.shown[vertices].tolist()),
            published.by_type(vertices, published.texts),
            published.by_type(vertices, published.carried_texts),
        )
        return list(zip(*columns, strict=True))

    def key(self, own: Key, below: list[Key]) -> Key:
        """See SiblingOrder.key."""
        rank, texts, carried = own
        return rank, (*texts, *carried, *(text for _, inner in below for text in inner))


class Published:
    """What the published vertices say: labels, spellings, and the rank of every form.

    ``shown`` and ``nodes`` are those of a partition or publication: v is published as ``shown[v]``.
    Two representative vertices have the same rank iff their subtrees are equal in structure and labels; ranks
    follow the hierarchies' nodes, never the order in the input.

    Records are made column by column, since a call for each value would take most of the time.
    """

    def __init__(self, forest: Forest, shown: NDArray[np.int64], nodes: NDArray[np.int32]) -> None:
        self.shown = shown
        self._forest = forest
        self._nodes = nodes
        self._labels = [[_array(tree.labels) for tree in own] for own in forest.hierarchies]
        self._spellings = _array((*forest.spellings, None))  # -1 is missing

    @cached_property
    def rank(self) -> dict[int, int]:
        """The rank of the form below each representative vertex."""
        return ranks(self._forest, self.shown, self._nodes)

    @cached_property
    def text_rank(self) -> NDArray[np.int64]:
        """The rank of each spelling as they are put in order; the last is that of a missing value."""
        rank: NDArray[np.int64] = np.unique(self._texts, return_inverse=True)[1].reshape(-1)
        return rank

    @cached_property
    def _texts(self) -> NDArray[np.object_]:
        return _array([in_order(value) for value in self._spellings.tolist()])

    def documents(
        self, records: Sequence[int], schema: Schema, sensitive: ColumnsOf, order: SiblingOrder
    ) -> Iterator[Document]:
        """Records as they are published; ``schema`` says where ``sensitive`` answers are put."""

        def items(kind: VertexType, own: NDArray[np.int64]) -> list[Value]:
            values = (self.labels(kind, own), sensitive(kind, own), self._carried(kind, own))
            return items_of(schema.types[kind.index], values, len(own))

        for begin in range(0, len(records), _BLOCK):
            vertices = self.vertices(records[begin : begin + _BLOCK])
            is_root = self._forest.parent[vertices] < 0
            found = self.by_type(vertices, items)
            if not is_root.all():
                self._hang(vertices, found, order)
            yield from compress(cast("list[Document]", found), is_root.tolist())

    def _hang(self, vertices: NDArray[np.int64], items: list[Value], order: SiblingOrder) -> None:
        """Put children below their parents, which stand before them."""
        types, parents = self._forest.schema.types, self._forest.parent[vertices]
        inner = vertices[parents >= 0]
        alone = dict(zip(inner.tolist(), order.own(inner), strict=True))
        kinds = self._forest.type[vertices].tolist()
        below: defaultdict[int, list[tuple[Key, int, Value]]] = defaultdict(list)
        found = list(zip(vertices.tolist(), parents.tolist(), kinds, items, strict=True))
        for vertex, parent, kind, item in reversed(found):
            children = sorted(below.pop(vertex, ()), key=_first)
            for index, group in groupby(children, key=_second):
                hang(item, types[index], [child for _, _, child in group])
            if parent >= 0:
                key = order.key(alone[vertex], [key for key, _, _ in children])
                below[parent].append((key, kind, item))

    def vertices(self, records: Sequence[int]) -> NDArray[np.int64]:
        """The published vertices of some records, one after the other, parents before children."""
        roots, own = self._forest.roots, np.array(records, np.int64)
        counts = roots[own + 1] - roots[own]
        every = np.arange(counts.sum()) + np.repeat(roots[own] - (np.cumsum(counts) - counts), counts)
        kept: NDArray[np.int64] = every[self.shown[every] >= 0]
        return kept

    def by_type(
        self, vertices: NDArray[np.int64], of_type: Callable[[VertexType, NDArray[np.int64]], Sequence[Asked]]
    ) -> list[Asked]:
        """What vertices come to that are asked about type by type."""
        kinds = self._forest.type[vertices]
        found: dict[int, Asked] = {}
        for kind in self._forest.schema.types:
            at = np.flatnonzero(kinds == kind.index)
            if len(at):
                found.update(zip(at.tolist(), of_type(kind, vertices[at]), strict=True))
        return list(map(found.__getitem__, range(len(vertices))))

    def labels(self, kind: VertexType, vertices: NDArray[np.int64]) -> Columns:
        """The published quasi-identifier values of vertices of a type."""
        columns = zip(self._labels[kind.index], self._shown_nodes(kind, vertices), strict=True)
        return [labels[nodes].tolist() for labels, nodes in columns]

    def _shown_nodes(self, kind: VertexType, vertices: NDArray[np.int64]) -> list[NDArray[np.int32]]:
        first = self._forest.first_node[self.shown[vertices]]
        return [self._nodes[first + at] for at, _ in enumerate(self._labels[kind.index])]

    def sensitive(self, kind: VertexType, vertices: NDArray[np.int64]) -> Columns:
        """The sensitive values of original vertices of a type, as the input spells them."""
        return [self._spellings[column].tolist() for column in self.spelling(kind, vertices)]

    def spelling(self, kind: VertexType, vertices: NDArray[np.int64]) -> list[NDArray[np.int32]]:
        """The places of sensitive values among the forest's spellings, -1 where one is missing."""
        first = self._forest.first_sensitive[vertices]
        return [self._forest.spelling[first + at] for at, _ in enumerate(self._forest.domains[kind.index])]

    def _carried(self, kind: VertexType, vertices: NDArray[np.int64]) -> Columns:
        if not kind.of_role(Role.CARRIED):
            return []
        rows = [self._forest.carried[vertex] for vertex in vertices.tolist()]
        return list(map(list, zip(*rows, strict=True)))

    def texts(self, kind: VertexType, vertices: NDArray[np.int64]) -> Rows:
        """The sensitive values of original vertices of a type, as they are put in order."""
        columns = [self._texts[column].tolist() for column in self.spelling(kind, vertices)]
        return _rows(columns, len(vertices))

    def carried_texts(self, kind: VertexType, vertices: NDArray[np.int64]) -> Rows:
        """The carried values of original vertices of a type, as they are put in order."""
        columns = [list(map(in_order, column)) for column in self._carried(kind, vertices)]
        return _rows(columns, len(vertices))

    def nodes(self, kind: VertexType, vertices: NDArray[np.int64]) -> Rows:
        """The published nodes of vertices of a type."""
        return _rows([column.tolist() for column in self._shown_nodes(kind, vertices)], len(vertices))


_first, _second = itemgetter(0), itemgetter(1)


def _rows(columns: Sequence[Sequence[Any]], size: int) -> Rows:
    """So many rows of some columns, maybe none."""
    return list(zip(*columns, strict=True)) if columns else [()] * size


def _array(values: Sequence[Any]) -> NDArray[np.object_]:
    """Values of any type to be taken by their places."""
    array = np.empty(len(values), np.object_)
    array[:] = values
    return array


def in_order(value: Scalar) -> str:
    """The text by which values are put in order: the same only for what is written alike.

    A tie would keep the order of the input: 1 beside "1", 1e2 beside 1E+2.

    >>> sorted(["A+", 1, "A", "1"], key=in_order)
    ['1', 1, 'A', 'A+']
    """
    if type(value) is str:
        return value + "\0"
    return f"{value}\0{type(value).__name__}\0{getattr(value, 'text', '')}"

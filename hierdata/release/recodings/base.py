"""The base of recodings, and the canonical order in which every recoding writes."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import compress, groupby
from operator import itemgetter
from typing import Any, ClassVar, Literal, TypeAlias, TypeVar, cast

import numpy as np
from numpy.typing import NDArray

from hierdata.documents.document import Document, Scalar, Value
from hierdata.forest.forest import Forest
from hierdata.forest.isomorphism import ranks
from hierdata.forest.partition import Partition
from hierdata.forest.publication import Linked, Publication, PublishedPart, publish_generalized
from hierdata.ground.recodings import RecodingTraits
from hierdata.records.binding import hang, items_of
from hierdata.records.identifiers.base import text_of
from hierdata.records.schema import Role, Schema, VertexType

_BLOCK = 1024
"""The number of records that are built at once."""
RECORDS = "records"
"""The name of the part that holds the records."""


Columns: TypeAlias = "list[list[Scalar]]"
"""The values of attributes, column by column, with one entry per vertex; None is missing."""
ColumnsOf: TypeAlias = Callable[[VertexType, NDArray[np.int64]], Columns]
"""Returns the values of vertices of one type at its attributes of one role."""
Rows: TypeAlias = "list[tuple[Any, ...]]"
"""One tuple of values per vertex."""
Key: TypeAlias = tuple[Any, ...]
"""A sort key of siblings."""
Asked = TypeVar("Asked")
Tables: TypeAlias = int | Literal["correlated"] | tuple[tuple[str, ...], ...] | None
"""Which sensitive attributes share a table: lists of paths, a largest number of tables, correlated ones as
their correlation divides them best, or None: none do."""


class Recoding(ABC):
    """The form in which classes are published.

    ``stated`` is the policy's division into sensitive tables, for a recoding that has several. ``traits``
    describe the recoding to other modules (see hierdata.ground.recodings).
    """

    traits: ClassVar[RecodingTraits]

    def __init__(self, stated: Tables = None) -> None:
        self.stated = stated

    def prepare(self, forest: Forest, partition: Partition) -> tuple[Forest, Partition]:
        """Return a partition with the nodes that classes are published by, and the forest that has them.

        A recoding may choose other nodes than the search, and may add nodes of its own to the forest's
        hierarchies. Classes that coincide by these nodes are judged together before they are published.
        """
        return forest, partition

    def divide_attributes(self, forest: Forest, kind: VertexType) -> tuple[tuple[int, ...], ...]:
        """Return the positions of the sensitive attributes of a vertex type that share a table, by table."""
        return (tuple(range(len(kind.sensitive))),)

    @abstractmethod
    def publish(self, forest: Forest, partitions: Sequence[Partition], order: Sequence[int]) -> Publication:
        """Return the publication of prepared partitions; ``order`` has all records in order of output."""


def whole(partitions: Sequence[Partition]) -> Partition:
    """Return the single partition of whole records that a recoding by generalization publishes."""
    (partition,) = partitions
    assert partition.kind == 0, "the policy ensures it"
    return partition


class ByRecord(Recoding):
    """One document per record: the labels of its class and its own sensitive values.

    Suppressed vertices are absent. Children are sorted in one order common to the class, by form, then by
    the values they hold, so that no position tells which original vertex it comes from.
    """

    def publish(self, forest: Forest, partitions: Sequence[Partition], order: Sequence[int]) -> Publication:
        """See Recoding.publish."""
        partition = whole(partitions)

        def records() -> Iterator[Linked]:
            published = Published(forest, partition.representative, partition.nodes)
            class_of = partition.equivalence_class.tolist()
            kept = [record for record in order if class_of[record] >= 0]
            return published.link_documents(kept, forest.schema, published.sensitive, _ByForm(published))

        part = PublishedPart.of_linked(RECORDS, records, int((partition.equivalence_class >= 0).sum()))
        return publish_generalized(forest, partition, part)


class SiblingOrder(ABC):
    """The order of siblings; it must not depend on the order of the input."""

    @abstractmethod
    def vertex_keys(self, vertices: NDArray[np.int64]) -> list[Key]:
        """Return the part of each vertex's key that comes from the vertex itself."""

    @abstractmethod
    def key(self, vertex_key: Key, below: list[Key]) -> Key:
        """Return the key of a vertex from its own part and the keys of its children, in order."""


class _ByForm(SiblingOrder):
    """Order by form, then by the values that are held."""

    def __init__(self, published: Published) -> None:
        self._published = published

    def vertex_keys(self, vertices: NDArray[np.int64]) -> list[Key]:
        """See SiblingOrder.vertex_keys."""
        published = self._published
        columns = (
            published.rank[published.shown[vertices]].tolist(),
            published.group_by_type(vertices, published.texts),
            published.group_by_type(vertices, published.carried_texts),
        )
        return list(zip(*columns, strict=True))

    def key(self, vertex_key: Key, below: list[Key]) -> Key:
        """See SiblingOrder.key."""
        rank, texts, carried = vertex_key
        return rank, (*texts, *carried, *(text for _, inner in below for text in inner))


class Published:
    """The content of published vertices: labels, spellings, and the rank of every form.

    ``shown`` and ``nodes`` are those of a partition or publication: v is published as ``shown[v]``.
    Two representative vertices have the same rank iff their subtrees are equal in structure and labels; ranks
    follow the hierarchies' nodes, never the order in the input.

    Records are built column by column, since a call for each value would take most of the time.
    """

    def __init__(self, forest: Forest, shown: NDArray[np.int64], nodes: NDArray[np.int32]) -> None:
        self.shown = shown
        self._forest = forest
        self._nodes = nodes
        self._labels = [
            [
                _array([label if label is None else text_of(label) for label in tree.labels])
                if (kind, position) in forest.texts
                else _array(tree.labels)
                for position, tree in enumerate(trees)
            ]
            for kind, trees in enumerate(forest.hierarchies)
        ]
        self._spellings = _array((*forest.spellings, None))  # -1 is missing

    @cached_property
    def rank(self) -> NDArray[np.int64]:
        """The rank of the form below each representative vertex."""
        return ranks(self._forest, self.shown, self._nodes)

    @cached_property
    def text_rank(self) -> NDArray[np.int64]:
        """The rank of each spelling by sort key; the last is that of a missing value."""
        rank: NDArray[np.int64] = np.unique(self._texts, return_inverse=True)[1].reshape(-1)
        return rank

    @cached_property
    def _texts(self) -> NDArray[np.object_]:
        return _array([sort_key(value) for value in self._spellings.tolist()])

    def link_documents(
        self, records: Sequence[int], schema: Schema, sensitive: ColumnsOf, order: SiblingOrder
    ) -> Iterator[Linked]:
        """Yield records as they are published, each with its vertices.

        ``schema`` says where the values of ``sensitive`` are put.
        """

        def items(kind: VertexType, alike: NDArray[np.int64]) -> list[Value]:
            values = (self.labels(kind, alike), sensitive(kind, alike), self._carried_columns(kind, alike))
            return items_of(schema.types[kind.index], values, len(alike))

        for begin in range(0, len(records), _BLOCK):
            vertices = self.vertices(records[begin : begin + _BLOCK])
            is_root = self._forest.parent[vertices] < 0
            built = self.group_by_type(vertices, items)
            below = {} if is_root.all() else self._hang(vertices, built, order)
            roots = vertices[is_root].tolist()
            documents = compress(cast("list[Document]", built), is_root.tolist())
            for root, document in zip(roots, documents, strict=True):
                yield document, [breadth_first(root, below)]

    def _hang(
        self, vertices: NDArray[np.int64], items: list[Value], order: SiblingOrder
    ) -> dict[int, list[int]]:
        """Put children below their parents, which precede them; return the children of each, in order."""
        types, parents = self._forest.schema.types, self._forest.parent[vertices]
        inner = vertices[parents >= 0]
        alone = dict(zip(inner.tolist(), order.vertex_keys(inner), strict=True))
        kinds = self._forest.type[vertices].tolist()
        below: defaultdict[int, list[tuple[Key, int, Value, int]]] = defaultdict(list)
        arranged: dict[int, list[int]] = {}
        rows = list(zip(vertices.tolist(), parents.tolist(), kinds, items, strict=True))
        for vertex, parent, kind, item in reversed(rows):
            children = sorted(below.pop(vertex, ()), key=_first)
            for index, group in groupby(children, key=_second):
                hang(item, types[index], [child for _, _, child, _ in group])
            if children:  # a reader of the document meets them type by type
                arranged[vertex] = [child for *_, child in sorted(children, key=_second)]
            if parent >= 0:
                key = order.key(alone[vertex], [key for key, *_ in children])
                below[parent].append((key, kind, item, vertex))
        return arranged

    def vertices(self, records: Sequence[int]) -> NDArray[np.int64]:
        """Return the published vertices of some records, record by record, parents before children."""
        roots, chosen = self._forest.roots, np.array(records, np.int64)
        counts = roots[chosen + 1] - roots[chosen]
        every = np.arange(counts.sum()) + np.repeat(roots[chosen] - (np.cumsum(counts) - counts), counts)
        kept: NDArray[np.int64] = every[self.shown[every] >= 0]
        return kept

    def group_by_type(
        self, vertices: NDArray[np.int64], of_type: Callable[[VertexType, NDArray[np.int64]], Sequence[Asked]]
    ) -> list[Asked]:
        """Apply ``of_type`` to the vertices of each type; return the results in the order of ``vertices``."""
        kinds = self._forest.type[vertices]
        results: dict[int, Asked] = {}
        for kind in self._forest.schema.types:
            positions = np.flatnonzero(kinds == kind.index)
            if len(positions):
                results.update(zip(positions.tolist(), of_type(kind, vertices[positions]), strict=True))
        return list(map(results.__getitem__, range(len(vertices))))

    def labels(self, kind: VertexType, vertices: NDArray[np.int64]) -> Columns:
        """Return the published quasi-identifier values of vertices of a type."""
        columns = zip(self._labels[kind.index], self._shown_nodes(kind, vertices), strict=True)
        return [labels[nodes].tolist() for labels, nodes in columns]

    def _shown_nodes(self, kind: VertexType, vertices: NDArray[np.int64]) -> list[NDArray[np.int32]]:
        first = self._forest.first_node[self.shown[vertices]]
        return [self._nodes[first + position] for position, _ in enumerate(self._labels[kind.index])]

    def sensitive(self, kind: VertexType, vertices: NDArray[np.int64]) -> Columns:
        """Return the sensitive values of original vertices of a type, as the input spells them."""
        return [self._spellings[column].tolist() for column in self.spelling(kind, vertices)]

    def spelling(self, kind: VertexType, vertices: NDArray[np.int64]) -> list[NDArray[np.int32]]:
        """Return the indices of sensitive values among the forest's spellings, -1 where one is missing."""
        first = self._forest.first_sensitive[vertices]
        return [self._forest.spelling[first + position] for position, _ in enumerate(kind.sensitive)]

    def _carried_columns(self, kind: VertexType, vertices: NDArray[np.int64]) -> Columns:
        if not kind.of_role(Role.CARRIED):
            return []
        rows = [self._forest.carried[vertex] for vertex in vertices.tolist()]
        return list(map(list, zip(*rows, strict=True)))

    def texts(self, kind: VertexType, vertices: NDArray[np.int64]) -> Rows:
        """Return the sort keys of the sensitive values of original vertices of a type."""
        columns = [self._texts[column].tolist() for column in self.spelling(kind, vertices)]
        return _rows(columns, len(vertices))

    def carried_texts(self, kind: VertexType, vertices: NDArray[np.int64]) -> Rows:
        """Return the sort keys of the carried values of original vertices of a type."""
        columns = [list(map(sort_key, column)) for column in self._carried_columns(kind, vertices)]
        return _rows(columns, len(vertices))

    def nodes(self, kind: VertexType, vertices: NDArray[np.int64]) -> Rows:
        """Return the published nodes of vertices of a type."""
        return _rows([column.tolist() for column in self._shown_nodes(kind, vertices)], len(vertices))


_first, _second = itemgetter(0), itemgetter(1)


def breadth_first(root: int, below: Mapping[int, Sequence[int]]) -> list[int]:
    """Return a vertex and all below it, level by level; ``below`` has the children of each, in order."""
    vertices = [root]
    if below:
        for vertex in vertices:
            vertices += below.get(vertex, ())
    return vertices


def _rows(columns: Sequence[Sequence[Any]], size: int) -> Rows:
    """Turn columns into ``size`` rows; there may be no columns."""
    return list(zip(*columns, strict=True)) if columns else [()] * size


def _array(values: Sequence[Any]) -> NDArray[np.object_]:
    """Return values of any type as an array that can be indexed."""
    array = np.empty(len(values), np.object_)
    array[:] = values
    return array


def sort_key(value: Scalar) -> str:
    """Return the text by which values are sorted: equal only for values that are written alike.

    A tie would keep the order of the input, as between 1 and "1", or 1e2 and 1E+2.

    >>> sorted(["A+", 1, "A", "1"], key=sort_key)
    ['1', 1, 'A', 'A+']
    """
    if type(value) is str:
        return value + "\0"
    return f"{value}\0{type(value).__name__}\0{getattr(value, 'text', '')}"

"""What a recoding is, and the canonical order in which every recoding writes."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from functools import cached_property
from operator import itemgetter
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from hierdata.document import Document, Scalar
from hierdata.forest import Forest
from hierdata.forms import ranks
from hierdata.partition import Partition
from hierdata.publication import Part, Publication, generalized
from hierdata.records.binding import unbind
from hierdata.records.record import Vertex

_BLOCK = 1024
"""Records that are looked up at once."""
RECORDS = "records"
"""The name of the part that holds the records."""


Tables: TypeAlias = "int | tuple[tuple[str, ...], ...] | None"
"""Which sensitive attributes share a table: written out by their paths; in at most so many; None: none do."""


class Recoding(ABC):
    """In what form classes are published.

    ``stated``: what the policy says of sensitive tables, for a recoding that has several.
    """

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
            for rows in published.records([record for record in order if class_of[record] >= 0]):
                yield unbind(_record(forest, published, rows), forest.schema)

        part = Part(RECORDS, documents, int((partition.class_of >= 0).sum()))
        return generalized(forest, partition, part)


def _record(forest: Forest, published: Published, rows: list[Row]) -> Vertex:
    below: dict[int, list[tuple[int, tuple[str, ...], Vertex]]] = {}
    for row in reversed(rows):
        children = sorted(below.pop(row.vertex, ()), key=_form_and_content)
        own = forest.carried.get(row.vertex, ())
        vertex = Vertex(row.kind, row.labels, row.sensitive, [*own], [child for _, _, child in children])
        if row.parent < 0:
            return vertex
        content = (
            *map(in_order, row.sensitive),
            *map(in_order, own),
            *(text for key in children for text in key[1]),
        )
        below.setdefault(row.parent, []).append((published.rank[row.representative], content, vertex))
    raise AssertionError("a record that is published has a root")


_form_and_content = itemgetter(0, 1)


class Row(NamedTuple):
    """A published vertex: itself, its type, its parent, whom it stands for, and what is published of it."""

    vertex: int
    kind: int
    parent: int
    representative: int
    labels: list[Scalar]
    sensitive: list[Scalar]


class Published:
    """What the published vertices say: labels, spellings, and the rank of every form.

    ``shown`` and ``nodes`` are those of a partition or publication: v is published as ``shown[v]``.
    Two representative vertices have the same rank iff their subtrees are equal in structure and labels; ranks
    follow the hierarchies' nodes, never the order in the input.
    """

    def __init__(self, forest: Forest, shown: NDArray[np.int64], nodes: NDArray[np.int32]) -> None:
        self._forest = forest
        self._shown = shown
        self._nodes = nodes
        trees = [tree for own in forest.hierarchies for tree in own]
        self._labels = [label for tree in trees for label in tree.labels]
        self._first_label = _starts([len(tree.labels) for tree in trees])
        self._first_attribute = _starts([len(own) for own in forest.hierarchies])
        self._sensitive_count = np.array([len(own) for own in forest.domains], np.int64)
        self._spellings = (*forest.spellings, None)  # -1 is missing

    @cached_property
    def rank(self) -> dict[int, int]:
        """The rank of the form below each representative vertex."""
        return ranks(self._forest, self._shown, self._nodes)

    def records(self, ordinals: Sequence[int]) -> Iterator[list[Row]]:
        """The published vertices of each record, parents before children."""
        forest = self._forest
        for begin in range(0, len(ordinals), _BLOCK):
            block = np.array(ordinals[begin : begin + _BLOCK], np.int64)
            counts = forest.roots[block + 1] - forest.roots[block]
            every, _ = _within(forest.roots[block], counts)
            there = self._shown[every] >= 0
            rows = self._rows(every[there])
            ends = np.append(0, np.cumsum(there))[np.cumsum(counts)].tolist()
            for start, end in zip([0, *ends], ends, strict=False):
                yield rows[start:end]

    def _rows(self, vertices: NDArray[np.int64]) -> list[Row]:
        forest, stands_for = self._forest, self._shown[vertices]
        kinds, parents = forest.type[vertices], forest.parent[vertices]
        return list(
            map(
                Row,
                *(vertices.tolist(), kinds.tolist(), parents.tolist(), stands_for.tolist()),
                *(self.labels(stands_for), self.sensitive(vertices)),
            )
        )

    def labels(self, representatives: NDArray[np.int64]) -> list[list[Scalar]]:
        """The published quasi-identifier values of representative vertices."""
        forest, labels = self._forest, self._labels
        counts = forest.quasi_count[representatives]
        at, place = _within(forest.first_node[representatives], counts)
        attributes = place + np.repeat(self._first_attribute[forest.type[representatives]], counts)
        found = self._first_label[attributes] + self._nodes[at]
        return _cut([labels[label] for label in found.tolist()], counts)

    def sensitive(self, vertices: NDArray[np.int64]) -> list[list[Scalar]]:
        """The sensitive values of original vertices, as the input spells them; None is missing."""
        forest, spellings = self._forest, self._spellings
        counts = self._sensitive_count[forest.type[vertices]]
        at, _ = _within(forest.first_sensitive[vertices], counts)
        return _cut([spellings[spelling] for spelling in forest.spelling[at].tolist()], counts)


def _starts(counts: Sequence[int]) -> NDArray[np.int64]:
    """Where each of some runs of these lengths begins."""
    return np.append(0, np.cumsum(np.array(counts, np.int64)))[:-1]


def _within(
    starts: NDArray[np.int64], counts: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The positions in runs that begin at ``starts``, one after the other; the place of each in its run."""
    place = np.arange(counts.sum()) - np.repeat(np.cumsum(counts) - counts, counts)
    return np.repeat(starts, counts) + place, place


def _cut(values: list[Scalar], counts: NDArray[np.int64]) -> list[list[Scalar]]:
    """Runs of these lengths."""
    ends = np.cumsum(counts).tolist()
    return [values[start:end] for start, end in zip([0, *ends], ends, strict=False)]


def in_order(value: Scalar) -> str:
    """The text by which values are put in order: the same only for what is written alike.

    A tie would keep the order of the input: 1 beside "1", 1e2 beside 1E+2.

    >>> sorted(["A+", 1, "A", "1"], key=in_order)
    ['1', 1, 'A', 'A+']
    """
    if isinstance(value, str):
        return value + "\0"
    return f"{value}\0{type(value).__name__}\0{getattr(value, 'text', '')}"

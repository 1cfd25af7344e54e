"""A publication: the result of a recoding, from partitions."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from hierdata.documents.document import Document
from hierdata.forest.forest import Forest
from hierdata.forest.isomorphism import first_alike, number_keys, places
from hierdata.forest.partition import SUPPRESSED, Partition

Linked: TypeAlias = tuple[Document, Sequence[Sequence[int]]]
"""A published document, and the vertices that it shows of each record that it stands for.

They are in the order in which a reader meets them: the root, then level by level, by type among siblings.
"""


@dataclass(frozen=True)
class PublishedPart:
    """Documents that are written to one file, or one folder of tables, called ``name``.

    ``documents`` starts again at every call; ``count`` is their number, None if unknown. ``element`` is the
    name of a document's element, None to use the input's. ``linked`` are the same documents with their
    vertices, for the steward's witness; None for parts other than the records, and where a recoding does not
    tell.
    """

    name: str
    documents: Callable[[], Iterator[Document]]
    count: int | None
    element: str | None = None
    linked: Callable[[], Iterator[Linked]] | None = None

    @classmethod
    def of_linked(
        cls, name: str, linked: Callable[[], Iterator[Linked]], count: int, element: str | None = None
    ) -> PublishedPart:
        """Return the part of the records, given with their vertices."""
        return cls(name, lambda: (document for document, _ in linked()), count, element, linked)


@dataclass(frozen=True)
class Publication:
    """What is published of a forest; arrays have one entry per vertex, SUPPRESSED if it is not published.

    ``parts`` starts with the records. ``shown[v]`` is the vertex whose ``nodes`` are published as v's quasi-
    identifiers, and ``measured`` those by which losses are measured, if other: a value that the input lacks
    loses nothing, although ``by_root`` it is written like a deleted one. ``equivalence_position[v]`` is the
    same number for all vertices whose sensitive values cannot be told apart, ``equivalence_class[v]`` is
    their class, numbered over all partitions. ``costs`` are the engines', ``reasons`` say by vertex type why
    no more could be published, if an engine knows. If sensitive values are published apart from their
    vertices, ``tables`` lists by part the sensitive attributes whose values are in one row; else all values
    of a vertex are together. ``table_positions`` has, by part, the equivalence positions for its attributes,
    if each table has groups of its own; then ``equivalence_position`` and ``equivalence_class`` are those of
    the quasi-identifiers. ``representative[v]`` is the vertex of the class representative that v is aligned
    with; None if this publication was rebuilt from files, which do not tell apart siblings that look alike.
    ``original`` is the original collection if this publication was rebuilt from files, so that vertices are
    not linked to it; None if the forest is the original collection.
    """

    parts: tuple[PublishedPart, ...]
    shown: NDArray[np.int64]
    nodes: NDArray[np.int32]
    equivalence_position: NDArray[np.int64]
    equivalence_class: NDArray[np.int64]
    costs: Counter[str] = field(default_factory=Counter)
    reasons: Mapping[int, str] = field(default_factory=dict)
    tables: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    table_positions: Mapping[str, NDArray[np.int64]] = field(default_factory=dict)
    representative: NDArray[np.int64] | None = None
    original: Forest | None = None
    measured: NDArray[np.int32] | None = None

    @property
    def measured_nodes(self) -> NDArray[np.int32]:
        """The nodes by which losses are measured, in the layout of ``nodes``."""
        return self.nodes if self.measured is None else self.measured

    @cached_property
    def metric_cache(self) -> dict[Hashable, Any]:
        """Results that metrics share (see metrics.numbering.remember_answer)."""
        return {}

    def positions_of(self, path: str) -> NDArray[np.int64]:
        """Return the equivalence positions for one sensitive attribute."""
        for part, positions in self.table_positions.items():
            if path in self.tables[part]:
                return positions
        return self.equivalence_position

    @property
    def class_count(self) -> int:
        """Number of classes of all partitions."""
        return int(self.equivalence_class.max(initial=SUPPRESSED)) + 1


def publish_generalized(forest: Forest, partition: Partition, part: PublishedPart) -> Publication:
    """Publish one partition of whole records by the nodes of its representatives.

    Records that look alike are one class, and vertices that look alike one position, whatever the search
    found. Where the partition is ``by_root``, a class is the records of one root vector, and a value that the
    input lacks loses nothing.
    """
    shown = partition.representative
    place, classes = group_by_form(forest, shown, partition.nodes)
    measured = None
    if partition.by_root:
        of_record = group_by_root(forest, partition.nodes)
        classes = np.where(shown >= 0, of_record[forest.record_of], SUPPRESSED)
        measured = _keep_missing(forest, partition.nodes)
    return replace(_publish(partition, place, classes), parts=(part,), measured=measured)


def _publish(partition: Partition, place: NDArray[np.int64], classes: NDArray[np.int64]) -> Publication:
    """Publish vertices by the nodes of their representatives, without parts."""
    shown, costs = partition.representative, partition.costs
    reasons = _reasons((partition,))
    return Publication((), shown, partition.nodes, place, classes, costs, reasons, representative=shown)


def _keep_missing(forest: Forest, nodes: NDArray[np.int32]) -> NDArray[np.int32]:
    """Return published nodes, with values that the input lacks as missing."""
    measured = nodes.copy()
    for kind, trees in enumerate(forest.hierarchies):
        vertices = np.flatnonzero(forest.type == kind)
        for position, tree in enumerate(trees):
            if tree.missing >= 0:
                entries = forest.first_node[vertices] + position
                lacking = entries[forest.nodes[entries] == tree.missing]
                measured[lacking] = tree.missing
    return measured


def group_by_root(forest: Forest, nodes: NDArray[np.int32]) -> NDArray[np.int64]:
    """Return for each record the number of its published root vector, by labels."""
    first = forest.first_node[forest.roots[:-1]]
    columns = [
        np.array(first_alike(tree.labels), np.int64)[nodes[first + position]]
        for position, tree in enumerate(forest.root_hierarchies)
    ]
    if not columns:
        return np.zeros(forest.record_count, np.int64)
    _, number = np.unique(np.stack(columns, 1), axis=0, return_inverse=True)
    group: NDArray[np.int64] = number.reshape(-1)
    return group


def group_by_form(
    forest: Forest, shown: NDArray[np.int64], nodes: NDArray[np.int32]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return position and class of each vertex, as determined by the published forms alone."""
    place = places(forest, shown, nodes)
    of_root = place[forest.roots[:-1]][forest.record_of]
    classes = np.full(forest.vertex_count, SUPPRESSED, np.int64)
    classes[shown >= 0] = number_keys(of_root[shown >= 0])[1]
    return place, classes


def publish_sliced(forest: Forest, partition: Partition) -> Publication:
    """Publish one partition of whole records by the nodes of its representatives, without parts.

    Each class and each of its vertices has an id, so vertices that differ only by id stay two positions.
    """
    shown = partition.representative
    classes = np.where(shown >= 0, partition.equivalence_class[forest.record_of], SUPPRESSED)
    return _publish(partition, shown, classes)


def publish_by_table(forest: Forest, partition: Partition, groups: Mapping[str, Partition]) -> Publication:
    """Publish one partition of whole records by the nodes of its representatives, without parts.

    ``groups`` has, by part, the partition into the groups of that table. Records have one vertex each.
    """
    place, classes = group_by_form(forest, partition.representative, partition.nodes)
    positions = {name: of_table.representative for name, of_table in groups.items()}
    return replace(_publish(partition, place, classes), table_positions=positions)


def publish_grouped(
    forest: Forest, partitions: tuple[Partition, ...], parts: tuple[PublishedPart, ...]
) -> Publication:
    """Publish partitions whose classes share sensitive values; vertices keep their quasi-identifiers.

    A vertex that any partition suppresses is left out with all its descendants.
    """
    kept = np.ones(forest.vertex_count, np.bool_)
    for partition in partitions:
        kept &= partition.representative >= 0
    every = np.arange(forest.vertex_count)
    place = every.copy()
    classes = np.full(forest.vertex_count, SUPPRESSED, np.int64)
    first = 0
    costs: Counter[str] = Counter()
    for partition in partitions:
        # A partition of whole records places every vertex, one of a vertex type only its vertices.
        whole = partition.kind == 0
        vertices = every if whole else np.flatnonzero(forest.type == partition.kind)
        class_of = partition.equivalence_class[forest.record_of] if whole else partition.equivalence_class
        place[vertices] = partition.representative[vertices]
        classes[vertices] = np.where(class_of >= 0, class_of + first, SUPPRESSED)
        first += partition.class_count
        costs += partition.costs
    shown = np.where(kept, every, SUPPRESSED)
    place[~kept] = classes[~kept] = SUPPRESSED
    return Publication(
        parts, shown, forest.nodes, place, classes, costs, _reasons(partitions), representative=place
    )


def _reasons(partitions: tuple[Partition, ...]) -> dict[int, str]:
    return {partition.kind: partition.reason for partition in partitions if partition.reason}

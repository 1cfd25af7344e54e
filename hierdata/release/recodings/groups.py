"""Sensitive values apart from their records, joined by group: anatomy and both kinds of slicing."""

from __future__ import annotations

import hashlib
from abc import abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from hierdata.documents.document import COUNT, GROUP, LIST_IN_ITEM, Document, group_key, sensitive_part
from hierdata.forest.forest import Forest
from hierdata.forest.partition import Partition
from hierdata.forest.publication import (
    Linked,
    Publication,
    PublishedPart,
    publish_by_table,
    publish_grouped,
    publish_sliced,
)
from hierdata.ground.recodings import TRAITS, RecodingTraits
from hierdata.records.binding import objects
from hierdata.records.schema import Attribute, Role, Schema, VertexType
from hierdata.release.recodings.base import RECORDS, Columns, Key, Published, Recoding, SiblingOrder, whole
from hierdata.release.recodings.correlation import correlated_tables, tables

_BLOCK = 1024
"""The number of rows of a table that are built at once."""


class ByGroup(Recoding):
    """Publish records with group numbers, and tables with the sensitive values of each group.

    In the part ``records`` a vertex of a type with sensitive attributes holds ``group``, a whole number from
    1, in their place; or one for each table (``group_1``, ``group_2``) if tables have groups of their own.
    Each table is a part that lists the values of some of them: one document for each combination of these in
    each group, with ``count``. A missing value is absent, and counts. Groups are the equivalence positions of
    the publication, or of the table. A type without published vertices has no part.

    Groups are numbered by their first member in the order of publication, siblings are sorted by what is
    published of them, and values by their sort keys: nothing depends on the order of the input.
    """

    @abstractmethod
    def arrange_publication(self, forest: Forest, partitions: Sequence[Partition]) -> Publication:
        """Return what is shown of each vertex and its equivalence position, its group; without parts."""

    @abstractmethod
    def tables(self, forest: Forest, kind: VertexType) -> Iterator[tuple[str, tuple[int, ...]]]:
        """Yield the tables of a vertex type: name, and positions of its sensitive attributes."""

    def publish(self, forest: Forest, partitions: Sequence[Partition], order: Sequence[int]) -> Publication:
        """See Recoding.publish."""
        publication = self.arrange_publication(forest, partitions)
        published = Published(forest, publication.shown, publication.nodes)
        groups = _number_all(forest, publication, order)
        schema = _with_groups(forest.schema, [*groups])
        there = publication.shown[forest.roots[:-1]] >= 0

        def ids(kind: VertexType, vertices: NDArray[np.int64]) -> Columns:
            return [group[vertices].tolist() for group in groups.values()] if kind.sensitive else []

        def records() -> Iterator[Linked]:
            kept = [record for record in order if there[record]]
            siblings = _ByGroup(forest, published, [*groups.values()])
            return published.link_documents(kept, schema, ids, siblings)

        parts = [PublishedPart.of_linked(RECORDS, records, int(there.sum()))]
        together: dict[str, tuple[str, ...]] = {}
        for kind in forest.schema.types:
            sensitive = kind.sensitive
            for number, (name, positions) in enumerate(self.tables(forest, kind) if sensitive else (), 1):
                group = groups.get(group_key(number), groups.get(group_key()))
                assert group is not None, "a table has groups of its own, or all share theirs"
                if not group[forest.type == kind.index].any():
                    continue
                values = partial(_values, published, forest, kind, positions, group)
                parts.append(PublishedPart(name, values, None, "value"))
                together[name] = tuple(sensitive[position].path for position in positions)
        return replace(publication, parts=tuple(parts), tables=together)


class Anatomy(ByGroup):
    """Publish records with their own quasi-identifiers in finest form, and the sensitive values by group.

    These are the two tables of Xiao and Tao (Anatomy, VLDB 2006), also for trees: each vertex type with
    sensitive attributes has one table with all of them (see ByGroup). Groups of different types are
    independent.
    """

    traits: ClassVar[RecodingTraits] = TRAITS["anatomy"]

    def arrange_publication(self, forest: Forest, partitions: Sequence[Partition]) -> Publication:
        """See ByGroup.arrange_publication."""
        return publish_grouped(forest, tuple(partitions), ())

    def tables(self, forest: Forest, kind: VertexType) -> Iterator[tuple[str, tuple[int, ...]]]:
        """See ByGroup.tables."""
        every = tuple(range(len(kind.sensitive)))
        yield sensitive_part(forest.schema.keys(kind.index)), every


class InTables(ByGroup):
    """Publish the sensitive values of each vertex type in one table or more.

    The policy states which attributes share a table, or a largest number of tables for each vertex type,
    which are then divided by correlation (see correlation), or ``correlated``, which finds the number too. By
    default each attribute has its own table, which keeps no link between the values of one vertex.
    """

    def tables(self, forest: Forest, kind: VertexType) -> Iterator[tuple[str, tuple[int, ...]]]:
        """See ByGroup.tables."""
        keys = forest.schema.keys(kind.index)
        for number, positions in enumerate(self.divide_attributes(forest, kind), 1):
            yield sensitive_part(keys, number), positions

    def divide_attributes(self, forest: Forest, kind: VertexType) -> tuple[tuple[int, ...], ...]:
        """See Recoding.divide_attributes."""
        paths = [attribute.path for attribute in kind.sensitive]
        stated = self.stated
        if stated == "correlated":
            return correlated_tables(forest, kind.index)
        if not isinstance(stated, tuple):
            return tables(forest, kind.index, len(paths) if stated is None else stated)
        divided = (tuple(number for number, path in enumerate(paths) if path in table) for table in stated)
        return tuple(positions for positions in divided if positions)


class Slicing(InTables):
    """Publish every record with the labels of its class, and tables of the sensitive values of each group.

    TC section 3 (SLOMS) takes this vertical cut from slicing (Li, Li, Zhang, Molloy, IEEE TKDE 24(3), 2012):
    correlated sensitive attributes share a table, and within a group nothing links the rows of two tables, or
    a row to a record. A group is one vertex of each record of one class, and all tables of a vertex type
    share its id: with an id for each table, as in TC, nearly every record would have a unique combination.
    """

    traits: ClassVar[RecodingTraits] = TRAITS["slicing"]

    def arrange_publication(self, forest: Forest, partitions: Sequence[Partition]) -> Publication:
        """See ByGroup.arrange_publication."""
        return publish_sliced(forest, whole(partitions))


class SlicingByTable(InTables):
    """Publish records with the labels of their class and one group id for each sensitive table.

    As TC section 3.1, step 3, and formula 8 have it (erratum TC-11): each table is divided into groups by
    itself, so that quasi-identifiers are generalized for k alone. The price is that the ids of a record
    together may single it out. Tables are divided as by ``slicing``. Only records without vertices below them
    can be published, by one partition for the classes and one for each table.
    """

    traits: ClassVar[RecodingTraits] = TRAITS["slicing_by_table"]

    def arrange_publication(self, forest: Forest, partitions: Sequence[Partition]) -> Publication:
        """See ByGroup.arrange_publication."""
        classes, *groups = partitions
        names = (name for name, _ in self.tables(forest, forest.schema.root))
        return publish_by_table(forest, classes, dict(zip(names, groups, strict=True)))


def _with_groups(schema: Schema, names: Sequence[str]) -> Schema:
    """Return the schema of the records: groups replace a vertex's sensitive attributes."""

    def of(kind: VertexType) -> VertexType:
        if not kind.sensitive:
            return kind
        kept = tuple(attribute for attribute in kind.attributes if attribute.role is not Role.SENSITIVE)
        groups = (Attribute(f"{kind.path}.{name}", (name,), Role.SENSITIVE) for name in names)
        return replace(kind, attributes=(*kept, *groups))

    return Schema(tuple(map(of, schema.types)))


def _number_all(
    forest: Forest, publication: Publication, order: Sequence[int]
) -> dict[str, NDArray[np.int64]]:
    """Return the group of each vertex, 0 without one, by the key that it has in a record."""
    if not publication.table_positions:
        return {group_key(): _number_groups(forest, publication.equivalence_position, order)}
    return {
        group_key(number): _number_groups(forest, positions, order)
        for number, positions in enumerate(publication.table_positions.values(), 1)
    }


def _number_groups(forest: Forest, positions: NDArray[np.int64], order: Sequence[int]) -> NDArray[np.int64]:
    """Number the groups of each vertex type from 1; return the number of each vertex, 0 without a group.

    ``positions`` are equal for the vertices of a group.

    Groups whose first members belong to one record are ordered by a keyed hash, since the order of their
    vertices in the input must not show. The key is derived from the order of publication by input ordinals,
    which readers of the release do not know.
    """
    key = hashlib.blake2b(np.array(order, np.int64).tobytes(), digest_size=32).digest()

    def draw_order(position: int) -> bytes:
        return hashlib.blake2b(position.to_bytes(8), key=key, digest_size=16).digest()

    position = np.empty(forest.record_count, np.int64)
    position[np.array(order, np.int64)] = np.arange(forest.record_count)
    group = np.zeros(forest.vertex_count, np.int64)
    for kind in forest.schema.types:
        if not kind.sensitive:
            continue
        vertices = np.flatnonzero((forest.type == kind.index) & (positions >= 0))
        distinct, inverse = np.unique(positions[vertices], return_inverse=True)
        first = np.full(len(distinct), forest.record_count)
        np.minimum.at(first, inverse, position[forest.record_of[vertices]])
        keys = list(zip(first.tolist(), map(draw_order, distinct.tolist()), strict=True))
        number = np.empty(len(distinct), np.int64)
        number[sorted(range(len(distinct)), key=keys.__getitem__)] = np.arange(1, len(distinct) + 1)
        group[vertices] = number[inverse]
    return group


class _ByGroup(SiblingOrder):
    """Order by what is published of a vertex and of its descendants."""

    def __init__(self, forest: Forest, published: Published, groups: Sequence[NDArray[np.int64]]) -> None:
        self._forest = forest
        self._published = published
        self._groups = groups

    def vertex_keys(self, vertices: NDArray[np.int64]) -> list[Key]:
        """See SiblingOrder.vertex_keys."""
        published = self._published
        columns = (
            self._forest.type[vertices].tolist(),
            published.group_by_type(vertices, published.nodes),
            *(group[vertices].tolist() for group in self._groups),
            published.group_by_type(vertices, published.carried_texts),
        )
        return list(zip(*columns, strict=True))

    def key(self, vertex_key: Key, below: list[Key]) -> Key:
        """See SiblingOrder.key."""
        # Exempt values come last: they differ between the records of a class, whose children have one order.
        *shown, carried = vertex_key
        return *shown, tuple(below), carried


def _values(
    published: Published,
    forest: Forest,
    kind: VertexType,
    positions: tuple[int, ...],
    group: NDArray[np.int64],
) -> Iterator[Document]:
    """Yield how often each combination occurs in each group, by group number, then by sort key.

    ``positions`` are the positions of the attributes that share the table.
    """
    sensitive = kind.sensitive
    vertices = np.flatnonzero((forest.type == kind.index) & (group > 0))
    spelling = published.spelling(kind, vertices)
    keys = [group[vertices], *(published.text_rank[spelling[position]] for position in positions)]
    order = np.lexsort(keys[::-1])
    differs = [np.diff(column[order], prepend=-1) != 0 for column in keys]
    starts = np.flatnonzero(np.logical_or.reduce(differs))
    counts = np.diff(starts, append=len(order))
    places = [(GROUP,), *(sensitive[position].steps or (LIST_IN_ITEM,) for position in positions), (COUNT,)]
    for begin in range(0, len(starts), _BLOCK):
        held = vertices[order[starts[begin : begin + _BLOCK]]]
        values = published.sensitive(kind, held)
        columns = [group[held].tolist(), *(values[position] for position in positions)]
        columns.append(counts[begin : begin + _BLOCK].tolist())
        yield from objects(places, columns, len(held))

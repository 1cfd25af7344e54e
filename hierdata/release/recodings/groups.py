"""Sensitive values apart from their records, joined by group: what anatomy and slicing have in common."""

from __future__ import annotations

import hashlib
from abc import abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial

import numpy as np
from numpy.typing import NDArray

from hierdata.documents.document import COUNT, GROUP, LIST_IN_ITEM, Document
from hierdata.forest.forest import Forest
from hierdata.forest.partition import Partition
from hierdata.forest.publication import Part, Publication
from hierdata.records.binding import objects
from hierdata.records.schema import Attribute, Role, Schema, VertexType
from hierdata.release.recodings.base import RECORDS, Columns, Key, Published, Recoding, SiblingOrder

_BLOCK = 1024
"""Rows of a table that are made at once."""


class ByGroup(Recoding):
    """Records whose vertices hold the number of their group; beside them, what values each group has.

    In the part ``records`` a vertex of a type with sensitive attributes holds ``group``, a whole number from
    1, in their place. Each table is a part that lists the values of some of them: one document for each
    combination of these in each group, with ``count``. A missing value is absent, and counts. Groups are the
    places of the publication. A type of which no vertex is left has no part.

    Numbers of groups follow the first member in the order of publication, siblings what is published of them
    and values what they are: nothing follows the input.
    """

    @abstractmethod
    def arranged(self, forest: Forest, partitions: Sequence[Partition]) -> Publication:
        """What is shown of each vertex, and the places that are groups; without parts."""

    @abstractmethod
    def tables(self, forest: Forest, kind: VertexType) -> Iterator[tuple[str, tuple[int, ...]]]:
        """The tables of a vertex type: the name of each, and which sensitive attributes it has."""

    def publish(self, forest: Forest, partitions: Sequence[Partition], order: Sequence[int]) -> Publication:
        """See Recoding.publish."""
        publication = self.arranged(forest, partitions)
        published = Published(forest, publication.shown, publication.nodes)
        schema = _with_groups(forest.schema)
        group = _numbered(forest, publication, order)
        there = publication.shown[forest.roots[:-1]] >= 0

        def groups(kind: VertexType, vertices: NDArray[np.int64]) -> Columns:
            return [group[vertices].tolist()] if kind.of_role(Role.SENSITIVE) else []

        def records() -> Iterator[Document]:
            kept = [record for record in order if there[record]]
            return published.documents(kept, schema, groups, _ByGroup(forest, published, group))

        parts = [Part(RECORDS, records, int(there.sum()))]
        together: dict[str, tuple[str, ...]] = {}
        for kind in forest.schema.types:
            if not group[forest.type == kind.index].any():
                continue
            sensitive = kind.of_role(Role.SENSITIVE)
            for name, own in self.tables(forest, kind):
                values = partial(_values, published, forest, kind, own, group)
                parts.append(Part(name, values, None, "value"))
                together[name] = tuple(sensitive[position].path for position in own)
        return replace(publication, parts=tuple(parts), tables=together)


def _with_groups(schema: Schema) -> Schema:
    """The schema of the records: one group in the place of a vertex's sensitive attributes."""

    def of(kind: VertexType) -> VertexType:
        if not kind.of_role(Role.SENSITIVE):
            return kind
        kept = tuple(one for one in kind.attributes if one.role is not Role.SENSITIVE)
        group = Attribute(f"{kind.path}.{GROUP}", (GROUP,), Role.SENSITIVE)
        return replace(kind, attributes=(*kept, group))

    return Schema(tuple(map(of, schema.types)))


def _numbered(forest: Forest, publication: Publication, order: Sequence[int]) -> NDArray[np.int64]:
    """The group of each vertex: numbers from 1 in each vertex type, 0 where there is none.

    Groups whose first members are vertices of one record stand by a keyed hash: their vertices' places in the
    input must not show. The order of publication is the key, since nobody else knows the ordinals.
    """
    key = hashlib.blake2b(np.array(order, np.int64).tobytes(), digest_size=32).digest()

    def drawn(place: int) -> bytes:
        return hashlib.blake2b(place.to_bytes(8), key=key, digest_size=16).digest()

    position = np.empty(forest.record_count, np.int64)
    position[np.array(order, np.int64)] = np.arange(forest.record_count)
    group = np.zeros(forest.vertex_count, np.int64)
    for kind in forest.schema.types:
        if not kind.of_role(Role.SENSITIVE):
            continue
        vertices = np.flatnonzero((forest.type == kind.index) & (publication.place >= 0))
        places, own = np.unique(publication.place[vertices], return_inverse=True)
        first = np.full(len(places), forest.record_count)
        np.minimum.at(first, own, position[forest.record_of[vertices]])
        keys = [(at, drawn(place)) for at, place in zip(first.tolist(), places.tolist(), strict=True)]
        number = np.empty(len(places), np.int64)
        number[sorted(range(len(places)), key=keys.__getitem__)] = np.arange(1, len(places) + 1)
        group[vertices] = number[own]
    return group


class _ByGroup(SiblingOrder):
    """By what is published of a vertex and of all below it."""

    def __init__(self, forest: Forest, published: Published, group: NDArray[np.int64]) -> None:
        self._forest = forest
        self._published = published
        self._group = group

    def own(self, vertices: NDArray[np.int64]) -> list[Key]:
        """See SiblingOrder.own."""
        published = self._published
        columns = (
            self._forest.type[vertices].tolist(),
            published.by_type(vertices, published.nodes),
            self._group[vertices].tolist(),
            published.by_type(vertices, published.carried_texts),
        )
        return list(zip(*columns, strict=True))

    def key(self, own: Key, below: list[Key]) -> Key:
        """See SiblingOrder.key."""
        # What is exempt stands last: it is the record's own, and children stand alike in all of a class.
        *shown, carried = own
        return *shown, tuple(below), carried


def _values(
    published: Published, forest: Forest, kind: VertexType, own: tuple[int, ...], group: NDArray[np.int64]
) -> Iterator[Document]:
    """How often each combination occurs in each group: groups by number, values in their own order.

    ``own`` are the positions of the attributes whose values stand together.
    """
    sensitive = kind.of_role(Role.SENSITIVE)
    vertices = np.flatnonzero((forest.type == kind.index) & (group > 0))
    spelling = published.spelling(kind, vertices)
    found = [group[vertices], *(published.text_rank[spelling[position]] for position in own)]
    order = np.lexsort(found[::-1])
    differs = [np.diff(column[order], prepend=-1) != 0 for column in found]
    starts = np.flatnonzero(np.logical_or.reduce(differs))
    counts = np.diff(starts, append=len(order))
    places = [(GROUP,), *(sensitive[position].steps or (LIST_IN_ITEM,) for position in own), (COUNT,)]
    for begin in range(0, len(starts), _BLOCK):
        held = vertices[order[starts[begin : begin + _BLOCK]]]
        values = published.sensitive(kind, held)
        columns = [group[held].tolist(), *(values[position] for position in own)]
        columns.append(counts[begin : begin + _BLOCK].tolist())
        yield from objects(places, columns, len(held))

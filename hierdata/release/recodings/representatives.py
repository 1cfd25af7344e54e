"""One tree per class, with the multisets of its members' sensitive values (ML section 3.2, definition 4)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import ClassVar

import numpy as np

from hierdata.documents.document import LIST_IN_ITEM, Document, Scalar, Value, list_key
from hierdata.forest.forest import Forest
from hierdata.forest.partition import Partition
from hierdata.forest.publication import Linked, Publication, PublishedPart, publish_generalized
from hierdata.ground.errors import PolicyError
from hierdata.ground.recodings import TRAITS, RecodingTraits
from hierdata.records.binding import unbind
from hierdata.records.record import Vertex
from hierdata.records.schema import Attribute, Role, Schema, VertexType
from hierdata.release.recodings.base import RECORDS, Published, Recoding, breadth_first, sort_key, whole


class Representatives(Recoding):
    """One document per class: ``{"records": n, "representative": {...}}``.

    At every vertex each sensitive attribute is the sorted list of its values, without missing ones, so that
    nothing links the values of one record. Carried attributes are left out for the same reason. Sensitive
    XML attributes and texts become elements, since neither can be a list.
    """

    traits: ClassVar[RecodingTraits] = TRAITS["representatives"]

    def publish(self, forest: Forest, partitions: Sequence[Partition], order: Sequence[int]) -> Publication:
        """See Recoding.publish. Raises PolicyError where an attribute's element would have another's name."""
        partition = whole(partitions)
        schema = _with_lists(forest.schema)

        def classes() -> Iterator[Linked]:
            published = Published(forest, partition.representative, partition.nodes)
            members: defaultdict[int, list[int]] = defaultdict(list)
            for record in order:
                members[int(partition.equivalence_class[record])].append(record)
            members.pop(-1, None)
            for records in members.values():
                root, shown = _representative(forest, published, records)
                document: Document = {"records": len(records), "representative": unbind(root, schema)}
                yield document, _members(published, records, shown)

        part = PublishedPart.of_linked(RECORDS, classes, partition.class_count, element="class")
        return publish_generalized(forest, partition, part)


def _with_lists(schema: Schema) -> Schema:
    """Return the schema of class representatives: sensitive attributes become keys that can hold lists."""

    def renumber(attribute: Attribute) -> Attribute:
        steps = attribute.steps
        if attribute.role is not Role.SENSITIVE or not steps:
            return attribute
        return replace(attribute, steps=(*steps[:-1], list_key(steps[-1])))

    def of(kind: VertexType) -> VertexType:
        attributes = tuple(map(renumber, kind.attributes))
        taken = [schema.types[child].steps for child in kind.children]
        for attribute in attributes:
            if attribute.steps in taken:
                raise PolicyError(
                    "the recoding representatives needs an element for the values of this attribute, but its "
                    "name is taken: rename one of the two fields",
                    path=attribute.path,
                )
            taken.append(attribute.steps)
        return replace(kind, attributes=attributes)

    return Schema(tuple(map(of, schema.types)))


def _members(published: Published, records: Sequence[int], shown: Sequence[int]) -> list[list[int]]:
    """Return the vertices of each record that the representative's vertices ``shown`` stand for."""
    members = []
    for record in records:
        vertices = published.vertices([record])
        of = dict(zip(published.shown[vertices].tolist(), vertices.tolist(), strict=True))
        members.append([of[vertex] for vertex in shown])
    return members


def _representative(forest: Forest, published: Published, records: Sequence[int]) -> tuple[Vertex, list[int]]:
    """Return the representative of a class, and its vertices in the order of a reader."""
    values: dict[int, list[list[Scalar]]] = {}
    labels: dict[int, list[Scalar]] = {}
    vertices = published.vertices(records)
    for kind in forest.schema.types:
        alike = vertices[forest.type[vertices] == kind.index]
        shown = published.shown[alike].tolist()
        for v in shown:
            if v not in values:
                values[v] = [[] for _ in kind.sensitive]
        for position, column in enumerate(published.sensitive(kind, alike)):
            for v, value in zip(shown, column, strict=True):
                if value is not None:
                    values[v][position].append(value)
        alone = np.unique(published.shown[alike])
        columns = published.labels(kind, alone)
        labels.update((v, [column[row] for column in columns]) for row, v in enumerate(alone.tolist()))
    below: defaultdict[int, list[tuple[int, tuple[str, ...], Vertex, int]]] = defaultdict(list)
    arranged: dict[int, list[int]] = {}
    root = -1
    for v in sorted(values, reverse=True):  # children follow their parents
        multisets = [sorted(multiset, key=sort_key) for multiset in values[v]]
        children = sorted(below.pop(v, []), key=lambda key: key[:2])
        kind = forest.schema.types[forest.type[v]]
        vertex = Vertex(
            kind.index,
            labels[v],
            [_list(kind, multiset) for multiset in multisets],  # type: ignore[misc]  # a list for a value
            [None] * len(kind.of_role(Role.CARRIED)),
            [child for _, _, child, _ in children],
        )
        arranged[v] = [child for *_, child in sorted(children, key=lambda entry: entry[2].type)]
        content = tuple(sort_key(value) for multiset in multisets for value in multiset)
        below[int(forest.parent[v])].append((int(published.rank[v]), content, vertex, v))
        root = int(forest.parent[v])
    _, _, vertex, v = below[root][0]
    return vertex, breadth_first(v, arranged)


def _list(kind: VertexType, multiset: list[Scalar]) -> Value:
    """Return the list at a sensitive attribute; an array item is an object and exists even if empty."""
    attribute = kind.attributes[0]
    if attribute.steps:
        return [*multiset] or None
    return {LIST_IN_ITEM: [*multiset] or ([] if attribute.absent is None else [attribute.absent])}

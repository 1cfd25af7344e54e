"""Each record with generalized quasi-identifiers and its own sensitive values."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from hierdata.document import Document
from hierdata.forest import Forest
from hierdata.partition import Partition
from hierdata.publication import Part, Publication, generalized
from hierdata.recodings.base import RECORDS, Published, Recoding, in_order, kept_vertices, whole
from hierdata.records.binding import unbind
from hierdata.records.record import Vertex


class Generalization(Recoding):
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
            for record in order:
                if class_of[record] >= 0:
                    yield unbind(_record(forest, partition, published, record), forest.schema)

        part = Part(RECORDS, documents, int((partition.class_of >= 0).sum()))
        return generalized(forest, partition, part)


def _record(forest: Forest, partition: Partition, published: Published, record: int) -> Vertex:
    vertices = kept_vertices(forest, partition.representative, record)
    stands_for = partition.representative[vertices].tolist()
    kinds = forest.type[vertices].tolist()
    parents = forest.parent[vertices].tolist()
    built: dict[int, Vertex] = {}
    keys: dict[int, list[tuple[int, tuple[str, ...], Vertex]]] = {}
    ordinals = vertices.tolist()
    for v, kind, representative in zip(ordinals, kinds, stands_for, strict=True):
        built[v] = Vertex(
            kind,
            published.labels(representative),
            published.sensitive(v),
            list(forest.carried.get(v, ())),
            [],
        )
    for v, parent, representative in zip(ordinals[::-1], parents[::-1], stands_for[::-1], strict=True):
        below = keys.pop(v, [])
        below.sort(key=lambda key: key[:2])
        vertex = built[v]
        vertex.children = [child for _, _, child in below]
        content = (
            *map(in_order, vertex.sensitive),
            *map(in_order, vertex.carried),
            *(text for key in below for text in key[1]),
        )
        keys.setdefault(parent, []).append((published.rank[representative], content, vertex))
    return built[ordinals[0]]

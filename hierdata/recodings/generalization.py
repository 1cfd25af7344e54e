"""Each record with generalized quasi-identifiers and its own sensitive values."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from operator import itemgetter

from hierdata.document import Document
from hierdata.forest import Forest
from hierdata.partition import Partition
from hierdata.publication import Part, Publication, generalized
from hierdata.recodings.base import RECORDS, Published, Recoding, Row, in_order, whole
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

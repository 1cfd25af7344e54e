"""References between published vertices: which lead to nothing that is published, and where they are dropped.

A reference to a vertex that is not published tells that it exists, and who referred to it. Dropped for one
record alone, its absence would tell the same; so it is dropped at its place, in all records that look alike.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass, replace
from hashlib import blake2b
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from hierdata.documents.document import Scalar
from hierdata.forest.forest import Forest
from hierdata.forest.isomorphism import places
from hierdata.forest.partition import SUPPRESSED, Partition

MARK = 16
"""Bytes by which two pseudonyms are compared."""


class LinkField(NamedTuple):
    """A field with pseudonyms of a ``domain``: its type, and its position among the carried attributes.

    ``is_item``: the vertex is an item of an array and nothing else, and is dropped with its value.
    """

    kind: int
    position: int
    domain: str
    is_item: bool


@dataclass(frozen=True)
class LinkFields:
    """The fields that identify vertices, and those that refer to them."""

    identities: tuple[LinkField, ...] = ()
    references: tuple[LinkField, ...] = ()


def mark_of(domain: str, value: Scalar) -> bytes:
    """Return the bytes by which a pseudonym is compared; those of different domains are never equal."""
    text = f"{domain}\0{value}".encode("utf-8", "surrogatepass")
    return blake2b(text, digest_size=MARK).digest()


def published_marks(forest: Forest, shown: NDArray[np.int64], fields: Collection[LinkField]) -> set[bytes]:
    """Return the marks of the pseudonyms that published vertices show at some fields."""
    return {mark for field in fields for _, mark in _marks(forest, shown, field)}


def _marks(forest: Forest, shown: NDArray[np.int64], field: LinkField) -> Iterator[tuple[int, bytes]]:
    """Yield each published vertex that has a pseudonym at a field, with its mark."""
    for vertex in np.flatnonzero((forest.type == field.kind) & (shown >= 0)).tolist():
        value = forest.carried[vertex][field.position]
        if value is not None:
            yield vertex, mark_of(field.domain, value)


def drop_references(
    forest: Forest, partition: Partition, fields: Collection[LinkField], dangling: Collection[bytes]
) -> tuple[dict[int, tuple[Scalar, ...]], Partition]:
    """Drop references wherever one of those that look alike is ``dangling``.

    Vertices look alike if no reader can tell their places in the records of a class apart. Returns the
    carried values that remain and the partition without items that were only a reference. ``costs`` counts
    ``dangling_references`` and ``references_dropped``, which includes them.
    """
    shown = partition.representative.copy()
    place = places(forest, shown, partition.nodes)
    carried, costs = dict(forest.carried), partition.costs.copy()
    for field in fields:
        mark_of_vertex = dict(_marks(forest, partition.representative, field))
        wrong = [vertex for vertex, mark in mark_of_vertex.items() if mark in dangling]
        costs["dangling_references"] += len(wrong)
        everywhere = set(place[wrong].tolist())
        for vertex in mark_of_vertex:
            if int(place[vertex]) not in everywhere:
                continue
            costs["references_dropped"] += 1
            values = carried[vertex]
            carried[vertex] = (*values[: field.position], None, *values[field.position + 1 :])
            if field.is_item:
                shown[vertex] = SUPPRESSED
    return carried, replace(partition, representative=shown, costs=+costs)

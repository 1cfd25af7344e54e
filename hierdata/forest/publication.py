"""A publication: what a recoding makes of partitions."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hierdata.documents.document import Document
from hierdata.forest.forest import Forest
from hierdata.forest.isomorphism import places
from hierdata.forest.partition import SUPPRESSED, Partition


@dataclass(frozen=True)
class Part:
    """Documents that are written to one file, or one folder of tables, called ``name``.

    ``documents`` starts anew at every call; ``count`` is their number where it is known. ``element`` is the
    name of a document's element where the format needs one and the input's own does not fit (one class a
    document).
    """

    name: str
    documents: Callable[[], Iterator[Document]]
    count: int | None
    element: str | None = None


@dataclass(frozen=True)
class Publication:
    """What is published of a forest; the arrays have one entry a vertex, SUPPRESSED where it is not there.

    ``parts``: the records first. ``shown[v]`` is the vertex whose ``nodes`` are published as v's
    quasi-identifiers. ``place[v]`` is the same number for all vertices whose sensitive values cannot be told
    apart, ``class_of[v]`` the class they are in (numbered over all partitions). ``costs`` are the engines',
    ``reasons`` why no more could be published, by vertex type, where an engine knows. ``tables`` names the
    sensitive attributes of which the values of one vertex stand together, by part, where sensitive values lie
    apart from their vertices; else all of a vertex stand together. ``original`` is the collection where this
    is of other vertices, read again from files and linked to none; None where it is of the collection itself.
    """

    parts: tuple[Part, ...]
    shown: NDArray[np.int64]
    nodes: NDArray[np.int32]
    place: NDArray[np.int64]
    class_of: NDArray[np.int64]
    costs: Counter[str] = field(default_factory=Counter)
    reasons: Mapping[int, str] = field(default_factory=dict)
    tables: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    original: Forest | None = None

    @cached_property
    def learned(self) -> dict[Hashable, Any]:
        """What metrics have learned of it, for those that come after."""
        return {}

    @property
    def class_count(self) -> int:
        """Number of classes of all partitions."""
        return int(self.class_of.max(initial=SUPPRESSED)) + 1


def generalized(forest: Forest, partition: Partition, part: Part) -> Publication:
    """One partition of whole records, published by the nodes of its representatives.

    What looks alike is one class, and one place in it, whatever the search meant by it.
    """
    shown = partition.representative
    place, classes = by_form(forest, shown, partition.nodes)
    reasons = _reasons((partition,))
    return Publication((part,), shown, partition.nodes, place, classes, partition.costs, reasons)


def by_form(
    forest: Forest, shown: NDArray[np.int64], nodes: NDArray[np.int32]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Place and class of each vertex, where these are told by nothing but what is published."""
    place = places(forest, shown, nodes)
    of_root = place[forest.roots[:-1]][forest.record_of]
    _, number = np.unique(of_root[shown >= 0], return_inverse=True)
    classes = np.full(forest.vertex_count, SUPPRESSED, np.int64)
    classes[shown >= 0] = number.reshape(-1)
    return place, classes


def sliced(forest: Forest, partition: Partition) -> Publication:
    """One partition of whole records, published by the nodes of its representatives, without parts.

    Each class has an id, and so has each of its vertices: what looks alike but for these stays two places.
    """
    shown = partition.representative
    classes = np.where(shown >= 0, partition.class_of[forest.record_of], SUPPRESSED)
    reasons = _reasons((partition,))
    return Publication((), shown, partition.nodes, shown, classes, partition.costs, reasons)


def grouped(forest: Forest, partitions: tuple[Partition, ...], parts: tuple[Part, ...]) -> Publication:
    """Partitions whose classes share sensitive values while every vertex keeps its own quasi-identifiers.

    A vertex that any partition suppresses is gone with all below it.
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
        # Of whole records every vertex has a place, of one vertex type its own vertices.
        whole = partition.kind == 0
        own = every if whole else np.flatnonzero(forest.type == partition.kind)
        of_own = partition.class_of[forest.record_of] if whole else partition.class_of
        place[own] = partition.representative[own]
        classes[own] = np.where(of_own >= 0, of_own + first, SUPPRESSED)
        first += partition.class_count
        costs += partition.costs
    shown = np.where(kept, every, SUPPRESSED)
    gone = ~kept
    place[gone] = SUPPRESSED
    classes[gone] = SUPPRESSED
    return Publication(parts, shown, forest.nodes, place, classes, costs, _reasons(partitions))


def _reasons(partitions: tuple[Partition, ...]) -> dict[int, str]:
    return {partition.kind: partition.reason for partition in partitions if partition.reason}

"""The form of published vertices: vertices of one form have equal labels and equal subtrees.

``number_keys`` numbers keys from 0 in ascending order.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Sequence
from decimal import Decimal
from hashlib import blake2b

import numpy as np
from numpy.typing import NDArray

from hierdata.documents.document import Scalar
from hierdata.forest.forest import Forest
from hierdata.forest.partition import SUPPRESSED
from hierdata.records.schema import Role, Schema

_SPARSE = 4
"""Keys are sorted where a table of all possible ones would be so many times as long."""


def exempt_types(schema: Schema) -> frozenset[int]:
    """Return the types of items of exempt arrays; these arrays, with their lengths, are not compared."""
    return frozenset(
        kind.index
        for kind in schema.types
        if any(attribute.role is Role.CARRIED and not attribute.steps for attribute in kind.attributes)
    )


def places(forest: Forest, shown: NDArray[np.int64], nodes: NDArray[np.int32]) -> NDArray[np.int64]:
    """Return for each vertex v the first vertex, published as itself, that looks the same as v as published.

    Records of one form are one class to every reader, and identical siblings are one position of it.
    SUPPRESSED where nothing is published; ``shown`` and ``nodes`` are as for ``ranks``.
    """
    rank = ranks(forest, shown, nodes, exempt_types(forest.schema))
    place = np.full(forest.vertex_count, SUPPRESSED, np.int64)
    representatives = np.flatnonzero(shown == np.arange(forest.vertex_count))
    parent = forest.parent[representatives]
    for kind in forest.schema.types:  # children have a later type than their parents
        among = forest.type[representatives] == kind.index
        vertices = representatives[among]
        above = np.where(parent[among] >= 0, place[parent[among]], SUPPRESSED)
        form = rank[vertices] - kind.index * forest.vertex_count
        keys = (above - SUPPRESSED) * forest.vertex_count + form
        first, number = number_keys(keys)
        place[vertices] = vertices[first][number]
    kept = shown >= 0
    place[kept] = place[shown[kept]]
    return place


def align_alike(
    forest: Forest, representative: NDArray[np.int64], place: NDArray[np.int64]
) -> NDArray[np.int64]:
    """Return for each vertex v the first vertex that its class aligns with v.

    ``representative[v]`` is the vertex of the class representative that v is aligned with, ``place`` is as
    ``places`` returns it. Siblings of one form stay apart. Representatives of one form are one: their
    siblings of one form are aligned in their order. SUPPRESSED where nothing is published.
    """
    first: dict[tuple[int, int, int], int] = {}
    before: Counter[tuple[int, int]] = Counter()
    aligned = np.full(forest.vertex_count, SUPPRESSED, np.int64)
    representatives = np.flatnonzero(representative == np.arange(forest.vertex_count))
    arrays = representatives, forest.parent[representatives], place[representatives]
    for v, parent, form in zip(*(array.tolist() for array in arrays), strict=True):
        above = int(aligned[parent]) if parent >= 0 else SUPPRESSED
        siblings = (parent if parent >= 0 else ~v, form)
        aligned[v] = first.setdefault((above, form, before[siblings]), v)
        before[siblings] += 1
    kept = representative >= 0
    aligned[kept] = aligned[representative[kept]]
    return aligned


def ranks(
    forest: Forest, shown: NDArray[np.int64], nodes: NDArray[np.int32], beside: Collection[int] = ()
) -> NDArray[np.int64]:
    """Rank the form of each vertex that is published as itself; SUPPRESSED for others.

    v is published as ``shown[v]`` by ``nodes``, in the layout of ``Forest.nodes``. Two vertices have the same
    rank iff their subtrees are equal in vertex types, structure and labels. Ranks follow the hierarchies'
    nodes, never the order in the input: labels first, then the children's ranks in ascending order. Vertices
    of the types ``beside`` do not count in the forms above them.
    """
    rank = np.full(forest.vertex_count, SUPPRESSED, np.int64)
    is_representative = shown == np.arange(forest.vertex_count)
    counted = is_representative & ~np.isin(forest.type, sorted(beside)) & (forest.parent >= 0)
    for kind in reversed(forest.schema.types):  # children have a later type than their parents
        vertices = np.flatnonzero(is_representative & (forest.type == kind.index))
        form = np.zeros(len(vertices), np.int64)
        for position, tree in enumerate(forest.hierarchies[kind.index]):
            same = np.array(first_alike(tree.labels), np.int64)
            form = _number(form, same[nodes[forest.first_node[vertices] + position]])
        above = forest.parent
        children = np.flatnonzero(counted & is_representative[above] & (forest.type[above] == kind.index))
        of = np.searchsorted(vertices, above[children])
        form = _number(form, _rank_lists(of, rank[children], len(vertices)))
        rank[vertices] = kind.index * forest.vertex_count + form
    return rank


def _number(first: NDArray[np.int64], second: NDArray[np.int64]) -> NDArray[np.int64]:
    """Number pairs from 0 in lexicographic order; both parts are numbers from 0."""
    return number_keys(first * (int(second.max(initial=0)) + 1) + second)[1]


def _rank_lists(of: NDArray[np.int64], values: NDArray[np.int64], lists: int) -> NDArray[np.int64]:
    """Rank lists of numbers, each in ascending order; ``of`` names the list of each number.

    An empty list has rank 0, and a list precedes those that it begins.
    """
    rank = np.zeros(lists, np.int64)
    if not len(of):
        return rank
    dense = number_keys(values)[1]
    order = np.lexsort((dense, of))
    of, dense = of[order], dense[order]
    begins = np.searchsorted(of, np.arange(lists))
    position = np.arange(len(of)) - begins[of]
    # From the last position up: rank[l] is that of what list l has from there on, 0 if that is nothing.
    by_position = np.argsort(position, kind="stable")
    for here in np.split(by_position, np.cumsum(np.bincount(position))[:-1])[::-1]:
        rank[of[here]] = 1 + _number(dense[here], rank[of[here]])
    return rank


def digests(forest: Forest, shown: NDArray[np.int64], nodes: NDArray[np.int32]) -> dict[int, bytes]:
    """Digest the form of each root that is published as itself; equal forms agree in all parts.

    Different forms have different digests, except with a probability of 1 in 2^64 at four billion forms;
    ``shown`` and ``nodes`` are as for ``ranks``.
    """
    beside = exempt_types(forest.schema)
    below: defaultdict[int, list[bytes]] = defaultdict(list)
    representatives = np.flatnonzero(shown == np.arange(forest.vertex_count))
    of_root: dict[int, bytes] = {}
    for kind in reversed(forest.schema.types):  # children have a later type than their parents
        alike = [np.array(first_alike(tree.labels), np.int32) for tree in forest.hierarchies[kind.index]]
        vertices = representatives[forest.type[representatives] == kind.index]
        first = forest.first_node[vertices]
        labels = np.empty((len(vertices), len(alike) + 1), np.int32)
        labels[:, 0] = kind.index
        for position, same in enumerate(alike):
            labels[:, position + 1] = same[nodes[first + position]]
        rows = labels.tobytes()
        width = labels.itemsize * labels.shape[1]
        for row, (v, parent) in enumerate(
            zip(vertices.tolist(), forest.parent[vertices].tolist(), strict=True)
        ):
            content = rows[row * width : (row + 1) * width] + b"".join(sorted(below.pop(v, ())))
            digest = blake2b(content, digest_size=16).digest()
            if parent < 0:
                of_root[v] = digest
            elif kind.index not in beside:
                below[parent].append(digest)
    return of_root


def first_alike(labels: Sequence[Scalar]) -> list[int]:
    """Return for each node the first with its label; a chain of single children may repeat a label."""
    first: dict[tuple[type, Scalar], int] = {}
    return [
        first.setdefault((Decimal if isinstance(label, Decimal) else type(label), label), node)
        for node, label in enumerate(labels)
    ]


def nodes_alike(labels: Sequence[Scalar]) -> list[list[int]]:
    """Return for each node all nodes with its label."""
    groups: defaultdict[int, list[int]] = defaultdict(list)
    first = first_alike(labels)
    for node, same in enumerate(first):
        groups[same].append(node)
    return [groups[same] for same in first]


def number_keys(keys: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return where each distinct key occurs first, in ascending order of keys, and the number of each key.

    Keys are at least 0.
    """
    span = int(keys.max(initial=-1)) + 1
    if span > _SPARSE * len(keys):
        _, first, number = np.unique(keys, return_index=True, return_inverse=True)
        return first, number.reshape(-1)
    first = np.full(span, -1, np.int64)
    first[keys[::-1]] = np.arange(len(keys))[::-1]  # of a key that repeats, the last assignment stays
    there = first >= 0
    return first[there], (np.cumsum(there) - 1)[keys]

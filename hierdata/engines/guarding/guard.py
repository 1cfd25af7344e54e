"""What a guard of the suppressed asks of a partition, and how it mends one (``pipeline.guard_blocks``)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from hierdata.engines.base import Constraints
from hierdata.engines.guarding.choice import Candidate
from hierdata.engines.guarding.contents import LARGEST, GroupContents, count_groups, uncovered_records
from hierdata.engines.rows.table import bits_over, class_sizes, dissolve_failing
from hierdata.forest.forest import Forest
from hierdata.forest.partition import SUPPRESSED, Partition
from hierdata.ground.recodings import RecodingTraits


def suppressed_are_safe(forest: Forest, partition: Partition, constraints: Constraints) -> bool:
    """Whether the suppressed records, and those of them that no published form covers, may stay so."""
    rows = suppressed_rows(partition)
    whole = is_safe(forest, partition.kind, constraints, rows)
    return whole and uncovered_are_safe(forest, partition, constraints)


def uncovered_are_safe(forest: Forest, partition: Partition, constraints: Constraints) -> bool:
    """Whether the records that no published form covers are none or satisfy the constraints."""
    rows = suppressed_rows(partition)
    if rows.sum() * partition.class_count > LARGEST:
        return False
    alone = np.zeros(len(rows), np.bool_)
    alone[rows] = uncovered_records(
        forest, np.flatnonzero(rows), forest, partition.representative, partition.nodes
    )
    return is_safe(forest, 0, constraints, alone)


def is_safe(forest: Forest, kind: int, constraints: Constraints, rows: NDArray[np.bool_]) -> bool:
    """Whether some rows of a type are none or satisfy the constraints as a whole."""
    return not rows.any() or contents_of(forest, kind, constraints, rows).satisfies(constraints)


def suppressed_rows(partition: Partition) -> NDArray[np.bool_]:
    """Return which rows are suppressed."""
    suppressed: NDArray[np.bool_] = partition.equivalence_class == SUPPRESSED
    return suppressed


def contents_of(
    forest: Forest, kind: int, constraints: Constraints, rows: NDArray[np.bool_]
) -> GroupContents:
    """Return what some rows of a type hold together."""
    (contents,) = count_groups(forest, constraints, kind, np.where(rows, 0, -1), 1)
    return contents


def holds_at_roots(left: GroupContents, quasi: int, constraints: Constraints) -> bool:
    """Whether records that satisfy the constraints as a whole do so as a class published at the roots.

    ``quasi`` is the number of quasi-identifiers of a record's root.
    """
    view = constraints.view(left.records, {}, [0] * quasi)
    return all(one.holds(view) for one in constraints.on_records)


def weigh_classes(
    forest: Forest, partition: Partition, constraints: Constraints, traits: RecodingTraits
) -> list[Candidate]:
    """Return for each class the loss of dissolving it, and what its rows hold."""
    kind = partition.kind
    gain = forest.weight[forest.type == kind] * np.int64(1)
    if not traits.partitions_each_type:
        gain = kept_by_record(forest, partition)
    kept = ~suppressed_rows(partition)
    losses = np.zeros(partition.class_count, np.int64)
    np.add.at(losses, partition.equivalence_class[kept], gain[kept])
    held = count_groups(forest, constraints, kind, partition.equivalence_class, partition.class_count)
    return [Candidate(loss, contents) for loss, contents in zip(losses.tolist(), held, strict=True)]


def kept_by_record(forest: Forest, partition: Partition) -> NDArray[np.int64]:
    """Return how much more would be lost of each record if it were suppressed.

    In units of 1/scale; low bits are dropped where the sum over all records would not fit into 64 bits.
    """
    whole = int(forest.weight[forest.roots[:-1]].sum()) * forest.scale
    dropped = bits_over(whole)
    kept = np.zeros(forest.vertex_count, np.int64)
    shown = partition.representative
    for kind, own in enumerate(forest.losses):
        vertices = np.flatnonzero((forest.type == kind) & (shown >= 0))
        kept[vertices] = forest.own_weight[vertices] * forest.scale
        first = forest.first_node[shown[vertices]]
        for position, losses in enumerate(own):
            kept[vertices] -= losses[partition.nodes[first + position]]
    kept >>= dropped
    records: NDArray[np.int64] = np.add.reduceat(kept, forest.roots[:-1])
    return records


def dissolve(forest: Forest, partition: Partition, classes: Collection[int]) -> Partition:
    """Return the partition without some classes; their rows are suppressed with their subtrees."""
    if not classes:
        return partition
    failing = np.zeros(partition.class_count, np.bool_)
    failing[list(classes)] = True
    class_of = dissolve_failing(partition.equivalence_class, failing)
    shown = partition.representative.copy()
    rows = np.flatnonzero(forest.type == partition.kind)
    shown[rows[class_of == SUPPRESSED]] = SUPPRESSED
    for kind in forest.schema.types[1:]:  # parents before children
        own = np.flatnonzero(forest.type == kind.index)
        shown[own[shown[forest.parent[own]] == SUPPRESSED]] = SUPPRESSED
    given_up = int(class_sizes(partition.equivalence_class)[failing].sum())
    costs = partition.costs + Counter(records_of_classes_given_up=given_up)
    return replace(partition, equivalence_class=class_of, representative=shown, costs=costs)


def publish_at_roots(forest: Forest, partition: Partition) -> Partition:
    """Return the partition with all suppressed records in one more class, published by their roots alone.

    Every quasi-identifier of the root is generalized to the root of its hierarchy.
    """
    records = np.flatnonzero(suppressed_rows(partition))
    class_of, shown = partition.equivalence_class.copy(), partition.representative.copy()
    nodes = partition.nodes.copy()
    class_of[records] = partition.class_count
    first = forest.roots[records[0]]
    shown[forest.roots[records]] = first
    start = forest.first_node[first]
    nodes[start : start + len(forest.hierarchies[0])] = 0
    costs = partition.costs + Counter(records_published_at_roots=len(records))
    return replace(partition, equivalence_class=class_of, representative=shown, nodes=nodes, costs=costs)


def publish_as_group(forest: Forest, partition: Partition, *, with_subtrees: bool) -> Partition:
    """Return the partition with all suppressed rows in one more group.

    ``with_subtrees``: the vertices below them are published too, since other partitions group these.
    """
    rows = suppressed_rows(partition)
    vertices = np.flatnonzero(forest.type == partition.kind)[rows]
    class_of, shown = partition.equivalence_class.copy(), partition.representative.copy()
    class_of[rows] = partition.class_count
    shown[vertices] = vertices[0]
    below = np.zeros(forest.vertex_count, np.bool_)
    below[vertices] = with_subtrees
    for kind in forest.schema.types[1:]:  # parents before children
        own = np.flatnonzero(forest.type == kind.index)
        inside = own[below[forest.parent[own]]]
        below[inside] = True
        shown[inside] = inside
    costs = partition.costs + Counter(rows_published_as_one_group=len(vertices))
    return replace(partition, equivalence_class=class_of, representative=shown, costs=costs)

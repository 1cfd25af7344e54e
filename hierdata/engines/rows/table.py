"""The rows of a scope as a table, with nodes in depth-first order; what classes publish; the partition."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from hierdata.domains.base import Hierarchy
from hierdata.forest.forest import MISSING, Forest, Scope
from hierdata.forest.partition import SUPPRESSED, Partition

_BITS = 63


def nodes_of(forest: Forest, scope: Scope) -> NDArray[np.int32]:
    """Return the hierarchy nodes of the rows: one line per row, one column per quasi-identifier."""
    return _columns(forest.nodes, forest.first_node[scope.vertices], len(forest.hierarchies[scope.kind]))


def codes_of(forest: Forest, scope: Scope) -> NDArray[np.int32]:
    """Return the codes of the rows' sensitive values, or MISSING: one column per sensitive attribute."""
    return _columns(forest.sensitive, forest.first_sensitive[scope.vertices], len(forest.domains[scope.kind]))


def classes_of(partition: Partition, scope: Scope) -> NDArray[np.int64]:
    """Return the classes of the rows of a scope in the partition of an earlier step."""
    classes: NDArray[np.int64] = partition.equivalence_class[scope.rows]
    return classes


def dense(classes: NDArray[np.int64]) -> NDArray[np.int64]:
    """Renumber classes from 0 without gaps, in the same order."""
    kept = classes != SUPPRESSED
    numbered = np.full(len(classes), SUPPRESSED, np.int64)
    numbered[kept] = np.unique(classes[kept], return_inverse=True)[1]
    return numbered


def dissolve_failing(classes: NDArray[np.int64], failing: NDArray[np.bool_]) -> NDArray[np.int64]:
    """Remove the failing classes and renumber the others; rows of failing classes have no class."""
    kept = classes != SUPPRESSED
    kept[kept] = ~failing[classes[kept]]
    return dense(np.where(kept, classes, SUPPRESSED))


def class_sizes(classes: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the number of rows of each class."""
    return np.bincount(classes[classes != SUPPRESSED]).astype(np.int64)


def joins(
    hierarchies: Sequence[Hierarchy], nodes: NDArray[np.int32], classes: NDArray[np.int64]
) -> NDArray[np.int32]:
    """Return the join of each class: one line per class, one column per quasi-identifier.

    The join is the deepest ancestor that all rows of the class share. O(rows x depth), plus one sort.
    """
    order = rows_by_class(classes)
    sizes = class_sizes(classes)
    starts = np.cumsum(sizes) - sizes
    joined = np.zeros((len(sizes), len(hierarchies)), np.int32)
    for column, tree in enumerate(hierarchies):
        ancestors = np.array(tree.ancestors, np.int32)
        of_row = nodes[order, column]
        settled = np.zeros(len(sizes), np.bool_)
        for depth in reversed(range(ancestors.shape[1])):
            if settled.all():
                break
            entries = ancestors[of_row, depth]
            least = np.minimum.reduceat(entries, starts)
            shared = (least >= 0) & (least == np.maximum.reduceat(entries, starts)) & ~settled
            joined[shared, column] = least[shared]
            settled |= shared
    return joined


def number_hierarchies(hierarchies: Sequence[Hierarchy]) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """Number the nodes of all hierarchies together; return the first number of each, and all ancestors."""
    counts = [len(tree.ancestors) for tree in hierarchies]
    first = np.cumsum([0, *counts])[:-1].astype(np.int32)
    depth = max((len(tree.ancestors[0]) for tree in hierarchies), default=1)
    ancestors = np.full((sum(counts), depth), -1, np.int32)
    for start, tree in zip(first.tolist(), hierarchies, strict=True):
        rows = np.array(tree.ancestors, np.int32)
        ancestors[start : start + len(rows), : rows.shape[1]] = np.where(rows >= 0, rows + start, -1)
    return first, ancestors


def summable(losses: Sequence[NDArray[np.int64]], rows: int) -> list[NDArray[np.int64]]:
    """Return LM' by quasi-identifier and node, as integers with a sum over all rows that fits into 64 bits.

    Low bits are dropped if necessary: these losses only guide the search.
    """
    dropped = bits_over(rows * sum(int(of_nodes.max()) for of_nodes in losses))
    return [of_nodes >> dropped for of_nodes in losses]


def bits_over(most: int) -> int:
    """Return how many low bits to drop so that a number up to ``most`` fits into a signed 64-bit integer."""
    return max(0, most.bit_length() - _BITS)


def losses_of(forest: Forest, scope: Scope, classes: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the loss of publishing each class: rows times the sum of LM' of its joins."""
    published = joins(forest.hierarchies[scope.kind], nodes_of(forest, scope), classes)
    lost = np.zeros(len(published), np.int64)
    for column, losses in enumerate(summable(forest.losses[scope.kind], len(classes))):
        lost += losses[published[:, column]]
    return lost * class_sizes(classes)


def suppress_below(forest: Forest, shown: NDArray[np.int64]) -> None:
    """Suppress what lies below suppressed vertices; ``shown`` has the representative of each vertex."""
    for kind in forest.schema.types[1:]:  # parents before children
        vertices = np.flatnonzero(forest.type == kind.index)
        shown[vertices[shown[forest.parent[vertices]] < 0]] = SUPPRESSED


def suppression_cost(forest: Forest, scope: Scope, classes: NDArray[np.int64]) -> tuple[int, int]:
    """Return the number of rows without a class, then the loss of the others: less is better."""
    return int((classes == SUPPRESSED).sum()), int(losses_of(forest, scope, classes).sum())


def join_losses(
    low: NDArray[np.int32], high: NDArray[np.int32], losses: NDArray[np.int64]
) -> NDArray[np.int64]:
    """Return the loss of the join of each ``low`` with each ``high``: that of their deepest common entry."""
    lost = np.zeros((len(low), len(high)), np.int64)
    for of_low, of_high in zip(low.T, high.T, strict=True):
        shared = (of_low[:, None] == of_high[None, :]) & (of_low >= 0)[:, None]
        lost = np.where(shared, losses[of_low][:, None], lost)
    return lost


def mark_repeated(scope: Scope, classes: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Mark the rows whose class has an earlier row of the same record."""
    repeated: NDArray[np.bool_] = classes != SUPPRESSED
    rows = np.flatnonzero(repeated)
    keys = classes[rows] * (int(scope.records.max(initial=0)) + 1) + scope.records[rows]
    repeated[rows[np.unique(keys, return_index=True)[1]]] = False
    return repeated


def partition_of(
    forest: Forest,
    scope: Scope,
    classes: NDArray[np.int64],
    costs: Counter[str],
    reason: str = "",
    published: NDArray[np.int32] | None = None,
) -> Partition:
    """Build the partition of a scope into classes.

    The first member of a class is its representative, published by the nodes ``published`` of the class, or
    by the joins of all members. Rows without a
    class are suppressed with their subtrees, and so are vertices of the type that are not in the scope.
    Every other vertex is its own representative.
    """
    classes = dense(classes)
    kept = np.flatnonzero(classes != SUPPRESSED)
    vertices = scope.vertices[kept]
    first = np.empty(int(classes.max(initial=SUPPRESSED)) + 1, np.int64)
    first[classes[kept][::-1]] = vertices[::-1]  # the last assignment wins: the first member

    of_type = np.flatnonzero(forest.type == scope.kind)
    class_of = np.full(len(of_type), SUPPRESSED, np.int64)
    class_of[scope.rows] = classes
    representative = np.arange(forest.vertex_count)
    representative[of_type] = SUPPRESSED
    representative[vertices] = first[classes[kept]]
    suppress_below(forest, representative)
    hierarchies = forest.hierarchies[scope.kind]
    nodes = forest.nodes.copy()
    entries = forest.first_node[first][:, None] + np.arange(len(hierarchies))
    nodes[entries] = joins(hierarchies, nodes_of(forest, scope), classes) if published is None else published
    return Partition(class_of, representative, nodes, costs, scope.kind, reason)


def unaccepted_cost(scope: Scope) -> str:
    """Return the name of the cost that counts the rows of a scope that no class accepts."""
    return "vertices_that_no_class_accepts" if scope.kind else "records_that_no_class_accepts"


def members_of(classes: NDArray[np.int64]) -> list[NDArray[np.int64]]:
    """Return the rows of each class, ascending."""
    sizes = class_sizes(classes)
    return np.split(rows_by_class(classes), np.cumsum(sizes)[:-1]) if len(sizes) else []


def rows_by_class(classes: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the rows that have a class, ordered by class."""
    order = np.argsort(classes, kind="stable")
    return order[np.count_nonzero(classes == SUPPRESSED) :]


def _columns(values: NDArray[np.int32], first: NDArray[np.int64], count: int) -> NDArray[np.int32]:
    columns: NDArray[np.int32] = values[first[:, None] + np.arange(count)]
    return columns


class RowLine(NamedTuple):
    """The rows of a scope by the places of their nodes, in the layout of compiled code.

    The place of a node is its position in depth-first order among the nodes that occur at a quasi-identifier.
    The join of some nodes is the join of the two at their least and their greatest place.
    """

    places: NDArray[np.int32]  # [row, quasi-identifier]
    first: NDArray[np.int64]  # [quasi-identifiers + 1]: the row of ``above`` where its places begin
    above: NDArray[np.int32]  # [first + place, depth]: the node's ancestors, -1 where the path has no entry
    losses: NDArray[np.int64]  # [node, over all hierarchies]: LM' as an integer (``summable``)

    @classmethod
    def of(cls, forest: Forest, scope: Scope) -> RowLine:
        """Build the line of the rows of a scope."""
        hierarchies, losses = forest.hierarchies[scope.kind], forest.losses[scope.kind]
        nodes = nodes_of(forest, scope)
        places = np.empty(nodes.shape, np.int32)
        above: list[NDArray[np.int32]] = []
        first = [0]
        nodes_before = 0
        depth = max((len(tree.ancestors[0]) for tree in hierarchies), default=1)
        for column, tree in enumerate(hierarchies):
            occurring, where = np.unique(nodes[:, column], return_inverse=True)
            in_order = depth_first(tree, occurring.tolist())
            place_of = np.empty(len(occurring), np.int32)
            place_of[in_order] = np.arange(len(occurring))
            places[:, column] = place_of[where.ravel()]
            rows = np.full((len(occurring), depth), MISSING, np.int32)
            entries = np.array([tree.ancestors[node] for node in occurring[in_order].tolist()], np.int32)
            entries = entries.reshape(len(occurring), len(tree.ancestors[0]))
            rows[:, : entries.shape[1]] = np.where(entries < 0, MISSING, entries + nodes_before)
            above.append(rows)
            first.append(first[-1] + len(occurring))
            nodes_before += len(tree.labels)
        fitting = summable(losses, len(nodes))
        return cls(
            places,
            np.array(first, np.int64),
            np.concatenate([*above, np.zeros((1, depth), np.int32)]),
            np.concatenate([*fitting, np.zeros(1, np.int64)]),
        )


def depth_first(tree: Hierarchy, nodes: Sequence[int]) -> list[int]:
    """Return the positions of the nodes in depth-first order; a node comes before what it generalizes.

    The join of nodes is the join of the first and the last of them in this order. Numbers and dates, whose
    finest nodes ascend, keep their own order, since levels need not nest: a bin that holds both ends holds
    everything in between.
    """
    if tree.axis is not None:
        return sorted(range(len(nodes)), key=nodes.__getitem__)
    return sorted(range(len(nodes)), key=lambda position: tree.ancestors[nodes[position]])

"""The rows of a scope as a table, what a class of them publishes, and the partition that they make."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from hierdata.domains.base import Hierarchy
from hierdata.forest.forest import Forest, Scope
from hierdata.forest.partition import SUPPRESSED, Partition

_BITS = 63


def nodes_of(forest: Forest, scope: Scope) -> NDArray[np.int32]:
    """The hierarchy nodes of the rows: one line a row, one column a quasi-identifier."""
    return _columns(forest.nodes, forest.first_node[scope.vertices], len(forest.hierarchies[scope.kind]))


def codes_of(forest: Forest, scope: Scope) -> NDArray[np.int32]:
    """The codes of the rows' sensitive values, MISSING among them: one column a sensitive attribute."""
    return _columns(forest.sensitive, forest.first_sensitive[scope.vertices], len(forest.domains[scope.kind]))


def classes_of(partition: Partition, scope: Scope) -> NDArray[np.int64]:
    """The classes that an earlier step gave the rows of a scope."""
    classes: NDArray[np.int64] = partition.class_of[scope.rows]
    return classes


def dense(classes: NDArray[np.int64]) -> NDArray[np.int64]:
    """The same classes numbered from 0 without gaps, in their order."""
    kept = classes != SUPPRESSED
    numbered = np.full(len(classes), SUPPRESSED, np.int64)
    numbered[kept] = np.unique(classes[kept], return_inverse=True)[1]
    return numbered


def dissolved(classes: NDArray[np.int64], failing: NDArray[np.bool_]) -> NDArray[np.int64]:
    """The classes without those that fail, numbered anew; rows of these have no class."""
    kept = classes != SUPPRESSED
    kept[kept] = ~failing[classes[kept]]
    return dense(np.where(kept, classes, SUPPRESSED))


def class_sizes(classes: NDArray[np.int64]) -> NDArray[np.int64]:
    """The number of rows of each class."""
    return np.bincount(classes[classes != SUPPRESSED]).astype(np.int64)


def joins(
    hierarchies: Sequence[Hierarchy], nodes: NDArray[np.int32], classes: NDArray[np.int64]
) -> NDArray[np.int32]:
    """The least node that generalizes all rows of a class: one line a class, one column a quasi-identifier.

    That is the deepest entry that the ancestors of all of them share. O(rows x depth) beside one sort.
    """
    order = by_class(classes)
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


def numbered(hierarchies: Sequence[Hierarchy]) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """The ancestors of the nodes of all hierarchies under one numbering, and each one's first number."""
    counts = [len(tree.ancestors) for tree in hierarchies]
    first = np.cumsum([0, *counts])[:-1].astype(np.int32)
    depth = max((len(tree.ancestors[0]) for tree in hierarchies), default=1)
    ancestors = np.full((sum(counts), depth), -1, np.int32)
    for at, tree in zip(first.tolist(), hierarchies, strict=True):
        own = np.array(tree.ancestors, np.int32)
        ancestors[at : at + len(own), : own.shape[1]] = np.where(own >= 0, own + at, -1)
    return first, ancestors


def summable(losses: Sequence[NDArray[np.int64]], rows: int) -> list[NDArray[np.int64]]:
    """LM' by node and quasi-identifier, of which the sum over all rows fits into 64 bits.

    Where it would not, low bits are dropped: losses steer the search and promise nothing.
    """
    dropped = bits_over(rows * sum(int(own.max()) for own in losses))
    return [own >> dropped for own in losses]


def bits_over(most: int) -> int:
    """How many low bits must go so that a number of this size fits into 64 bits with a sign."""
    return max(0, most.bit_length() - _BITS)


def losses_of(forest: Forest, scope: Scope, classes: NDArray[np.int64]) -> NDArray[np.int64]:
    """What publishing each class loses: rows times LM' of the nodes that generalize all of it, summed."""
    published = joins(forest.hierarchies[scope.kind], nodes_of(forest, scope), classes)
    lost = np.zeros(len(published), np.int64)
    for column, losses in enumerate(summable(forest.losses[scope.kind], len(classes))):
        lost += losses[published[:, column]]
    return lost * class_sizes(classes)


def partition_of(
    forest: Forest, scope: Scope, classes: NDArray[np.int64], costs: Counter[str], reason: str = ""
) -> Partition:
    """The partition of a scope into classes.

    The first member of a class represents it, with the nodes that generalize all members. Rows without a
    class are suppressed with all that lies below them, and so are vertices of the type that are not in the
    scope. Every other vertex represents itself.
    """
    classes = dense(classes)
    kept = np.flatnonzero(classes != SUPPRESSED)
    vertices = scope.vertices[kept]
    first = np.empty(int(classes.max(initial=SUPPRESSED)) + 1, np.int64)
    first[classes[kept][::-1]] = vertices[::-1]  # of several entries the last stands: the first member's

    of_type = np.flatnonzero(forest.type == scope.kind)
    class_of = np.full(len(of_type), SUPPRESSED, np.int64)
    class_of[scope.rows] = classes
    representative = np.arange(forest.vertex_count)
    representative[of_type] = SUPPRESSED
    representative[vertices] = first[classes[kept]]
    for kind in forest.schema.types[1:]:  # parents before children
        own = np.flatnonzero(forest.type == kind.index)
        representative[own[representative[forest.parent[own]] < 0]] = SUPPRESSED

    hierarchies = forest.hierarchies[scope.kind]
    nodes = forest.nodes.copy()
    at = forest.first_node[first][:, None] + np.arange(len(hierarchies))
    nodes[at] = joins(hierarchies, nodes_of(forest, scope), classes)
    return Partition(class_of, representative, nodes, costs, scope.kind, reason)


def unaccepted(scope: Scope) -> str:
    """The cost that counts the rows of a scope which no class accepts."""
    return "vertices_that_no_class_accepts" if scope.kind else "records_that_no_class_accepts"


def members_of(classes: NDArray[np.int64]) -> list[NDArray[np.int64]]:
    """The rows of each class, ascending."""
    sizes = class_sizes(classes)
    return np.split(by_class(classes), np.cumsum(sizes)[:-1]) if len(sizes) else []


def by_class(classes: NDArray[np.int64]) -> NDArray[np.int64]:
    """The rows that have a class, class after class."""
    order = np.argsort(classes, kind="stable")
    return order[np.count_nonzero(classes == SUPPRESSED) :]


def _columns(values: NDArray[np.int32], first: NDArray[np.int64], count: int) -> NDArray[np.int32]:
    columns: NDArray[np.int32] = values[first[:, None] + np.arange(count)]
    return columns

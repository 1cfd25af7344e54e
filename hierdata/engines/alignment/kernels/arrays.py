"""The arrays that the compiled alignment reads, and its working memory."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

(
    KIND, FIRST_CHILD, CHILD_COUNT, WEIGHT, OWN, QUASI_COUNT, SLOT_COUNT, POOL_FIRST, POOL_COUNT,
    FIRST_NODE,
) = range(10)  # fmt: skip
"""Columns of a vertex row: vertex type; row of the first child and number of children; weights of the subtree
and of the vertex itself, which suppression loses; number of its nodes; number of caps on the vertex (slots);
first row and number of rows of its pool. Its nodes begin at FIRST_NODE (-1 if it has none), its groups at
``first_slot``. There is a node for each quasi-identifier. A vertex that has none, but a weight, has a single
node of its type: the only one of its hierarchy, where publishing loses nothing.

A pool are siblings of one type that look alike whatever happens, and whose caps count the records that show
a group at any of them. POOL_COUNT is 0 for other types, whose caps count the values of each vertex. In a
representative only the first row of a pool has its number of rows; that of the others is above 0.

A row of a record has one group for each slot, -1 for a missing value. A row of a class representative has
``size`` groups for each slot, one for each member. Nodes are numbered over all hierarchies, groups over all
caps."""

CAP, LOW, HIGH, SHOWN, LAST, CAP_COLUMNS = range(6)
"""Columns of a cap: the largest number of values at one vertex of a class in the groups LOW to HIGH, or of
records that show one of them at a pool. SHOWN and LAST are working memory of ``vertices.full_of`` and 0
between calls: the members that show the group, and the last of them, counted from 1."""

(
    ROW_WORTH, COLUMN_WORTH, ROW_OF, COLUMN_OF, DISTANCE, FROM, REACHED, WAITING, MATE, GAIN, LEFT, OTHERS,
    STUCK, DEGREE, GROUPS, ROOM, ELDER, YOUNGER, DESK,
) = range(19)  # fmt: skip
"""Rows of a desk, the working memory of a matching.

Used by ``assignment.match``: ROW_WORTH and COLUMN_WORTH are the dual potentials; ROW_OF and COLUMN_OF the
matching (-1 for none); DISTANCE is the length of the shortest path to a column and FROM the row before it;
REACHED lists columns in the order in which they were reached, WAITING rows without a column; DEGREE is the
number of edges of a row.

Used by ``leaves``: MATE is the partner of each vertex of the first list (-1 for none) and GAIN the gain of
the pair; LEFT lists vertices without a partner, OTHERS holds positions temporarily; STUCK marks vertices
whose free partners are all ruled out by caps. For the second list GROUPS holds the groups as bits
(``vertices.full_of``) and ROOM the least cap on them.

Used by ``price_families``: ELDER and YOUNGER are the numbers of the two children of each vertex of the second
list."""

MASK, STAMP, HELD = range(3)
"""Columns of ``Scratch.full``."""


class Settings(NamedTuple):
    """The scalars of an alignment."""

    pairing: int  # how children are paired: GREEDY, BENEFIT or OPTIMAL of ``anonytree``
    scale: int  # factor that makes losses integers
    first_slot: int  # column of the first slot in a vertex row
    long: int  # lists of one type of which both have more vertices are matched by candidates
    aligner: int  # address of the code that aligns (``anonytree.aligner``), valid in this process only


class Rules(NamedTuple):
    """The losses of pairs of vertices, and the caps on classes.

    ``pair_losses[pair_row[a] + b]`` is the loss of the join of nodes a and b. If the hierarchy is too large
    for such a table, ``pair_row[a]`` is -1 and the join is searched in ``ancestors``.

    A class that holds a value of a group at a vertex may hold at most CAP values there in the groups from LOW
    to HIGH, which include the group itself. The relation is symmetric: if g is in the range of h, h is in the
    range of g.
    """

    pair_row: NDArray[np.int64]  # [node]
    pair_losses: NDArray[np.int64]  # twice the loss times the scale
    caps: NDArray[np.int64]  # [group, column of a cap]
    losses: NDArray[np.int64]  # [node]: twice the loss times the scale
    ancestors: NDArray[np.int32]  # [node, depth]: -1 where the node's path has no entry
    nests: NDArray[np.bool_]  # [node]: its hierarchy is a tree in which losses never grow downwards


class Scratch(NamedTuple):
    """Working memory of the alignment. Sets of trees are bits, 64 in a word.

    ``full`` caches the results of ``vertices.full_of``: MASK is the result for a vertex of the
    representative, STAMP the number of the alignment in which it was computed. In the last row MASK is the
    part that is the same for all vertices, STAMP the number of the current alignment, which does not change
    while HELD is 1.
    """

    mates: NDArray[np.int64]  # [depth, i]: partner of the i-th tree of the first list, -1 for none
    free: NDArray[np.uint64]  # [depth, word]: trees without a partner
    unseen: NDArray[np.uint64]  # [depth, word]: free trees that the current tree has not been compared with
    under: NDArray[np.uint64]  # [node, word]: trees below a node; empty between calls
    partners: NDArray[np.int64]  # [depth, i, edge]: possible partners of the i-th tree, for the assignment
    gains: NDArray[np.int64]  # [depth, i, edge]: gain of the pair
    near: NDArray[np.uint64]  # [depth, i, word]: trees that the i-th has yet to be compared with
    desk: NDArray[np.int64]  # [depth, row of a desk, position]
    frames: NDArray[np.int64]  # [depth, column]: variables saved while children are aligned
    full: NDArray[np.int64]  # [vertex and one row more, (MASK, STAMP, HELD)]
    prices: NDArray[np.int64]  # [3, position]: gains of a vertex and its two children (``price_families``)


class Lists(NamedTuple):
    """Two lists of sibling trees in consecutive rows: of the representative, and of the record."""

    first_a: int
    count_a: int
    first_b: int
    count_b: int


class Sides(NamedTuple):
    """The representative of a class of ``size`` records, the records, and how the two are aligned."""

    size: int
    settings: Settings
    work: Scratch
    rep: NDArray[np.int32]  # [vertex, column]
    rows: NDArray[np.int32]  # [vertex, column]
    rules: Rules


class AlignmentArrays(NamedTuple):
    """The records of a forest, and the rules and the working memory for aligning them."""

    settings: Settings
    work: Scratch
    roots: NDArray[np.int64]  # [records + 1]: row of the record's root
    rows: NDArray[np.int32]  # [vertex, column]
    rules: Rules


def scratch(depth: int, children: int, vertices: int, nodes: int, frame: int, assigning: bool) -> Scratch:
    """Allocate working memory for trees of at most this depth, vertices, and children of one vertex.

    ``nodes`` is the number of nodes of all hierarchies, ``frame`` the number of columns of a frame. Without
    ``assigning`` the arrays of optimal pairing are empty.
    """
    children = max(children, 1)
    words = (children + 63) // 64
    pairs = (depth + 1, children, children) if assigning else (depth + 1, 0, 0)
    return Scratch(
        mates=np.empty((depth + 1, children), np.int64),
        free=np.empty((depth + 1, words), np.uint64),
        unseen=np.empty((depth + 1, words), np.uint64),
        under=np.zeros((nodes, words), np.uint64),
        partners=np.empty(pairs, np.int64),
        gains=np.empty(pairs, np.int64),
        near=np.empty((depth + 1, children, words), np.uint64),
        desk=np.empty((depth + 1, DESK, children), np.int64),
        frames=np.empty((depth + 1, frame), np.int64),
        full=np.zeros((vertices + 1, 3), np.int64),
        prices=np.empty((3, vertices + 1 if assigning else 0), np.int64),
    )

"""The arrays that the compiled alignment reads, in the order of its arguments."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

KIND, FIRST_CHILD, CHILD_COUNT, WEIGHT, BELOW, QUASI_COUNT, SLOT_COUNT, FIRST_NODE = range(8)
"""Columns of a vertex row: vertex type, row of the first child, children, quasi-identifiers in the
subtree and those below the vertex, its own quasi-identifiers, the caps on it (slots); from FIRST_NODE on its
nodes (-1 if it has none), from ``first_slot`` on its groups.

A row of a record has one group for each slot, -1 for a missing value; a row of a class representative has
``size`` entries for each, one a member. Nodes are numbered over all hierarchies, groups over all caps."""

CAP, LOW, HIGH = range(3)
"""Columns of a cap: how many values a class may hold at one vertex among the groups LOW to HIGH."""

(
    ROW_WORTH, COLUMN_WORTH, ROW_OF, COLUMN_OF, DISTANCE, FROM, REACHED, WAITING, MATE, GAIN, LEFT, OTHERS,
    STUCK, DEGREE, GROUPS, ROOM, ELDER, YOUNGER, DESK,
) = range(19)  # fmt: skip
"""Rows of a desk, the working memory of a matching. Of ``assignment.match``: what a row and a column are
worth (their potentials), who is matched with whom (-1 nobody), how far a column is from the row that looks
for one, the row it is reached from, columns in the order in which they were reached, rows without a column,
how many columns a row may have.
Of ``leaves``: the partner of each of the first list (-1 nobody) and what the pair gains, those still without
one, positions put aside, who was left beside a free partner that no cap lets it have; of the second list the
groups as bits (``vertices.full_of``), and the least cap on them. Of ``pricing``: the two children of each of
the second list."""

MASK, STAMP, HELD = range(3)
"""Columns of ``Scratch.full``; see there."""


class Settings(NamedTuple):
    """How children are paired, what LM' is multiplied by, and the column of the first slot.

    ``aligner`` is the address of the code that aligns (``anonytree.aligner``), of this process only.
    """

    pairing: int
    scale: int
    first_slot: int
    aligner: int


class Rules(NamedTuple):
    """What a pair of vertices may cost and hold.

    ``losses[node]`` is twice LM' times the scale. ``pair_losses[pair_row[a] + b]`` is the loss of the join
    of nodes a and b; ``pair_row[a]`` is -1 where the hierarchy is too large for a table and the join is
    searched in ``ancestors``. ``caps[group]`` bounds what a class that holds a value of the group may hold
    at one vertex among the groups from LOW to HIGH, its own among them; LOW and HIGH are symmetric.
    ``nests[node]`` tells whether the node's hierarchy is a tree in which no node costs more than those above.
    """

    pair_row: NDArray[np.int64]
    pair_losses: NDArray[np.int64]
    caps: NDArray[np.int64]
    losses: NDArray[np.int64]
    ancestors: NDArray[np.int32]
    nests: NDArray[np.bool_]


class Scratch(NamedTuple):
    """Working memory of the alignment, by depth.

    ``mates[depth, i]`` is the partner of the i-th tree of the first list; ``free`` and ``unseen`` are sets
    of trees as bits, 64 a word; ``under[node]`` is the set of those below a node, empty between calls;
    The optimal assignment works on ``desk`` and reads by row of the first list ``partners`` and what they
    gain, ``gains``; ``near`` holds the sets of those that have yet to be looked at. ``frames`` is what is put
    aside while children are aligned. ``full`` is the memory of ``vertices.full_of``: what it has found of a
    vertex of the representative and in which alignment; the last row holds what is true of all, and the
    alignment's number, which stays for as long as HELD is 1 there. ``prices`` is that of ``pricing``: what a
    vertex gains with each of a list, and its children with theirs.
    """

    mates: NDArray[np.int64]
    free: NDArray[np.uint64]
    unseen: NDArray[np.uint64]
    under: NDArray[np.uint64]
    partners: NDArray[np.int64]
    gains: NDArray[np.int64]
    near: NDArray[np.uint64]
    desk: NDArray[np.int64]
    frames: NDArray[np.int64]
    full: NDArray[np.int64]
    prices: NDArray[np.int64]


class AlignmentArrays(NamedTuple):
    """The records of a forest, and all that aligning them needs."""

    settings: Settings
    work: Scratch
    roots: NDArray[np.int64]  # [records + 1]: the row of the record's root
    rows: NDArray[np.int32]  # [vertex, column]
    rules: Rules


def scratch(depth: int, children: int, vertices: int, nodes: int, frame: int, assigning: bool) -> Scratch:
    """Working memory for trees of this depth with at most this many vertices, and children of one of them."""
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

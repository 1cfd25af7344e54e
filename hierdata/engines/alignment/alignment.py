"""Pack a forest and its constraints for the compiled alignment, with the working memory that it needs."""

from __future__ import annotations

from itertools import accumulate, chain
from math import ceil, floor
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from hierdata.engines.alignment.kernels import anonytree
from hierdata.engines.alignment.kernels.arrays import (
    CAP,
    CAP_COLUMNS,
    FIRST_NODE,
    HIGH,
    KIND,
    POOL_COUNT,
    POOL_FIRST,
    SLOT_COUNT,
    AlignmentArrays,
    Rules,
    Settings,
    scratch,
)
from hierdata.engines.alignment.kernels.lower_bounds import CappedValues
from hierdata.engines.alignment.kernels.representative import ClassBuffers, pair_losses_to
from hierdata.engines.alignment.kernels.vertices import FEW_GROUPS
from hierdata.engines.base import Constraints
from hierdata.forest.forest import MISSING, Forest, look_up
from hierdata.privacy.base import FrequencyCaps

_LARGEST_PAIR_TABLE = 1 << 20  # pairs of nodes; 8 MiB

Caps = list[list[tuple[int, int, FrequencyCaps]]]
"""By vertex type: position of the sensitive attribute, number of the cap's first group, cap."""


def share_caps(constraints: Constraints) -> Caps:
    """Return all share caps, with their groups numbered consecutively."""
    caps: Caps = []
    first = 0
    for kind in range(len(constraints.on_values)):
        caps.append([])
        for position, cap in constraints.caps(kind):
            caps[-1].append((position, first, cap))
            first += len(cap.share)
    return caps


def first_nodes(forest: Forest) -> list[list[int]]:
    """Return the first node of each quasi-identifier, by type, in one numbering over all hierarchies."""
    ends = iter(accumulate((len(tree.labels) for tree in chain.from_iterable(forest.hierarchies)), initial=0))
    return [[next(ends) for _ in trees] for trees in forest.hierarchies]


def constant_nodes(forest: Forest) -> dict[int, int]:
    """Return the single node of vertices that have a weight and no quasi-identifier, by vertex type.

    They are numbered after those of all hierarchies.
    """
    count = sum(len(tree.labels) for tree in chain.from_iterable(forest.hierarchies))
    kinds = (kind for kind in forest.constants if not forest.hierarchies[kind])
    return {kind: count + position for position, kind in enumerate(kinds)}


def write_nodes(
    forest: Forest,
    first: list[list[int]],
    rows: NDArray[np.int32],
    vertices: NDArray[np.int64],
    nodes: NDArray[np.int32],
) -> None:
    """Write the nodes of a class representative to those of the vertices that it is published as.

    ``rows`` are the representative's vertex rows, ``vertices[i]`` is the vertex of ``rows[i]``, ``nodes`` is
    in the layout of ``Forest.nodes`` and ``first`` is as ``first_nodes`` returns it.
    """
    for kind, starts in enumerate(first):
        of_kind = np.flatnonzero(rows[:, KIND] == kind)
        for position, start in enumerate(starts):
            nodes[forest.first_node[vertices[of_kind]] + position] = (
                rows[of_kind, FIRST_NODE + position] - start
            )


def pack_rows(forest: Forest, caps: Caps) -> tuple[NDArray[np.int32], int]:
    """Build the vertex rows of ``kernels.arrays``; also return the column of the first slot."""
    constant = constant_nodes(forest)
    quasi_counts = np.array(
        [len(of_kind) or kind in constant for kind, of_kind in enumerate(forest.hierarchies)], np.int32
    )
    slot_counts = np.array([len(of_kind) for of_kind in caps], np.int32)
    first_slot = FIRST_NODE + int(quasi_counts.max(initial=1))
    rows = np.zeros((forest.vertex_count, first_slot + int(slot_counts.max(initial=0))), np.int32)
    columns = (
        forest.type,
        forest.first_child,
        forest.child_count,
        forest.weight,
        forest.own_weight,
        quasi_counts[forest.type],
        slot_counts[forest.type],
        np.zeros(forest.vertex_count, np.int64),
        np.zeros(forest.vertex_count, np.int64),
    )
    rows[:, :FIRST_NODE] = np.stack(columns, axis=1)
    rows[:, FIRST_NODE] = MISSING
    for kind, node in constant.items():
        rows[forest.type == kind, FIRST_NODE] = node
    for kind in _find_pooled(forest, caps):
        vertices = np.flatnonzero(forest.type == kind)
        _, heads, pool, sizes = np.unique(
            forest.parent[vertices], return_index=True, return_inverse=True, return_counts=True
        )
        rows[vertices, POOL_FIRST] = vertices[heads][pool.ravel()]
        rows[vertices, POOL_COUNT] = sizes[pool.ravel()]
    for kind, starts in enumerate(first_nodes(forest)):
        vertices = np.flatnonzero(forest.type == kind)
        for position, start in enumerate(starts):
            rows[vertices, FIRST_NODE + position] = (
                forest.nodes[forest.first_node[vertices] + position] + start
            )
        for slot, (position, first, cap) in enumerate(caps[kind]):
            codes = forest.sensitive[forest.first_sensitive[vertices] + position]
            group_of = [first + group for group in cap.group_of]
            rows[vertices, first_slot + slot] = look_up(group_of, codes)
    return rows, first_slot


def _find_pooled(forest: Forest, caps: Caps) -> list[int]:
    """Return the vertex types whose siblings look alike, and whose caps all count the records of a pool."""
    return [
        kind.index
        for kind in forest.schema.types[1:]
        if not forest.hierarchies[kind.index]
        and caps[kind.index]
        and all(cap.of_records for _, _, cap in caps[kind.index])
    ]


def pack_rules(forest: Forest, caps: Caps, size: int) -> Rules:
    """Pack losses by node and by pair, and the largest count of each group in a class of ``size`` records."""
    trees = [np.array(tree.ancestors, np.int32) for tree in chain.from_iterable(forest.hierarchies)]
    losses = [2 * loss for loss in chain.from_iterable(forest.losses)]
    for _ in constant_nodes(forest):
        trees.append(np.zeros((1, 1), np.int32))
        losses.append(np.zeros(1, np.int64))
    depth = max((above.shape[1] for above in trees), default=1)
    node_count = sum(len(loss) for loss in losses)
    ancestors = np.full((node_count, depth), MISSING, np.int32)
    pair_row = np.full(node_count, MISSING, np.int64)
    nests = np.zeros(node_count, np.bool_)
    tables = [np.zeros(node_count, np.int64)]  # keeps pair_row at 0 or more, as it subtracts ``start``
    start, filled = 0, node_count
    for above, loss in zip(trees, losses, strict=True):
        count = len(loss)
        ancestors[start : start + count, : above.shape[1]] = np.where(above < 0, MISSING, above + start)
        nests[start : start + count] = _nests(above, loss)
        if count * count <= _LARGEST_PAIR_TABLE:
            tables.append(loss[_join_table(above)].ravel())
            pair_row[start : start + count] = filled + count * np.arange(count) - start
            filled += count * count
        start += count
    return Rules(
        pair_row=pair_row,
        pair_losses=np.concatenate(tables),
        caps=pack_caps(caps, size),
        losses=np.concatenate([*losses, np.zeros(0, np.int64)]),
        ancestors=ancestors,
        nests=nests,
    )


def _nests(ancestors: NDArray[np.int32], losses: NDArray[np.int64]) -> bool:
    """Return whether values that share a node share all nodes above, and losses never fall upwards."""
    for level in range(1, ancestors.shape[1]):
        nodes = np.flatnonzero(ancestors[:, level] >= 0)
        shared = ancestors[nodes, level]
        for higher in range(level):
            above = ancestors[nodes, higher]
            if np.any(above != ancestors[shared, higher]) or np.any(
                (losses[above] < losses[shared])[above >= 0]
            ):
                return False
    return True


def pack_caps(caps: Caps, size: int) -> NDArray[np.int64]:
    """Return by group the cap in a class of ``size``, min(floor(size * share), most), and its reach."""
    packed = np.zeros((sum(len(cap.share) for _, _, cap in chain.from_iterable(caps)), CAP_COLUMNS), np.int64)
    for _, first, cap in chain.from_iterable(caps):
        for group, count in enumerate(cap.largest_counts(size)):
            low, high = (group, group) if cap.reach is None else cap.reach[group]
            packed[first + group, : HIGH + 1] = count, first + low, first + high
    return packed


def pack_values(forest: Forest, caps: Caps, rows: NDArray[np.int32], first_slot: int) -> CappedValues:
    """Count the values of each record that caps count, by group, and its vertices by type."""
    kinds = len(forest.schema.types)
    slots = [
        (kind, first, first + len(cap.share))
        for kind, of_kind in enumerate(caps)
        for _, first, cap in of_kind
    ]
    groups = max((stop for _, _, stop in slots), default=0)
    if groups > FEW_GROUPS:
        slots, groups = [], 0
    counts = np.zeros((forest.record_count, groups), np.int32)
    for slot in range(rows.shape[1] - first_slot if groups else 0):
        there = (rows[:, SLOT_COUNT] > slot) & (rows[:, first_slot + slot] >= 0)
        np.add.at(counts, (forest.record_of[there], rows[there, first_slot + slot]), 1)
    vertices = np.zeros((forest.record_count, kinds), np.int32)
    np.add.at(vertices, (forest.record_of, forest.type), 1)
    over, under = np.zeros((2, forest.record_count), np.int64)
    for kind, of_kind in enumerate(caps if groups else ()):
        for _, first, cap in of_kind:
            lengths, of = np.unique(vertices[:, kind], return_inverse=True)
            for group, share in enumerate(cap.share):
                most = np.array([floor(share * length) for length in lengths.tolist()])[of]
                least = np.array([ceil(share * length) for length in lengths.tolist()])[of]
                over |= (counts[:, first + group] > most).astype(np.int64) << (first + group)
                under |= (counts[:, first + group] < least).astype(np.int64) << (first + group)
    return CappedValues(
        over=over,
        under=under,
        counts=counts,
        vertices=vertices,
        slots=np.array(slots, np.int64).reshape(-1, 3),
        above=np.array([MISSING if each.parent is None else each.parent for each in forest.schema.types]),
        weights=forest.weight_by_type,
        open_=np.zeros(groups, np.int64),
        present=np.zeros(kinds, np.int64),
        pairs=np.zeros(kinds, np.int64),
    )


def find_unpaired(
    forest: Forest, rows: NDArray[np.int32], first_slot: int, caps: NDArray[np.int64]
) -> NDArray[np.bool_]:
    """Mark the vertices that no alignment pairs while these caps hold, as no class may have their value.

    Descendants of such a vertex are not paired either.
    """
    groups = rows[:, first_slot:]
    there = (groups >= 0) & (np.arange(groups.shape[1]) < rows[:, SLOT_COUNT, None])
    full = np.append(caps[:, CAP] < 1, False)  # the last entry is for no group
    unpaired: NDArray[np.bool_] = np.any(full[np.where(there, groups, MISSING)], axis=1)
    for kind in forest.schema.types[1:]:
        vertices = np.flatnonzero(forest.type == kind.index)
        unpaired[vertices] |= unpaired[forest.parent[vertices]]
    return unpaired


def _join_table(ancestors: NDArray[np.int32]) -> NDArray[np.int32]:
    """Return the join of every pair of nodes: the deepest common entry of their ancestor rows."""
    count, depth = ancestors.shape
    joins = np.zeros((count, count), np.int32)
    for level in range(depth):
        column = ancestors[:, level]
        shared = (column[:, None] == column[None, :]) & (column[:, None] >= 0)
        joins = np.where(shared, column[:, None], joins)
    return joins


Pairing: TypeAlias = Literal["greedy", "benefit", "optimal"]

_PAIRINGS = {"greedy": anonytree.GREEDY, "benefit": anonytree.BENEFIT, "optimal": anonytree.OPTIMAL}

LONG = 48
"""Two lists of one vertex type that are both longer are matched by candidates (``kernels.candidates``)."""


class Alignment:
    """Algorithm 1 (ML section 4) on the records of one forest, in classes of ``size`` records.

    Buffers hold classes of up to ``largest`` records; ``fit_caps`` sets the class size of the caps.
    """

    def __init__(
        self, forest: Forest, constraints: Constraints, size: int, pairing: Pairing, largest: int = 0
    ) -> None:
        caps = self._caps = share_caps(constraints)
        largest = max(largest, size)
        self.forest = forest
        self.rows, first_slot = pack_rows(forest, caps)
        self.rules = pack_rules(forest, caps, size)
        kind = _PAIRINGS[pairing]
        self.settings = Settings(kind, forest.scale, first_slot, LONG, anonytree.aligner(kind))
        vertices = int(np.diff(forest.roots).max(initial=1))
        self.scratch = scratch(
            depth=len(forest.schema.types),
            children=int(forest.child_count.max(initial=1)),
            vertices=vertices,
            nodes=len(self.rules.losses),
            frame=anonytree.FRAME,
            assigning=pairing == "optimal",
        )
        width = first_slot + max(map(len, caps), default=0) * largest
        rep, members = np.empty((vertices, width), np.int32), np.empty((largest, vertices), np.int64)
        queue = np.empty((vertices, 2), np.int64)
        self.buffers = ClassBuffers(rep, members, np.empty_like(rep), np.empty_like(members), queue)

    @property
    def arrays(self) -> AlignmentArrays:
        """The records and rules for compiled code."""
        return AlignmentArrays(self.settings, self.scratch, self.forest.roots, self.rows, self.rules)

    @property
    def representative(self) -> NDArray[np.int32]:
        """The rows of the representative of the class in the making."""
        return self.buffers.rep

    @property
    def members(self) -> NDArray[np.int64]:
        """By member, the vertices behind those of the representative."""
        return self.buffers.members

    def fit_caps(self, size: int) -> None:
        """Set the largest count of each group for a class of ``size`` records."""
        self.rules.caps[:] = pack_caps(self._caps, size)

    def pair_losses(self, record: int, others: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the loss of aligning each other record with this one: both trees, times the scale."""
        out = np.empty(len(others), np.int64)
        pair_losses_to(record, others, out, self.buffers, self.arrays)
        return out

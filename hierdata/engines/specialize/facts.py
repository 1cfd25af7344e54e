"""The facts of a collection by column: quasi-identifiers of a vertex type, or that its vertices are there."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from hierdata.engines.specialize.kernel_patterns import Asked, FactGroup, GroupWork, Row
from hierdata.forest.forest import Forest, concatenate_ranges
from hierdata.forest.nesting import NodeNesting, nest_nodes
from hierdata.ground.errors import InputError


@dataclass(frozen=True)
class Column(NodeNesting):
    """One quasi-identifier of a vertex type; ``position`` None: the presence of vertices that have none.

    ``losses`` has the loss of each node, ``full`` that of suppression. ``kept``: its values are not all left
    out at once.
    """

    kind: int
    position: int | None
    losses: NDArray[np.int64]
    full: int
    kept: bool = False

    @cached_property
    def upward(self) -> NDArray[np.int64]:
        """All nodes, the deepest first."""
        return np.argsort(-self.depths, kind="stable")

    @cached_property
    def chains(self) -> NDArray[np.int64]:
        """By depth, the ancestor of each node; -1 below its own depth."""
        most = int(self.depths.max(initial=0))
        chains = np.full((most + 1, len(self.parents)), -1, np.int64)
        node = np.arange(len(self.parents))
        above = node.copy()
        while (above >= 0).any():
            there = above >= 0
            chains[self.depths[above[there]], node[there]] = above[there]
            above = np.where(there, self.parents[above], -1)
        return chains


def columns_of(
    forest: Forest, *, counted: bool, kept: frozenset[tuple[int, int]] = frozenset()
) -> list[Column]:
    """Return the columns of all vertex types below the root, and of its sensitive values that are facts.

    ``counted``: of all values of the root. ``kept`` are types and sensitive attributes of which the values
    are not all left out at once.
    """
    columns = []
    weights = None if forest.sought is None else forest.sought.quasi
    for kind, trees in enumerate(forest.hierarchies):
        first = 0 if kind or counted else forest.own_widths[0]
        for position, tree in enumerate(trees[first:], first):
            weight = 1 if weights is None else weights[kind][position]
            nest = nest_nodes(tree)
            known = position - forest.own_widths[kind]
            columns.append(
                Column(
                    nest.parents,
                    nest.published,
                    nest.missing,
                    kind,
                    position,
                    forest.losses[kind][position],
                    weight * forest.scale,
                    known >= 0 and (kind, forest.facts[kind][known]) in kept,
                )
            )
        if not trees and kind:
            columns.append(
                Column(np.array([-1]), np.ones(1, np.bool_), -1, kind, None, np.zeros(1, np.int64), 0)
            )
    return columns


@dataclass(frozen=True)
class FactArrays:
    """All facts of a forest, in the order of vertices; ``column`` and raw ``node`` of each.

    ``first[v]`` is the first fact of vertex v, ``path`` and ``depth`` as in a FactGroup, over all vertices.
    ``removable`` tells which vertices may be removed.
    """

    forest: Forest
    columns: list[Column]
    first: NDArray[np.int64]
    owner: NDArray[np.int64]
    column: NDArray[np.int64]
    node: NDArray[np.int64]
    depth: NDArray[np.int64]
    path: NDArray[np.int32]
    removable: NDArray[np.bool_]

    @cached_property
    def record(self) -> NDArray[np.int64]:
        """The record of each fact."""
        return self.forest.record_of[self.owner]

    @cached_property
    def by_column(self) -> list[NDArray[np.int64]]:
        """The facts of each column."""
        order = np.argsort(self.column, kind="stable")
        return np.split(order, np.cumsum(np.bincount(self.column, minlength=len(self.columns)))[:-1])

    def count_occurrences(self, m: int) -> list[int]:
        """Return how many combinations of one fact, of two and so on up to m all records have."""
        counts = np.bincount(self.record, minlength=self.forest.record_count).astype(np.float64)
        occurrences = [counts]
        for q in range(2, m + 1):
            occurrences.append(occurrences[-1] * np.maximum(counts - q + 1, 0) / q)
        return [int(by_record.sum()) for by_record in occurrences]


def find_facts(forest: Forest, columns: list[Column], removable: frozenset[int]) -> FactArrays:
    """Find the facts of a forest; ``removable`` are the vertex types of which vertices may be removed."""
    kinds = len(forest.hierarchies)
    of_kind: list[list[int]] = [[] for _ in range(kinds)]
    for number, column in enumerate(columns):
        of_kind[column.kind].append(number)
    counts = np.array(list(map(len, of_kind)), np.int64)[forest.type]
    first = np.append(0, np.cumsum(counts))
    owner = np.repeat(np.arange(forest.vertex_count), counts)
    within = np.arange(len(owner)) - first[owner]
    starts = np.array([numbers[0] if numbers else 0 for numbers in of_kind], np.int64)
    column = starts[forest.type[owner]] + within
    node = np.zeros(len(owner), np.int64)
    for number, each in enumerate(columns):
        if each.position is not None:
            facts = np.flatnonzero(column == number)
            node[facts] = forest.nodes[forest.first_node[owner[facts]] + each.position]
    depth, path = _find_paths(forest)
    return FactArrays(
        forest, columns, first, owner, column, node, depth, path,
        np.isin(forest.type, np.array(sorted(removable), np.int64)),
    )  # fmt: skip


def _find_paths(forest: Forest) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
    depth_of = np.zeros(len(forest.schema.types), np.int64)
    for kind in forest.schema.types[1:]:
        depth_of[kind.index] = depth_of[kind.parent] + 1
    depth = depth_of[forest.type]
    path = np.full((forest.vertex_count, int(depth_of.max()) + 1), -1, np.int32)
    ancestor = np.arange(forest.vertex_count)
    vertices = ancestor.copy()
    while len(ancestor):
        path[vertices, depth[ancestor]] = ancestor
        above = forest.parent[ancestor]
        vertices, ancestor = vertices[above >= 0], above[above >= 0]
    return depth, path


_MOST_BITS = 62
_OCCURRENCES = 2**16
_CHANGES = 2**14


class GroupRecords:
    """Some records of a collection as the kernels need them, whatever the cut."""

    def __init__(self, facts: FactArrays, records: NDArray[np.int64]) -> None:
        forest = facts.forest
        self.facts = facts
        sizes = forest.roots[records + 1] - forest.roots[records]
        self.vertices = concatenate_ranges(forest.roots[records], sizes)
        self.first_vertex = np.append(0, np.cumsum(sizes))
        shift = np.repeat(self.first_vertex[:-1] - forest.roots[records], sizes)
        path = facts.path[self.vertices]
        self.path = np.where(path >= 0, path + shift[:, None], -1).astype(np.int32)
        self.depth = facts.depth[self.vertices]
        self.first_child = forest.first_child[self.vertices] + shift
        counts = facts.first[self.vertices + 1] - facts.first[self.vertices]
        self.first_fact = np.append(0, np.cumsum(counts))
        self.owner = np.repeat(np.arange(len(self.vertices)), counts)
        self.numbers = concatenate_ranges(facts.first[self.vertices], counts)
        self.record = np.repeat(np.arange(len(records)), sizes)[self.owner]
        constants = np.zeros(len(forest.hierarchies), np.int64)
        for kind, constant in forest.constants.items():
            constants[kind] = constant * forest.scale
        self.constant = constants[forest.type[self.vertices]]

    def group(self, cut: Sequence[NDArray[np.int64]]) -> tuple[FactGroup, NDArray[np.int64]]:
        """Return the group by a cut, ``cut[column][node]`` being the node that is published (0: absent).

        Also returns the published node of each fact.
        """
        facts = self.facts
        columns = facts.columns
        column, node = facts.column[self.numbers], facts.node[self.numbers]
        first = np.cumsum([0, *(len(each.parents) for each in columns)])
        published = np.concatenate([np.zeros(0, np.int64), *cut])[first[column] + node]
        losses = np.concatenate([np.zeros(0, np.int64), *(each.losses for each in columns)])
        is_value = np.array([each.position is not None for each in columns], np.bool_)[column]
        missing = np.array([each.missing for each in columns], np.int64)[column] == node
        absents = len(columns)
        gone = is_value & (published == 0)
        cells, numbers = np.unique((first[column] + published)[~gone], return_inverse=True)
        shown = column + 1
        shown[~gone] = absents + 1 + numbers.reshape(-1)
        absent = np.where(is_value, column + 1, shown)
        worth = np.zeros((len(column), 3), np.int64)
        worth[:, 0] = np.where(missing, 0, losses[first[column] + published])
        worth[:, 1] = np.where(missing, 0, losses[first[column]])
        worth[:, 2] = np.array([each.full for each in columns], np.int64)[column]
        labels = absents + 1 + len(cells)
        held = np.unique(shown * len(self.first_vertex) + self.record)
        group = FactGroup(
            self.first_vertex, self.path, self.depth, self.first_child,
            facts.forest.child_count[self.vertices], facts.removable[self.vertices], self.constant,
            self.first_fact, self.owner, shown.copy(), shown, absent, worth,
            np.searchsorted(held // len(self.first_vertex), np.arange(labels + 1)).astype(np.int64),
            held % len(self.first_vertex), np.ones(absents + 1),
        )  # fmt: skip
        return group, published


def bits_of(group: FactGroup) -> tuple[int, int]:
    """Return the bits of a label and of a depth. Raises InputError where keys have no room for them."""
    labels = len(group.first_holder).bit_length()
    depths = int(group.path.shape[1]).bit_length()
    if 3 * (labels + depths) > _MOST_BITS:
        raise InputError(
            f"{len(group.first_holder)} different values below the root at {group.path.shape[1]} depths are "
            "too many to tell combinations of three apart: state a coarser `keep` or `finest` there"
        )
    return labels, depths


def row_of(group: FactGroup) -> Row:
    """Return room for the facts of any record of a group."""
    counts = group.first_fact[group.first_vertex[1:]] - group.first_fact[group.first_vertex[:-1]]
    most = int(counts.max(initial=1))
    vertices = int(np.diff(group.first_vertex).max(initial=1))
    return Row(
        np.zeros(most, np.int64), np.zeros(most, np.int64), np.zeros((most, most), np.int64),
        np.zeros(len(group.first_holder) + 1, np.bool_), np.zeros(2, np.int64),
        np.zeros((1 << (2 * vertices).bit_length(), 3), np.int64),
    )  # fmt: skip


def start_work(group: FactGroup, asked: Asked) -> GroupWork:
    """Return a group and what is asked of it, with room for what is found in its records."""
    return GroupWork(
        group, asked, row_of(group), np.zeros((_OCCURRENCES, 6), np.int64), np.zeros(_CHANGES, np.int64)
    )


def records_of(group: FactGroup) -> NDArray[np.int64]:
    """Return the record of each fact."""
    facts = np.diff(group.first_fact[group.first_vertex])
    return np.repeat(np.arange(len(facts)), facts)

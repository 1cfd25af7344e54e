"""The facts of a collection by column: quasi-identifiers of a vertex type, or that its vertices are there."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from hierdata.forest.forest import Forest
from hierdata.forest.nesting import NodeNesting, nest_nodes


@dataclass(frozen=True)
class Column(NodeNesting):
    """One quasi-identifier of a vertex type; ``position`` None: the presence of vertices that have none.

    ``losses`` has the loss of each node, ``full`` that of suppression.
    """

    kind: int
    position: int | None
    losses: NDArray[np.int64]
    full: int

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
        at = node.copy()
        while (at >= 0).any():
            there = at >= 0
            chains[self.depths[at[there]], node[there]] = at[there]
            at = np.where(there, self.parents[at], -1)
        return chains


def columns_of(forest: Forest, *, counted: bool) -> list[Column]:
    """Return the columns of all vertex types below the root; ``counted``: of the root too."""
    columns = []
    weights = None if forest.sought is None else forest.sought.quasi
    for kind, own in enumerate(forest.hierarchies):
        if not kind and not counted:
            continue
        for position, tree in enumerate(own):
            weight = 1 if weights is None else weights[kind][position]
            nest = nest_nodes(tree)
            columns.append(
                Column(
                    nest.parents,
                    nest.published,
                    nest.missing,
                    kind,
                    position,
                    forest.losses[kind][position],
                    weight * forest.scale,
                )
            )
        if not own and kind:
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
        found = [counts]
        for q in range(2, m + 1):
            found.append(found[-1] * np.maximum(counts - q + 1, 0) / q)
        return [int(own.sum()) for own in found]


def find_facts(forest: Forest, columns: list[Column], removable: frozenset[int]) -> FactArrays:
    """Find the facts of a forest; ``removable`` are the vertex types of which vertices may be removed."""
    kinds = len(forest.hierarchies)
    own: list[list[int]] = [[] for _ in range(kinds)]
    for number, column in enumerate(columns):
        own[column.kind].append(number)
    counts = np.array(list(map(len, own)), np.int64)[forest.type]
    first = np.append(0, np.cumsum(counts))
    owner = np.repeat(np.arange(forest.vertex_count), counts)
    within = np.arange(len(owner)) - first[owner]
    starts = np.array([numbers[0] if numbers else 0 for numbers in own], np.int64)
    column = starts[forest.type[owner]] + within
    node = np.zeros(len(owner), np.int64)
    for number, one in enumerate(columns):
        if one.position is not None:
            facts = np.flatnonzero(column == number)
            node[facts] = forest.nodes[forest.first_node[owner[facts]] + one.position]
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
    at = np.arange(forest.vertex_count)
    vertices = at.copy()
    while len(at):
        path[vertices, depth[at]] = at
        above = forest.parent[at]
        vertices, at = vertices[above >= 0], above[above >= 0]
    return depth, path

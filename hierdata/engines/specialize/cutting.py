"""The cut of each taxonomy in each group, by a dynamic program over what deletion is expected to lose."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from hierdata.engines.specialize.columns import Column, FactArrays


@dataclass(frozen=True)
class Supports:
    """By column and depth: which records have which nodes, each pair once, and all occurrences.

    Prepared once; counting them by group is then linear.
    """

    facts: FactArrays

    @cached_property
    def pairs(self) -> list[list[tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]]]:
        """By column and depth the records, nodes and numbers of occurrences."""
        return [self._pairs_of(number, column) for number, column in enumerate(self.facts.columns)]

    def _pairs_of(
        self, number: int, column: Column
    ) -> list[tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]]:
        if column.position is None:
            return []
        own = self.facts.by_column[number]
        nodes = self.facts.node[own]
        there = nodes != column.missing
        records, nodes = self.facts.record[own][there], nodes[there]
        size = len(column.parents)
        found = []
        for chain in column.chains:
            above = chain[nodes]
            kept = above >= 0
            pairs, counts = np.unique(records[kept] * size + above[kept], return_counts=True)
            found.append((pairs // size, pairs % size, counts))
        return found


@dataclass(frozen=True)
class Cutter:
    """Finds cuts for k and m; a node of support s is expected to lose the share 1 / (1 + (s / tau)^2).

    ``whole``: all fields of a vertex are known together, so where it has more than m, their number takes the
    place of m.
    """

    supports: Supports
    k: int
    m: int
    whole: bool

    def lose(
        self, group_of: NDArray[np.int64], groups: int, factor: float
    ) -> tuple[NDArray[np.float64], list[NDArray[np.bool_]]]:
        """Return the expected loss of each group by the best cuts, and by column which nodes are cuts.

        ``group_of[record]`` is -1 for records in none.
        """
        sizes = np.bincount(group_of[group_of >= 0], minlength=groups).astype(np.float64)
        kinds = [column.kind for column in self.supports.facts.columns]
        total = np.zeros(groups)
        chosen = []
        for column, pairs in zip(self.supports.facts.columns, self.supports.pairs, strict=True):
            if column.position is None:
                chosen.append(np.zeros((groups, 1), np.bool_))
                continue
            known = max(self.m, kinds.count(column.kind)) if self.whole else self.m
            tau = factor * self.k ** (1 / known) * np.maximum(sizes, 1) ** (1 - 1 / known)
            width = len(column.parents)
            support = np.zeros(groups * width)
            occurrences = np.zeros(groups * width)
            for records, nodes, counts in pairs:
                group = group_of[records]
                kept = group >= 0
                cells = group[kept] * width + nodes[kept]
                support += np.bincount(cells, minlength=groups * width)
                occurrences += np.bincount(cells, counts[kept], minlength=groups * width)
            lost, cut = _cut_column(
                column, support.reshape(groups, width), occurrences.reshape(groups, width), tau
            )
            total += lost
            chosen.append(cut)
        return total, chosen


def _cut_column(
    column: Column, support: NDArray[np.float64], occurrences: NDArray[np.float64], tau: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    """Return the least expected loss of each group, and which nodes are in its cut; the root is never."""
    absent = float(column.losses[0])
    losses = column.losses.astype(np.float64)
    share = 1 / (1 + (support / tau[:, None]) ** 2)
    whole = occurrences * (share * absent + (1 - share) * losses[None, :])
    whole[:, ~column.published] = np.inf
    below = np.zeros_like(whole)
    inside = np.zeros_like(whole)
    best = np.zeros_like(whole)
    order = np.argsort(-column.depths, kind="stable")
    is_cut = np.zeros(whole.shape, np.bool_)
    for node in order.tolist():
        # What lies at the node itself can only be deleted if the cut is below it.
        divided = below[:, node] + (occurrences[:, node] - inside[:, node]) * absent
        if node == 0:
            best[:, 0] = np.minimum(divided, occurrences[:, 0] * absent)
            all_absent = divided >= occurrences[:, 0] * absent
            break
        is_cut[:, node] = whole[:, node] <= divided
        best[:, node] = np.minimum(whole[:, node], divided)
        above = column.parents[node]
        below[:, above] += best[:, node]
        inside[:, above] += occurrences[:, node]
    is_cut[all_absent] = False
    return best[:, 0], is_cut


def cut_nodes(column: Column, is_cut: NDArray[np.bool_]) -> NDArray[np.int64]:
    """Return for each node the topmost node of the cut at or above it; 0, the root, where there is none."""
    found = np.zeros(len(column.parents), np.int64)
    for chain in column.chains[::-1]:
        there = chain >= 0
        there[there] = is_cut[chain[there]]
        found[there] = chain[there]
    if column.missing >= 0:
        found[column.missing] = 0
    return found

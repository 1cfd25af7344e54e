"""The cut of each taxonomy in each group, by a dynamic program over what deletion is expected to lose."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from hierdata.engines.specialize.columns import Column, FactArrays
from hierdata.engines.specialize.kernel_cutting import add_supports, choose_cuts


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
            support = np.zeros((groups, len(column.parents)))
            occurrences = np.zeros_like(support)
            for records, nodes, counts in pairs:
                add_supports(group_of, records, nodes, counts, support, occurrences)
            lost, is_cut = np.zeros(groups), np.zeros(support.shape, np.bool_)
            losses = column.losses.astype(np.float64)
            sums = np.zeros((2, len(losses)))
            choose_cuts(
                column.parents, column.upward, column.published, losses,
                support, occurrences, tau, sums, lost, is_cut,
            )  # fmt: skip
            total += lost
            chosen.append(is_cut)
        return total, chosen


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

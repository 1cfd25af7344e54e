"""A group of records for the kernels: its facts by the cut of each column."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from hierdata.engines.specialize.columns import FactArrays
from hierdata.engines.specialize.kernel_facts import FactGroup, Row
from hierdata.ground.errors import InputError

_MOST_BITS = 62
_OCCURRENCES = 2**16
_CHANGES = 2**14


def spans(firsts: NDArray[np.int64], ends: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the numbers of several ranges, one after the other."""
    counts = ends - firsts
    starts = np.cumsum(counts) - counts
    every: NDArray[np.int64] = np.arange(int(counts.sum())) + np.repeat(firsts - starts, counts)
    return every


class GroupRecords:
    """Some records of a collection as the kernels need them, whatever the cut."""

    def __init__(self, facts: FactArrays, records: NDArray[np.int64]) -> None:
        forest = facts.forest
        self.facts = facts
        self.vertices = spans(forest.roots[records], forest.roots[records + 1])
        sizes = forest.roots[records + 1] - forest.roots[records]
        self.first_vertex = np.append(0, np.cumsum(sizes))
        shift = np.repeat(self.first_vertex[:-1] - forest.roots[records], sizes)
        path = facts.path[self.vertices]
        self.path = np.where(path >= 0, path + shift[:, None], -1).astype(np.int32)
        self.depth = facts.depth[self.vertices]
        self.first_child = forest.first_child[self.vertices] + shift
        counts = facts.first[self.vertices + 1] - facts.first[self.vertices]
        self.first_fact = np.append(0, np.cumsum(counts))
        self.owner = np.repeat(np.arange(len(self.vertices)), counts)
        self.own = spans(facts.first[self.vertices], facts.first[self.vertices + 1])
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
        column, node = facts.column[self.own], facts.node[self.own]
        first = np.cumsum([0, *(len(one.parents) for one in columns)])
        published = np.concatenate([np.zeros(0, np.int64), *cut])[first[column] + node]
        losses = np.concatenate([np.zeros(0, np.int64), *(one.losses for one in columns)])
        is_value = np.array([one.position is not None for one in columns], np.bool_)[column]
        missing = np.array([one.missing for one in columns], np.int64)[column] == node
        absents = len(columns)
        gone = is_value & (published == 0)
        cells, numbers = np.unique((first[column] + published)[~gone], return_inverse=True)
        shown = column + 1
        shown[~gone] = absents + 1 + numbers.reshape(-1)
        absent = np.where(is_value, column + 1, shown)
        worth = np.zeros((len(column), 3), np.int64)
        worth[:, 0] = np.where(missing, 0, losses[first[column] + published])
        worth[:, 1] = np.where(missing, 0, losses[first[column]])
        worth[:, 2] = np.array([one.full for one in columns], np.int64)[column]
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


class Room(NamedTuple):
    """Room for a record, for occurrences of patterns, and for keys that change."""

    row: Row
    found: NDArray[np.int64]
    changed: NDArray[np.int64]


def make_room(group: FactGroup) -> Room:
    """Return room for what is found in a group."""
    return Room(row_of(group), np.zeros((_OCCURRENCES, 6), np.int64), np.zeros(_CHANGES, np.int64))


def records_of(group: FactGroup) -> NDArray[np.int64]:
    """Return the record of each fact."""
    facts = np.diff(group.first_fact[group.first_vertex])
    return np.repeat(np.arange(len(facts)), facts)

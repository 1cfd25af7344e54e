"""Records as arrays of integers, by which patterns of facts are counted."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]


@dataclass(frozen=True)
class Records:
    """Different records of some groups, in the order of the groups, each with its number of occurrences.

    ``vertices`` are by record those of ``FactReader.read``, as 32-bit integers. ``labels`` are by code what a
    vertex shows. With ``counted`` the root's labels are facts too. A record is matched within its group.
    """

    vertices: Sequence[bytes]
    groups: Sequence[int]
    times: Sequence[int]
    labels: Sequence[tuple[int, ...]]
    counted: bool


class RecordTrees:
    """The vertices of all records: ``parent`` (-1 at roots), ``record``, ``shown`` and ``level``.

    ``above[v, d - 1]`` is the ancestor of a vertex at depth d, itself included; -1 beyond its own depth.
    """

    def __init__(self, records: Records) -> None:
        sizes = np.array([len(own) // 8 for own in records.vertices], np.int64)
        flat = np.frombuffer(b"".join(records.vertices), np.int32).reshape(-1, 2).astype(np.int64)
        first = np.concatenate(([0], np.cumsum(sizes)))[:-1]
        self.first = first
        self.record = np.repeat(np.arange(len(sizes)), sizes)
        self.parent = np.where(flat[:, 0] < 0, -1, flat[:, 0] + first[self.record])
        self.shown = flat[:, 1]
        self.level = np.zeros(len(flat), np.int64)
        upper = self.parent.copy()
        while (below := upper >= 0).any():
            self.level += below
            upper = np.where(below, self.parent[upper], -1)
        self.depth = int(self.level.max(initial=0))
        self.above = np.full((len(flat), self.depth), -1, np.int64)
        at = np.arange(len(flat))
        for depth in range(self.depth, 0, -1):
            at = np.where(self.level[at] > depth, self.parent[at], at)
            self.above[:, depth - 1] = np.where(self.level[at] == depth, at, -1)


@dataclass(frozen=True)
class RecordFacts:
    """The facts of all records, by record and label: ``vertex`` and ``label`` of each.

    ``label`` is numbered from 0 in each group, in one order. ``first`` and ``number`` are those of each
    record, ``width`` is the number of labels in each group.
    """

    vertex: Ints
    label: Ints
    first: Ints
    number: Ints
    width: Ints
    groups: Ints
    times: Ints
    trees: RecordTrees

    @cached_property
    def batches(self) -> list[tuple[int, Ints]]:
        """The records with each number of facts, in order."""
        order = np.argsort(self.number, kind="stable")
        numbers, starts = np.unique(self.number[order], return_index=True)
        return list(zip(map(int, numbers), np.split(order, starts[1:]), strict=True))

    def occurrences(self, facts: int) -> Ints:
        """Return for each record in how many ways so many of its facts can be chosen."""
        found = np.ones_like(self.number)
        for taken in range(facts):
            found = found * (self.number - taken) // (taken + 1)
        return np.maximum(found, 0)


def list_facts(records: Records, trees: RecordTrees, *, whole: bool = False) -> RecordFacts:
    """Return the facts of the records; with ``whole`` what each vertex below the root shows is one label."""
    groups = np.array(records.groups, np.int64)
    own = trees.level >= (0 if records.counted and not whole else 1)
    if whole:
        vertex = np.flatnonzero(own)
        label = trees.shown[vertex]
    else:
        sizes = np.array([len(labels) for labels in records.labels], np.int64)
        begin = np.concatenate(([0], np.cumsum(sizes)))[:-1]
        every = np.fromiter(chain.from_iterable(records.labels), np.int64, int(sizes.sum()))
        held = np.where(own, sizes[trees.shown], 0)
        vertex = np.repeat(np.arange(len(held)), held)
        ends = np.cumsum(held)
        place = np.arange(len(vertex)) - np.repeat(ends - held, held)
        label = every[begin[trees.shown[vertex]] + place]
    record = trees.record[vertex]
    most = int(label.max(initial=0)) + 1
    marks, local = np.unique(groups[record] * most + label, return_inverse=True)
    group_of_mark = marks // most
    starts = np.searchsorted(group_of_mark, np.arange(int(groups.max(initial=0)) + 2))
    local = local - starts[groups[record]]
    order = np.lexsort((local, record))
    number = np.bincount(record, minlength=len(groups))
    first = np.concatenate(([0], np.cumsum(number)))[:-1]
    width = np.diff(starts)
    times = np.array(records.times, np.int64)
    return RecordFacts(vertex[order], local[order], first, number, width, groups, times, trees)


def first_places(ordered: Ints) -> NDArray[np.intp]:
    """Return where each run of equal numbers begins."""
    return np.flatnonzero(np.concatenate(([len(ordered) > 0], ordered[1:] != ordered[:-1])))

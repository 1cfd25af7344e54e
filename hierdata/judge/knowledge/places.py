"""Places: patterns with one of their anchors each, and the vertices at which values are read there."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from hierdata.judge.knowledge.forest import Ints


class Places:
    """The places of some patterns, each with its vertices once.

    A pattern is a position in ``keys``, which ascend; ``groups`` has the group of each. ``sources`` are by
    attribute: ``source[v]`` is the vertex at which values are read for vertex v, -1 if there are none. The
    anchors of a pattern have numbers below ``span``.
    """

    def __init__(self, sources: Sequence[Ints], span: int) -> None:
        self._sources = sources
        self._span = span
        self.keys = np.empty(0, np.int64)
        self.groups = np.empty(0, np.int64)
        self._marks = [np.empty(0, np.int64) for _ in sources]

    def __len__(self) -> int:
        """Return how many pairs of a place and a vertex are held."""
        return sum(map(len, self._marks))

    def add(self, key: Ints, group: Ints, anchors: Sequence[tuple[int | Ints, Ints]]) -> None:
        """Take patterns with all their rows; ``anchors`` have numbers and, by row, vertices, -1 for none."""
        own, pattern = np.unique(key, return_inverse=True)
        group_of = np.zeros(len(own), np.int64)
        group_of[pattern] = group
        before = len(self.keys)
        self.keys, number = np.unique(np.concatenate((self.keys, own)), return_inverse=True)
        groups = np.zeros(len(self.keys), np.int64)
        groups[number] = np.concatenate((self.groups, group_of))
        self.groups = groups
        pattern = number[before:][pattern]
        for at, source in enumerate(self._sources):
            size = len(source)
            held, rest = np.divmod(self._marks[at], self._span * size)
            marks = [number[held] * (self._span * size) + rest]
            for slot, vertex in anchors:
                read = np.where(vertex >= 0, source[vertex], -1)
                there = np.flatnonzero(read >= 0)
                anchor = slot if isinstance(slot, int) else slot[there]
                marks.append((pattern[there] * self._span + anchor) * size + read[there])
            self._marks[at] = np.unique(np.concatenate(marks))

    def read(self, attribute: int) -> tuple[Ints, Ints, Ints]:
        """Return the places of an attribute, ascending, with a vertex each, and the group of each."""
        place, source = np.divmod(self._marks[attribute], len(self._sources[attribute]))
        return place, source, self.groups[place // self._span]

"""The places of patterns: the vertices that an anchor leads to, and what the pattern's facts state there."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from hierdata.judge.knowledge.patterns import Ints


class _Marks:
    """Different pairs of a place and a number below ``size``; a place is ``pattern * span + anchor``."""

    def __init__(self, size: int, span: int) -> None:
        self._size, self._span = size, span
        self.held = np.empty(0, np.int64)

    def renumber(self, number: Ints) -> None:
        """Take the new numbers of the patterns."""
        pattern, rest = np.divmod(self.held, self._span * self._size)
        self.held = number[pattern] * (self._span * self._size) + rest

    def add(self, pieces: Sequence[tuple[Ints, Ints]]) -> None:
        """Take places, each with a number."""
        marks = (place * self._size + number for place, number in pieces)
        self.held = np.unique(np.concatenate([self.held, *marks]))

    def read(self) -> tuple[Ints, Ints]:
        """Return places, ascending, and the number of each."""
        place, number = np.divmod(self.held, self._size)
        return place, number


@dataclass(frozen=True)
class PatternFacts:
    """The facts of some occurrences of patterns, in columns: the vertex, the rank and the label of each.

    ``common[i][j]`` are the depths of the lowest common ancestors of the vertices of two of them, and
    ``common[i][i]`` those of the vertices themselves. Labels are codes that ``Watched.stated`` knows.
    """

    vertices: Sequence[Ints]
    ranks: Sequence[Ints]
    labels: Sequence[Ints]
    common: Sequence[Sequence[Ints]]


MOST_STATED = 3
"""The most facts of a pattern that state the same, of the same attribute."""


class Places:
    """The places of some patterns, each with its vertices once, and with what the patterns state there.

    A pattern is a position in ``keys``, which ascend; ``groups`` has the group of each. ``sources`` are by
    attribute: ``source[v]`` is the vertex at which values are read for vertex v, -1 if there are none.
    ``stated`` are by attribute what each label states: 0 nothing of it, 1 that it is absent, c + 2 the value
    of code c; None if no label does. An anchor is the root, 0, or that of a fact's rank and a depth, up to
    ``depth``.
    """

    def __init__(self, sources: Sequence[Ints], stated: Sequence[Ints | None], depth: int) -> None:
        self._sources, self._stated, self._depth = sources, stated, depth
        self._span = 1 + 3 * max(depth, 1)
        self.keys = np.empty(0, np.int64)
        self.groups = np.empty(0, np.int64)
        self._vertices = [_Marks(len(source), self._span) for source in sources]
        widths = [0 if states is None else int(states.max(initial=0)) + 1 for states in stated]
        self._labels = [_Marks(width * MOST_STATED, self._span) for width in widths]

    def __len__(self) -> int:
        """Return how many pairs of a place and a vertex are held."""
        return sum(len(marks.held) for marks in self._vertices)

    def add(self, key: Ints, group: Ints, root: Ints, above: Ints, facts: PatternFacts | None) -> None:
        """Take patterns with all their rows: the root of each, and its facts.

        ``above`` has by vertex the ancestor at each depth.
        """
        keys, pattern = np.unique(key, return_inverse=True)
        group_of = np.zeros(len(keys), np.int64)
        group_of[pattern] = group
        before = len(self.keys)
        self.keys, number = np.unique(np.concatenate((self.keys, keys)), return_inverse=True)
        groups = np.zeros(len(self.keys), np.int64)
        groups[number] = np.concatenate((self.groups, group_of))
        self.groups = groups
        at_root = number[before:][pattern] * self._span
        for marks in (*self._vertices, *self._labels):
            marks.renumber(number)
        anchors: list[tuple[int, int | None, Ints, Ints]] = [(0, None, at_root, root)]
        if facts is not None:
            anchors += [
                (level + 1, fact, at_root + 1 + rank * self._depth + level, above[vertex, level])
                for fact, (vertex, rank) in enumerate(zip(facts.vertices, facts.ranks, strict=True))
                for level in range(self._depth)
            ]
        for vertices, labels, source, states in zip(
            self._vertices, self._labels, self._sources, self._stated, strict=True
        ):
            read_at = [np.where(vertex >= 0, source[vertex], -1) for *_, vertex in anchors]
            rows_by_anchor = [np.flatnonzero(read >= 0) for read in read_at]
            by_anchor = zip(anchors, read_at, rows_by_anchor, strict=True)
            vertices.add([(place[rows], read[rows]) for (_, _, place, _), read, rows in by_anchor])
            if states is not None and facts is not None:
                for (depth, fact, place, _), rows in zip(anchors, rows_by_anchor, strict=True):
                    labels.add([*_list_stated(facts, states, depth, fact, place, rows)])

    def read(self, attribute: int) -> tuple[Ints, Ints, Ints]:
        """Return the places of an attribute, ascending, with a vertex each, and the group of each."""
        place, source = self._vertices[attribute].read()
        return place, source, self.groups[place // self._span]

    def read_stated(self, attribute: int) -> tuple[Ints, Ints]:
        """Return what patterns state of an attribute at places, which ascend: -1 absent, else a code."""
        if self._stated[attribute] is None:
            return np.empty(0, np.int64), np.empty(0, np.int64)
        place, number = self._labels[attribute].read()
        return place, number // MOST_STATED - 2


def _list_stated(
    facts: PatternFacts, states: Ints, depth: int, anchored: int | None, place: Ints, rows: NDArray[np.intp]
) -> Iterator[tuple[Ints, Ints]]:
    """Yield at which places facts state something at, below or above the anchor, and what.

    Equal statements of one pattern are numbered.
    """
    stated = [states[label[rows]] for label in facts.labels]
    for fact, codes in enumerate(stated):
        level = facts.common[fact][fact][rows]
        shared = facts.common[fact][anchored][rows] if anchored is not None else np.zeros(len(rows), np.int64)
        near = shared >= np.minimum(level, depth)
        stated[fact] = np.where(near, codes, 0)
        times = sum((stated[other] == stated[fact] for other in range(fact)), np.zeros(len(rows), np.int64))
        chosen = np.flatnonzero(stated[fact])
        yield place[rows][chosen], (stated[fact] * MOST_STATED + times)[chosen]

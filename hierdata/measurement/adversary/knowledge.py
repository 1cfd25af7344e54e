"""What an adversary knows of a victim: the quasi-identifiers of the root, and facts below it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from hierdata.forest.forest import Forest

PRESENT = -1
"""The position of a fact that says only that its vertex is there."""


@dataclass(frozen=True)
class Fact:
    """One value of a quasi-identifier at one vertex of the original, or that the vertex is there."""

    vertex: int
    kind: int
    position: int
    node: int

    def states(self, kind: int, position: int | None) -> bool:
        """Return whether it states a value at this position of a vertex type; never at None."""
        return (self.kind, self.position) == (kind, position)


@dataclass(frozen=True)
class Absence:
    """A value that no vertex of the victim has."""

    kind: int
    position: int
    node: int


@dataclass(frozen=True)
class Knowledge:
    """What is known of one record of a forest.

    ``known_root`` are the nodes of the root's quasi-identifiers, all of them known, or empty where these are
    among the ``facts``, which lie below the root otherwise. ``absences`` are values that the person does not
    have; ``counts`` is the number of vertices by type, None if it is not known.
    """

    record: int
    known_root: tuple[int, ...]
    facts: tuple[Fact, ...]
    absences: tuple[Absence, ...] = ()
    counts: tuple[int, ...] | None = None


@dataclass(frozen=True)
class Curiosity:
    """What adversaries learn of their victims, beside the root; ``by_facts``: of the root only by facts."""

    facts: int
    counts: bool = False
    negative: bool = False
    by_facts: bool = False

    def learn(self, forest: Forest, record: int, rng: np.random.Generator) -> Knowledge:
        """Draw what is known of a record: distinct facts, all equally likely, missing values left out."""
        root, end = int(forest.roots[record]), int(forest.roots[record + 1])
        width = 0 if self.by_facts else forest.own_widths[0]  # what follows are facts of the record itself
        known_root = tuple(forest.nodes[_nodes_of(forest, root)].tolist()[:width])
        at_root = [fact for fact in _facts_at(forest, root) if fact.position >= width]
        every = at_root + [fact for vertex in range(root + 1, end) for fact in _facts_at(forest, vertex)]
        drawn = rng.permutation(len(every))[: self.facts].tolist()
        absences = _draw_absences(forest, root, end, rng, self.facts) if self.negative else ()
        counts = None
        if self.counts:
            counts = tuple(np.bincount(forest.type[root:end], minlength=len(forest.hierarchies)).tolist())
        return Knowledge(record, known_root, tuple(every[number] for number in drawn), absences, counts)


def _nodes_of(forest: Forest, vertex: int) -> slice:
    first = int(forest.first_node[vertex])
    return slice(first, first + len(forest.hierarchies[int(forest.type[vertex])]))


def _facts_at(forest: Forest, vertex: int) -> list[Fact]:
    kind = int(forest.type[vertex])
    trees = forest.hierarchies[kind]
    if not trees:
        return [Fact(vertex, kind, PRESENT, 0)]
    nodes = forest.nodes[_nodes_of(forest, vertex)].tolist()
    return [
        Fact(vertex, kind, position, node)
        for position, (tree, node) in enumerate(zip(trees, nodes, strict=True))
        if tree.labels[node] is not None
    ]


def _draw_absences(
    forest: Forest, root: int, end: int, rng: np.random.Generator, count: int
) -> tuple[Absence, ...]:
    """Draw values of other records' vertices, as frequent as they are there, that this record lacks."""
    known = {
        (fact.kind, fact.position, fact.node)
        for vertex in range(root + 1, end)
        for fact in _facts_at(forest, vertex)
    }
    absences: dict[Absence, None] = {}
    for vertex in rng.integers(forest.vertex_count, size=_TRIES * count).tolist():
        if len(absences) == count:
            break
        if forest.parent[vertex] < 0:
            continue
        for fact in _facts_at(forest, vertex):
            key = (fact.kind, fact.position, fact.node)
            if fact.position != PRESENT and key not in known and len(absences) < count:
                absences[Absence(*key)] = None
    return tuple(absences)


_TRIES = 20
"""Vertices that are looked at for each absence; a person who has nearly every value gets fewer absences."""


@dataclass(frozen=True)
class KnownTree:
    """The vertices of some facts with their ancestors, parents first; the root is the first."""

    forest: Forest
    facts: Sequence[Fact]
    root: int

    @cached_property
    def vertices(self) -> list[int]:
        """The vertices in the original."""
        parents = self.forest.parent
        vertices = {self.root}
        for fact in self.facts:
            vertex = fact.vertex
            while vertex not in vertices:
                vertices.add(vertex)
                vertex = int(parents[vertex])
        return sorted(vertices)  # breadth first: a parent has a lower number

    @cached_property
    def index(self) -> dict[int, int]:
        """The place of each vertex among ``vertices``."""
        return {vertex: number for number, vertex in enumerate(self.vertices)}

    @cached_property
    def kinds(self) -> list[int]:
        """The type of each vertex."""
        kinds: list[int] = self.forest.type[self.vertices].tolist()
        return kinds

    @cached_property
    def above(self) -> list[int]:
        """The place of each vertex's parent; -1 for the root."""
        parents = self.forest.parent[self.vertices].tolist()
        return [-1, *(self.index[parent] for parent in parents[1:])]

    def paths_to(self, kind: int, position: int | None = None) -> list[list[int]]:
        """Return by number of facts, from 0 on, the places from the root to the deepest vertex that is known.

        It is the deepest of those that have vertices of a type at or below them, of several the first. A fact
        that states the value at ``position`` of this type leads nowhere: what is left to guess is elsewhere.
        """
        line = set(self.forest.schema.line(kind))
        paths = [self._path(0, line)]
        for fact in self.facts:
            path = paths[-1] if fact.states(kind, position) else self._path(self.index[fact.vertex], line)
            paths.append(max(paths[-1], path, key=len))
        return paths

    def _path(self, vertex: int, line: set[int]) -> list[int]:
        path: list[int] = []
        while vertex >= 0:
            path.append(vertex)
            vertex = self.above[vertex]
        path.reverse()
        return [vertex for vertex in path if self.kinds[vertex] in line]

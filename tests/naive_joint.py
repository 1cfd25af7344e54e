"""The slow, obvious twin of what keys and values are seen together: vertex by vertex, in fractions."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Hashable, Mapping, Sequence
from fractions import Fraction
from typing import Literal

from hierdata.forest.forest import Forest
from hierdata.forest.publication import Publication

Table = Mapping[Hashable, Mapping[Hashable, Fraction]]
"""By key, the weight of each value."""


class Reader:
    """Somebody who sees what is published of each vertex; ``apart``: with a group number, and no values."""

    def __init__(self, publication: Publication, forest: Forest, apart: bool) -> None:
        self.publication, self.forest, self.apart = publication, forest, apart
        self.there = [v for v in range(forest.vertex_count) if publication.shown[v] >= 0]
        self.below: dict[int, list[int]] = defaultdict(list)
        for v in self.there:
            self.below[int(forest.parent[v])].append(v)

    def labels(self, v: int) -> list[tuple[str, Hashable]]:
        """Path and label of each quasi-identifier."""
        forest, kind = self.forest, int(self.forest.type[v])
        first = forest.first_node[self.publication.shown[v]]
        paths = [one.path for one in forest.schema.types[kind].quasi]
        return [
            (path, forest.hierarchies[kind][at].labels[self.publication.nodes[first + at]])
            for at, path in enumerate(paths)
        ]

    def way(self, v: int) -> list[int]:
        """The vertex, its parent, and so on up to the root."""
        return [v, *self.way(int(self.forest.parent[v]))] if v >= 0 else []

    def form(self, v: int) -> Hashable:
        """All that is published of a vertex and of those below it, in no order."""
        group = (
            int(self.publication.equivalence_position[v])
            if self.apart and self.forest.domains[self.forest.type[v]]
            else 0
        )
        below = Counter(self.form(child) for child in self.below[v])
        return int(self.forest.type[v]), tuple(self.labels(v)), group, frozenset(below.items())

    def own(self, v: int) -> Hashable:
        return tuple(self.labels(v))

    def ancestors(self, v: int) -> Hashable:
        return tuple(label for one in self.way(v) for label in self.labels(one))

    def record(self, v: int) -> Hashable:
        """The form of the record, and where in it the vertex is, as far as that can be told."""
        return tuple(self.form(one) for one in self.way(v))

    def some(self, paths: Sequence[str]) -> Callable[[int], Hashable]:
        """The labels at these paths only."""
        return lambda v: tuple(
            (path, label) for one in self.way(v) for path, label in self.labels(one) if path in paths
        )

    def table(
        self,
        kind: int,
        at: int,
        key: Callable[[int], Hashable],
        block: Callable[[int], Hashable],
        weight: Literal["vertex", "person"],
    ) -> Table:
        """Each vertex has the values of its place, in equal shares of its weight; no value is no share."""
        forest = self.forest
        of_kind = [v for v in self.there if forest.type[v] == kind]
        places: dict[int, list[int]] = defaultdict(list)
        for v in of_kind:
            places[int(self.publication.equivalence_position[v])].append(v)
        persons = Counter(int(forest.record_of[v]) for v in of_kind)
        table: dict[Hashable, dict[Hashable, Fraction]] = defaultdict(lambda: defaultdict(Fraction))
        for members in places.values():
            for v in members:
                heavy = Fraction(1, persons[int(forest.record_of[v])]) if weight == "person" else Fraction(1)
                for other in members:
                    code = int(forest.sensitive[forest.first_sensitive[other] + at])
                    if code >= 0:
                        table[key(v)][block(code)] += heavy / len(members)
        return table

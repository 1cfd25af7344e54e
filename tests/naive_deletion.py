"""Deletion under bounded knowledge, as the engine ``specialize`` does it, in plain Python with dictionaries.

Records are lists of ``Seen`` vertices, parents before children. Patterns are counted anew from sets of each
record. The order of records, vertices and facts, and the floats that are compared, are those of the engine.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import combinations, permutations
from typing import Any, TypeAlias

Fact: TypeAlias = tuple[int, int]
"""A vertex of the record, and the number of one of its fields."""


@dataclass
class Seen:
    """A vertex: its parent, and for each field its shown, absent and present label and its three losses."""

    parent: int | None
    removable: bool
    constant: int
    shown: list[int]
    absent: list[int]
    losses: list[list[int]]
    labels: list[int] = field(default_factory=list)
    gone: bool = False

    def lost(self, at: int) -> int:
        return self.losses[at][0 if self.labels[at] == self.shown[at] else 1]


Record: TypeAlias = list[Seen]


@dataclass
class Deletion:
    """The state of a search for k and m; labels up to ``absents`` are those of absent values."""

    records: list[Record]
    k: int
    m: int
    absents: int
    whole: bool
    trace: Sequence[float]
    blind: bool = False

    def path(self, record: Record, vertex: int) -> list[int]:
        above = record[vertex].parent
        return [vertex] if above is None else [*self.path(record, above), vertex]

    def has_children(self, record: Record, vertex: int) -> bool:
        return any(one.parent == vertex and not one.gone for one in record)

    def facts(self, record: Record) -> list[Fact]:
        """What a record shows; of siblings that look alike and have no children only the first m."""
        found: list[Fact] = []
        for vertex, own in enumerate(record):
            if own.gone:
                continue
            alike = [
                other
                for other in range(vertex)
                if own.parent is not None
                and record[other].parent == own.parent
                and not record[other].gone
                and (record[other].labels, record[other].absent) == (own.labels, own.absent)
                and not self.has_children(record, other)
            ]
            if len(alike) >= self.m and not self.has_children(record, vertex):
                continue
            found += (
                (vertex, at) for at, label in enumerate(own.labels) if not self.blind or label > self.absents
            )
        return found

    def pattern(self, record: Record, chosen: Sequence[Fact]) -> Any:
        paths = {vertex: self.path(record, vertex) for vertex, _ in chosen}

        def spell(order: Sequence[Fact]) -> Any:
            labels = tuple(record[vertex].labels[at] for vertex, at in order)
            depths = tuple(
                sum(1 for one, other in zip(paths[a], paths[b], strict=False) if one == other) - 1
                for (a, _), (b, _) in combinations(order, 2)
            )
            return labels, depths

        return min(map(spell, permutations(chosen)))

    def clause(self, record: Record, vertex: int) -> Any:
        return "whole", tuple(record[vertex].labels)

    def patterns(self, record: Record) -> set[Any]:
        facts = self.facts(record)
        found = {
            self.pattern(record, chosen) for q in range(1, self.m + 1) for chosen in combinations(facts, q)
        }
        if self.whole and not self.blind:
            found |= {self.clause(record, vertex) for vertex, _ in facts}
        return found

    def count(self) -> Counter[Any]:
        return Counter(one for record in self.records for one in self.patterns(record))

    def mend(self) -> bool:
        """Delete until every pattern has no or enough records; whether that could be done."""
        self.counts = self.count()
        busy = True
        while busy:
            busy = False
            for record in self.records:
                while occurrences := list(self.broken(record)):
                    busy = True
                    while occurrences:
                        if not self.delete(record, [facts for facts, _ in occurrences]):
                            return False
                        occurrences = [
                            (facts, labels)
                            for facts, labels in occurrences
                            if labels == [self.label(record, fact) for fact in facts]
                        ]
        return True

    def label(self, record: Record, fact: Fact) -> Any:
        vertex, at = fact
        own = record[vertex]
        if own.gone:
            return 0
        return tuple(own.labels) if at < 0 else own.labels[at]

    def broken(self, record: Record) -> Iterator[tuple[list[Fact], list[Any]]]:
        """The occurrences of patterns that too few match, with their facts' labels; (v, -1) is all of v."""
        facts = self.facts(record)
        for q in range(1, self.m + 1):
            for chosen in combinations(facts, q):
                if self.counts[self.pattern(record, chosen)] < self.k:
                    yield list(chosen), [self.label(record, fact) for fact in chosen]
        if self.whole and not self.blind:
            for vertex in dict.fromkeys(vertex for vertex, _ in facts):
                if self.counts[self.clause(record, vertex)] < self.k:
                    yield [(vertex, -1)], [self.label(record, (vertex, -1))]

    def delete(self, record: Record, occurrences: list[list[Fact]]) -> bool:
        """Delete what mends most for what it loses."""
        of_fact: Counter[Fact] = Counter()
        of_vertex: Counter[int] = Counter()
        for facts in occurrences:
            for vertex, at in facts:
                fields = range(len(record[vertex].labels)) if at < 0 else [at]
                of_fact.update((vertex, one) for one in fields)
            of_vertex.update({above for vertex, _ in facts for above in self.path(record, vertex)[1:]})
        chosen = self.choose(record, of_fact, of_vertex)
        if chosen is None:
            return False
        vertex, at = chosen
        before = self.patterns(record)
        if at < 0:
            for one in self.below(record, vertex):
                record[one].gone = True
        else:
            record[vertex].labels[at] = record[vertex].absent[at]
        self.recount(before, self.patterns(record))
        return True

    def choose(self, record: Record, of_fact: Counter[Fact], of_vertex: Counter[int]) -> Fact | None:
        """The fact, or vertex as (v, -1), that is in most occurrences for what it loses."""
        chosen: Fact | None = None
        best = 0.0
        for vertex, own in enumerate(record):
            if own.gone:
                continue
            for at, label in enumerate(own.labels):
                if of_fact[vertex, at] and label != own.absent[at]:
                    loss = (own.losses[at][1] - own.losses[at][0]) * self.trace[own.absent[at]] + 1.0
                    if of_fact[vertex, at] / loss > best:
                        best, chosen = of_fact[vertex, at] / loss, (vertex, at)
            if of_vertex[vertex] and own.removable:
                loss = self.loss_of_removal(record, vertex) + 1.0
                if of_vertex[vertex] / loss > best:
                    best, chosen = of_vertex[vertex] / loss, (vertex, -1)
        return chosen

    def recount(self, before: set[Any], after: set[Any]) -> None:
        self.counts.subtract(before - after)
        self.counts.update(after - before)

    def below(self, record: Record, vertex: int) -> list[int]:
        return [one for one in range(len(record)) if vertex in self.path(record, one)]

    def loss_of_removal(self, record: Record, vertex: int) -> int:
        return sum(
            record[one].constant
            + sum(record[one].losses[at][2] - record[one].lost(at) for at in range(len(record[one].labels)))
            for one in self.below(record, vertex)
            if not record[one].gone
        )

    def restore(self) -> None:
        """Put back what no pattern suffers from, record by record, vertices first."""
        for record in self.records:
            for own in record:
                if own.gone and own.parent is not None and not record[own.parent].gone:
                    self.try_labels(record, own, list(own.shown))
            for own in record:
                for at, shown in enumerate(own.shown):
                    if not own.gone and own.labels[at] != shown:
                        self.try_labels(record, own, [*own.labels[:at], shown, *own.labels[at + 1 :]])

    def show(self, labels: Sequence[int]) -> None:
        """Show every fact by another label, 0 if its vertex is removed."""
        at = iter(labels)
        for record in self.records:
            for own in record:
                given = [next(at) for _ in own.shown]
                own.gone = bool(given) and given[0] == 0
                own.labels = [label or shown for label, shown in zip(given, own.shown, strict=True)]

    def try_labels(self, record: Record, own: Seen, labels: list[int]) -> None:
        before, kept = self.patterns(record), (own.gone, own.labels)
        own.gone, own.labels = False, labels
        after = self.patterns(record)
        self.recount(before, after)
        if any(0 < self.counts[one] < self.k for one in before | after):
            own.gone, own.labels = kept
            self.recount(after, before)

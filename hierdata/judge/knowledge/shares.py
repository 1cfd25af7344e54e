"""The largest share of sensitive values among the records that match a pattern, at each of its anchors.

Anchors of a match are the root, the vertices of its facts, and their ancestors. The share of a value at an
anchor is over the records that show a value of its attribute at or below the anchor, or above it where the
attribute lies there. Sums are of integers: each record's parts are counted in a common denominator.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import pairwise
from math import lcm

import numpy as np

from hierdata.judge.knowledge.patterns import (
    Batch,
    Coding,
    Ints,
    PatternPart,
    RecordFacts,
    RecordTrees,
    batches_of,
    choices,
    code_of,
    first_places,
    keys_of,
    plan_parts,
)


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


PART = 1 << 18
"""About how many occurrences of patterns are held at a time; of more, places and vertices are kept once."""
_EXACT = 1 << 62


@dataclass(frozen=True)
class Watched:
    """A sensitive attribute that alpha bounds.

    ``number`` is its number, ``bounded`` are the codes of the values that count, ``presence`` how it is read.
    ``source`` is by vertex type the depth at which its values are read from a vertex of this type: -1 at and
    below the vertex itself, -2 nowhere.
    """

    number: int
    bounded: frozenset[int]
    presence: bool
    source: tuple[int, ...]


@dataclass
class Largest:
    """The largest share so far, and the groups in which some share is above alpha."""

    alpha: Fraction
    share: Fraction | None = None
    failing: set[int] = field(default_factory=set)


class SensitiveValuesBelow:
    """The values of one attribute, by the vertex at or below which they are.

    ``source[v]`` is the vertex whose values are read at v, -1 if there are none to read. ``number[v]`` counts
    the values at or below v; ``first[v]`` is where the bounded ones begin in ``value`` and ``count``.
    """

    def __init__(self, trees: RecordTrees, kinds: Ints, values: Ints, watched: Watched) -> None:
        size = len(trees.parent)
        depth = np.array(watched.source, np.int64)[kinds]
        self.source = np.where(depth == -1, np.arange(size), -1)
        for level in np.unique(depth[depth >= 0]):
            there = np.flatnonzero(depth == level)
            at_root = trees.first[trees.record[there]]
            self.source[there] = at_root if level == 0 else trees.above[there, level - 1]
        vertex, value = values[:, 0].copy(), values[:, 1]
        self.number = np.zeros(size, np.int64)
        marks = []
        bounded = np.isin(value, np.fromiter(watched.bounded, np.int64, len(watched.bounded)))
        most = int(value.max(initial=0)) + 1
        while len(vertex):
            np.add.at(self.number, vertex, 1)
            marks.append(vertex[bounded] * most + value[bounded])
            vertex = trees.parent[vertex]
            stays = vertex >= 0
            vertex, value, bounded = vertex[stays], value[stays], bounded[stays]
        self.source[self.number[self.source] == 0] = -1
        every, self.count = np.unique(np.concatenate([np.empty(0, np.int64), *marks]), return_counts=True)
        owner, self.value = np.divmod(every, most)
        self.first = np.searchsorted(owner, np.arange(size + 1))
        self.most = most


class ShareCount:
    """Counts shares of some attributes over the patterns of ``facts``."""

    def __init__(
        self,
        facts: RecordFacts,
        kinds: Ints,
        values: Sequence[Ints],
        watched: Sequence[Watched],
        largest: Largest,
    ) -> None:
        self._facts = facts
        self._trees = facts.trees
        self._largest = largest
        self._below = [
            (one, SensitiveValuesBelow(facts.trees, kinds, own, one))
            for one, own in zip(watched, values, strict=True)
        ]

    def count_roots(self) -> None:
        """Count the shares of all records of each group."""
        records = np.arange(len(self._facts.groups))
        places = self._make_places()
        places.add(self._facts.groups, self._facts.groups, [(0, self._trees.first[records])])
        self._share_all(places)

    def count_single(self, facts: RecordFacts) -> None:
        """Count the shares of the patterns with one of these facts."""
        record = np.repeat(np.arange(len(facts.groups)), facts.number)
        starts = np.concatenate(([0], np.cumsum(facts.width)))
        pattern = starts[facts.groups[record]] + facts.label
        step = PART
        order = np.argsort(pattern, kind="stable")
        cuts = [0]
        ordered = pattern[order]
        while cuts[-1] < len(ordered):  # all rows of a pattern together
            cuts.append(
                int(np.searchsorted(ordered, ordered[min(cuts[-1] + step, len(ordered)) - 1], "right"))
            )
        for begin, end in pairwise(cuts):
            rows = order[begin:end]
            slots = self._slots([facts.vertex[rows]], [np.zeros(len(rows), np.int64)])
            root = (0, self._trees.first[record[rows]])
            places = self._make_places()
            places.add(pattern[rows], facts.groups[record[rows]], [root, *slots])
            self._share_all(places)

    def count_chosen(self, taken: int) -> None:
        """Count the shares of the patterns with two or three facts."""
        for part in plan_parts(self._facts, taken, PART):
            code = code_of(self._facts, part, taken)
            for low, high in self._second_labels(part, code, taken):
                self._share_all(self._find_places(part, code, low, high))

    def _find_places(self, part: PatternPart, code: Coding, low: int, high: int) -> Places:
        """Return the places of the patterns of a part whose second labels are in a range."""
        places = self._make_places()
        pieces: list[tuple[Ints, ...]] = []
        size = 0
        for batch in batches_of(self._facts, part, code.facts):
            for piece in self._choose(batch, part, code, low, high):
                pieces.append(piece)
                size += len(piece[0])
                if size > max(PART, len(places)):
                    self._add(places, pieces, code.facts)
                    pieces, size = [], 0
        if pieces:
            self._add(places, pieces, code.facts)
        return places

    def _add(self, places: Places, pieces: Sequence[tuple[Ints, ...]], taken: int) -> None:
        """Add the places of some patterns, as ``_choose`` yields them."""
        key, record, *rest = map(np.concatenate, zip(*pieces, strict=True))
        slots = self._slots(rest[:taken], rest[taken:])
        places.add(key, self._facts.groups[record], [(0, self._trees.first[record]), *slots])

    def _second_labels(self, part: PatternPart, code: Coding, taken: int) -> Iterator[tuple[int, int]]:
        """Yield ranges of second labels, so that a part with one first label is held in pieces."""
        load = int(self._facts.occurrences(taken)[part.begin : part.end].sum())
        ranges = 1 if part.low is None or part.high - part.low > 1 else min(code.width, 1 + load // PART)
        step = max(1, -(-code.width // ranges))
        yield from ((low, low + step) for low in range(0, code.width, step))

    def _choose(
        self, batch: Batch, part: PatternPart, code: Coding, low: int, high: int
    ) -> Iterator[tuple[Ints, ...]]:
        """Yield the patterns of a batch: key, record, the vertex of each fact, and the fact's rank."""
        for first, chosen, one, other in choices(batch, part, code.facts):
            keys = keys_of(batch, first, chosen, one, other, self._facts, code)
            label, vertex, pairs = batch.label[:, chosen], batch.vertex[:, chosen], batch.pairs[:, :, chosen]
            places = (
                [np.full_like(one, first), one] if code.facts == 2 else [np.full_like(one, first), one, other]
            )
            within = (label[one] >= low) & (label[one] < high)
            record = np.broadcast_to(batch.records[chosen], keys.shape)
            ranks = _rank([label[own] for own in places], pairs, places)
            columns = [keys, record, *(vertex[own] for own in places), *ranks]
            yield tuple(column[within] for column in columns)

    def _slots(self, vertices: Sequence[Ints], ranks: Sequence[Ints]) -> Iterator[tuple[Ints, Ints]]:
        """Yield anchors below the root: the number of each, and its vertex, -1 if it has none."""
        depth = self._trees.depth
        for vertex, rank in zip(vertices, ranks, strict=True):
            for level in range(depth):
                yield 1 + rank * depth + level, self._trees.above[vertex, level]

    def _make_places(self) -> Places:
        """Return room for the places of some patterns."""
        return Places([below.source for _, below in self._below], 1 + 3 * max(self._trees.depth, 1))

    def _share_all(self, places: Places) -> None:
        """Find the shares of all attributes at places that have all their rows."""
        for at, (watched, below) in enumerate(self._below):
            self._share(watched, below, *places.read(at))

    def _share(
        self, watched: Watched, below: SensitiveValuesBelow, place: Ints, source: Ints, group: Ints
    ) -> None:
        """Find the shares at places, given by the vertices of each where values are read."""
        if not len(place):
            return
        record = self._trees.record[source]
        times = self._facts.times[record]
        # The rows of one record at one place, and those of one place, are consecutive.
        persons = np.flatnonzero(
            np.concatenate(([True], (place[1:] != place[:-1]) | (record[1:] != record[:-1])))
        )
        person = np.zeros(len(place), np.int64)
        person[persons[1:]] = 1
        person = np.cumsum(person)
        held = np.add.reduceat(below.number[source], persons)
        at = np.zeros(len(place), np.int64)
        firsts = first_places(place)
        at[firsts[1:]] = 1
        at = np.cumsum(at)
        showing = np.add.reduceat(times[persons], first_places(at[persons]))
        number = below.first[source + 1] - below.first[source]
        row = np.repeat(np.arange(len(place)), number)
        ends = np.cumsum(number)
        entry = np.arange(len(row)) - np.repeat(ends - number, number) + below.first[source[row]]
        value = below.value[entry]
        if watched.presence:
            kept = np.unique(person[row] * below.most + value, return_index=True)[1]
            row, value = row[kept], value[kept]
            parts, whole = np.ones(len(row), np.int64), 1
        else:
            sizes = np.unique(held[person[row]])
            whole = lcm(*map(int, sizes)) if len(sizes) else 1
            count = below.count[entry]
            if whole * int(showing.max()) >= _EXACT:
                parts = count.astype(object) * (whole // held[person[row]].astype(object))
            else:
                parts = count * (whole // held[person[row]])
        parts = parts * times[row]
        marks = at[row] * below.most + value
        order = np.argsort(marks, kind="stable")
        marks = marks[order]
        if len(marks):
            ends_of = first_places(marks)
            sums = np.add.reduceat(parts[order], ends_of)
            places = marks[ends_of] // below.most
            self._compare(sums, showing[places], whole, group[firsts[places]])

    def _compare(self, sums: Ints, showing: Ints, whole: int, group: Ints) -> None:
        """Compare shares, ``sums / (whole * showing)``, with alpha and with the largest so far."""
        # Equal fractions are decided once. The largest few by their rounded value are compared exactly.
        rounded = sums.astype(np.float64) / showing.astype(np.float64)
        largest, alpha = self._largest, self._largest.alpha
        near = np.flatnonzero(rounded >= rounded.max() * (1 - 1e-9))
        best = max(
            Fraction(part, number * whole)
            for part, number in set(zip(map(int, sums[near]), map(int, showing[near]), strict=True))
        )
        largest.share = best if largest.share is None else max(best, largest.share)
        limit = float(alpha) * whole
        for at in np.flatnonzero(rounded >= limit * (1 - 1e-9)):
            if int(sums[at]) * alpha.denominator > alpha.numerator * int(showing[at]) * whole:
                largest.failing.add(int(group[at]))


def _rank(labels: Sequence[Ints], pairs: Ints, places: Sequence[Ints]) -> list[Ints]:
    """Return for each fact of patterns its number, which facts that can be exchanged have in common.

    Facts are told apart by their labels, and by the depths of their common ancestors with the others: the
    sum, which for up to three facts determines them.
    """
    taken = len(places)
    depth = {
        (one, other): pairs[places[one], places[other]].astype(np.int64) >> 1
        for one in range(taken)
        for other in range(one + 1, taken)
    }
    sums = [
        sum(depth[min(at, other), max(at, other)] for other in range(taken) if other != at)
        for at in range(taken)
    ]
    ranks = []
    for at in range(taken):
        rank = np.zeros(labels[at].shape, np.int64)
        for other in range(taken):
            if other != at:
                rank += labels[other] < labels[at]
                rank += (labels[other] == labels[at]) & (sums[other] < sums[at])
        ranks.append(rank)
    return ranks

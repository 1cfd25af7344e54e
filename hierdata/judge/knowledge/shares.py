"""The largest share of sensitive values among the records that match a pattern, at each of its anchors.

Anchors of a match are the root, the vertices of its facts, and their ancestors. The share of a value at an
anchor is over the records that show a value of its attribute at or below the anchor, or above it where the
attribute lies there. Of an attribute that may be known, what the facts of a pattern state there is taken
out, and a value that is absent counts as every bounded value, since a reader may know why it was left out.
Sums are of integers: each record's parts are counted in a common denominator.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import combinations, pairwise
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
from hierdata.judge.knowledge.places import PatternFacts, Places

PART = 1 << 18
"""About how many occurrences of patterns are held at a time; of more, places and vertices are kept once."""
_EXACT = 1 << 62


@dataclass(frozen=True)
class Watched:
    """A sensitive attribute that alpha bounds.

    ``number`` is its number, ``bounded`` are the codes of the values that count, ``named`` how many values
    are named as such (None: all count, also what nobody shows), ``presence`` how it is read. ``source`` is by
    vertex type the depth at which its values are read from a vertex of this type: -1 at and below the vertex
    itself, -2 nowhere. Where its values may be known, ``stated`` has what each label of a fact states, and
    ``stated_whole`` what each code of a whole vertex does, as in ``Places``; else they are None.
    """

    number: int
    bounded: frozenset[int]
    named: int | None
    presence: bool
    source: tuple[int, ...]
    stated: Ints | None
    stated_whole: Ints | None


@dataclass
class Largest:
    """The largest share so far, and the groups in which some share is above alpha."""

    alpha: Fraction
    share: Fraction | None = None
    failing: set[int] = field(default_factory=set)


class SensitiveValuesBelow:
    """The values of one attribute, by the vertex at or below which they are.

    ``source[v]`` is the vertex whose values are read at v, -1 if there are none to read. ``number[v]`` counts
    the values at or below v, ``absent[v]`` those that may be known and are not shown; ``first[v]`` is where
    the bounded ones begin in ``value`` and ``count``.
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
        self.absent = np.zeros(size, np.int64)
        if watched.stated_whole is not None:
            vertex = np.flatnonzero(watched.stated_whole[trees.shown] == 1)
            while len(vertex):
                np.add.at(self.absent, vertex, 1)
                vertex = trees.parent[vertex]
                vertex = vertex[vertex >= 0]
        self.source[(self.number + self.absent)[self.source] == 0] = -1
        every, self.count = np.unique(np.concatenate([np.empty(0, np.int64), *marks]), return_counts=True)
        owner, self.value = np.divmod(every, most)
        self.first = np.searchsorted(owner, np.arange(size + 1))
        self.most = most

    def list_bounded(self, source: Ints) -> tuple[Ints, Ints, Ints]:
        """Return the bounded values at or below some vertices: the place of the vertex, value and count."""
        number = self.first[source + 1] - self.first[source]
        row = np.repeat(np.arange(len(source)), number)
        entry = np.arange(len(row)) - np.repeat(np.cumsum(number) - number, number) + self.first[source[row]]
        return row, self.value[entry], self.count[entry]


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
            (attribute, SensitiveValuesBelow(facts.trees, kinds, own_values, attribute))
            for attribute, own_values in zip(watched, values, strict=True)
        ]

    def count_roots(self) -> None:
        """Count the shares of all records of each group."""
        places = self._make_places()
        places.add(self._facts.groups, self._facts.groups, self._trees.first, self._trees.above, None)
        self._share_all(places)

    def count_single(self, facts: RecordFacts, *, whole: bool = False) -> None:
        """Count the shares of the patterns with one of these facts; ``whole``: facts are whole vertices."""
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
            vertex, records = facts.vertex[rows], record[rows]
            none = np.zeros(len(rows), np.int64)
            columns = PatternFacts(
                [vertex], [none], [facts.names[pattern[rows]]], [[self._trees.level[vertex]]]
            )
            places = self._make_places(whole=whole)
            roots = self._trees.first[records]
            places.add(pattern[rows], facts.groups[records], roots, self._trees.above, columns)
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
        vertices, labels, depths = rest[:taken], rest[2 * taken : 3 * taken], iter(rest[3 * taken :])
        common = [[self._trees.level[fact_vertices]] * taken for fact_vertices in vertices]
        for one, other in combinations(range(taken), 2):
            common[one][other] = common[other][one] = next(depths)
        group = self._facts.groups[record]
        names = [self._facts.names[self._facts.starts[group] + label] for label in labels]
        facts = PatternFacts(vertices, rest[taken : 2 * taken], names, common)
        places.add(key, group, self._trees.first[record], self._trees.above, facts)

    def _second_labels(self, part: PatternPart, code: Coding, taken: int) -> Iterator[tuple[int, int]]:
        """Yield ranges of second labels, so that a part with one first label is held in pieces."""
        load = int(self._facts.occurrences(taken)[part.begin : part.end].sum())
        ranges = 1 if part.low is None or part.high - part.low > 1 else min(code.width, 1 + load // PART)
        step = max(1, -(-code.width // ranges))
        yield from ((low, low + step) for low in range(0, code.width, step))

    def _choose(
        self, batch: Batch, part: PatternPart, code: Coding, low: int, high: int
    ) -> Iterator[tuple[Ints, ...]]:
        """Yield the patterns of a batch: key and record, the vertex of each fact, its rank and its label.

        Last are the common depths of each two facts.
        """
        for first, chosen, second, third in choices(batch, part, code.facts):
            keys = keys_of(batch, first, chosen, second, third, self._facts, code)
            label, vertex, pairs = batch.label[:, chosen], batch.vertex[:, chosen], batch.pairs[:, :, chosen]
            facts = [np.full_like(second, first), second, third][: code.facts]
            within = (label[second] >= low) & (label[second] < high)
            record = np.broadcast_to(batch.records[chosen], keys.shape)
            labels = [label[fact] for fact in facts]
            depths = [pairs[fact, other].astype(np.int64) >> 1 for fact, other in combinations(facts, 2)]
            vertices = [vertex[fact] for fact in facts]
            columns = [keys, record, *vertices, *_rank(labels, depths), *labels, *depths]
            yield tuple(column[within] for column in columns)

    def _make_places(self, *, whole: bool = False) -> Places:
        """Return room for the places of some patterns."""
        stated = [attribute.stated_whole if whole else attribute.stated for attribute, _ in self._below]
        return Places([below.source for _, below in self._below], stated, self._trees.depth)

    def _share_all(self, places: Places) -> None:
        """Find the shares of all attributes at places that have all their rows."""
        for number, (watched, below) in enumerate(self._below):
            self._share(watched, below, places.read(number), places.read_stated(number))

    def _share(
        self,
        watched: Watched,
        below: SensitiveValuesBelow,
        vertices: tuple[Ints, Ints, Ints],
        stated: tuple[Ints, Ints],
    ) -> None:
        """Find the shares at places, given by the vertices where values are read, and by what is stated."""
        place, source, group = vertices
        if not len(place):
            return
        record = self._trees.record[source]
        # The rows of one record at one place, and those of one place, are consecutive.
        differs = (place[1:] != place[:-1]) | (record[1:] != record[:-1])
        persons = np.flatnonzero(np.concatenate(([True], differs)))
        times = self._facts.times[record[persons]]
        sizes = np.diff(np.append(persons, len(place)))
        person = np.repeat(np.arange(len(persons)), sizes)
        firsts = first_places(place)
        place_of = np.zeros(len(place), np.int64)
        place_of[firsts[1:]] = 1
        place_of = np.cumsum(place_of)[persons]
        kept = np.isin(stated[0], place[firsts])
        stated_at, stated_code = np.searchsorted(place[firsts], stated[0][kept]), stated[1][kept]
        taken = np.bincount(stated_at[stated_code >= 0], minlength=len(firsts))
        missed = np.bincount(stated_at[stated_code < 0], minlength=len(firsts))
        absent = np.add.reduceat(below.absent[source], persons) - sizes * missed[place_of]
        held = np.add.reduceat(below.number[source], persons) - sizes * taken[place_of] + absent
        showing = np.zeros(len(firsts), np.int64)
        np.add.at(showing, place_of, np.where(held > 0, times, 0))
        row, value, count = below.list_bounded(source)
        owner = person[row]
        bounded = np.isin(stated_code, np.fromiter(watched.bounded, np.int64, len(watched.bounded)))
        stated_at, stated_code, most = stated_at[bounded], stated_code[bounded], below.most
        remains = np.ones(len(firsts), np.bool_)
        if watched.presence:
            is_stated = np.isin(place_of[owner] * most + value, stated_at * most + stated_code)
            asked = ~is_stated & (absent[owner] == 0)
            pairs = np.unique(owner[asked] * most + value[asked])
            owner, value = np.divmod(pairs, most)
            parts, hidden, whole = np.ones(len(owner), np.int64), np.where(absent > 0, 1, 0), 1
            if watched.named is not None:
                different = np.unique(stated_at * most + stated_code) // most
                remains = np.bincount(different, minlength=len(firsts)) < watched.named
        else:
            extra, taken_out = _take_out(place_of, stated_at, stated_code)
            owner, value = np.concatenate((owner, extra)), np.concatenate((value, taken_out))
            count = np.concatenate((count, -sizes[extra]))
            parts, hidden, whole = _divide(owner, count, absent, held, int(showing.max()))
        parts, hidden = parts * times[owner], hidden * times
        common = np.zeros(len(firsts), hidden.dtype)
        np.add.at(common, place_of, hidden)
        sums, places = _sum_up(place_of[owner] * most + value, parts, common, most)
        alone = np.flatnonzero(remains & (common > 0))  # a bounded value that nobody shows there
        sums, places = np.concatenate((sums, common[alone])), np.concatenate((places, alone))
        shown = np.flatnonzero(sums > 0)  # of a value that is stated there nothing may be left
        if len(shown):
            places = places[shown]
            self._compare(sums[shown], showing[places], whole, group[firsts[places]])

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
        for index in np.flatnonzero(rounded >= limit * (1 - 1e-9)):
            if int(sums[index]) * alpha.denominator > alpha.numerator * int(showing[index]) * whole:
                largest.failing.add(int(group[index]))


def _take_out(place_of: Ints, stated_at: Ints, stated_code: Ints) -> tuple[Ints, Ints]:
    """Return persons, each once for each value that patterns state at their place, and these values.

    ``place_of`` has the place of each person, ``stated_at`` the places where patterns state ``stated_code``.
    """
    order = np.argsort(stated_at, kind="stable")
    begin = np.searchsorted(stated_at[order], place_of)
    count = np.searchsorted(stated_at[order], place_of, "right") - begin
    person = np.repeat(np.arange(len(place_of)), count)
    index = np.arange(len(person)) - np.repeat(np.cumsum(count) - count, count) + begin[person]
    return person, stated_code[order][index]


def _divide(owner: Ints, count: Ints, absent: Ints, held: Ints, most: int) -> tuple[Ints, Ints, int]:
    """Return the parts of values and of what is absent, as integers, and what a whole person weighs.

    Each person is divided among the ``held`` values. ``most`` persons are added up at most.
    """
    divisors = np.unique(held[held > 0])
    whole = lcm(*map(int, divisors)) if len(divisors) else 1
    if whole * most >= _EXACT:
        count, absent, held = (numbers.astype(object) for numbers in (count, absent, held))
    shares = whole // np.maximum(held, 1)
    return count * shares[owner], absent * shares, whole


def _sum_up(marks: Ints, parts: Ints, common: Ints, most: int) -> tuple[Ints, Ints]:
    """Return the sums of parts by mark, ``place * most + value``, with what is common, and the places."""
    order = np.argsort(marks, kind="stable")
    marks = marks[order]
    if not len(marks):
        return parts, marks
    firsts = first_places(marks)
    places = marks[firsts] // most
    return np.add.reduceat(parts[order], firsts) + common[places], places


def _rank(labels: Sequence[Ints], depths: Sequence[Ints]) -> list[Ints]:
    """Return for each fact of patterns its number, which facts that can be exchanged have in common.

    Facts are told apart by their labels, and by the depths of their common ancestors with the others: the
    sum, which for up to three facts determines them.
    """
    taken = len(labels)
    pairs = list(zip(combinations(range(taken), 2), depths, strict=True))
    sums = [sum(depth for pair, depth in pairs if fact in pair) for fact in range(taken)]
    ranks = []
    for fact in range(taken):
        rank = np.zeros(labels[fact].shape, np.int64)
        for other in range(taken):
            if other != fact:
                rank += labels[other] < labels[fact]
                rank += (labels[other] == labels[fact]) & (sums[other] < sums[fact])
        ranks.append(rank)
    return ranks

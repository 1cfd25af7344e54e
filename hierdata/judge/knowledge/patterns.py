"""Records as arrays of integers, and the patterns of two or three facts that they show, for all at once.

A pattern is written as one integer: its group, its labels in order, and the depths of the lowest common
ancestors of its pairs. Where labels are equal, depths are put in order, so that the key stands for the
multiset of labelled pairs, which up to three facts determines the pattern. Behind it stands the record, so
that one sorting finds in which records a pattern occurs.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import chain
from math import comb

import numpy as np
from numpy.typing import NDArray

from hierdata.ground.errors import PolicyError

Ints = NDArray[np.int64]


@dataclass(frozen=True)
class Records:
    """Different records of some groups, in the order of the groups, each with its number of occurrences.

    ``vertices`` are by record those of ``FactReader.read``, as 32-bit integers. ``labels`` are by code what a
    vertex shows, those of roots only as far as they are facts. A record is matched within its group.
    """

    vertices: Sequence[bytes]
    groups: Sequence[int]
    times: Sequence[int]
    labels: Sequence[tuple[int, ...]]


class RecordTrees:
    """The vertices of all records: ``parent`` (-1 at roots), ``record``, ``shown`` and ``level``.

    ``above[v, d - 1]`` is the ancestor of a vertex at depth d, itself included; -1 beyond its own depth.
    """

    def __init__(self, records: Records) -> None:
        sizes = np.array([len(vertices) // 8 for vertices in records.vertices], np.int64)
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
        vertex = np.arange(len(flat))
        for depth in range(self.depth, 0, -1):
            vertex = np.where(self.level[vertex] > depth, self.parent[vertex], vertex)
            self.above[:, depth - 1] = np.where(self.level[vertex] == depth, vertex, -1)


@dataclass(frozen=True)
class RecordFacts:
    """The facts of all records, by record and label: ``vertex`` and ``label`` of each.

    ``label`` is numbered from 0 in each group, in one order. ``first`` and ``number`` are those of each
    record, ``width`` is the number of labels in each group, and ``names`` has the codes of these labels, one
    group after the other.
    """

    vertex: Ints
    label: Ints
    first: Ints
    number: Ints
    width: Ints
    groups: Ints
    times: Ints
    trees: RecordTrees
    names: Ints

    @cached_property
    def starts(self) -> Ints:
        """Where the labels of each group begin in ``names``."""
        return np.cumsum(self.width) - self.width

    @cached_property
    def batches(self) -> list[tuple[int, Ints]]:
        """The records with each number of facts, in order."""
        order = np.argsort(self.number, kind="stable")
        numbers, starts = np.unique(self.number[order], return_index=True)
        return list(zip(map(int, numbers), np.split(order, starts[1:]), strict=True))

    def occurrences(self, facts: int) -> Ints:
        """Return for each record in how many ways so many of its facts can be chosen."""
        ways = np.ones_like(self.number)
        for taken in range(facts):
            ways = ways * (self.number - taken) // (taken + 1)
        return np.maximum(ways, 0)


def list_facts(records: Records, trees: RecordTrees, *, whole: bool = False) -> RecordFacts:
    """Return the facts of the records; with ``whole`` what each vertex below the root shows is one label."""
    groups = np.array(records.groups, np.int64)
    chosen = trees.level >= (1 if whole else 0)
    if whole:
        vertex = np.flatnonzero(chosen)
        label = trees.shown[vertex]
    else:
        sizes = np.array([len(labels) for labels in records.labels], np.int64)
        begin = np.concatenate(([0], np.cumsum(sizes)))[:-1]
        every = np.fromiter(chain.from_iterable(records.labels), np.int64, int(sizes.sum()))
        widths = np.where(chosen, sizes[trees.shown], 0)
        vertex = np.repeat(np.arange(len(widths)), widths)
        ends = np.cumsum(widths)
        position = np.arange(len(vertex)) - np.repeat(ends - widths, widths)
        label = every[begin[trees.shown[vertex]] + position]
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
    return RecordFacts(vertex[order], local[order], first, number, width, groups, times, trees, marks % most)


def first_places(ordered: Ints) -> NDArray[np.intp]:
    """Return where each run of equal numbers begins."""
    return np.flatnonzero(np.concatenate(([len(ordered) > 0], ordered[1:] != ordered[:-1])))


PART = 1 << 22
"""About how many occurrences of patterns are held at a time."""
_PIECE = 1 << 19
"""About how many are computed at a time."""
_FEW = 256
"""The pairs of up to so many things are kept for many numbers; of more they are large."""
_BITS = 63


@dataclass(frozen=True)
class PatternPart:
    """Records of consecutive groups, ``begin`` to ``end``, and the smallest labels of the patterns to count.

    ``low`` to ``high`` are labels of the only group; None means all patterns of these records.
    """

    begin: int
    end: int
    low: int | None = None
    high: int = 0


@dataclass(frozen=True)
class Coding:
    """How patterns of ``facts`` facts are written in a part: factors of the group, labels and depths."""

    facts: int
    depths: int
    width: int
    low: int
    group: int
    record_bits: int
    table: Ints


def bits(largest: int) -> int:
    """Return how many bits a number from 0 to below ``largest`` takes."""
    return max(largest - 1, 0).bit_length()


def pairs_of(number: int) -> tuple[Ints, Ints]:
    """Return the pairs j < k of ``number`` things, in order of j, then k."""
    return _pairs_of_few(number) if number <= _FEW else _pairs_of_many(number)


def _make_pairs(number: int) -> tuple[Ints, Ints]:
    first, second = np.triu_indices(number, 1)
    return first, second


_pairs_of_few = lru_cache(64)(_make_pairs)
_pairs_of_many = lru_cache(1)(_make_pairs)


@lru_cache(64)
def order_depths(levels: int) -> Ints:
    """Return the code of three pairs' depths in canonical order, for each three of ``2 * depth + equal``.

    ``equal`` says that the two labels are. ``levels`` is the number of depths.
    """
    span = 2 * levels
    shape = (span, span, span)
    depth, equal = np.divmod(np.arange(span), 2)
    one, two, three = depth[:, None, None], depth[None, :, None], depth[None, None, :]
    first, last = equal[:, None, None] == 1, equal[None, None, :] == 1
    one, two, three = (np.broadcast_to(part, shape) for part in (one, two, three))
    first, last = np.broadcast_to(first, shape), np.broadcast_to(last, shape)
    both = np.sort(np.stack((one, two, three)), axis=0)
    low, high = np.minimum(two, three), np.maximum(two, three)  # labels a = a < c
    left, right = np.minimum(one, two), np.maximum(one, two)  # labels a < c = c
    one_ = np.where(first & last, both[0], np.where(last & ~first, left, one))
    two_ = np.where(first & last, both[1], np.where(first, low, np.where(last, right, two)))
    three_ = np.where(first & last, both[2], np.where(first & ~last, high, three))
    return ((one_ * levels + two_) * levels + three_).ravel()


class Batch:
    """Records with the same number of facts: labels [fact, record], and depths and equality of each pair."""

    def __init__(self, facts: RecordFacts, records: Ints, number: int) -> None:
        places = facts.first[records] + np.arange(number)[:, None]
        self.records = records
        self.number = number
        self.vertex = facts.vertex[places]
        self.label = facts.label[places]
        levels = facts.trees.depth + 1
        self.pairs = np.zeros((number, number, len(records)), np.uint8 if levels < 120 else np.uint16)
        for depth in range(facts.trees.depth):
            above = facts.trees.above[self.vertex, depth]
            alike = above[:, None, :] == above[None, :, :]
            alike &= (above >= 0)[:, None, :]
            self.pairs += 2 * alike.astype(self.pairs.dtype)
        self.pairs += self.label[:, None, :] == self.label[None, :, :]

    def cells(self) -> int:
        """Return how many pairs the batch holds."""
        return self.pairs.size


def plan_parts(facts: RecordFacts, taken: int, most: int | None = None) -> Iterator[PatternPart]:
    """Cut the records into parts with about ``most`` patterns; a group with more by its smallest labels."""
    most = most or PART
    ends = np.searchsorted(facts.groups, np.arange(len(facts.width) + 1))
    load = np.concatenate(([0], np.cumsum(facts.occurrences(taken))))
    begin, first_group = 0, 0
    for group in range(len(facts.width)):
        first, last = int(ends[group]), int(ends[group + 1])
        alone = load[last] - load[first] > most or not _fits(facts, group, group, last - first, taken)
        full = load[last] - load[begin] > most or not _fits(facts, first_group, group, last - begin, taken)
        if (alone or full) and first > begin:
            yield PatternPart(begin, first)
        if alone:
            yield from _cut_by_label(facts, first, last, group, taken, most)
        if alone or full:
            begin, first_group = (last, group + 1) if alone else (first, group)
    if begin < len(facts.groups):
        yield PatternPart(begin, len(facts.groups))


def _fits(facts: RecordFacts, first: int, last: int, records: int, taken: int) -> bool:
    """Return whether the keys of the patterns in some groups fit."""
    width = int(facts.width[first : last + 1].max())
    fixed = _fixed_bits(facts, width, records, taken)
    return fixed + bits(width) + bits(last - first + 1) <= _BITS


def _fixed_bits(facts: RecordFacts, width: int, records: int, taken: int) -> int:
    """Return the bits of a key without the first label and the group."""
    pairs = taken * (taken - 1) // 2
    return (taken - 1) * bits(width) + bits((facts.trees.depth + 1) ** pairs) + bits(records)


def _cut_by_label(
    facts: RecordFacts, begin: int, end: int, group: int, taken: int, most: int
) -> Iterator[PatternPart]:
    """Cut one group by the smallest label of its patterns."""
    width = int(facts.width[group])
    room = _BITS - _fixed_bits(facts, width, end - begin, taken)
    if room < 0:
        raise PolicyError(
            "bounded-knowledge: the records of one published root differ in more values than their patterns "
            "can be counted by: generalize more, or take a smaller m"
        )
    start, stop = int(facts.first[begin]), int(facts.first[end - 1] + facts.number[end - 1])
    record = np.repeat(np.arange(begin, end), facts.number[begin:end])
    after = facts.first[record] + facts.number[record] - np.arange(start, stop) - 1
    later = after if taken == 2 else after * (after - 1) // 2
    load = np.zeros(width, np.int64)
    np.add.at(load, facts.label[start:stop], later)
    low, patterns = 0, 0
    for label in range(width):
        if label > low and (patterns + load[label] > most or label - low >= 1 << min(room, 62)):
            yield PatternPart(begin, end, low, label)
            low, patterns = label, 0
        patterns += int(load[label])
    yield PatternPart(begin, end, low, width)


def code_of(facts: RecordFacts, part: PatternPart, taken: int) -> Coding:
    """Return how patterns of some facts are written in a part."""
    groups = facts.groups[part.begin : part.end]
    base = int(groups[0])
    width = int(facts.width[base : int(groups[-1]) + 1].max())
    levels = facts.trees.depth + 1
    table = order_depths(levels) if taken == 3 else np.empty(0, np.int64)
    depths = levels ** (taken * (taken - 1) // 2)
    record_bits = bits(part.end - part.begin)
    low = 0 if part.low is None else part.low
    return Coding(taken, depths, width, low, base, record_bits, table)


def batches_of(facts: RecordFacts, part: PatternPart, taken: int) -> Iterator[Batch]:
    """Yield the records of a part that have enough facts, those with the same number of facts together."""
    number = facts.number[part.begin : part.end]
    order = np.argsort(number, kind="stable") + part.begin
    numbers, starts = np.unique(facts.number[order], return_index=True)
    for size, records in zip(map(int, numbers), np.split(order, starts[1:]), strict=True):
        if size < taken:
            continue
        ways = comb(size, taken) if part.low is None else comb(size - 1, taken - 1)
        step = max(1, min(4 * _PIECE // (size * size), PART // ways))
        for start in range(0, len(records), step):
            yield Batch(facts, records[start : start + step], size)


def choices(
    batch: Batch, part: PatternPart, taken: int
) -> Iterator[tuple[int, NDArray[np.intp] | slice, Ints, Ints]]:
    """Yield the first fact of patterns, the records of the batch that have it, and the other facts.

    The last two are equal for patterns of two facts.
    """
    everything: NDArray[np.intp] | slice = slice(None)
    for first in range(batch.number - taken + 1):
        chosen = everything
        if part.low is not None:
            label = batch.label[first]
            chosen = np.flatnonzero((label >= part.low) & (label < part.high))
            if not len(chosen):
                continue
        if taken == 2:
            rest = np.arange(first + 1, batch.number)
            yield first, chosen, rest, rest
            continue
        # Pairs of facts behind the first one, in pieces.
        second, third = pairs_of(batch.number)
        begin = (first + 1) * (2 * batch.number - first - 2) // 2
        count = len(batch.records) if isinstance(chosen, slice) else len(chosen)
        step = max(1, _PIECE // count)
        for start in range(begin, len(second), step):
            yield first, chosen, second[start : start + step], third[start : start + step]


def keys_of(
    batch: Batch,
    first: int,
    chosen: NDArray[np.intp] | slice,
    second: Ints,
    third: Ints,
    facts: RecordFacts,
    code: Coding,
) -> Ints:
    """Return the keys of patterns [pattern, record], without the record."""
    label, pairs = batch.label[:, chosen], batch.pairs[:, :, chosen]
    group = facts.groups[batch.records[chosen]] - code.group
    head = group * code.width + label[first] - code.low
    keys: Ints = label[second]
    keys += head * code.width
    if code.facts == 2:
        keys *= code.depths
        keys += pairs[first, second] >> 1
        return keys
    span = 2 * (facts.trees.depth + 1)
    place = pairs[first, second].astype(np.int64)
    place *= span
    place += pairs[first, third]
    place *= span
    place += pairs[second, third]
    keys *= code.width
    keys += label[third]
    keys *= code.depths
    keys += code.table[place]
    return keys

"""Count the records that match each pattern, in sorted arrays of exact integer keys."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from hierdata.judge.knowledge.patterns import (
    PART,
    Coding,
    Ints,
    PatternPart,
    RecordFacts,
    batches_of,
    choices,
    code_of,
    first_places,
    keys_of,
    plan_parts,
)


@dataclass
class Least:
    """The least number of records that match a pattern, and the groups with one that fewer than k match."""

    k: int
    least: int = -1

    def __post_init__(self) -> None:
        self.failing: set[int] = set()

    def add(self, counts: Ints, groups: Ints) -> None:
        """Take the number of records of some patterns, and the group of each."""
        if not len(counts):
            return
        fewest = int(counts.min())
        self.least = fewest if self.least < 0 else min(self.least, fewest)
        if fewest < self.k:
            self.failing.update(map(int, np.unique(groups[counts < self.k])))


def count_single(facts: RecordFacts, least: Least) -> None:
    """Count the records that show each label."""
    record = np.repeat(np.arange(len(facts.groups)), facts.number)
    if not len(record):
        return
    starts = np.concatenate(([0], np.cumsum(facts.width)))
    label = starts[facts.groups[record]] + facts.label
    marks = np.unique(label * len(facts.groups) + record)
    label, record = np.divmod(marks, len(facts.groups))
    firsts = first_places(label)
    least.add(np.add.reduceat(facts.times[record], firsts), facts.groups[record[firsts]])


def count_chosen(facts: RecordFacts, taken: int, least: Least) -> None:
    """Count the records that match each pattern of two or three facts."""
    for part in plan_parts(facts, taken):
        code = code_of(facts, part, taken)
        tally = _PatternTally(facts, part, code)
        for batch in batches_of(facts, part, taken):
            for first, chosen, second, third in choices(batch, part, taken):
                keys = keys_of(batch, first, chosen, second, third, facts, code)
                keys <<= code.record_bits
                keys |= batch.records[chosen] - part.begin
                tally.add(keys.ravel())
            tally.end_of_batch()
        keys, counts = tally.take()
        groups = keys // (code.width**taken * code.depths) if part.low is None else np.zeros_like(keys)
        least.add(counts, groups + code.group)


class _PatternTally:
    """Counts records by pattern, from keys with the record behind; all keys of a record are in one batch."""

    def __init__(self, facts: RecordFacts, part: PatternPart, code: Coding) -> None:
        self._times = facts.times[part.begin : part.end]
        self._single = int(self._times.max(initial=1)) == 1
        self._bits = code.record_bits
        self._held: list[Ints] = []
        self._size = 0
        self._counted: list[tuple[Ints, Ints]] = []

    def add(self, marks: Ints) -> None:
        """Take the keys of some patterns."""
        self._held.append(marks)
        self._size += len(marks)
        if self._size > 2 * max(PART, len(self._held[0])):  # few labels that repeat have few different keys
            self._held = [self._sort()]
            self._size = len(self._held[0])

    def end_of_batch(self) -> None:
        """Count what is held, if it is much."""
        if self._size > PART:
            self._count()

    def take(self) -> tuple[Ints, Ints]:
        """Return each pattern with its number of records."""
        self._count()
        if len(self._counted) == 1:
            return self._counted[0]
        keys = np.concatenate([np.empty(0, np.int64), *(keys for keys, _ in self._counted)])
        counts = np.concatenate([np.empty(0, np.int64), *(counts for _, counts in self._counted)])
        if not len(keys):
            return keys, counts
        order = np.argsort(keys, kind="stable")
        keys = keys[order]
        firsts = first_places(keys)
        return keys[firsts], np.add.reduceat(counts[order], firsts)

    def _sort(self) -> Ints:
        """Return what is held in order, each pattern once for each record."""
        marks = np.concatenate(self._held) if len(self._held) > 1 else self._held[0]
        marks.sort()
        return marks[first_places(marks)]

    def _count(self) -> None:
        if not self._held:
            return
        marks = self._sort()
        self._held, self._size = [], 0
        keys = marks >> self._bits
        firsts = first_places(keys)
        if self._single:
            counts = np.diff(np.append(firsts, len(keys)))
        else:
            counts = np.add.reduceat(self._times[marks & ((1 << self._bits) - 1)], firsts)
        self._counted.append((keys[firsts], counts))

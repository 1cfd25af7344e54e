"""Draw classes from buckets: the largest bucket first (LE algorithm 1), or by capacities (MSB)."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from functools import partial
from heapq import heapify, heappop, heappush
from typing import ClassVar, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from hierdata.engines.base import StepInput, silent
from hierdata.engines.buckets.attainable import JointCounts, coordinates_of, draw_rows, keep_most
from hierdata.engines.buckets.buckets import Buckets, reason
from hierdata.engines.buckets.exchange import Exchange
from hierdata.engines.buckets.kernel import largest
from hierdata.engines.buckets.packing import pack_rows
from hierdata.engines.rows.leftovers import finish_partition
from hierdata.engines.rows.table import members_of
from hierdata.forest.partition import SUPPRESSED, Partition

_AHEAD = 16
"""How many rows of a bucket are searched for a record that the class does not have yet."""
_REPORTED = 1024


class Drawing(ABC):
    """The rows left in each bucket, and the room of a class for each group.

    A class that cannot be filled returns its rows, and the bucket that it began with begins no other class.
    After ``_patience`` consecutive failures no more classes are tried.
    """

    _patience: ClassVar[int] = 64

    def __init__(self, buckets: Buckets, records: NDArray[np.int64], rng: np.random.Generator) -> None:
        self._size = buckets.class_size
        self._rows, self._groups = _fill_buckets(buckets, rng)
        self._rooms = [buckets.room(coordinate) for coordinate in buckets.coordinates]
        self._room = [rows for room in self._rooms for rows in room] or [self._size]
        repeated = len(np.unique(records)) < len(records)
        self._record_of = records.tolist() if repeated else None
        self._ties = _draws(rng)
        self._given_up: set[int] = set()

    def run(self, progress: Callable[[int], None]) -> list[int]:
        """Draw all classes; return their rows, class by class."""
        drawn: list[int] = []
        failed = 0
        while True:
            rows, buckets = self._fill()
            if not rows:
                break
            if len(rows) == self._size:
                drawn += rows
                failed = 0
                if len(drawn) % (_REPORTED * self._size) == 0:
                    progress(len(drawn))
                continue
            failed += 1
            for row, bucket in zip(rows, buckets, strict=True):
                self._rows[bucket].append(row)
            if failed == self._patience or not self._enough():
                break
            self._given_up.add(buckets[0])
            self._take_back(buckets)
        return drawn

    @abstractmethod
    def _fill(self) -> tuple[list[int], list[int]]:
        """Draw the rows of a class, with their buckets; fewer than a class needs if no more have room."""

    @abstractmethod
    def _take_back(self, buckets: list[int]) -> None:
        """Update the state after rows returned to these buckets, and the first of them was given up."""

    def _row(self, bucket: int, taken: list[int]) -> int | None:
        """Take a row of a bucket; None if the last few are of records that the class has already."""
        rows = self._rows[bucket]
        if self._record_of is None:
            return rows.pop()
        met = {self._record_of[row] for row in taken}
        for back in range(1, min(_AHEAD, len(rows)) + 1):
            if self._record_of[rows[-back]] not in met:
                rows[-back], rows[-1] = rows[-1], rows[-back]
                return rows.pop()
        return None

    def _enough(self) -> bool:
        """Return whether the remaining rows could still fill a class, by each coordinate alone."""
        remaining = [0] * len(self._room)
        for rows, groups in zip(self._rows, self._groups, strict=True):
            for group in groups:
                remaining[group] += len(rows)
        first = 0
        for room in self._rooms:
            if sum(map(min, remaining[first : first + len(room)], room)) < self._size:
                return False
            first += len(room)
        return sum(map(len, self._rows)) >= self._size


def _draws(rng: np.random.Generator) -> Iterator[float]:
    while True:
        yield from rng.random(4096).tolist()


def _fill_buckets(
    buckets: Buckets, rng: np.random.Generator
) -> tuple[list[list[int]], list[tuple[int, ...]]]:
    """Return the rows of each bucket in random order, and its groups, numbered over all coordinates."""
    rows = rng.permutation(np.flatnonzero(buckets.complete))
    numbers = np.zeros(len(rows), np.int64)
    for coordinate in buckets.coordinates:
        keys = numbers * len(coordinate.share) + coordinate.group_of[rows]
        numbers = np.unique(keys, return_inverse=True)[1]
    order = np.argsort(numbers, kind="stable")
    parts = np.split(rows[order], np.flatnonzero(np.diff(numbers[order])) + 1) if len(rows) else []
    groups = _number_groups(buckets)
    return [part.tolist() for part in parts], [tuple(groups[part[0]].tolist()) for part in parts]


def _number_groups(buckets: Buckets) -> NDArray[np.int64]:
    """Return the groups of each row that has a value at every coordinate, numbered over all coordinates."""
    groups = [coordinate.group_of for coordinate in buckets.coordinates]
    return np.array(groups, np.int64).reshape(len(groups), buckets.rows).T + buckets.first_groups[:-1]


_Entry: TypeAlias = tuple[int, float, int]
"""Minus the number of rows left in a bucket, a random number for ties, and the bucket."""


class BySize(Drawing):
    """Draws by the number of rows left in a bucket, with random ties.

    Each bucket has an entry in the heap of its leading group, which is its group in the coordinate with the
    fewest groups. The heap over all groups has the first entry of each, and stale ones. So a group without
    room is skipped at once, however many buckets it has.
    """

    def __init__(self, buckets: Buckets, records: NDArray[np.int64], rng: np.random.Generator) -> None:
        super().__init__(buckets, records, rng)
        self._held = [0] * len(self._room)
        fewest = min(range(len(self._rooms)), key=lambda number: len(self._rooms[number]), default=0)
        self._leading = [groups[fewest] if groups else 0 for groups in self._groups]
        self._heaps: dict[int, list[_Entry]] = {}
        self._first: list[_Entry] = []
        self._refill()

    def _fill(self) -> tuple[list[int], list[int]]:
        """Return the rows of a class and their buckets, each from the largest bucket that has room."""
        first, heaps, leading = self._first, self._heaps, self._leading
        rows: list[int] = []
        buckets: list[int] = []
        aside: list[_Entry] = []
        passed: set[int] = set()
        while first and len(rows) < self._size:
            entry = heappop(first)
            group = leading[entry[2]]
            heap = heaps[group]
            if not heap or heap[0] != entry:
                continue  # stale: the group has another first entry now
            if self._held[group] >= self._room[group]:
                passed.add(group)
                continue
            heappop(heap)
            following = self._take(entry, rows, buckets)
            if following is not None:
                if following is not entry and self._has_room(entry[2]):
                    heappush(heap, following)
                else:
                    aside.append(following)
            if heap:
                heappush(first, heap[0])
        self._restore(aside, passed, buckets)
        return rows, buckets

    def _take(self, entry: _Entry, rows: list[int], buckets: list[int]) -> _Entry | None:
        """Add a row of a bucket; return its new entry, or the same one if it has no row for this class."""
        bucket = entry[2]
        row = self._row(bucket, rows) if self._has_room(bucket) else None
        if row is None:
            return entry
        rows.append(row)
        buckets.append(bucket)
        for group in self._groups[bucket]:
            self._held[group] += 1
        remaining = len(self._rows[bucket])
        return (-remaining, next(self._ties), bucket) if remaining else None

    def _restore(self, aside: list[_Entry], passed: set[int], buckets: list[int]) -> None:
        """Put back the entries that had no room in a class that took rows of these buckets."""
        for entry in aside:
            heappush(self._heaps[self._leading[entry[2]]], entry)
        for group in passed.union(self._leading[bucket] for _, _, bucket in aside):
            heappush(self._first, self._heaps[group][0])
        for bucket in buckets:
            for group in self._groups[bucket]:
                self._held[group] = 0

    def _has_room(self, bucket: int) -> bool:
        held, room = self._held, self._room
        for group in self._groups[bucket]:  # noqa: SIM110  (twice as fast as all())
            if held[group] >= room[group]:
                return False
        return True

    def _take_back(self, buckets: list[int]) -> None:
        self._refill()

    def _refill(self) -> None:
        """Add every bucket that has rows and room and has not been given up."""
        self._heaps = {group: [] for group in self._leading}
        for bucket, rows in enumerate(self._rows):
            if rows and bucket not in self._given_up and self._has_room(bucket):
                self._heaps[self._leading[bucket]].append((-len(rows), next(self._ties), bucket))
        for heap in self._heaps.values():
            heapify(heap)
        self._first = [heap[0] for heap in self._heaps.values() if heap]
        heapify(self._first)


class ByCapacity(Drawing):
    """Draws by the capacities of a bucket's coordinates: the largest of them, or their sum if ``summed``.

    The capacity of a group of values is the number of rows left with it. Ties go to the larger bucket, then
    to a random one. A draw lowers only the capacities of the bucket's own groups, which are masked once the
    class has no more room for them. So every draw scans the buckets once, in compiled code.
    """

    # The buckets of the largest sums are similar and may all fail: with 512, Adult loses 6 of 10 drawn rows.
    _patience: ClassVar[int] = 4096

    def __init__(
        self, buckets: Buckets, records: NDArray[np.int64], rng: np.random.Generator, *, summed: bool
    ) -> None:
        super().__init__(buckets, records, rng)
        self._summed = summed
        count = len(self._rows)
        self._vectors = np.array(self._groups, np.int64).reshape(count, len(self._rooms))
        self._most = np.array(self._room, np.int64)
        self._held = np.zeros(len(self._room), np.int64)
        self._tie = np.array([next(self._ties) for _ in range(count)], np.float64)
        self._remaining = np.array([len(rows) for rows in self._rows], np.int64)
        self._capacity = np.zeros(len(self._room), np.int64)
        np.add.at(self._capacity, self._vectors, self._remaining[:, None])
        self._masked = np.zeros(count, np.bool_)

    def _fill(self) -> tuple[list[int], list[int]]:
        rows: list[int] = []
        buckets: list[int] = []
        passed: list[int] = []
        while len(rows) < self._size:
            bucket = largest(
                self._vectors, self._remaining, self._tie, self._masked, self._capacity, self._held,
                self._most, self._summed,
            )  # fmt: skip
            if bucket < 0:
                break
            row = self._row(bucket, rows)
            if row is None:
                self._masked[bucket] = True
                passed.append(bucket)
                continue
            rows.append(row)
            buckets.append(bucket)
            self._remaining[bucket] -= 1
            self._capacity[self._vectors[bucket]] -= 1
            self._held[self._vectors[bucket]] += 1
            self._tie[bucket] = next(self._ties)
        self._held[self._vectors[buckets]] = 0
        self._masked[passed] = False
        return rows, buckets

    def _take_back(self, buckets: list[int]) -> None:
        for bucket in buckets:  # a bucket may occur several times
            self._remaining[bucket] += 1
            self._capacity[self._vectors[bucket]] += 1
        self._masked[buckets[0]] = True


Order: TypeAlias = Literal["bucket", "single", "multi"]
"""Which bucket is drawn from next: the largest, or that of the largest capacities (see ``ByCapacity``)."""

_DRAWINGS: dict[Order, Callable[[Buckets, NDArray[np.int64], np.random.Generator], Drawing]] = {
    "bucket": BySize,
    "single": partial(ByCapacity, summed=False),
    "multi": partial(ByCapacity, summed=True),
}


def draw(
    buckets: Buckets,
    records: NDArray[np.int64],
    rng: np.random.Generator,
    progress: Callable[[int], None],
    order: Order = "bucket",
) -> NDArray[np.int64]:
    """Return the class of each row, SUPPRESSED for rows that are left over or in no bucket."""
    drawn = _DRAWINGS[order](buckets, records, rng).run(progress)
    classes = np.full(buckets.rows, SUPPRESSED, np.int64)
    count = len(drawn) // buckets.class_size
    classes[np.array(drawn, np.int64)] = np.repeat(np.arange(count), buckets.class_size)
    return classes


def bucketize_rows(step: StepInput, order: Order = "bucket") -> Partition:
    """Draw classes, dissolve those that fail a constraint, attach leftovers to classes that accept them.

    With several attributes a draw from all rows may end early. If rows are suppressed, classes are drawn once
    more from the most rows that can be published at all (``attainable``), and rows that are left over of
    these are put in by exchanges. Where that does not publish all of them, the most classes are also found
    exactly in small tables (``packing``). What publishes most is returned.
    """
    forest, scope, constraints = step.problem
    buckets = Buckets.of(forest, scope, constraints)
    apart = np.random.Generator(step.rng.bit_generator.jumped())  # type: ignore[attr-defined]

    def finish(classes: NDArray[np.int64], rng: np.random.Generator) -> Partition:
        return finish_partition(
            forest, scope, constraints, classes, rng, lambda published: reason(buckets, published)
        )

    partition = finish(draw(buckets, scope.records, step.rng, step.progress, order), step.rng)
    if len(buckets.coordinates) > 1 and not scope.kind and count_published(partition) < buckets.rows:
        cells = JointCounts.of(coordinates_of(forest, scope, constraints), buckets.rows)
        classes, most = draw_kept(buckets, cells, apart, order)
        # Drawn before it is known whether the order is needed: what is drawn next must not depend on that.
        rows = apart.permutation(np.flatnonzero(buckets.complete)) if buckets.once else None
        partition = max(partition, finish(classes, apart), key=count_published)
        if rows is not None and count_published(partition) < most:
            packed = pack_rows(buckets, rows)
            if packed is not None:
                partition = max(partition, finish(packed, apart), key=count_published)
    step.progress(buckets.rows)
    return partition


def count_published(partition: Partition) -> int:
    """Return the number of rows that a partition publishes."""
    return int((partition.equivalence_class != SUPPRESSED).sum())


_STIRRED, _IN_VAIN = 2**13, 2**11
"""How many classes are stirred, in rounds, for rows that found no class; and how many of them after the last
round that published more rows. At least four rounds each."""


def draw_kept(
    buckets: Buckets, cells: JointCounts, rng: np.random.Generator, order: Order
) -> tuple[NDArray[np.int64], int]:
    """Return the class of each row, from as many rows as can be published by their counts; also how many.

    The rows are at the root, one a record. Rows that the draw left over are put in by exchanges, where a
    class takes one row of a group.
    """
    every = np.ones(buckets.rows, np.bool_)
    rows = np.flatnonzero(draw_rows(cells, keep_most(cells, cells.count()), every, rng))
    chosen = buckets.of_rows(rows)
    drawn = draw(chosen, rows, rng, silent, order)
    if chosen.once:
        drawn = _exchange(chosen, drawn, rng)
    classes = np.full(buckets.rows, SUPPRESSED, np.int64)
    classes[rows] = drawn
    return classes, len(rows)


def _exchange(buckets: Buckets, classes: NDArray[np.int64], rng: np.random.Generator) -> NDArray[np.int64]:
    """Return the classes with rows put in by exchanges, as many as were found to fit in some rounds."""
    complete = buckets.complete
    size = buckets.class_size
    groups: list[list[int]] = [[] for _ in range(int(complete.sum()) // size)]
    for number, members in enumerate(members_of(classes)):
        groups[number] = members.tolist()
    waiting = rng.permutation(np.flatnonzero(complete & (classes == SUPPRESSED))).tolist()
    exchange = Exchange(_number_groups(buckets), int(buckets.first_groups[-1]), groups, rng)
    most, best, last = -1, classes, 0
    rounds, in_vain = (max(4, stirred // max(1, len(groups))) for stirred in (_STIRRED, _IN_VAIN))
    for number_of_round in range(rounds):
        waiting = [row for row in waiting if not exchange.put(row)]
        exchange.even_out(size)
        full = [sorted(rows) for rows in exchange.groups if len(rows) >= size]
        if sum(map(len, full)) > most:
            most, last = sum(map(len, full)), number_of_round
            best = np.full(len(classes), SUPPRESSED, np.int64)
            for number, rows in enumerate(full):
                best[rows] = number
        if most == complete.sum() or number_of_round - last == in_vain:
            break
        exchange.stir()
    return best

"""One run of KACA: classes that violate a constraint take a stub of the nearest class, or merge with it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Sequence
from heapq import heapify, heappop, heappush
from itertools import chain
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from hierdata.engines.base import Constraints, StepInput
from hierdata.engines.kaca.kernel import CandidateArrays, Distance, nearest
from hierdata.engines.rows.constraints import Question
from hierdata.engines.rows.leftovers import finish_partition
from hierdata.engines.rows.table import classes_of, codes_of, members_of, nodes_of
from hierdata.forest.forest import MISSING, Forest, Scope, look_up
from hierdata.forest.partition import SUPPRESSED, Partition
from hierdata.privacy.base import ClassView

Kept: TypeAlias = tuple[bool, ...]
"""Whether a class has the least size of all models, and whether it satisfies each constraint."""


class ClassPart:
    """Some rows as a class; ``shared`` are their common ancestors by hierarchy and depth, -1 for none."""

    __slots__ = ("contents", "kept", "rows", "shared")

    def __init__(
        self, rows: list[int], shared: NDArray[np.int32], contents: tuple[Counter[int], ...], kept: Kept
    ) -> None:
        self.rows = rows
        self.shared = shared
        self.contents = contents
        self.kept = kept


class MergedClasses:
    """Numbered classes; the number of a class that was merged into another is empty.

    A class is published by the deepest ancestor that all its rows share, which the distance uses too. So the
    order in which rows are merged does not matter, even where the levels of a hierarchy do not nest.
    """

    def __init__(
        self,
        forest: Forest,
        scope: Scope,
        constraints: Constraints,
        distance: Distance,
        rows: Sequence[list[int]],
    ) -> None:
        self._distance = distance
        self._starts = distance.starts[:-1]
        self._row_nodes: NDArray[np.int32] = (nodes_of(forest, scope) + self._starts).astype(np.int32)
        self._constraints = constraints
        self.least = constraints.min_class_size
        self._on_records = [Question(constraint) for constraint in constraints.on_records]
        columns = codes_of(forest, scope).T
        bound = zip(columns.tolist(), constraints.on_values[scope.kind], strict=True)
        self._columns = [
            (codes, [Question(constraint) for constraint in models]) for codes, models in bound if models
        ]
        self.parts: list[ClassPart | None] = [self.part(members) for members in rows]
        count, width = len(rows), self._row_nodes.shape[1]
        self.sizes = np.array([len(members) for members in rows], np.int64)
        self.firsts = np.array([min(members) for members in rows], np.int64)
        self._known = CandidateArrays(np.zeros((count, width), np.int32), self.sizes, self.firsts)
        for number, part in enumerate(self.parts):
            assert part is not None
            self._known.nodes[number] = _deepest(part.shared)
        self._numbers = np.arange(count)
        self._places = np.arange(count)
        self._count = count
        size = len(distance.ancestors)
        self._memory = np.zeros(size, np.int64), np.zeros(size, np.int64)
        every = len(scope.rows)
        self._known_rows = CandidateArrays(self._row_nodes, np.ones(every, np.int64), np.arange(every))

    def __getitem__(self, number: int) -> ClassPart:
        """Return a class that was not merged."""
        part = self.parts[number]
        assert part is not None
        return part

    def part(self, rows: list[int]) -> ClassPart:
        """Build a class from rows."""
        entries = self._distance.ancestors[self._row_nodes[rows]]
        shared = np.where((entries == entries[0]).all(axis=0), entries[0], -1)
        contents = tuple(Counter(codes[row] for row in rows) for codes, _ in self._columns)
        for counts in contents:
            counts.pop(MISSING, None)
        return ClassPart(rows, shared, contents, self._measure_kept(len(rows), shared, contents))

    def union(self, part: ClassPart, other: ClassPart) -> ClassPart:
        """Build the union of two classes."""
        shared = np.where(part.shared == other.shared, part.shared, -1)
        contents = tuple(a + b for a, b in zip(part.contents, other.contents, strict=True))
        rows = part.rows + other.rows
        return ClassPart(rows, shared, contents, self._measure_kept(len(rows), shared, contents))

    def put(self, number: int, part: ClassPart) -> None:
        """Set the class of a number."""
        self.parts[number] = part
        self.sizes[number] = len(part.rows)
        self.firsts[number] = min(part.rows)
        self._known.nodes[number] = _deepest(part.shared)

    def drop(self, number: int) -> None:
        """Remove the class of a number."""
        self.parts[number] = None
        self._count -= 1
        place, last = self._places[number], self._numbers[self._count]
        self._numbers[place], self._places[last] = last, place

    def nearest(self, number: int, wanted: int) -> list[int]:
        """Return the classes nearest to one, nearest first; ties: the smaller, then that of the first row."""
        candidates = self._numbers[: self._count]
        return self._nearest(number, number, candidates, self._known, wanted)

    def nearest_rows(self, number: int, rows: list[int], wanted: int) -> list[int]:
        """Return the rows nearest to a class, each treated as a class of one row."""
        return self._nearest(number, -1, np.array(rows, np.int64), self._known_rows, wanted)

    def _nearest(
        self, number: int, skipped: int, candidates: NDArray[np.int64], known: CandidateArrays, wanted: int
    ) -> list[int]:
        near, distances = np.empty((2, wanted), np.int64)
        count = nearest(
            self._known.nodes[number], self.sizes[number], skipped, candidates, known, self._distance,
            *self._memory, near, distances,
        )  # fmt: skip
        return [int(other) for other in near[:count]]

    def _measure_kept(
        self, records: int, shared: NDArray[np.int32], contents: tuple[Counter[int], ...]
    ) -> Kept:
        root: list[int] = []
        if self._constraints.population is not None:
            root = (_deepest(shared) - self._starts).tolist()
        view = self._constraints.view(records, {}, root)
        kept = [records >= self.least, *(question.holds(view) for question in self._on_records)]
        for counts, (_, questions) in zip(contents, self._columns, strict=True):
            held = ClassView(records, counts, view.population)
            kept += [question.holds(held) for question in questions]
        return tuple(kept)


def _deepest(shared: NDArray[np.int32]) -> NDArray[np.int32]:
    """Return the deepest shared ancestor in each hierarchy."""
    depth = shared.shape[1] - 1 - np.argmax(shared[:, ::-1] >= 0, axis=1)
    deepest: NDArray[np.int32] = shared[np.arange(len(shared)), depth]
    return deepest


class ModelLimits:
    """At most one row per record, and per group of values at most the rows allowed in a class of any size."""

    def __init__(self, forest: Forest, scope: Scope, constraints: Constraints) -> None:
        codes = codes_of(forest, scope)
        columns = [
            (look_up(caps.group_of, codes[:, position]).tolist(), caps.most)
            for position, caps in constraints.caps(scope.kind)
            if caps.necessary and caps.most is not None
        ]
        if scope.kind:  # at the root a record has one row
            columns.append((scope.records.tolist(), 1))
        self._columns = columns

    @property
    def none(self) -> bool:
        """Whether there are no limits."""
        return not self._columns

    def allow(self, *parts: Collection[int]) -> bool:
        """Whether the rows of all parts may be in one class."""
        for groups, most in self._columns:
            counts = Counter(groups[row] for row in chain(*parts))
            counts.pop(MISSING, None)
            if counts and max(counts.values()) > most:
                return False
        return True

    def equal_rows(self, nodes: NDArray[np.int32]) -> NDArray[np.int64]:
        """Group rows with equal nodes into classes, numbered in the order of their first rows.

        A row joins the first class of equal rows that the limits allow; if there is none, it starts another.
        """
        if self.none:
            whole = np.unique(nodes, axis=0, return_inverse=True)[1].ravel()
        else:
            keys = map(bytes, np.ascontiguousarray(nodes))
            whole = np.fromiter(self._first_fit(keys), np.int64, len(nodes))
        firsts, numbers = np.unique(whole, return_index=True, return_inverse=True)[1:]
        ranks = np.argsort(np.argsort(firsts))
        classes: NDArray[np.int64] = ranks[numbers.ravel()]
        return classes

    def _first_fit(self, keys: Iterable[bytes]) -> Iterable[int]:
        """Iterate, by row, over the first class of equal rows that may hold it."""
        begun: dict[bytes, list[tuple[int, list[Counter[int]]]]] = {}
        count = 0
        for row, key in enumerate(keys):
            limits = [(groups[row], most) for groups, most in self._columns]
            alike = begun.setdefault(key, [])
            fit = next((known for known in alike if _has_room(known[1], limits)), None)
            if fit is None:
                fit = count, [Counter() for _ in limits]
                alike.append(fit)
                count += 1
            for counter, (group, _) in zip(fit[1], limits, strict=True):
                counter[group] += 1
            yield fit[0]


def _has_room(held: list[Counter[int]], limits: list[tuple[int, int]]) -> bool:
    pairs = zip(held, limits, strict=True)
    return all(group == MISSING or counter[group] < most for counter, (group, most) in pairs)


_ASKED = 256
"""The number of nearest classes that are tried as partners of a class."""
_REPORTED = 256


def kaca(step: StepInput, beta: int) -> Partition:
    """Merge the classes of an earlier step, or the classes of equal rows (see ``KACA``)."""
    forest, scope, constraints = step.problem
    partition = step.partition
    limits = ModelLimits(forest, scope, constraints)
    start = limits.equal_rows(nodes_of(forest, scope)) if partition is None else classes_of(partition, scope)
    distance = Distance.of(forest.hierarchies[scope.kind], beta, len(start))
    classes = MergedClasses(
        forest, scope, constraints, distance, [members.tolist() for members in members_of(start)]
    )
    _Merging(classes, limits).run(len(start), step.progress)
    merged = np.full(len(start), SUPPRESSED, np.int64)
    for number, part in enumerate(part for part in classes.parts if part is not None):
        merged[part.rows] = number
    reason = "" if partition is None else partition.reason
    result = finish_partition(forest, scope, constraints, merged, step.rng, lambda published: reason)
    step.progress(len(start))
    return result


class _Merging:
    """A queue of the classes that violate a constraint, the smallest first."""

    def __init__(self, classes: MergedClasses, limits: ModelLimits) -> None:
        self._classes = classes
        self._limits = limits
        numbered = enumerate(classes.parts)
        self._todo = [
            self._entry(number) for number, part in numbered if part is not None and not all(part.kept)
        ]
        heapify(self._todo)

    def run(self, rows: int, progress: Callable[[int], None]) -> None:
        """Merge until no class that violates a constraint has a partner."""
        classes = self._classes
        steps, begun = 0, len(self._todo)
        while self._todo:
            entry = heappop(self._todo)
            this_class = entry[2]
            part = classes.parts[this_class]
            if part is None or all(part.kept) or entry != self._entry(this_class):
                continue  # it was merged, or has changed since it was queued
            steps += 1
            if steps % _REPORTED == 0:
                progress(rows * min(steps, begun) // begun)
            other = self._partner(this_class, part)
            if other is None:
                continue
            for changed in self._unite_classes(this_class, other):
                now = classes.parts[changed]
                if now is not None and not all(now.kept):
                    heappush(self._todo, self._entry(changed))

    def _entry(self, number: int) -> tuple[int, int, int]:
        return int(self._classes.sizes[number]), int(self._classes.firsts[number]), number

    def _partner(self, this_class: int, part: ClassPart) -> int | None:
        """Return the nearest class that may merge with this one; None if none of those tried may."""
        wanted = 1
        while wanted <= _ASKED:
            near = self._classes.nearest(this_class, wanted)
            for other in near[wanted // 4 :]:  # the first quarter was tried before
                if self._may_join(part, self._classes[other]):
                    return other
            if len(near) < wanted:
                break
            wanted *= 4
        return None

    def _may_join(self, part: ClassPart, other: ClassPart) -> bool:
        if not self._limits.allow(part.rows, other.rows):
            return False
        return not all(other.kept) or all(self._classes.union(part, other).kept)

    def _unite_classes(self, this_class: int, other: int) -> tuple[int, ...]:
        """Move a stub of the other class to this one, or merge both; return the classes that changed."""
        classes = self._classes
        mine, theirs = classes[this_class], classes[other]
        short = classes.least - len(mine.rows)
        if short > 0 and len(mine.rows) + len(theirs.rows) >= 2 * classes.least:
            stub = classes.nearest_rows(this_class, theirs.rows, short)
            taken = set(stub)
            trunk = classes.part([row for row in theirs.rows if row not in taken])
            grown = classes.union(mine, classes.part(stub))
            if _still(mine, grown) and _still(theirs, trunk):
                classes.put(this_class, grown)
                classes.put(other, trunk)
                return this_class, other
        classes.put(other, classes.union(mine, theirs))
        classes.drop(this_class)
        return (other,)


def _still(before: ClassPart, after: ClassPart) -> bool:
    """Whether every constraint that held before still holds."""
    return all(now or not held for held, now in zip(before.kept, after.kept, strict=True))

"""One run of KACA: classes that violate a constraint take a stub of the nearest class, or merge with it."""

from __future__ import annotations

from collections.abc import Callable
from heapq import heapify, heappop, heappush

import numpy as np

from hierdata.engines.base import StepInput
from hierdata.engines.kaca.classes import ClassPart, MergedClasses, ModelLimits
from hierdata.engines.kaca.kernel import Distance
from hierdata.engines.rows.leftovers import finish_partition
from hierdata.engines.rows.table import classes_of, members_of, nodes_of
from hierdata.forest.partition import SUPPRESSED, Partition

_ASKED = 256
"""The number of nearest classes that are tried as partners of a class."""
_REPORTED = 256


def kaca(given: StepInput, beta: int) -> Partition:
    """Merge the classes of an earlier step, or the classes of equal rows (see ``KACA``)."""
    forest, scope, constraints = given.problem
    partition = given.partition
    limits = ModelLimits(forest, scope, constraints)
    start = limits.equal_rows(nodes_of(forest, scope)) if partition is None else classes_of(partition, scope)
    distance = Distance.of(forest.hierarchies[scope.kind], beta, len(start))
    classes = MergedClasses(forest, scope, constraints, distance, [own.tolist() for own in members_of(start)])
    _Merging(classes, limits).run(len(start), given.progress)
    merged = np.full(len(start), SUPPRESSED, np.int64)
    for number, part in enumerate(part for part in classes.parts if part is not None):
        merged[part.rows] = number
    reason = "" if partition is None else partition.reason
    found = finish_partition(forest, scope, constraints, merged, given.rng, lambda published: reason)
    given.progress(len(start))
    return found


class _Merging:
    """A queue of the classes that violate a constraint, the smallest first."""

    def __init__(self, classes: MergedClasses, limits: ModelLimits) -> None:
        self._classes = classes
        self._limits = limits
        numbered = enumerate(classes.parts)
        self._todo = [self._entry(at) for at, part in numbered if part is not None and not all(part.kept)]
        heapify(self._todo)

    def run(self, rows: int, progress: Callable[[int], None]) -> None:
        """Merge until no class that violates a constraint has a partner."""
        classes = self._classes
        steps, begun = 0, len(self._todo)
        while self._todo:
            entry = heappop(self._todo)
            own = entry[2]
            part = classes.parts[own]
            if part is None or all(part.kept) or entry != self._entry(own):
                continue  # it was merged, or has changed since it was queued
            steps += 1
            if steps % _REPORTED == 0:
                progress(rows * min(steps, begun) // begun)
            other = self._partner(own, part)
            if other is None:
                continue
            for changed in self._unite_classes(own, other):
                now = classes.parts[changed]
                if now is not None and not all(now.kept):
                    heappush(self._todo, self._entry(changed))

    def _entry(self, number: int) -> tuple[int, int, int]:
        return int(self._classes.sizes[number]), int(self._classes.firsts[number]), number

    def _partner(self, this_class: int, part: ClassPart) -> int | None:
        """Return the nearest class that may merge with this one; None if none of those tried may."""
        wanted = 1
        while wanted <= _ASKED:
            found = self._classes.nearest(this_class, wanted)
            for other in found[wanted // 4 :]:  # the first quarter was tried before
                if self._may_join(part, self._classes[other]):
                    return other
            if len(found) < wanted:
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
        one, two = classes[this_class], classes[other]
        short = classes.least - len(one.rows)
        if short > 0 and len(one.rows) + len(two.rows) >= 2 * classes.least:
            stub = classes.nearest_rows(this_class, two.rows, short)
            taken = set(stub)
            trunk = classes.part([row for row in two.rows if row not in taken])
            grown = classes.union(one, classes.part(stub))
            if _still(one, grown) and _still(two, trunk):
                classes.put(this_class, grown)
                classes.put(other, trunk)
                return this_class, other
        classes.put(other, classes.union(one, two))
        classes.drop(this_class)
        return (other,)


def _still(before: ClassPart, after: ClassPart) -> bool:
    """Whether every constraint that held before still holds."""
    return all(now or not held for held, now in zip(before.kept, after.kept, strict=True))

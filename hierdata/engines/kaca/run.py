"""One run of KACA: classes that lack something take a stub of the nearest class, or merge with it."""

from __future__ import annotations

from collections.abc import Callable
from heapq import heapify, heappop, heappush

import numpy as np

from hierdata.engines.base import StepInput
from hierdata.engines.kaca.classes import Classes, Part
from hierdata.engines.kaca.distance import Distance
from hierdata.engines.kaca.limits import Limits
from hierdata.engines.rows.finishing import finished
from hierdata.engines.rows.table import classes_of, members_of, nodes_of
from hierdata.forest.partition import SUPPRESSED, Partition

_ASKED = 256
"""How many of the nearest classes are asked to take in a class before it stays alone."""
_REPORTED = 256


def kaca(given: StepInput, beta: int) -> Partition:
    """Merge the classes of an earlier step, or those of equal rows (see ``KACA``)."""
    forest, scope, constraints = given.problem
    partition = given.partition
    limits = Limits(forest, scope, constraints)
    start = limits.equal_rows(nodes_of(forest, scope)) if partition is None else classes_of(partition, scope)
    distance = Distance.of(forest.hierarchies[scope.kind], beta, len(start))
    classes = Classes(forest, scope, constraints, distance, [own.tolist() for own in members_of(start)])
    _Merging(classes, limits).run(len(start), given.progress)
    merged = np.full(len(start), SUPPRESSED, np.int64)
    for number, part in enumerate(part for part in classes.parts if part is not None):
        merged[part.rows] = number
    reason = "" if partition is None else partition.reason
    found = finished(forest, scope, constraints, merged, given.rng, lambda published: reason)
    given.progress(len(start))
    return found


class _Merging:
    """The classes that lack something, the smallest first."""

    def __init__(self, classes: Classes, limits: Limits) -> None:
        self._classes = classes
        self._limits = limits
        numbered = enumerate(classes.parts)
        self._todo = [self._entry(at) for at, part in numbered if part is not None and not all(part.kept)]
        heapify(self._todo)

    def run(self, rows: int, progress: Callable[[int], None]) -> None:
        """Go on until no class lacks anything, or none of those has a partner."""
        classes = self._classes
        steps, begun = 0, len(self._todo)
        while self._todo:
            entry = heappop(self._todo)
            own = entry[2]
            part = classes.parts[own]
            if part is None or all(part.kept) or entry != self._entry(own):
                continue  # it was merged, or has changed since
            steps += 1
            if steps % _REPORTED == 0:
                progress(rows * min(steps, begun) // begun)
            other = self._partner(own, part)
            if other is None:
                continue
            for changed in self._united(own, other):
                now = classes.parts[changed]
                if now is not None and not all(now.kept):
                    heappush(self._todo, self._entry(changed))

    def _entry(self, number: int) -> tuple[int, int, int]:
        return int(self._classes.sizes[number]), int(self._classes.firsts[number]), number

    def _partner(self, own: int, part: Part) -> int | None:
        """The nearest class that may be one with it, and is not spoiled by that; None among those asked."""
        wanted = 1
        while wanted <= _ASKED:
            found = self._classes.nearest(own, wanted)
            for other in found[wanted // 4 :]:  # the others were looked at before
                if self._may_join(part, self._classes[other]):
                    return other
            if len(found) < wanted:
                break
            wanted *= 4
        return None

    def _may_join(self, part: Part, other: Part) -> bool:
        if not self._limits.allow(part.rows, other.rows):
            return False
        return not all(other.kept) or all(self._classes.union(part, other).kept)

    def _united(self, own: int, other: int) -> tuple[int, ...]:
        """Give a class a stub of the other, or merge both; the classes that have changed."""
        classes = self._classes
        one, two = classes[own], classes[other]
        short = classes.least - len(one.rows)
        if short > 0 and len(one.rows) + len(two.rows) >= 2 * classes.least:
            stub = classes.nearest_rows(own, two.rows, short)
            taken = set(stub)
            trunk = classes.part([row for row in two.rows if row not in taken])
            grown = classes.union(one, classes.part(stub))
            if _still(one, grown) and _still(two, trunk):
                classes.put(own, grown)
                classes.put(other, trunk)
                return own, other
        classes.put(other, classes.union(one, two))
        classes.drop(own)
        return (other,)


def _still(before: Part, after: Part) -> bool:
    """Whether every constraint that held before holds afterwards."""
    return all(now or not held for held, now in zip(before.kept, after.kept, strict=True))

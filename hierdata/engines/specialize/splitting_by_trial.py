"""Root classes split further, each split tried: all of its classes are mended."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from hierdata.engines.specialize.class_search import ClassSearch, MendedClasses, Mending
from hierdata.engines.specialize.splitting import Members, RootClasses, Splitter


class TrialSplitter:
    """Splits mended classes while less is lost then.

    ``Splitter`` compares what splits are expected to lose. Here each is mended, which takes much longer, and
    what it loses is known. Each group of a proposed split is also tried alone, against all others together.
    """

    def __init__(self, search: ClassSearch, mending: Mending, factors: Sequence[float]) -> None:
        self._search, self._factors = search, factors
        self._splitter = Splitter(search.forest, search.cutter, 1.0, search.constraints)
        division, class_of, mended = mending
        division = RootClasses(class_of.copy(), division.vectors.copy(), division.above.copy())
        self._found = Mending(division, division.class_of, dict(mended))

    def split(self) -> Mending:
        """Return the classes after all splits that save."""
        active = sorted(self._found.mended)
        while active:
            active = [child for number in active for child in self._split_class(number)]
        return self._found

    def _split_class(self, number: int) -> list[int]:
        """Split a class by the proposal after which least is lost; return its new classes."""
        division, class_of, mended = self._found
        size = int((class_of == number).sum())
        lost = mended[number][1].loss + self._search.lose_by_vector(division.vectors[number], size)
        best: tuple[list[Members], MendedClasses] | None = None
        for groups in self._propose(number):
            found = self._mend_groups(groups, lost)
            if found is not None:
                lost, best = self._lose(groups, found), (groups, found)
        if best is None:
            return []
        groups, found = best
        first = len(division.vectors)
        del mended[number]
        for at, (members, vector) in enumerate(groups):
            class_of[members] = first + at
            division.vectors.append(vector)
            division.above.append(number)
            mended[first + at] = found[at]
        return [*range(first, first + len(groups))]

    def _propose(self, number: int) -> Iterator[list[Members]]:
        """Yield the groups that a class may be split into."""
        for position in range(len(self._splitter.nestings)):
            splits = self._splitter.propose(self._found.division, [number], position)
            for groups in self._splitter.merge_refused(splits):
                if len(groups) > 1:
                    yield groups
                if len(groups) > 2:
                    yield from (self._set_apart(groups, at) for at in range(len(groups)))

    def _set_apart(self, groups: list[Members], at: int) -> list[Members]:
        """Return one of some groups, and all others as one."""
        others = np.sort(np.concatenate([members for members, _ in groups[:at] + groups[at + 1 :]]))
        return [groups[at], (others, self._splitter.find_vector(others))]

    def _mend_groups(self, groups: list[Members], most: int) -> MendedClasses | None:
        """Mend groups, by number; None where one cannot be, a model fails, or ``most`` or more is lost."""
        group_of = np.full(self._search.forest.record_count, len(groups), np.int64)
        for at, (members, _) in enumerate(groups):
            group_of[members] = at
        allowed = most - self._lose(groups, {})
        numbers = range(len(groups))
        limits = dict.fromkeys(numbers, allowed)
        found: MendedClasses = {}
        for at, own, mended in self._search.mend_each(group_of, numbers, self._factors, most=limits):
            allowed -= 0 if mended is None else mended.loss
            if mended is None or allowed <= 0:
                return None
            found[at] = own, mended
        return None if self._search.find_failing(group_of, [*found], found) else found

    def _lose(self, groups: list[Members], found: MendedClasses) -> int:
        """Return what groups lose at their roots, and below as far as they are mended."""
        at_roots = (self._search.lose_by_vector(vector, len(members)) for members, vector in groups)
        return sum(at_roots) + sum(mended.loss for _, mended in found.values())

"""Divisions of a collection: what each loses by trials, and the best of them mended."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple, TypeAlias

import numpy as np

from hierdata.engines.specialize.class_search import ClassSearch, MendedClasses, Mending, TriedCuts
from hierdata.engines.specialize.splitting import Members, RootClasses, Splitter
from hierdata.forest.partition import Partition


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
        self._mending = Mending(division, division.class_of, dict(mended))

    def split(self) -> Mending:
        """Return the classes after all splits that save."""
        active = sorted(self._mending.mended)
        while active:
            active = [child for number in active for child in self._split_class(number)]
        return self._mending

    def _split_class(self, number: int) -> list[int]:
        """Split a class by the proposal after which least is lost; return its new classes."""
        division, class_of, mended = self._mending
        size = int((class_of == number).sum())
        lost = mended[number][1].loss + self._search.lose_by_vector(division.vectors[number], size)
        best: tuple[list[Members], MendedClasses] | None = None
        for groups in self._propose(number):
            mended_groups = self._mend_groups(groups, lost)
            if mended_groups is not None:
                lost, best = self._lose(groups, mended_groups), (groups, mended_groups)
        if best is None:
            return []
        groups, mended_groups = best
        first = len(division.vectors)
        del mended[number]
        for position, (members, vector) in enumerate(groups):
            class_of[members] = first + position
            division.vectors.append(vector)
            division.above.append(number)
            mended[first + position] = mended_groups[position]
        return [*range(first, first + len(groups))]

    def _propose(self, number: int) -> Iterator[list[Members]]:
        """Yield the groups that a class may be split into."""
        for position in range(len(self._splitter.nestings)):
            splits = self._splitter.propose(self._mending.division, [number], position)
            for groups in self._splitter.merge_refused(splits):
                if len(groups) > 1:
                    yield groups
                if len(groups) > 2:
                    yield from (self._set_apart(groups, chosen) for chosen in range(len(groups)))

    def _set_apart(self, groups: list[Members], position: int) -> list[Members]:
        """Return one of some groups, and all others as one."""
        others = np.sort(
            np.concatenate([members for members, _ in groups[:position] + groups[position + 1 :]])
        )
        return [groups[position], (others, self._splitter.find_vector(others))]

    def _mend_groups(self, groups: list[Members], most: int) -> MendedClasses | None:
        """Mend groups, by number; None where one cannot be, a model fails, or ``most`` or more is lost."""
        group_of = np.full(self._search.forest.record_count, len(groups), np.int64)
        for number, (members, _) in enumerate(groups):
            group_of[members] = number
        allowed = most - self._lose(groups, {})
        numbers = range(len(groups))
        limits = dict.fromkeys(numbers, allowed)
        mended_groups: MendedClasses = {}
        for number, facts, mended in self._search.mend_each(group_of, numbers, self._factors, most=limits):
            allowed -= 0 if mended is None else mended.loss
            if mended is None or allowed <= 0:
                return None
            mended_groups[number] = facts, mended
        return None if self._search.find_failing(group_of, [*mended_groups], mended_groups) else mended_groups

    def _lose(self, groups: list[Members], mended_groups: MendedClasses) -> int:
        """Return what groups lose at their roots, and below as far as they are mended."""
        at_roots = (self._search.lose_by_vector(vector, len(members)) for members, vector in groups)
        return sum(at_roots) + sum(mended.loss for _, mended in mended_groups.values())


FACTORS = (0.3, 0.55, 1.0)
"""The factors of the support that a node needs, when a class is cut."""
_MOST_TRIED = 10**6
"""The most occurrences of patterns with which every division is mended by every factor."""
_MOST_SPLIT = 10**5
"""The most with which classes are split further by trial."""
_HOPEFUL = 1.2
"""Classes of a division may unite if its trial loses at most 1.2 times what the best one loses."""
_MUCH_WORSE = 2
"""A way that loses more than twice the least is not considered for other blocks."""
_SAMPLED = 8
"""Where there is more work, divisions are tried on every eighth class."""

_Way: TypeAlias = "tuple[int, float | None]"
"""A division, by number, and the factor of its cuts; None: the best one, and then classes unite."""


class _Trial(NamedTuple):
    """A division by number, its best factor, what it loses by estimate, and the classes that were mended."""

    number: int
    factor: float
    loss: float
    mended: MendedClasses


@dataclass(frozen=True)
class DivisionSearch:
    """Mends the divisions that lose least; ``classes`` mends their classes."""

    classes: ClassSearch

    def mend_divisions(self, divisions: Sequence[RootClasses], most: float) -> Partition | None:
        """Mend each division with every factor and return the best; where that is much work, by trials.

        ``divisions`` begin with the finest one. Where it is much work, nothing is mended that by trials
        loses much more than ``most``, and classes unite only in the finest division that is not much worse
        than the best one: there, much can be saved. With very little work, classes are split by trial too.
        """
        mendings: list[Mending | None] = []
        if self._is_little_work():
            for division in divisions:
                mended = self.classes.mend_all(division, FACTORS, {})
                mendings.append(self.classes.unite_classes(mended, FACTORS))
        else:
            trials, _ = self._try_divisions(divisions, most, 1)
            mendings += (mending for _, mending in self._mend_best(divisions, trials))
        mended_divisions = [mending for mending in mendings if mending is not None]
        if not mended_divisions:
            return None
        best = min(mended_divisions, key=self.classes.lose)
        # Of the coarsest division too: the finer ones have splits that were only expected to save.
        split = [
            self._split_further(mending)
            for mending in mended_divisions
            if mending is best or mending is mended_divisions[-1]
        ]
        return self.classes.partition_of(min(split, key=self.classes.lose))

    def mend_by(self, division: RootClasses, factor: float | None) -> Partition | None:
        """Mend a division by a factor; None: by the one that trials find best, and unite classes."""
        mending: Mending | None = None
        if factor is not None:
            mending = self.classes.mend_all(division, (factor,), {})
        elif self._is_little_work():
            united = self.classes.unite_classes(self.classes.mend_all(division, FACTORS, {}), FACTORS)
            mending = None if united is None else self._split_further(united)
        else:
            trials, _ = self._try_divisions([division], np.inf, 1)
            for _, mended in self._mend_best([division], trials):
                mending = mended
        return None if mending is None else self.classes.partition_of(mending)

    def lose_by_ways(self, divisions: Sequence[RootClasses]) -> dict[_Way, float]:
        """Return what divisions lose, by number and factor as for ``mend_by``.

        What trials find best is mended, the others are estimated. Those that lose much more are left out.
        """
        lost: dict[_Way, float] = {}
        mendings: Iterator[tuple[_Way, Mending | None]]
        if self._is_little_work():
            mendings = (
                (
                    (number, None),
                    self.classes.unite_classes(self.classes.mend_all(division, FACTORS, {}), FACTORS),
                )
                for number, division in enumerate(divisions)
            )
        else:
            trials, estimates = self._try_divisions(divisions, np.inf, _MUCH_WORSE)
            lost |= estimates
            mendings = self._mend_best(divisions, trials)
        for way, mending in mendings:
            lost.pop(way, None)
            if mending is not None:
                lost[way] = self.classes.lose(mending)
        return {way: loss for way, loss in lost.items() if loss <= _MUCH_WORSE * min(lost.values())}

    def _is_little_work(self) -> bool:
        """Return whether every division can be mended with every factor."""
        return self.occurrences[-1] <= _MOST_TRIED

    @cached_property
    def occurrences(self) -> list[int]:
        """The occurrences of patterns of one fact, of two and so on up to m."""
        return self.classes.facts.count_occurrences(self.classes.knowledge.m)

    def _split_further(self, mending: Mending) -> Mending:
        """Split classes by trial where that is very little work."""
        if self.occurrences[-1] > _MOST_SPLIT or self.classes.knowledge.root == "counted":
            return mending
        return TrialSplitter(self.classes, mending, FACTORS).split()

    def _try_divisions(
        self, divisions: Sequence[RootClasses], most: float, slack: float
    ) -> tuple[list[_Trial], dict[_Way, float]]:
        """Return trials of divisions by their best factors, and what was estimated by each factor.

        A trial is given up if it loses much more than ``most``, or more than ``slack`` times the best one. A
        division is given up with its first trial, which is by the factor that was best so far.
        """
        trials = list[_Trial]()
        estimates: dict[_Way, float] = {}
        # From fine to coarse: large classes are given up early then. The finest division often loses much
        # more than the next one, and is given up early behind it.
        order = [*range(len(divisions))]
        order[:2] = order[1::-1]
        for number in order:
            least = min((trial.loss for trial in trials), default=np.inf)
            # A finer one may lose a little more, since its classes may unite.
            allowed = max(slack, _HOPEFUL) if any(number < trial.number for trial in trials) else slack
            lost = self._try_division(divisions[number], trials, min(_HOPEFUL * most, allowed * least), slack)
            estimates |= {(number, factor): loss for factor, (loss, _) in lost.items()}
            if lost:
                factor = min(lost, key=lambda factor: (lost[factor][0], factor))
                trials.append(_Trial(number, factor, *lost[factor]))
        return sorted(trials), estimates

    def _try_division(
        self, division: RootClasses, trials: Sequence[_Trial], most: float, slack: float
    ) -> dict[float, tuple[float, MendedClasses]]:
        """Return by factor what a division loses by a sample, and the classes of the sample as mended.

        Factors that lose more than ``most``, or more than ``slack`` times the best one, are left out.
        """
        tried: TriedCuts = {}
        tried_factors: dict[float, tuple[float, MendedClasses]] = {}
        good = min(trials, key=lambda trial: trial.loss).factor if trials else FACTORS[0]
        for factor in sorted(FACTORS, key=lambda tried_factor: tried_factor != good):
            least = min((loss for loss, _ in tried_factors.values()), default=np.inf)
            loss, mended = self._try_classes(division, factor, min(most, slack * least), tried)
            if loss < np.inf:
                tried_factors[factor] = loss, mended
            elif trials and not tried_factors:
                break
        return tried_factors

    def _mend_best(
        self, divisions: Sequence[RootClasses], trials: Sequence[_Trial]
    ) -> Iterator[tuple[_Way, Mending | None]]:
        """Mend the division that loses least, and unite classes of the finest one that is not much worse."""
        if not trials:
            return
        best = min(trials, key=lambda trial: trial.loss)
        finest = next(trial for trial in trials if trial.loss <= _HOPEFUL * best.loss)
        if best is not finest:
            yield (
                (best.number, best.factor),
                self.classes.mend_all(divisions[best.number], (best.factor,), best.mended),
            )
        factors = (finest.factor,)
        mending = self.classes.mend_all(divisions[finest.number], factors, finest.mended)
        yield (finest.number, None), self.classes.unite_classes(mending, factors)

    def _try_classes(
        self, division: RootClasses, factor: float, most: float, tried: TriedCuts
    ) -> tuple[float, MendedClasses]:
        """Estimate what a division loses by a sample of its classes, and return these as they were mended.

        Gives up, and returns infinity, as soon as that is more than ``most``. ``tried`` is what earlier
        factors made of this division.
        """
        numbers, sizes = np.unique(division.class_of, return_counts=True)
        order = numbers[np.argsort(sizes, kind="stable")]
        # Classes of all sizes: every n-th, from the largest.
        step = max(1, min(_SAMPLED, len(order) // 2))
        sample = sorted(order[::-1][step // 2 :: step].tolist())
        class_of, failed = division.class_of, list[int]()
        mended: MendedClasses = {}
        records, below = self.classes.forest.record_count, 0
        roots = self.classes.lose_at_roots(division, division.class_of)
        if roots > most:
            return np.inf, {}
        scale = records / int(np.isin(class_of, np.array(sample, np.int64)).sum())
        for number, facts, result in self.classes.mend_each(class_of, sample, (factor,), tried):
            if result is None:
                failed.append(number)
                continue
            mended[number] = facts, result
            below += result.loss
            if float(scale * below + roots) > most:
                return np.inf, {}
        failed += self.classes.find_failing(class_of, [*mended], mended)
        remaining = np.isin(class_of, np.array(sorted(set(sample) - set(failed)), np.int64)).sum()
        estimate = float(records / int(remaining) * below + roots) if remaining else np.inf
        return estimate, {number: held for number, held in mended.items() if number not in failed}

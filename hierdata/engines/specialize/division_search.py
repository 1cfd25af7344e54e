"""Divisions of a collection: what each loses by trials, and the best of them mended."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple, TypeAlias

import numpy as np

from hierdata.engines.specialize.class_search import ClassSearch, MendedClasses, Mending, TriedCuts
from hierdata.engines.specialize.splitting import RootClasses
from hierdata.forest.partition import Partition

FACTORS = (0.3, 0.55, 1.0)
"""The factors of the support that a node needs, when a class is cut."""
_MOST_TRIED = 10**6
"""The most occurrences of patterns with which every division is mended by every factor."""
_HOPEFUL = 2
"""Classes of the finest division unite unless its trial loses so many times what the best one does."""
_SAMPLED = 8
"""Beyond, they are tried on one of so many classes."""

_Way: TypeAlias = "tuple[int, float | None]"
"""A division, by number, and the factor of its cuts; None: the best one, and then classes unite."""


class _Trials(NamedTuple):
    """What trials found: the ``best`` division and factor behind their estimate, that of the finest division.

    ``known`` are the classes that the trials mended by them, ``estimates`` are by division and factor.
    """

    best: tuple[float, int, float]
    known: MendedClasses
    finest: tuple[float, float]
    known_finest: MendedClasses
    estimates: dict[_Way, float]


@dataclass(frozen=True)
class DivisionSearch:
    """Mends the divisions that lose least; ``classes`` mends their classes."""

    classes: ClassSearch

    def mend_divisions(self, divisions: Sequence[RootClasses], most: float) -> list[Partition | None]:
        """Mend each division with every factor; where that is much work, only what trials find best.

        ``divisions`` begin with the finest one. Where it is much work, nothing is mended that by the trials
        loses more than ``most``, and classes unite only in the finest one: where it is not much worse than
        the best of the others, much can be saved.
        """
        if self._is_little_work():
            mendings = (self.classes.mend_and_unite(division, FACTORS, {}) for division in divisions)
        else:
            trials = self._try_divisions(divisions, most, 1)
            mendings = (mending for _, mending in self._mend_best(divisions, trials))
        return [None if one is None else self.classes.partition_of(one) for one in mendings]

    def mend_by(self, division: RootClasses, factor: float | None) -> Partition | None:
        """Mend a division by a factor; None: by the one that trials find best, and unite classes."""
        mending: Mending | None = None
        if factor is not None:
            mending = self.classes.mend_all(division, (factor,), {})
        elif self._is_little_work():
            mending = self.classes.mend_and_unite(division, FACTORS, {})
        else:
            for _, one in self._mend_best([division], self._try_divisions([division], np.inf, 1)):
                mending = one
        return None if mending is None else self.classes.partition_of(mending)

    def lose_by_ways(self, divisions: Sequence[RootClasses]) -> dict[_Way, float]:
        """Return what divisions lose, by number and factor as for ``mend_by``.

        What trials find best is mended, the others are estimated. Those that lose much more are left out.
        """
        lost: dict[_Way, float] = {}
        found: Iterator[tuple[_Way, Mending | None]]
        if self._is_little_work():
            found = (
                ((at, None), self.classes.mend_and_unite(one, FACTORS, {}))
                for at, one in enumerate(divisions)
            )
        else:
            trials = self._try_divisions(divisions, np.inf, _HOPEFUL)
            lost |= {way: loss for way, loss in trials.estimates.items() if way[0]}
            found = self._mend_best(divisions, trials)
        for way, mending in found:
            lost.pop(way, None)
            if mending is not None:
                lost[way] = self.classes.lose(mending)
        return {way: loss for way, loss in lost.items() if loss <= _HOPEFUL * min(lost.values())}

    def _is_little_work(self) -> bool:
        """Return whether every division can be mended with every factor."""
        return self.classes.facts.count_occurrences(self.classes.knowledge.m) <= _MOST_TRIED

    def _try_divisions(self, divisions: Sequence[RootClasses], most: float, slack: float) -> _Trials:
        """Estimate what divisions lose by each factor.

        A trial is given up if it loses more than ``most``, or than ``slack`` times the best of finer ones; of
        the finest division, which may be worse, if it loses much more than ``most``.
        """
        best = most, len(divisions), 0.0
        finest = np.inf, 0.0
        known: MendedClasses = {}
        known_finest: MendedClasses = {}
        estimates: dict[_Way, float] = {}
        # From the finest on: the classes of its trial are small, and large classes are given up early.
        for at, division in enumerate(divisions):
            tried: TriedCuts = {}
            for factor in FACTORS:
                limit = min(most, slack * best[0]) if at else _HOPEFUL * most
                estimate, mended = self._try_classes(division, factor, limit, tried)
                if estimate < np.inf:
                    estimates[at, factor] = estimate
                if (estimate, at, factor) < best:
                    best, known = (estimate, at, factor), mended
                if not at and (estimate, factor) < finest:
                    finest, known_finest = (estimate, factor), mended
        return _Trials(best, known, finest, known_finest, estimates)

    def _mend_best(
        self, divisions: Sequence[RootClasses], trials: _Trials
    ) -> Iterator[tuple[_Way, Mending | None]]:
        """Mend the division that loses least, and the finest one if that is not much worse."""
        estimate, at, factor = trials.best
        if 0 < at < len(divisions):
            yield (at, factor), self.classes.mend_all(divisions[at], (factor,), trials.known)
        if at < len(divisions) and trials.finest[0] < np.inf and trials.finest[0] <= _HOPEFUL * estimate:
            own = trials.finest[1:], trials.known_finest
            yield (0, None), self.classes.mend_and_unite(divisions[0], *own)

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
        records, roots, below = self.classes.forest.record_count, self.classes.lose_at_roots(division), 0
        if roots > most:
            return np.inf, {}
        scale = records / int(np.isin(class_of, np.array(sample, np.int64)).sum())
        for number, own, found in self.classes.mend_each(class_of, sample, (factor,), tried):
            if found is None:
                failed.append(number)
                continue
            mended[number] = own, found
            below += found.loss
            if float(scale * below + roots) > most:
                return np.inf, {}
        failed += self.classes.find_failing(class_of, [*mended], mended)
        left = np.isin(class_of, np.array(sorted(set(sample) - set(failed)), np.int64)).sum()
        estimate = float(records / int(left) * below + roots) if left else np.inf
        return estimate, {number: one for number, one in mended.items() if number not in failed}

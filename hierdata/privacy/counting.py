"""Constraints that several models bind: on numbers of records, of different values, and of values alike."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from fractions import Fraction
from math import ceil

from hierdata.privacy.base import ClassView, Constraint


class OfRecords(Constraint):
    """Asks nothing about sensitive values."""

    closed_under_pooling = True

    def summary(self, counts: Mapping[int, int]) -> Hashable:
        """Return None: the number of records determines the answers."""
        return None


class AtLeastK(OfRecords):
    """A class has at least k records."""

    closed_under_union = True

    def __init__(self, k: int) -> None:
        self.min_class_size = k

    def holds(self, view: ClassView) -> bool:
        """See Constraint."""
        return view.records >= self.min_class_size

    def achieved_parameters(self, view: ClassView) -> dict[str, Fraction]:
        """See Constraint."""
        return {"k": Fraction(view.records)}


class DifferentValues(Constraint):
    """At least ``least`` different values (``letter``) wherever a class shows any, and at least k records."""

    closed_under_union = closed_under_pooling = True

    def __init__(self, letter: str, least: int, k: int = 0) -> None:
        self._letter = letter
        self._least = least
        self._k = k
        self.min_class_size = max(k, least)

    def holds(self, view: ClassView) -> bool:
        """See Constraint."""
        different = self.summary(view.counts)
        return view.records >= self._k and (not different or min(different, view.records) >= self._least)

    def achieved_parameters(self, view: ClassView) -> dict[str, Fraction]:
        """See Constraint."""
        reached = {"k": Fraction(view.records)} if self._k else {}
        if different := self.summary(view.counts):
            reached[self._letter] = Fraction(min(different, view.records))
        return reached

    def summary(self, counts: Mapping[int, int]) -> int:
        """Return how many different values there are."""
        return sum(1 for count in counts.values() if count)


class LimitedFrequency(Constraint):
    """At most 1/``least`` of the values are alike, where a class shows any, in at least ``least`` records.

    A share of exactly 1/``least`` is allowed. ``letter`` names the achieved ``least``, a fraction. Records
    are counted too, since pooled siblings of one record could hold that many values.
    """

    def __init__(self, letter: str, least: Fraction) -> None:
        self.min_class_size = ceil(least)
        self._letter = letter
        self._least = least

    def holds(self, view: ClassView) -> bool:
        """See Constraint."""
        total, most = self.summary(view.counts)
        if not total:
            return True
        enough = most * self._least.numerator <= total * self._least.denominator
        return enough and view.records >= self.min_class_size

    def achieved_parameters(self, view: ClassView) -> dict[str, Fraction]:
        """See Constraint."""
        total, most = self.summary(view.counts)
        return {self._letter: min(Fraction(total, most), Fraction(view.records))} if total else {}

    def summary(self, counts: Mapping[int, int]) -> tuple[int, int]:
        """Return the number of values present, and the largest number of those that are alike."""
        return total_and_most(counts)


def total_and_most(counts: Mapping[int, int]) -> tuple[int, int]:
    """Return the sum of some counts, and the largest of them."""
    return sum(counts.values()), max(counts.values(), default=0)

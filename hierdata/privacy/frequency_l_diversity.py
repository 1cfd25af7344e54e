"""Frequency l-diversity: no sensitive value has a share above 1/l."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from fractions import Fraction
from math import ceil
from typing import ClassVar, Literal

from hierdata.domains.sensitive import SensitiveDomain
from hierdata.privacy.base import (
    ClassView,
    Constraint,
    Diversity,
    FrequencyCaps,
    require_domain,
)
from hierdata.privacy.grouping import GroupingModel
from hierdata.privacy.presence import GroupPresence, Within, persons_who_show


class FrequencyLDiversity(GroupingModel):
    """No value has a share above 1/l of the values present, in a class of at least l records.

    The model of ClusTree, the baseline of ML section 5. A share of exactly 1/l is allowed. l may be a
    fraction. In flat tables the shares imply l records; with pooled siblings they do not, so the number of
    records is required explicitly.

    >>> bound = FrequencyLDiversity(l="2.5").bind(SensitiveDomain("$.a", ("x", "y", "z")))
    >>> bound.holds(ClassView(5, {0: 2, 1: 2, 2: 1})), bound.holds(ClassView(5, {0: 3, 1: 1, 2: 1}))
    (True, False)
    """

    combine: ClassVar[Mapping[str, Literal["min", "max"]]] = {"l": "min"}
    letters: ClassVar[Mapping[str, str]] = {
        "l": "no sensitive value has more than 1/l of those at a vertex of a class",
    }

    kind: Literal["frequency-l-diversity"] = "frequency-l-diversity"
    l: Diversity  # noqa: E741  (the papers' letter)

    def bind(self, domain: SensitiveDomain | None) -> Constraint:
        """Build the constraint for one attribute."""
        groups = self.groups(require_domain(domain))
        return groups.wrap_constraint(_Frequency(self.l, groups.count))

    @property
    def limits_presence(self) -> bool:
        """See PrivacyModel."""
        return True

    def bind_presence(
        self, domain: SensitiveDomain, within: Within = "place", *, tied: bool = True
    ) -> Constraint:
        """Build the constraint on the share of the records that show a value, or a group of them."""
        return GroupPresence("l", 0, self.bind(domain), within, tied)

    def promise(self, *, apart: bool = False) -> str:
        """Return one sentence for the reader."""
        return f"No {self.count_noun()} can be guessed with a probability above {1 / self.l} from a class."

    def promise_presence(self, within: Within, *, apart: bool = False, tied: bool = True) -> str:
        """Return one sentence for the reader."""
        whose = persons_who_show(within, tied)
        return f"No {self.count_noun()} is among those of more than {1 / self.l} of {whose}."


class _Frequency(Constraint):
    closed_under_union = True
    closed_under_pooling = True

    def __init__(self, least: Fraction, values: int) -> None:
        self._least = least
        self.min_class_size = ceil(least)
        self.caps = FrequencyCaps(tuple(range(values)), (1 / least,) * values)

    def holds(self, view: ClassView) -> bool:
        present = view.present
        if not present:
            return True
        enough = present * self._least.denominator >= max(view.counts.values()) * self._least.numerator
        return enough and view.records >= self.min_class_size

    def achieved_parameters(self, view: ClassView) -> dict[str, Fraction]:
        present = view.present
        if not present:
            return {}
        return {"l": min(Fraction(present, max(view.counts.values())), Fraction(view.records))}

    def summary(self, counts: Mapping[int, int]) -> Hashable:
        return sum(counts.values()), max(counts.values(), default=0)

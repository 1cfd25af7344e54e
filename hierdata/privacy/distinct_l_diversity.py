"""Distinct l-diversity: at least l different sensitive values."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from fractions import Fraction
from typing import ClassVar, Literal

from hierdata.domains.bounds import Count
from hierdata.domains.sensitive import SensitiveDomain
from hierdata.privacy.base import ClassView, Constraint, require_domain
from hierdata.privacy.grouping import GroupingModel


class DistinctLDiversity(GroupingModel):
    """Wherever a sensitive value is present, at least l different ones are, in a class of at least l records.

    In flat tables l values need l records; pooled siblings of one record could hold all of them, so the
    number of records is required explicitly.

    >>> DistinctLDiversity(l=3).bind(SensitiveDomain("$.a", ("x", "y"))).holds(ClassView(4, {0: 3, 1: 1}))
    False
    """

    combine: ClassVar[Mapping[str, Literal["min", "max"]]] = {"l": "min"}
    letters: ClassVar[Mapping[str, str]] = {
        "l": "the least number of different sensitive values wherever a class shows any",
    }

    kind: Literal["distinct-l-diversity"] = "distinct-l-diversity"
    l: Count  # noqa: E741  (the papers' letter)

    def bind(self, domain: SensitiveDomain | None) -> Constraint:
        """Build the constraint for one attribute."""
        return self.groups(require_domain(domain)).wrap_constraint(_Distinct(self.l))

    def promise(self, *, apart: bool = False) -> str:
        """Return one sentence for the reader."""
        what = self.count_noun(many=True)
        return f"Wherever a class shows sensitive values, it shows at least {self.l} different {what}."


class _Distinct(Constraint):
    closed_under_union = True
    closed_under_pooling = True

    def __init__(self, least: int) -> None:
        self.min_class_size = least

    def holds(self, view: ClassView) -> bool:
        sizes = view.sizes
        return not sizes or min(len(sizes), view.records) >= self.min_class_size

    def achieved_parameters(self, view: ClassView) -> dict[str, Fraction]:
        sizes = view.sizes
        return {"l": Fraction(min(len(sizes), view.records))} if sizes else {}

    def summary(self, counts: Mapping[int, int]) -> Hashable:
        return sum(1 for count in counts.values() if count)

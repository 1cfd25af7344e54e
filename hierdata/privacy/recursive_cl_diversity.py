"""Recursive (c,l)-diversity: the most frequent value is not too frequent compared with the rare ones."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import ClassVar, Literal

from hierdata.domains.bounds import Count
from hierdata.domains.sensitive import SensitiveDomain
from hierdata.privacy.base import ClassView, Constraint, Positive, require_domain
from hierdata.privacy.grouping import GroupingModel


class RecursiveCLDiversity(GroupingModel):
    """With counts r_1 >= ... >= r_m: r_1 < c (r_l + ... + r_m), in a class of at least l records.

    The inequality is strict, as in the definition. ``achieved_parameters`` gives the largest l at the
    policy's c; 0 means that not even l = 1 holds. In flat tables l values need l records; with pooled
    siblings they do not, so the number of records is required explicitly.

    >>> bound = RecursiveCLDiversity(c=2, l=2).bind(SensitiveDomain("$.a", ("x", "y", "z")))
    >>> bound.holds(ClassView(6, {0: 3, 1: 2, 2: 1})), bound.holds(ClassView(6, {0: 4, 1: 1, 2: 1}))
    (True, False)
    """

    combine: ClassVar[Mapping[str, Literal["min", "max"]]] = {"l": "min"}
    letters: ClassVar[Mapping[str, str]] = {
        "c": "the most frequent value occurs fewer than c times as often as the l-th most frequent "
        "and all rarer ones together",
        "l": "from which value on the rarer ones are counted together",
    }

    kind: Literal["recursive-cl-diversity"] = "recursive-cl-diversity"
    c: Positive
    l: Count  # noqa: E741  (the papers' letter)

    def bind(self, domain: SensitiveDomain | None) -> Constraint:
        """Build the constraint for one attribute."""
        return self.groups(require_domain(domain)).wrap_constraint(_Recursive(self.c, self.l))

    def promise(self, *, apart: bool = False) -> str:
        """Return one sentence for the reader."""
        what = "one" if self.by == "value" else self.count_noun()
        return (
            f"Wherever a class shows sensitive values, the most frequent {what} occurs less than {self.c} "
            f"times as often as all but the {self.l - 1} most frequent together."
        )


class _Recursive(Constraint):
    closed_under_union = True
    closed_under_pooling = True

    def __init__(self, factor: Fraction, least: int) -> None:
        self._factor = factor
        self.min_class_size = least

    def holds(self, view: ClassView) -> bool:
        sizes = view.sizes
        return not sizes or (
            view.records >= self.min_class_size and self._is_reached(sizes, self.min_class_size)
        )

    def achieved_parameters(self, view: ClassView) -> dict[str, Fraction]:
        sizes = view.sizes
        if not sizes:
            return {}
        least = min(len(sizes), view.records)
        while least and not self._is_reached(sizes, least):
            least -= 1
        return {"l": Fraction(least)}

    def _is_reached(self, sizes: list[int], least: int) -> bool:
        return sizes[0] * self._factor.denominator < self._factor.numerator * sum(sizes[least - 1 :])

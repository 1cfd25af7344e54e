"""Entropy l-diversity: the values' entropy is at least log l."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal, localcontext
from fractions import Fraction
from functools import cache
from math import ceil, exp, floor, fsum, gcd, log, prod
from typing import ClassVar, Literal

from hierdata.domains.sensitive import SensitiveDomain
from hierdata.privacy.base import ClassView, Constraint, Diversity, require_domain
from hierdata.privacy.grouping import GroupingModel

_STEPS = 1_000_000
_LARGE = 20_000
"""Above this many values, digits are tried before powers, whose integers would have millions of bits."""
_SAFE = 1e-10
"""Far above the rounding error of the sums below (under 1e-13 for any collection)."""


class EntropyLDiversity(GroupingModel):
    """The entropy of the values present is at least log l, in a class of at least l records.

    With counts c of n values: n^n >= l^n * prod(c^c), decided in integers, so that a class with entropy
    exactly log l passes. ``achieved_parameters`` gives l = exp(entropy), mostly irrational, rounded down to
    a millionth.
    In flat tables the entropy implies l records; with pooled siblings it does not, so the number of records
    is required explicitly.

    >>> bound = EntropyLDiversity(l=2).bind(SensitiveDomain("$.a", ("x", "y", "z")))
    >>> bound.holds(ClassView(6, {0: 3, 1: 3})), bound.holds(ClassView(6, {0: 4, 1: 2}))
    (True, False)
    """

    combine: ClassVar[Mapping[str, Literal["min", "max"]]] = {"l": "min"}
    letters: ClassVar[Mapping[str, str]] = {
        "l": "the entropy of the sensitive values at a vertex of a class is at least log l",
    }

    kind: Literal["entropy-l-diversity"] = "entropy-l-diversity"
    l: Diversity  # noqa: E741  (the papers' letter)

    def bind(self, domain: SensitiveDomain | None) -> Constraint:
        """Build the constraint for one attribute."""
        return self.groups(require_domain(domain)).wrap_constraint(_Entropy(self.l))

    def promise(self, *, apart: bool = False) -> str:
        """Return one sentence for the reader."""
        what = "they" if self.by == "value" else f"their {self.count_noun(many=True)}"
        likely = f"{self.l} equally likely ones"
        return f"Wherever a class shows sensitive values, {what} are as uncertain as {likely}."


class _Entropy(Constraint):
    closed_under_union = True
    closed_under_pooling = True

    def __init__(self, least: Fraction) -> None:
        self._least = least
        self.min_class_size = ceil(least)

    def holds(self, view: ClassView) -> bool:
        sizes = tuple(view.sizes)
        return not sizes or (view.records >= self._least and _entropy_reaches(sizes, self._least))

    def achieved_parameters(self, view: ClassView) -> dict[str, Fraction]:
        sizes = tuple(view.sizes)
        return {"l": min(_effective_values(sizes), Fraction(view.records))} if sizes else {}


def _entropy(sizes: tuple[int, ...]) -> float:
    total = sum(sizes)
    return log(total) - fsum(size * log(size) for size in sizes) / total


def _entropy_reaches(sizes: tuple[int, ...], least: Fraction) -> bool:
    """Return whether the counts' entropy is at least log(least); floats decide only beyond rounding error."""
    margin = _entropy(sizes) - log(least)
    if abs(margin) > _SAFE:
        return margin > 0
    common = gcd(*sizes)
    counts = [size // common for size in sizes]
    total = sum(counts)
    if total > _LARGE:
        for digits in (50, 500):
            margin_of_powers = _log_of_powers(counts, least, digits)
            if abs(margin_of_powers) > Decimal(10) ** (25 - digits):
                return margin_of_powers > 0
    bound: int = least.numerator**total * prod(count**count for count in counts)
    reached: int = (total * least.denominator) ** total
    return reached >= bound


def _log_of_powers(counts: list[int], least: Fraction, digits: int) -> Decimal:
    """Return log(n^n / (l^n prod(c^c))) with an error far below 10^(25 - digits): sums stay below 10^20."""
    with localcontext(prec=digits):
        total = sum(counts)
        whole = total * (Decimal(total) * least.denominator / least.numerator).ln()
        return whole - sum(count * Decimal(count).ln() for count in counts)


@cache
def _effective_values(sizes: tuple[int, ...]) -> Fraction:
    """Return the largest multiple of a millionth with a logarithm of at most the entropy."""
    steps = floor(exp(_entropy(sizes)) * _STEPS) + 1
    while not _entropy_reaches(sizes, Fraction(steps, _STEPS)):
        steps -= 1
    return Fraction(steps, _STEPS)

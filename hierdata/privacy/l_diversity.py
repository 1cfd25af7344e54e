"""The l-diversities: how different the sensitive values of a class must be.

- ``DistinctLDiversity``: at least l different values.
- ``FrequencyLDiversity``: no value has a share above 1/l.
- ``EntropyLDiversity``: the entropy of the values is at least log l.
- ``RecursiveCLDiversity``: the most frequent value is not too frequent compared with the rare ones.

In flat tables l values need l records. With pooled siblings they do not: those of one record could hold all
of them. So each model requires l records explicitly.
"""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal, localcontext
from fractions import Fraction
from functools import cache
from math import ceil, exp, floor, fsum, gcd, log, prod
from typing import ClassVar, Literal

from hierdata.domains.bounds import Count
from hierdata.domains.sensitive import SensitiveDomain
from hierdata.privacy.base import (
    EXACTLY,
    ClassView,
    Constraint,
    Diversity,
    FrequencyCaps,
    Positive,
    finder,
    guess,
    require_domain,
    share_at_place,
)
from hierdata.privacy.counting import DifferentValues, LimitedFrequency
from hierdata.privacy.grouping import GroupingModel
from hierdata.privacy.presence import GroupPresence, Within, limit_persons

_STEPS = 1_000_000
_LARGE = 20_000
"""Above this many values, digits are tried before powers, whose integers would have millions of bits."""
_SAFE = 1e-10
"""Far above the rounding error of the sums below (under 1e-13 for any collection)."""


class DistinctLDiversity(GroupingModel):
    """Wherever a sensitive value is present, at least l different ones are, in a class of at least l records.

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
        return self.groups(require_domain(domain)).wrap_constraint(DifferentValues("l", self.l))

    def promise(self, *, apart: bool = False) -> str:
        """Return one sentence for the reader."""
        noun = "sensitive values" if self.by == "value" else self.count_noun(many=True)
        return f"{finder(apart)} sees at least {self.l} different {noun} there, or none."


class FrequencyLDiversity(GroupingModel):
    """No value has a share above 1/l of the values present, in a class of at least l records.

    The model of ClusTree, the baseline of ML section 5. A share of exactly 1/l is allowed. l may be a
    fraction.

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
        return f"{guess(self.count_noun(), 1 / self.l, apart)} {share_at_place(self.count_noun())}"

    def promise_presence(self, within: Within, *, apart: bool = False, tied: bool = True) -> str:
        """Return one sentence for the reader."""
        return limit_persons(1 / self.l, f"have the same {self.count_noun()}", within, tied, apart)


class _Frequency(LimitedFrequency):
    closed_under_union = closed_under_pooling = True

    def __init__(self, least: Fraction, values: int) -> None:
        super().__init__("l", least)
        self.caps = FrequencyCaps(tuple(range(values)), (1 / least,) * values)


class EntropyLDiversity(GroupingModel):
    """The entropy of the values present is at least log l, in a class of at least l records.

    With counts c of n values: n^n >= l^n * prod(c^c), decided in integers, so that a class with entropy
    exactly log l passes. ``achieved_parameters`` gives l = exp(entropy), mostly irrational, rounded down to
    a millionth.

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
        noun = "the sensitive value" if self.by == "value" else f"its {self.count_noun()}"
        likely = f"{self.l} equally likely ones"
        return (
            f"{finder(apart)} is at least as unsure of {noun} as with {likely}. {EXACTLY}where a class shows "
            f"values at a place, their entropy is at least log {self.l}."
        )


class _Entropy(Constraint):
    closed_under_union = closed_under_pooling = True

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


class RecursiveCLDiversity(GroupingModel):
    """With counts r_1 >= ... >= r_m: r_1 < c (r_l + ... + r_m), in a class of at least l records.

    The inequality is strict, as in the definition. ``achieved_parameters`` gives the largest l at the
    policy's c; 0 means that not even l = 1 holds.

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
        noun = "value" if self.by == "value" else self.count_noun()
        return (
            f"{finder(apart)} sees the commonest {noun} less than {self.c} times as often as the rarer ones "
            f"together. {EXACTLY}at each place of a class, less than {self.c} times as often as all but the "
            f"{self.l - 1} most frequent together."
        )


class _Recursive(Constraint):
    closed_under_union = closed_under_pooling = True

    def __init__(self, factor: Fraction, least: int) -> None:
        self._factor = factor
        self.min_class_size = least

    def holds(self, view: ClassView) -> bool:
        sizes, least = view.sizes, self.min_class_size
        return not sizes or (view.records >= least and self._is_reached(sizes, least))

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

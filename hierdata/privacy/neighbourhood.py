"""Models that bound how many numbers of a class are near one that it shows.

(delta,l)-diversity and (epsilon,m)-anonymity are one predicate (erratum DL-1).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from math import ceil
from typing import ClassVar, Literal

from pydantic import StrictBool, model_validator

from hierdata.domains.number import Number, plain
from hierdata.domains.proximity import Neighbourhoods, fullest_window
from hierdata.domains.sensitive import SensitiveDomain
from hierdata.ground.errors import PolicyError
from hierdata.privacy.base import (
    ClassView,
    Constraint,
    Diversity,
    FrequencyCaps,
    NotNegative,
    PrivacyModel,
    chance,
    finder,
    require_domain,
)
from hierdata.privacy.presence import NearPresence, Within, limit_persons

_BETWEEN_NUMBERS = (
    "limits what can be guessed around the numbers that a class shows. A number between two of them may have "
    "both near it, so that a reader knows the value to lie around it."
)
"""What these models do not protect against; follows the name of the model."""


class DeltaLDiversity(PrivacyModel):
    """Each value present is similar to at most 1/l of the values, itself included, in at least l records.

    DL definitions 3 to 5: values are similar if their closed intervals [v - delta, v + delta] overlap, that
    is, if they are at most 2 delta apart; touching counts (DL-6). l may be a fraction, and so is the achieved
    l: |E| / max n(v) (DL-7). Equal to absolute (epsilon,m)-anonymity with epsilon = 2 delta and m = l (DL-1).
    A vertex without values passes (erratum ML-7).

    Not monotone (DL-2): the union of two classes that satisfy it is only sure to achieve more than l/2. Steps
    that merge classes may maintain ``safe_to_merge``.

    >>> bound = DeltaLDiversity(delta=7.5, l=2).bind(SensitiveDomain("$.a", (40, 50, 60, 80)))
    >>> bound.holds(ClassView(2, {0: 1, 2: 1})), bound.holds(ClassView(2, {1: 1, 3: 1}))
    (True, True)
    >>> bound.achieved_parameters(ClassView(4, {0: 1, 1: 1, 2: 1, 3: 1}))
    {'l': Fraction(4, 3)}
    """

    combine: ClassVar[Mapping[str, Literal["min", "max"]]] = {"l": "min"}
    letters: ClassVar[Mapping[str, str]] = {
        "delta": "numbers at most twice delta apart count as similar",
        "l": "no number has more than 1/l of the numbers of a class similar to it",
    }
    limitation: ClassVar[str] = f"delta-l-diversity {_BETWEEN_NUMBERS}"

    kind: Literal["delta-l-diversity"] = "delta-l-diversity"
    delta: NotNegative
    l: Diversity  # noqa: E741  (the papers' letter)

    def bind(self, domain: SensitiveDomain | None) -> Constraint:
        """Build the constraint for one attribute. Raises PolicyError if values are not numbers."""
        around = self._around(domain)
        return _Uncrowded("l", self.l, around, symmetric=True)

    def _around(self, domain: SensitiveDomain | None) -> Neighbourhoods:
        numbers, width = _numbers_of(domain, self.kind)
        return Neighbourhoods.absolute(numbers, 2 * self.delta + width)

    @property
    def limits_presence(self) -> bool:
        """See PrivacyModel."""
        return True

    def bind_presence(
        self, domain: SensitiveDomain, within: Within = "place", *, tied: bool = True
    ) -> Constraint:
        """Build the constraint on the share of the records that show a value similar to one shown."""
        around = self._around(domain)
        return NearPresence("l", self.l, around, self.bind(domain), within, tied)

    def promise(self, *, apart: bool = False) -> str:
        """Return one sentence for the reader."""
        near = plain(2 * self.delta)
        return (
            f"{finder(apart)} can guess a sensitive value to within {near} with a chance of at most "
            f"{chance(1 / self.l)}. This is said of guesses at values that are shown there."
        )

    def promise_presence(self, within: Within, *, apart: bool = False, tied: bool = True) -> str:
        """Return one sentence for the reader."""
        near = plain(2 * self.delta)
        have = f"have one within {near} of any one shown there"
        return limit_persons(1 / self.l, have, within, tied, apart)


def safe_to_merge(values: Sequence[Number], delta: Fraction, l: Fraction) -> bool:  # noqa: E741
    """Return whether no closed window of width 4 delta holds more than 1/l of the values.

    If so, the class is (delta,l)-diverse. Unlike (delta,l)-diversity itself (DL-2), this property is kept by
    the union of two classes. Raises ValueError for a class without values.

    >>> safe_to_merge([40, 60], Fraction(15, 2), Fraction(2))
    False
    """
    if not values:
        raise ValueError("a class without values is not safe")
    return fullest_window(values, 4 * delta) * l <= len(values)


class EpsilonMAnonymity(PrivacyModel):
    """At most 1/m of the values are near any value v present, v included, in at least m records.

    DL section 1 and definition 2, after Li, Tao and Xiao (SIGMOD 2008). A value is near v if it differs from
    v by at most ``epsilon``; with ``relative`` by at most ``epsilon`` |v| (``epsilon`` 0..1), which is not
    symmetric: with 0.4, 10 is near 15, but 15 is not near 10. The ends of the interval belong to it (DL-6). m
    may be a fraction. The absolute form with epsilon = 2 delta is (delta,l)-diversity with l = m, including
    its drawback (DL-1). A vertex without values passes (erratum ML-7). Not monotone (DL-2).

    >>> domain = SensitiveDomain("$.a", (40, 50, 60))
    >>> EpsilonMAnonymity(epsilon=15, m=2).bind(domain).achieved_parameters(ClassView(3, {0: 1, 1: 1, 2: 1}))
    {'m': Fraction(1, 1)}
    """

    combine: ClassVar[Mapping[str, Literal["min", "max"]]] = {"m": "min"}
    letters: ClassVar[Mapping[str, str]] = {
        "epsilon": "how far around a number others count as near it",
        "m": "no number of a class has more than 1/m of its numbers within epsilon",
    }
    limitation: ClassVar[str] = f"epsilon-m-anonymity {_BETWEEN_NUMBERS}"

    kind: Literal["epsilon-m-anonymity"] = "epsilon-m-anonymity"
    epsilon: NotNegative
    m: Diversity
    relative: StrictBool = False

    @model_validator(mode="after")
    def _no_further_than_zero(self) -> EpsilonMAnonymity:
        if self.relative and self.epsilon > 1:
            raise ValueError("a relative epsilon must be between 0 and 1")
        return self

    def bind(self, domain: SensitiveDomain | None) -> Constraint:
        """Build the constraint for one attribute. Raises PolicyError if values are not numbers."""
        return _Uncrowded("m", self.m, self._around(domain), symmetric=not self.relative)

    def _around(self, domain: SensitiveDomain | None) -> Neighbourhoods:
        numbers, width = _numbers_of(domain, self.kind)
        if self.relative:
            return Neighbourhoods.relative(numbers, self.epsilon, width)
        return Neighbourhoods.absolute(numbers, self.epsilon + width)

    @property
    def limits_presence(self) -> bool:
        """See PrivacyModel."""
        return True

    def bind_presence(
        self, domain: SensitiveDomain, within: Within = "place", *, tied: bool = True
    ) -> Constraint:
        """Build the constraint on the share of the records that show a value near one shown."""
        return NearPresence("m", self.m, self._around(domain), self.bind(domain), within, tied)

    def promise(self, *, apart: bool = False) -> str:
        """Return one sentence for the reader."""
        near = f"{plain(self.epsilon)} times the size" if self.relative else plain(self.epsilon)
        return (
            f"{finder(apart)} can guess a sensitive value to within {near} with a chance of at most "
            f"{chance(1 / self.m)}. This is said of guesses at values that are shown there."
        )

    def promise_presence(self, within: Within, *, apart: bool = False, tied: bool = True) -> str:
        """Return one sentence for the reader."""
        near = f"{plain(self.epsilon)} times the size" if self.relative else plain(self.epsilon)
        have = f"have one within {near} of any one shown there"
        return limit_persons(1 / self.m, have, within, tied, apart)


class _Uncrowded(Constraint):
    """At most 1/``least`` of the values are near any value present, itself included.

    A share of exactly 1/``least`` is allowed. ``letter`` names the achieved ``least``, a fraction (erratum
    DL-7). ``symmetric`` says that nearness is mutual; the shares then are caps. At least ``least`` records
    are required too, since pooled siblings of one record could hold that many values.
    """

    closed_under_union = False
    closed_under_pooling = False

    def __init__(self, letter: str, least: Fraction, around: Neighbourhoods, *, symmetric: bool) -> None:
        self.min_class_size = ceil(least)
        self._letter = letter
        self._least = least
        self._around = around
        if symmetric:
            self.caps = FrequencyCaps(around.rank, (1 / least,) * len(around.rank), reach=around.reach)

    def holds(self, view: ClassView) -> bool:
        total, most = self.summary(view.counts)
        if not total:
            return True
        enough = most * self._least.numerator <= total * self._least.denominator
        return enough and view.records >= self.min_class_size

    def achieved_parameters(self, view: ClassView) -> dict[str, Fraction]:
        total, most = self.summary(view.counts)
        return {self._letter: min(Fraction(total, most), Fraction(view.records))} if total else {}

    def summary(self, counts: Mapping[int, int]) -> tuple[int, int]:
        """Return the number of values present, and the largest number near one of them."""
        return sum(counts.values()), max(self._around.sizes(counts).values(), default=0)


def _numbers_of(domain: SensitiveDomain | None, kind: str) -> tuple[tuple[Number, ...], Fraction]:
    """Return the values of a domain as numbers, and the width of the bins that they stand for.

    Two values of bins may be nearer to each other by that width than the bins' numbers are. Raises
    PolicyError if some are not numbers.
    """
    domain = require_domain(domain)
    if domain.numbers is None:
        raise PolicyError(
            f"{kind} needs numbers: add `number: true`, or let `on` name others", path=domain.path
        )
    return domain.numbers, Fraction(domain.width)

"""Models that bound how many numbers of a class are near one that it shows.

(delta,l)-diversity and (epsilon,m)-anonymity are one predicate (erratum DL-1).
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import ClassVar, Literal

from pydantic import StrictBool, model_validator

from hierdata.domains.number import Number, plain
from hierdata.domains.proximity import Neighbourhoods, fullest_window
from hierdata.domains.sensitive import SensitiveDomain
from hierdata.ground.errors import PolicyError
from hierdata.privacy.base import (
    Constraint,
    Diversity,
    FrequencyCaps,
    NotNegative,
    PrivacyModel,
    chance,
    finder,
    require_domain,
)
from hierdata.privacy.counting import LimitedFrequency
from hierdata.privacy.presence import NearPresence, Within, limit_persons

_BETWEEN_NUMBERS = (
    "limits what can be guessed around the numbers that a class shows. A number between two of them may have "
    "both near it, so that a reader knows the value to lie around it."
)
"""What these models do not protect against; follows the name of the model."""


class NeighbourhoodModel(PrivacyModel):
    """At most 1 in ``letter`` of the numbers of a class are near one that it shows; members say how near."""

    letter: ClassVar[str]

    @abstractmethod
    def _around(self, domain: SensitiveDomain | None) -> Neighbourhoods:
        """Return which numbers are near each number. Raises PolicyError if values are not numbers."""

    @abstractmethod
    def _reach(self) -> str:
        """Return in words how far from a number others are near it."""

    def _is_mutual(self) -> bool:
        return True

    @property
    def _least(self) -> Fraction:
        least: Fraction = getattr(self, self.letter)
        return least

    def bind(self, domain: SensitiveDomain | None) -> Constraint:
        """Build the constraint for one attribute. Raises PolicyError if values are not numbers."""
        return _Uncrowded(self.letter, self._least, self._around(domain), is_mutual=self._is_mutual())

    @property
    def limits_presence(self) -> bool:
        """See PrivacyModel."""
        return True

    def bind_presence(
        self, domain: SensitiveDomain, within: Within = "place", *, tied: bool = True
    ) -> Constraint:
        """Build the constraint on the share of the records that show a value near one shown."""
        around, bound = self._around(domain), self.bind(domain)
        return NearPresence(self.letter, self._least, around, bound, within, tied)

    def promise(self, *, apart: bool = False) -> str:
        """Return one sentence for the reader."""
        return (
            f"{finder(apart)} can guess a sensitive value to within {self._reach()} with a chance of at most "
            f"{chance(1 / self._least)}. This is said of guesses at values that are shown there."
        )

    def promise_presence(self, within: Within, *, apart: bool = False, tied: bool = True) -> str:
        """Return one sentence for the reader."""
        have = f"have one within {self._reach()} of any one shown there"
        return limit_persons(1 / self._least, have, within, tied, apart)


class DeltaLDiversity(NeighbourhoodModel):
    """Each value present is similar to at most 1/l of the values, itself included, in at least l records.

    DL definitions 3 to 5: values are similar if their closed intervals [v - delta, v + delta] overlap, that
    is, if they are at most 2 delta apart; touching counts (DL-6). l may be a fraction, and so is the achieved
    l: |E| / max n(v) (DL-7). Equal to absolute (epsilon,m)-anonymity with epsilon = 2 delta and m = l (DL-1).
    A vertex without values passes (erratum ML-7).

    Not monotone (DL-2): the union of two classes that satisfy it is only sure to achieve more than l/2. Steps
    that merge classes may maintain ``safe_to_merge``.

    >>> from hierdata.privacy.base import ClassView
    >>> bound = DeltaLDiversity(delta=7.5, l=2).bind(SensitiveDomain("$.a", (40, 50, 60, 80)))
    >>> bound.holds(ClassView(2, {0: 1, 2: 1})), bound.holds(ClassView(2, {1: 1, 3: 1}))
    (True, True)
    >>> bound.achieved_parameters(ClassView(4, {0: 1, 1: 1, 2: 1, 3: 1}))
    {'l': Fraction(4, 3)}
    """

    letter: ClassVar[str] = "l"
    combine: ClassVar[Mapping[str, Literal["min", "max"]]] = {"l": "min"}
    letters: ClassVar[Mapping[str, str]] = {
        "delta": "numbers at most twice delta apart count as similar",
        "l": "no number has more than 1/l of the numbers of a class similar to it",
    }
    limitation: ClassVar[str] = f"delta-l-diversity {_BETWEEN_NUMBERS}"

    kind: Literal["delta-l-diversity"] = "delta-l-diversity"
    delta: NotNegative
    l: Diversity  # noqa: E741  (the papers' letter)

    def _around(self, domain: SensitiveDomain | None) -> Neighbourhoods:
        numbers, width = _numbers_of(domain, self.kind)
        return Neighbourhoods.absolute(numbers, 2 * self.delta + width)

    def _reach(self) -> str:
        return plain(2 * self.delta)


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


class EpsilonMAnonymity(NeighbourhoodModel):
    """At most 1/m of the values are near any value v present, v included, in at least m records.

    DL section 1 and definition 2, after Li, Tao and Xiao (SIGMOD 2008). A value is near v if it differs from
    v by at most ``epsilon``; with ``relative`` by at most ``epsilon`` |v| (``epsilon`` 0..1), which is not
    symmetric: with 0.4, 10 is near 15, but 15 is not near 10. The ends of the interval belong to it (DL-6). m
    may be a fraction. The absolute form with epsilon = 2 delta is (delta,l)-diversity with l = m, including
    its drawback (DL-1). A vertex without values passes (erratum ML-7). Not monotone (DL-2).

    >>> from hierdata.privacy.base import ClassView
    >>> domain = SensitiveDomain("$.a", (40, 50, 60))
    >>> EpsilonMAnonymity(epsilon=15, m=2).bind(domain).achieved_parameters(ClassView(3, {0: 1, 1: 1, 2: 1}))
    {'m': Fraction(1, 1)}
    """

    letter: ClassVar[str] = "m"
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

    def _around(self, domain: SensitiveDomain | None) -> Neighbourhoods:
        numbers, width = _numbers_of(domain, self.kind)
        if self.relative:
            return Neighbourhoods.relative(numbers, self.epsilon, width)
        return Neighbourhoods.absolute(numbers, self.epsilon + width)

    def _is_mutual(self) -> bool:
        return not self.relative

    def _reach(self) -> str:
        return f"{plain(self.epsilon)} times the size" if self.relative else plain(self.epsilon)


class _Uncrowded(LimitedFrequency):
    """At most 1/``least`` of the values are near any value present, itself included; see LimitedFrequency.

    ``is_mutual`` says that nearness is symmetric; the shares then are caps.
    """

    closed_under_union = closed_under_pooling = False

    def __init__(self, letter: str, least: Fraction, around: Neighbourhoods, *, is_mutual: bool) -> None:
        super().__init__(letter, least)
        self._around = around
        if is_mutual:
            self.caps = FrequencyCaps(around.rank, (1 / least,) * len(around.rank), reach=around.reach)

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

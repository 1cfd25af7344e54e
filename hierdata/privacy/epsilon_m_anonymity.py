"""(epsilon,m)-anonymity: no number has too many others within epsilon."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar, Literal

from pydantic import StrictBool, model_validator

from hierdata.domains.number import plain
from hierdata.domains.proximity import Neighbourhoods
from hierdata.domains.sensitive import SensitiveDomain
from hierdata.privacy.base import Constraint, Diversity, NotNegative, PrivacyModel
from hierdata.privacy.neighbourhood import BETWEEN_NUMBERS, limit_neighbourhoods, numbers_of
from hierdata.privacy.presence import NearPresence, Within, persons_who_show


class EpsilonMAnonymity(PrivacyModel):
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

    combine: ClassVar[Mapping[str, Literal["min", "max"]]] = {"m": "min"}
    letters: ClassVar[Mapping[str, str]] = {
        "epsilon": "how far around a number others count as near it",
        "m": "no number of a class has more than 1/m of its numbers within epsilon",
    }
    limitation: ClassVar[str] = f"epsilon-m-anonymity {BETWEEN_NUMBERS}"

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
        return limit_neighbourhoods("m", self.m, self._around(domain), symmetric=not self.relative)

    def _around(self, domain: SensitiveDomain | None) -> Neighbourhoods:
        intervals = Neighbourhoods.relative if self.relative else Neighbourhoods.absolute
        return intervals(numbers_of(domain, self.kind), self.epsilon)

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
            f"Nobody can tell from a class, with a probability above {1 / self.m}, that a sensitive value "
            f"lies within {near} of one that is shown there."
        )

    def promise_presence(self, within: Within, *, apart: bool = False, tied: bool = True) -> str:
        """Return one sentence for the reader."""
        near = f"{plain(self.epsilon)} times the size" if self.relative else plain(self.epsilon)
        return (
            f"At most {1 / self.m} of {persons_who_show(within, tied)} have a sensitive value within {near} "
            "of any one that is shown there."
        )

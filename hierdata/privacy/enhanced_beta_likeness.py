"""Enhanced beta-likeness: basic beta-likeness with a stricter bound for frequent values."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from fractions import Fraction
from typing import ClassVar, Literal

from hierdata.domains.sensitive import SensitiveDomain
from hierdata.privacy.base import Constraint, NotNegative, PrivacyModel
from hierdata.privacy.reference import Likeness, largest_below, require_original


class EnhancedBetaLikeness(PrivacyModel):
    """No share grows by more than min(beta, -ln p) of itself (Cao and Karras, VLDB 2012, def. 3).

    q <= (1 + min(beta, -ln p)) p for every value, p and q as in basic-beta-likeness. So q stays below 1 for
    every value except that of a constant attribute. For a rational p other than 1, ln p is irrational
    (Lindemann), so no share of counts ever equals the bound, and a fraction just below it decides exactly.
    ``achieved_parameters`` gives the least beta that would hold; nothing if -ln p rules out a value for every
    beta.

    >>> from hierdata.privacy.base import ClassView
    >>> domain = SensitiveDomain("$.a", ("flu", "HIV"), reference=(9, 1))
    >>> bound = EnhancedBetaLikeness(beta=1).bind(domain)
    >>> bound.holds(ClassView(99, {0: 98, 1: 1})), bound.holds(ClassView(100, {0: 100}))
    (True, False)
    """

    needs_reference: ClassVar[bool] = True
    combine: ClassVar[Mapping[str, Literal["min", "max"]]] = {"beta": "max"}
    letters: ClassVar[Mapping[str, str]] = {
        "beta": "by how much of itself a value's share may grow from the whole collection to a class, "
        "and at most by -ln of that share",
    }

    kind: Literal["enhanced-beta-likeness"] = "enhanced-beta-likeness"
    beta: NotNegative

    def bind(self, domain: SensitiveDomain | None) -> Constraint:
        """Build the constraint for one attribute. Raises PolicyError without a reference."""
        reference = require_original(domain, self.kind)
        total = sum(reference)
        by_count = {count: _ceiling(count, total) for count in set(reference)}
        ceilings = [by_count[count] for count in reference]
        return Likeness(reference, [min(1 + self.beta, ceiling) for ceiling in ceilings], ceilings)

    def promise(self, *, apart: bool = False) -> str:
        """Return one sentence for the reader."""
        return (
            f"No sensitive value is more than {float(1 + self.beta):g} times as frequent in a class as in "
            "the whole collection, and the more frequent it is there, the less it may gain."
        )


def _ceiling(count: int, total: int) -> Fraction:
    """Return 1 - ln p, from below; 1 for the only value of an attribute, and for one that does not occur."""
    if count in (0, total):
        return Fraction(1)
    return largest_below(lambda: 1 + Decimal(total).ln() - Decimal(count).ln())

"""The one predicate behind (delta,l)-diversity and (epsilon,m)-anonymity (erratum DL-1)."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from math import ceil

from hierdata.domains.number import Number
from hierdata.domains.proximity import Neighbourhoods
from hierdata.domains.sensitive import SensitiveDomain
from hierdata.ground.errors import PolicyError
from hierdata.privacy.base import ClassView, Constraint, FrequencyCaps, require_domain

BETWEEN_NUMBERS = (
    "limits what can be guessed around the numbers that a class shows: a number between two of them may have "
    "both near it, so that a reader knows the value to lie around it."
)
"""What these models do not protect against; follows the name of the model."""


def numbers_of(domain: SensitiveDomain | None, kind: str) -> tuple[Number, ...]:
    """Return the values of a domain as numbers. Raises PolicyError if some are not numbers."""
    domain = require_domain(domain)
    if domain.numbers is None:
        raise PolicyError(
            f"{kind} needs numbers: add `number: true`, or let `on` name others", path=domain.path
        )
    return domain.numbers


def limit_neighbourhoods(
    letter: str, least: Fraction, around: Neighbourhoods, *, symmetric: bool
) -> Constraint:
    """Build the constraint that at most 1/``least`` of the values are near any value present, incl. itself.

    A share of exactly 1/``least`` is allowed. ``letter`` names the achieved ``least``, a fraction (erratum
    DL-7). ``symmetric`` says that nearness is mutual; the shares then are caps. At least ``least`` records
    are required too, since pooled siblings of one record could hold that many values.
    """
    return _Uncrowded(letter, least, around, symmetric)


class _Uncrowded(Constraint):
    closed_under_union = False
    closed_under_pooling = False

    def __init__(self, letter: str, least: Fraction, around: Neighbourhoods, symmetric: bool) -> None:
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

"""For models that compare a class with the original collection: reference counts, and exact thresholds."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from decimal import Decimal, localcontext
from fractions import Fraction
from typing import TypeVar

from hierdata.domains.sensitive import SensitiveDomain
from hierdata.ground.errors import PolicyError
from hierdata.privacy.base import require_domain

Answer = TypeVar("Answer")

DENOMINATORS = 10**40
"""Thresholds are exact for fractions with denominators up to this: products of counts up to 10^20."""
_WORK = 200_000
"""Limit on the values inspected in the search for a least class size: a few milliseconds."""


def require_original(domain: SensitiveDomain | None, kind: str) -> tuple[int, ...]:
    """Return how often each value occurs in the original collection. Raises PolicyError if unknown."""
    domain = require_domain(domain)
    if domain.reference is None:
        raise PolicyError(
            f"{kind} compares with the original collection: provide its frozen facts, or the original",
            path=domain.path,
        )
    return domain.reference


def decide_exactly(compute: Callable[[], Decimal], decide: Callable[[Fraction], Answer]) -> Answer:
    """Decide a question about an irrational number, with as many digits as needed.

    ``compute`` evaluates the number in the current decimal context, with an error below 10^30 units of its
    last digit. The answer is returned once both ends of the remaining interval give the same one. The answer
    may change only at rational numbers, so that enough digits settle it.
    """
    digits = 120
    while True:
        with localcontext(prec=digits):
            near = Fraction(compute())
        margin = Fraction(1, 10 ** (digits - 30))
        low, high = decide(near - margin), decide(near + margin)
        if low == high:
            return low
        digits *= 2


def largest_below(compute: Callable[[], Decimal]) -> Fraction:
    """Return the largest fraction below an irrational number with a denominator up to DENOMINATORS.

    A share of counts exceeds the number if and only if it exceeds the fraction.

    >>> float(largest_below(Decimal(2).sqrt))
    1.4142135623730951
    """
    return decide_exactly(compute, lambda number: at_most(number, DENOMINATORS))


def at_most(number: Fraction, denominators: int) -> Fraction:
    """Return the largest fraction not above a number, among those with a denominator up to a bound.

    >>> at_most(Fraction("3.14159"), 106), at_most(Fraction(22, 7), 7)
    (Fraction(333, 106), Fraction(22, 7))
    """
    nearest = number.limit_denominator(denominators)
    if nearest <= number:
        return nearest
    # The neighbour to the left in the Farey sequence: c/d with a d - b c = 1 and the largest such d.
    top, bottom = nearest.as_integer_ratio()
    below = denominators - (denominators - pow(top, -1, bottom)) % bottom
    return Fraction((top * below - 1) // bottom, below)


def least_room(shares: Sequence[Fraction]) -> int:
    """Return a size below which no class can keep every value within its share; mostly the least such size.

    n values need sum(floor(share n)) >= n. With many values the search ends early. If the original has no
    values, neither has any class, and every size works.

    >>> least_room([Fraction(1, 2), Fraction(1, 3), Fraction(1, 3)]), least_room([])
    (3, 1)
    """
    if not shares:
        return 1
    size = 1
    for size in range(1, 2 + _WORK // max(1, len(shares))):
        if sum(share.numerator * size // share.denominator for share in shares) >= size:
            break
    return size

"""The largest l of a class, from its numbers alone."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from hierdata.domains.number import Number
from hierdata.domains.proximity import Neighbourhoods


def largest_l(values: Sequence[Number], delta: Fraction) -> Fraction:
    """The largest l with which a class of these values is (delta,l)-diverse: |E| / max n(v), in 1..|E|.

    DL equation 2 with DL-7. Raises ValueError for a class without values: it satisfies nothing.

    >>> largest_l([40, 50, 60, 80], Fraction(15, 2))
    Fraction(4, 3)
    """
    if not values:
        raise ValueError("a class without values has no l")
    counts = dict.fromkeys(range(len(values)), 1)
    return Fraction(len(values), max(Neighbourhoods.absolute(values, 2 * delta).sizes(counts).values()))

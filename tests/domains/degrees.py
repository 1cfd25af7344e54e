"""Degrees in fuzzy sets as fractions; a scale shows those of scikit-fuzzy."""

from __future__ import annotations

from fractions import Fraction

from hierdata.documents.document import Scalar
from hierdata.domains.scales import LevelScale


def exact_memberships(scale: LevelScale, value: Scalar) -> tuple[Fraction, ...]:
    """The degree in each fuzzy set, exactly: A1..A5 (value levels) or one per level of the policy's sets.

    Empty where levels do not come from fuzzy sets. Raises Uncovered.
    """
    found = scale.sets(value)
    if found is None:
        return ()
    return tuple(max((one.degree(found[0]) for one in own), default=Fraction(0)) for own in found[1])

"""The slow, obvious twin of NCP and GCP: from the papers' definitions, value by value, on plain lists.

Xu et al., Utility-based anonymization (KDD 2006): the certainty penalty of a category is the number of leaves
below what is published over all leaves, of a number the width of its interval over that of the domain.
Ghinita et al. (VLDB 2007): 0 where there is one leaf; GCP is the sum over classes of their size times the
NCP of all attributes, over rows times attributes.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from fractions import Fraction

Penalty = Fraction


def of_category(leaves: Collection[str], domain: Collection[str], *, less_one: bool = False) -> Penalty:
    """What is published stands for any of these leaves."""
    if len(leaves) <= 1:
        return Fraction(0)
    if less_one:
        return Fraction(len(leaves) - 1, len(domain) - 1)
    return Fraction(len(leaves), len(domain))


def of_number(low: int, high: int, least: int, greatest: int) -> Penalty:
    """What is published stands for any number between two."""
    return Fraction(high - low, greatest - least) if greatest > least else Fraction(0)


def gcp(classes: Sequence[tuple[int, Sequence[Penalty]]], suppressed: int) -> Penalty:
    """Classes by their size and the NCP of each attribute; suppressed rows have 1 everywhere."""
    rows = sum(size for size, _ in classes) + suppressed
    attributes = len(classes[0][1])
    total = Fraction(suppressed * attributes)
    for size, penalties in classes:
        for penalty in penalties:
            total += size * penalty
    return total / (rows * attributes)

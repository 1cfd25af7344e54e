"""The slow, obvious twin of the privacy models: the definitions' words on the values themselves."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from fractions import Fraction
from math import prod


def k_anonymity(records: int, k: int) -> bool:
    return records >= k


def distinct_l(records: int, values: Sequence[int], least: int) -> bool:
    """At least l different values, among at least l records; nothing to say where there is no value."""
    return not values or (len(set(values)) >= least and records >= least)


def frequency_l(records: int, values: Sequence[int], least: Fraction) -> bool:
    """Every value's share is at most 1/l."""
    shares = [Fraction(values.count(value), len(values)) for value in values]
    return not values or (all(share <= 1 / least for share in shares) and records >= least)


def entropy_l(records: int, values: Sequence[int], least: Fraction) -> bool:
    """exp(entropy) is the geometric mean of 1/share over all values: its n-th power is at least l^n."""
    surprise = prod((Fraction(len(values), values.count(value)) for value in values), start=Fraction(1))
    return not values or (surprise >= least ** len(values) and records >= least)


def recursive_cl(records: int, values: Sequence[int], factor: Fraction, least: int) -> bool:
    """Take the l - 1 most frequent values away: the most frequent must be below c times what stays."""
    if not values:
        return True
    by_frequency = sorted(set(values), key=values.count, reverse=True)
    rest = [value for value in values if value not in by_frequency[: least - 1]]
    return values.count(by_frequency[0]) < factor * len(rest) and records >= least


def alpha_k(
    records: int, values: Sequence[int], k: int, alpha: Fraction, protected: Collection[int] | None
) -> bool:
    """k records, and at most alpha of the values is any one protected value."""
    watched = [value for value in values if protected is None or value in protected]
    return records >= k and all(values.count(value) <= alpha * len(values) for value in watched)


def level_alpha_k(records: int, levels: Sequence[int], k: int, alpha: Sequence[Fraction]) -> bool:
    """k records, and at most alpha_i of the values has level i."""
    return records >= k and all(levels.count(level) <= alpha[level - 1] * len(levels) for level in levels)

"""Fuzzy sensitivity levels, capacities and dissimilarity, straight from ML section 3.3 and 5.1."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from itertools import combinations, combinations_with_replacement, count

from tests.naive import ALPHA, level_alpha

LEVELS = (1, 2, 3, 4, 5)


def knots(low: Fraction, high: Fraction) -> list[Fraction]:
    """a1 .. a5, as the paper defines them."""
    a3 = (low + high) / 2
    a1 = low + (a3 - low) / 3
    a2 = low + 2 * (a3 - low) / 3
    a4 = a3 + (high - a3) / 3
    a5 = a3 + 2 * (high - a3) / 3
    return [a1, a2, a3, a4, a5]


def falling(u: Fraction, one: Fraction, zero: Fraction) -> Fraction:
    """The line that is 1 up to `one` and 0 from `zero` on."""
    return min(max((zero - u) / (zero - one), Fraction(0)), Fraction(1))


def rising(u: Fraction, zero: Fraction, one: Fraction) -> Fraction:
    return 1 - falling(u, zero, one)


def membership(u: Fraction, level: int, low: Fraction, high: Fraction) -> Fraction:
    """Degree of u in the fuzzy set of a value level: A1 falls, A2 to A4 are triangles (ML-1), A5 rises."""
    a1, a2, a3, a4, a5 = knots(low, high)
    if level == 1:
        return falling(u, low, a2)
    if level == 5:
        return rising(u, a4, high)
    left, peak, right = {2: (a1, a2, a3), 3: (a2, a3, a4), 4: (a3, a4, a5)}[level]
    return min(rising(u, left, peak), falling(u, peak, right))


def breakpoints(low: Fraction, high: Fraction) -> list[Fraction]:
    """p1 .. p4: where the falling side of one fuzzy set meets the rising side of the next."""
    a1, a2, a3, a4, a5 = knots(low, high)
    falls = [(low, a2), (a2, a3), (a3, a4), (a4, a5)]
    rises = [(a1, a2), (a2, a3), (a3, a4), (a4, high)]
    return [
        # (f1 - u) / (f1 - f0) = (u - r0) / (r1 - r0), solved for u
        (f1 * (r1 - r0) + r0 * (f1 - f0)) / ((f1 - f0) + (r1 - r0))
        for (f0, f1), (r0, r1) in zip(falls, rises, strict=True)
    ]


def value_level(u: Fraction, low: Fraction, high: Fraction) -> int:
    """The fuzzy set u, clamped, belongs to most; ties upward; 3 in a domain of one point (ML-3)."""
    if low == high:
        return 3
    inside = min(max(u, low), high)
    return max(LEVELS, key=lambda level: (membership(inside, level, low, high), level))


def sensitivity_level(level: int, direction: str) -> int:
    """`falling`: low values are the sensitive ones (GPA); `rising`: high values are (income)."""
    return {"falling": 6 - level, "rising": level}[direction]


def capacities(k: int, alpha: Sequence[Fraction] = ALPHA) -> list[int]:
    """Largest count of each sensitivity level in a class of k values: count <= k * alpha (ML-6)."""
    return [max(c for c in range(k + 1) if c <= k * share) for share in alpha]


def smallest_class_size(share: Fraction) -> int:
    """The smallest k in which a level with this share may occur at all."""
    return next(k for k in count(1) if k * share >= 1)


def feasible_level_multisets(k: int, alpha: Sequence[Fraction] = ALPHA) -> Iterator[tuple[int, ...]]:
    """Every multiset of k levels in which each level is at most its share."""
    cap = level_alpha("any", 0, alpha)
    return (levels for levels in combinations_with_replacement(LEVELS, k) if cap.fits(levels, k))


def pair_distances(levels: Sequence[int]) -> int:
    return sum(abs(a - b) for a, b in combinations(levels, 2))


def dissimilarity(levels: Sequence[int], z: int = 5) -> Fraction:
    """DSimDegree of a vertex as printed: sum over pairs of values by the sum over pairs of levels."""
    return Fraction(pair_distances(levels), pair_distances(range(1, z + 1)))


def mean_level_distance(levels: Sequence[int], z: int = 5) -> Fraction | None:
    """The same between 0 and 1 (ML-15): mean over pairs by z - 1; None with fewer than two values."""
    pairs = len(levels) * (len(levels) - 1) // 2
    return Fraction(pair_distances(levels), pairs * (z - 1)) if pairs else None

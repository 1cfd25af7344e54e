"""The definitions and the checking procedure of DL as they are printed, on one class of numbers."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from hierdata.domains.number import Number


def count_similar(values: Sequence[Number], delta: Fraction) -> list[int]:
    """Return n(v) of equation 2: how many intervals [u - delta, u + delta] overlap with that of v.

    Intervals are closed (definition 3), so those that touch overlap (erratum DL-6).

    >>> count_similar([40, 50, 60], Fraction(15, 2))
    [2, 3, 2]
    """
    ends = [(Fraction(v) - delta, Fraction(v) + delta) for v in values]
    return [sum(low <= top and bottom <= high for bottom, top in ends) for low, high in ends]


def count_near(values: Sequence[Number], epsilon: Fraction) -> list[int]:
    """Return n(x) of equation 1: how many values y have |y - x| <= epsilon (definition 2)."""
    return [sum(abs(Fraction(y) - x) <= epsilon for y in values) for x in values]


def largest_l(values: Sequence[Number], delta: Fraction) -> Fraction:
    """Return the largest l for which a class is (delta,l)-diverse: |E| / max n(v).

    >>> largest_l([40, 50, 60, 80], Fraction(15, 2))
    Fraction(4, 3)
    """
    return Fraction(len(values), max(count_similar(values, delta)))


def largest_m(values: Sequence[Number], epsilon: Fraction) -> Fraction:
    """Return the largest m for which a class is (epsilon,m)-anonymous: |G| / max n(x)."""
    return Fraction(len(values), max(count_near(values, epsilon)))


def bound_of_union(first: int, second: int, l: Fraction) -> Fraction:  # noqa: E741  (the paper's letter)
    """Return what is left of l in the union of two (delta,l)-diverse classes of these sizes (DL-2).

    >>> bound_of_union(2, 2, Fraction(2))
    Fraction(4, 3)
    """
    return l * (first + second) / max(first + 2 * second, 2 * first + second)


def run_printed_check(values: Sequence[Number], delta: Fraction) -> Fraction | None:
    """Return the l that the procedure of figure 3 finds, slip for slip (DL-3); None is infinity.

    The right end of the window is measured from t_i, its left end, not from t_x, the value in question.

    >>> run_printed_check([0, 1, 2, 3], Fraction(1, 2)), run_printed_check([5], Fraction(1))
    (Fraction(2, 1), None)
    """
    t = sorted(values)
    i, j, x = 0, 1, 0
    least: Fraction | None = None
    while j < len(t):
        while t[i] + delta < t[x] - delta:
            i += 1
        while j < len(t) and t[j] - delta <= t[i] + delta:
            j += 1
        following = Fraction(len(t), j - i)
        if least is None or following < least:
            least = following
        x += 1
    return least

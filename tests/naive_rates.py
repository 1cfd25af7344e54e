"""The slow, obvious twin of discrimination rates: probabilities of rows, summed as the paper writes them."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from math import log2

Values = Sequence[Hashable]


def p(value: Hashable, values: Values) -> float:
    return sum(one == value for one in values) / len(values)


def entropy(values: Values) -> float:
    """H(X) = - sum of p(x) log2 p(x)."""
    return -sum(p(x, values) * log2(p(x, values)) for x in set(values))


def given(xs: Values, ys: Values, y: Hashable) -> list[Hashable]:
    return [x for x, own in zip(xs, ys, strict=True) if own == y]


def conditional(xs: Values, ys: Values) -> float:
    """H(X|Y) = sum of p(y) H(X|y)."""
    return sum(p(y, ys) * entropy(given(xs, ys, y)) for y in set(ys))


def rate(xs: Values, ys: Values) -> float:
    """Equation 1; 0 where H(X) is (erratum DR-11)."""
    return 1 - conditional(xs, ys) / entropy(xs) if len(set(xs)) > 1 else 0


def rate_of(xs: Values, ys: Values, y: Hashable) -> float:
    """The rate of one value, as table 5 has it."""
    return 1 - p(y, ys) * entropy(given(xs, ys, y)) / entropy(xs) if len(set(xs)) > 1 else 0


def refinement(xs: Values, ys: Values, y: Hashable) -> float:
    """The same without p(y) (erratum DR-7)."""
    return 1 - entropy(given(xs, ys, y)) / entropy(xs) if len(set(xs)) > 1 else 0


def distance(xs: Values, ys: Values, y: Hashable) -> float:
    """Half the sum of the differences of shares."""
    return sum(abs(p(x, given(xs, ys, y)) - p(x, xs)) for x in set(xs)) / 2


def divergence(xs: Values, ys: Values, y: Hashable) -> float:
    """Relative entropy of X among the rows of y from X in the table."""
    own = given(xs, ys, y)
    return sum(p(x, own) * log2(p(x, own) / p(x, xs)) for x in set(own))

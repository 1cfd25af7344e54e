"""Equations 1, 2, 6 and 7 of DR as they stand, over rows; the package's own modules are not used."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from math import log2

Column = Sequence[Hashable]


def entropy(xs: Column) -> float:
    """Return H(X) in bits."""
    shares = [xs.count(x) / len(xs) for x in set(xs)]
    return sum(share * log2(1 / share) for share in shares)


def entropy_given(xs: Column, ys: Column, y: Hashable) -> float:
    """Return H(X|y) in bits."""
    return entropy([x for x, own in zip(xs, ys, strict=True) if own == y])


def rate(xs: Column, ys: Column) -> float | None:
    """Return DR_X(Y) = 1 - H(X|Y) / H(X) (equations 1 and 2); None where that is 0/0 (erratum DR-11)."""
    left = sum(ys.count(y) / len(ys) * entropy_given(xs, ys, y) for y in set(ys))
    return 1 - left / entropy(xs) if entropy(xs) else None


def rate_of_value(xs: Column, ys: Column, y: Hashable) -> float:
    """Return DR_X(y) = 1 - p(y) H(X|y) / H(X), as table 5 has it."""
    return 1 - ys.count(y) / len(ys) * entropy_given(xs, ys, y) / entropy(xs)


def transform(xs: Column, blocks: Sequence[Sequence[Hashable]] | None) -> list[Hashable]:
    """Return sX = f_SP(X) (equation 6): the number of the semantic domain of each value."""
    if blocks is None:
        return list(xs)
    return [next(at for at, own in enumerate(blocks) if x in own) for x in xs]

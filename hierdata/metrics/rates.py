"""Entropies and discrimination rates of counts, by keys and by single values (DR, definitions 3, 4, 7)."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Any, TypeAlias

Split: TypeAlias = Mapping[tuple[float, float], int]
"""How wholes split into parts: the number of parts by (size of the whole, size of the part)."""


def split(counts: Iterable[float]) -> Split:
    """Split one whole into its parts, given how often each value occurs.

    >>> dict(split([2, 1, 1]))
    {(4, 2): 1, (4, 1): 2}
    """
    parts = [count for count in counts if count]
    whole = sum(parts)
    return Counter((whole, part) for part in parts)


def uncertainty(parts: Split) -> float:
    """Return the sum over wholes of entropy in bits times size: sum of part * log2(whole / part).

    All terms are positive, so nothing cancels and the rounding error stays that of a single term.
    """
    terms = (
        times * part * math.log1p((whole - part) / part) for (whole, part), times in sorted(parts.items())
    )
    return math.fsum(terms) / math.log(2)


def entropy(counts: Iterable[float]) -> float:
    """Return H(X) in bits, from how often each value occurs; 0 if none does.

    >>> entropy([1, 1, 2])
    1.5
    """
    listed = list(counts)
    return uncertainty(split(listed)) / max(sum(listed), 1)


def rate(after: Split, before: Split) -> Fraction | float:
    """Return 1 - (uncertainty left) / (uncertainty before); 0 if there was none before (erratum DR-11).

    A Fraction if it is rational, else the nearest float.
    """
    return 1 - Prior(before).left_by(after)


@dataclass(frozen=True)
class ValueRate:
    """What one value y of the keys reveals of X; several keys have one combined value.

    - ``count``: the rows that show y, no integer where the weight of a person is divided;
    - ``share``: p(y);
    - ``entropy``: H(X|y) in bits, 0 and more;
    - ``rate``: DR_X(y) = 1 - p(y) H(X|y) / H(X), 0..1, lower is better (tables 5 and 7). It tends to 1 for
      rare values whatever they reveal (erratum DR-7): do not compare values of different shares with it;
    - ``refinement``: 1 - H(X|y) / H(X), at most 1, lower is better; negative where X is less certain among
      these rows than in the table;
    - ``divergence``: relative entropy of X given y from X in bits, 0 and more, lower is better;
    - ``distance``: half the sum of |p(x|y) - p(x)|, 0..1, lower is better: t-closeness where all values are
      equally far apart. Both detect a skew, which no rate does (erratum DR-10).

    Rates and refinements are Fractions if they are rational, else floats; 0 for a constant X (DR-11). Counts,
    shares and distances are exact, unless weights have large denominators.
    """

    count: Fraction | float
    share: Fraction | float
    entropy: float
    rate: Fraction | float
    refinement: Fraction | float
    divergence: float
    distance: Fraction | float


class Prior:
    """The uncertainty of X before anything is known, as the base of comparison.

    >>> Prior(split([2, 2])).left_by(split([1, 1]))
    Fraction(1, 2)
    """

    def __init__(self, before: Split) -> None:
        self._logarithms = _prime_logarithms(before)
        self._uncertainty = uncertainty(before)
        self._rows = sum(part * times for (_, part), times in before.items())
        self._known: dict[tuple[float, ...], tuple[float, Fraction | float]] = {}

    def left_by(self, parts: Split) -> Fraction | float:
        """Return the share of the uncertainty that these parts leave, 0..1; 1 if there was none (DR-11)."""
        return min(self._quotient(parts), 1.0) if self._uncertainty else Fraction(1)

    def value_rate(
        self, row: Mapping[Any, float], usual: Mapping[Any, float], total: float, scale: int = 1
    ) -> ValueRate:
        """Compute the figures of one y, from the weights of the values of X with it.

        ``usual`` are the weights of X that y is compared with, and ``total`` is their sum: those of all rows,
        or of the original. Weights of rows are ``scale`` times their counts.
        """
        size = sum(row.values())
        entropy, share_left = self._left_in(tuple(sorted(row.values())))
        shares = [(weight * total, usual[value] * size) for value, weight in row.items() if weight]
        gains = (share * math.log2(share / usually) for share, usually in shares)
        whole = quotient(self._rows, size)
        return ValueRate(
            count=size // scale if isinstance(size, int) and not size % scale else quotient(size, scale),
            share=1 / whole,
            entropy=entropy,
            rate=1 - share_left,
            refinement=1 - share_left * whole if self._uncertainty else Fraction(0),
            divergence=max(0.0, math.fsum(gains) / (size * total)),
            distance=quotient(sum(max(0, share - usually) for share, usually in shares), size * total),
        )

    def _left_in(self, counts: tuple[float, ...]) -> tuple[float, Fraction | float]:
        """Return H(X|y) and the share that is left, cached: both depend on the sorted counts alone."""
        if counts not in self._known:
            parts = split(counts)
            self._known[counts] = uncertainty(parts) / sum(counts), self.left_by(parts)
        return self._known[counts]

    def _quotient(self, after: Split) -> Fraction | float:
        """Return (uncertainty left) / (uncertainty before).

        With integer counts both uncertainties are sums of logarithms of primes with integer coefficients, and
        the logarithms are linearly independent: the quotient is rational exactly if the coefficients are
        proportional. Only then can it equal a rational limit, and then it is a Fraction.
        """
        if all(isinstance(part, int) for _, part in after):
            of_left = _prime_logarithms(after)
            prime, bottom = next(iter(self._logarithms.items()))
            top = of_left.get(prime, 0)
            before = self._logarithms.items()
            proportional = all(of_left.get(prime, 0) * bottom == count * top for prime, count in before)
            if proportional and (len(of_left) == len(self._logarithms) if top else not of_left):
                return Fraction(top, bottom)
        return uncertainty(after) / self._uncertainty


def quotient(over: float, under: float) -> Fraction | float:
    """Divide exactly where both are integers."""
    return Fraction(over, under) if isinstance(over, int) and isinstance(under, int) else over / under


def _prime_logarithms(parts: Split) -> dict[int, int]:
    """Return the uncertainty as a sum of logarithms of primes: the non-zero coefficients by prime."""
    numbers: Counter[int] = Counter()
    for (whole, part), times in parts.items():
        numbers[int(whole)] += times * int(part)
        numbers[int(part)] -= times * int(part)
    primes: Counter[int] = Counter()
    for number, coefficient in numbers.items():
        for prime in _prime_factors(number) if coefficient else ():
            primes[prime] += coefficient
    return {prime: coefficient for prime, coefficient in primes.items() if coefficient}


@lru_cache(maxsize=1 << 16)
def _prime_factors(number: int) -> tuple[int, ...]:
    factors = []
    divisor = 2
    while divisor * divisor <= number:
        while number % divisor == 0:
            factors.append(divisor)
            number //= divisor
        divisor += 1 if divisor == 2 else 2
    return (*factors, number) if number > 1 else tuple(factors)

"""How numbers, parameters and verdicts are put into words, on the terminal and on the page alike."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from fractions import Fraction


def number(value: Fraction) -> str:
    """A fraction as people write it: a short decimal, a small p/q, else four digits.

    >>> [number(Fraction(text)) for text in ("5", "4/5", "1/3", "12345/100003")]
    ['5', '0.8', '1/3', '0.1234']
    """
    if 10_000 % value.denominator == 0:
        return f"{Decimal(value.numerator) / value.denominator:f}"
    return str(value) if value.denominator < 100 else rounded(float(value))


def rounded(value: float) -> str:
    """Four digits, and never an exponent where none is due.

    >>> rounded(0.123456), rounded(123456.7), rounded(0.0)
    ('0.1235', '123,457', '0')
    """
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.4g}"


def achieved(reached: Mapping[str, Fraction]) -> str:
    """What was achieved in one line; the letters of the levels (``alpha_1`` ...) are put together.

    >>> achieved({"k": Fraction(5), "alpha_1": Fraction(4, 5), "alpha_2": Fraction(0)})
    'k = 5, alpha = 0.8 0'
    """
    together: dict[str, list[str]] = {}
    for letter, value in reached.items():
        together.setdefault(letter.partition("_")[0], []).append(number(value))
    return ", ".join(f"{letter} = {' '.join(values)}" for letter, values in together.items())

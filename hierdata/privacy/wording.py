"""How numbers and parameters are written, on the terminal and in the report alike."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from fractions import Fraction


def number(value: Fraction) -> str:
    """Return a fraction in readable form: a short decimal, a small p/q, else four digits.

    >>> [number(Fraction(text)) for text in ("5", "4/5", "1/3", "12345/100003")]
    ['5', '0.8', '1/3', '0.1234']
    """
    if 10_000 % value.denominator == 0:
        return f"{Decimal(value.numerator) / value.denominator:f}"
    return str(value) if value.denominator < 100 else round_value(float(value))


def round_value(value: float) -> str:
    """Return a number with four digits; from 1000 on, the whole number without an exponent.

    >>> round_value(0.123456), round_value(123456.7), round_value(0.0)
    ('0.1235', '123,457', '0')
    """
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.4g}"


def describe_achieved(reached: Mapping[str, Fraction]) -> str:
    """Return what was achieved in one line, with the letters of levels (``alpha_1`` ...) joined.

    >>> describe_achieved({"k": Fraction(5), "alpha_1": Fraction(4, 5), "alpha_2": Fraction(0)})
    'k = 5, alpha = 0.8 0'
    """
    together: dict[str, list[str]] = {}
    for letter, value in reached.items():
        together.setdefault(letter.partition("_")[0], []).append(number(value))
    return ", ".join(f"{letter} = {' '.join(values)}" for letter, values in together.items())


def among(size: int, apart: bool) -> str:
    """Return the promise of a class of at least ``size`` records (see PrivacyModel.promise)."""
    if apart:
        return f"Each sensitive value may be that of any person in a group of at least {size}."
    return f"Each record is one of at least {size} that cannot be told apart without sensitive values."

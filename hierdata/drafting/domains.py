"""Domains for quasi-identifiers that need no file and contain no value of the data."""

from __future__ import annotations

from decimal import Decimal
from math import floor, log10
from typing import Any

from hierdata.drafting.field_names import Looks

_USUAL = 5
"""Digits of a postal code, in most countries."""
_DATE = ["day", "month", "year", "decade"]


def date_steps() -> dict[str, Any]:
    """Return a domain of calendar periods."""
    return {"date": {"steps": _DATE}}


def flat() -> dict[str, Any]:
    """Return a domain without structure: a value is kept or suppressed."""
    return {"flat": True}


def interval(looks: Looks) -> dict[str, Any]:
    """Return a domain of bins. Its steps reveal the order of magnitude of the spread, but no number."""
    widths = steps(looks.spread(), looks.whole)
    decimals = not looks.whole and all(width == int(width) for width in widths)
    return {"interval": {"steps": widths, **({"decimals": True} if decimals else {})}}


def steps(spread: float, whole: bool) -> list[Decimal]:
    """Return nested bin widths, 1 or 5 times powers of ten, from 1/100 to 1/2 of the spread; at least two.

    >>> [str(step) for step in steps(60, True)], [str(step) for step in steps(3.1, False)]
    (['1', '5', '10'], ['0.05', '0.1', '0.5', '1'])
    >>> [str(step) for step in steps(40_000, True)], [str(step) for step in steps(4, True)]
    (['500', '1000', '5000', '10000'], ['1', '2'])
    """
    exponent = floor(log10(spread)) if spread > 0 else 0
    powers = range(exponent - 3, exponent + 2)
    candidates = [Decimal(digit).scaleb(power) for power in powers for digit in (1, 5)]
    least = max(Decimal(spread) / 100, Decimal(1) if whole else Decimal(0))
    found = [step for step in candidates if least <= step <= Decimal(spread) / 2]
    first = found[0] if found else max(Decimal(1), least)
    return [_plain(step) for step in (found if len(found) > 1 else [first, 2 * first])]


def prefix(looks: Looks) -> dict[str, Any]:
    """Return a domain of first characters of codes: all but the last, and fewer, by the longest code."""
    length = min(looks.longest, 12) if looks.texts else _USUAL
    keep = [kept for kept in range(length - 1, 0, -1) if length <= 6 or kept in _choose_lengths(length)]
    return {"prefix": {"keep": keep or [1]}}


def _choose_lengths(length: int) -> set[int]:
    """Return the prefix lengths for a long code, which does not get a step for every length."""
    return {length - 1, length - 2, length // 2, length // 4 or 1}


def _plain(step: Decimal) -> Decimal:
    return Decimal(int(step)) if step == step.to_integral_value() else step

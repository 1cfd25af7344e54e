"""Sensitive values that single a record out: nobody else has the value that is published for it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from decimal import Decimal
from fractions import Fraction
from itertools import count
from typing import Any, Literal

from hierdata.policy.checks.knowledge import known_values
from hierdata.policy.policy import Policy
from hierdata.records.survey import Keys, Survey

_FEW = 10
"""Below so many different values nothing is said."""
_TOLD, _ENOUGH = Fraction(1, 100), Fraction(1, 200)
"""Shares of singled-out values: from the first on they are told; a form that leaves the second is advised."""


def find_singled_out(
    policy: Policy, survey: Survey
) -> Iterator[tuple[Literal["warning", "note"], Keys, str]]:
    """Yield the sensitive fields whose values single out records, and what helps; a warning for most values.

    Somebody who knows such a value finds the record, whatever its class. A field whose values are facts of
    bounded knowledge is left aside, since a value that few have is not published there.
    """
    known = known_values(policy)
    for keys in policy.sensitive:
        observed = {value: times for value, times in survey.values.get(keys, {}).items() if value is not None}
        alone, total = sum(times == 1 for times in observed.values()), sum(observed.values())
        if keys in known or len(observed) < _FEW or alone < total * _TOLD:
            continue
        share = f"{float(Fraction(100 * alone, total)):.1f} %"
        what = (
            f"exact values single out records: {alone} of {total} values ({share}) occur once, and whoever "
            "knows one finds its record"
        )
        yield "warning" if 2 * alone > total else "note", keys, f"{what}: {_advise(observed, total)}"


def _advise(observed: Mapping[Any, int], total: int) -> str:
    """Name the finest round numbers that single out hardly anybody, with what they lose."""
    numbers = [
        (Fraction(value), times)
        for value, times in observed.items()
        if isinstance(value, int | Decimal) and not isinstance(value, bool)
    ]
    low, high = (pick((number for number, _ in numbers), default=Fraction(0)) for pick in (min, max))
    if len(numbers) < len(observed) or low == high:
        return "publish a coarser form of them (`publish`), or leave the field out"
    for step in _steps(high - low):
        bins: dict[int, int] = {}
        for number, times in numbers:
            at = (number / step + Fraction(1, 2)).__floor__()
            bins[at] = bins.get(at, 0) + times
        alone = sum(times == 1 for times in bins.values())
        if alone <= total * _ENOUGH:
            left = f"{float(Fraction(100 * alone, total)):.1f} %"
            lost = f"{float(100 * step / (high - low)):.1f} %"
            return f"`publish: {{round: {_spell(step)}}}` leaves {left} and loses {lost} of the detail"
    return "publish a coarser form of them (`publish`), or leave the field out"


def _steps(width: Fraction) -> Iterator[Fraction]:
    """Yield 1, 2 and 5 times powers of ten, from a thousandth of a range to a quarter of it."""
    power = Fraction(1)
    while power > width / 1000:
        power /= 10
    while power * 10 <= width / 1000:
        power *= 10
    for exponent in count():
        for factor in (1, 2, 5):
            step = power * factor * Fraction(10) ** exponent
            if step > width / 4:
                return
            if step >= width / 1000:
                yield step


def _spell(step: Fraction) -> str:
    return f"{Decimal(step.numerator) / Decimal(step.denominator):f}"

"""Days of the Gregorian calendar without limits; those of ``datetime`` end with year 9999."""

from __future__ import annotations

import re
from datetime import date

_CYCLE_YEARS = 400
_CYCLE_DAYS = 146_097
_BASE = 2000
"""The calendar repeats every 400 years, so each year is computed as one of 2000 to 2399."""

EPOCH = date(1970, 1, 1).toordinal()
"""The day from which MongoDB and Arrow count."""

_SPELLED = re.compile(r"([0-9]{4}|[+-][0-9]{6,9})-([0-9]{2})-([0-9]{2})")


def day_of(year: int, month: int, day: int) -> int:
    """Return the number of a day; day 1 is the first of year 1, and the year before is 0. Raises ValueError.

    >>> day_of(1, 1, 1), day_of(0, 12, 31), day_of(10000, 1, 1)
    (1, 0, 3652060)
    """
    cycles, rest = divmod(year - _BASE, _CYCLE_YEARS)
    return date(_BASE + rest, month, day).toordinal() + cycles * _CYCLE_DAYS


def date_of(number: int) -> tuple[int, int, int]:
    """Return year, month and day of a numbered day.

    >>> date_of(0), date_of(3652060)
    ((0, 12, 31), (10000, 1, 1))
    """
    cycles, rest = divmod(number - _FIRST, _CYCLE_DAYS)
    cycle_day = date.fromordinal(_FIRST + rest)
    return cycle_day.year + cycles * _CYCLE_YEARS, cycle_day.month, cycle_day.day


_FIRST = date(_BASE, 1, 1).toordinal()


def spell_day(number: int) -> str:
    """Return a numbered day in ISO 8601.

    A year above 9999 or below 0 has a sign and at least six digits.

    >>> spell_day(1), spell_day(-366), spell_day(3652060)
    ('0001-01-01', '-000001-12-31', '+010000-01-01')
    """
    year, month, day = date_of(number)
    spelled = f"{year:04}" if 0 <= year <= 9999 else f"{year:+07}"
    return f"{spelled}-{month:02}-{day:02}"


def year_month_day(text: str) -> tuple[int, int, int]:
    """Return year, month and day of an ISO 8601 date, without checking that the day exists (see ``day_of``).

    Raises ValueError.
    """
    match = _SPELLED.fullmatch(text)
    if match is None:
        raise ValueError("not an ISO 8601 date")
    return int(match[1]), int(match[2]), int(match[3])

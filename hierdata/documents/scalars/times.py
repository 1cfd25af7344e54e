"""Typed values that are points in time, as text."""

from __future__ import annotations

import re
from fractions import Fraction

from hierdata.documents.scalars.days import day_of, spell_day, year_month_day
from hierdata.documents.scalars.texts import TypedText

_MILLISECONDS = 86_400_000
_ISO = re.compile(
    r"([+-][0-9]{6,9}|[0-9]{4})-([0-9]{2})-([0-9]{2})"
    r"T([0-9]{2}):([0-9]{2})(?::([0-9]{2})(?:\.([0-9]{1,9}))?)?(?:Z|([+-])([0-9]{2}):?([0-9]{2}))"
)


class DateTime(TypedText):
    """A point in time to the millisecond, as the shortest ISO 8601 text in UTC.

    Years below 0 and above 9999 have a sign and at least six digits, as in ISO 8601; the year before 1 is 0.

    >>> DateTime.of(-1), DateTime.of(253402300800000)
    (DateTime('1969-12-31T23:59:59.999Z'), DateTime('+010000-01-01T00:00:00Z'))
    """

    __slots__ = ()
    kind = "date"

    @classmethod
    def of(cls, milliseconds: int) -> DateTime:
        """Return the time ``milliseconds`` after the beginning of 1970."""
        days, rest = divmod(milliseconds, _MILLISECONDS)
        seconds, fraction = divmod(rest, 1000)
        time = f"{seconds // 3600:02}:{seconds // 60 % 60:02}:{seconds % 60:02}"
        return cls(f"{spell_day(days + EPOCH)}T{time}{f'.{fraction:03}' if fraction else ''}Z")

    @classmethod
    def read(cls, text: str) -> DateTime:
        """Return the time of an ISO text with a zone, truncated to milliseconds. Raises ValueError.

        >>> DateTime.read("2001-03-04T01:30:00.500+0200")
        DateTime('2001-03-03T23:30:00.500Z')
        """
        match = _ISO.fullmatch(text)
        if match is None:
            raise ValueError("not an ISO 8601 time with a zone")
        year, month, day, hour, minute = (int(part) for part in match.groups()[:5])
        second, fraction = int(match[6] or 0), int((match[7] or "")[:3].ljust(3, "0"))
        offset = 60 * int(match[9] or 0) + int(match[10] or 0)
        if hour > 23 or minute > 59 or second > 59 or int(match[10] or 0) > 59:
            raise ValueError("not a time of day")
        days = day_of(year, month, day) - EPOCH
        minutes = 60 * hour + minute + (offset if match[8] == "-" else -offset)
        return cls.of(days * _MILLISECONDS + (60 * minutes + second) * 1000 + fraction)

    @property
    def milliseconds(self) -> int:
        """Milliseconds after the beginning of 1970, which is what MongoDB stores."""
        date, _, time = self.removesuffix("Z").partition("T")
        hour, minute, second = time.split(":")
        seconds = Fraction(second) + 60 * int(minute) + 3600 * int(hour)
        return (day_of(*year_month_day(date)) - EPOCH) * _MILLISECONDS + int(seconds * 1000)


EPOCH = day_of(1970, 1, 1)


class Timestamp(TypedText):
    """MongoDB's own timestamp: a time to the second and a counter, ``2001-03-04T00:00:00Z,7``."""

    __slots__ = ()
    kind = "timestamp"

    @classmethod
    def of(cls, seconds: int, increment: int) -> Timestamp:
        """Return the timestamp of seconds since 1970 and a counter."""
        return cls(f"{DateTime.of(1000 * seconds)},{increment}")

    @property
    def parts(self) -> tuple[int, int]:
        """Seconds since 1970, and the counter."""
        time, _, increment = self.partition(",")
        return DateTime(time).milliseconds // 1000, int(increment)

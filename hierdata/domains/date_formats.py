"""How the dates of an input are written: ISO and HL7, or by formats as in ``strptime``."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import permutations
from typing import TypeAlias

from hierdata.documents.days import date_of, day_of
from hierdata.documents.document import Scalar
from hierdata.documents.scalars import DateTime, Timestamp
from hierdata.domains.base import Uncovered

Period: TypeAlias = "tuple[int, int]"
"""The first and the last day that a value may mean; equal unless it gives no day."""

ISO = "iso"
"""The name of the spellings that are read where no format is stated."""

_TIME = (
    r"(?:(?:[01][0-9]|2[0-3]):[0-5][0-9](?::(?:[0-5][0-9]|60)(?:[.,][0-9]{1,9})?)?"
    r"|24:00(?::00(?:[.,]0{1,9})?)?)"
)
_ISO = re.compile(
    r"([0-9]{4}|[+-][0-9]{6,9})-([0-9]{2})-([0-9]{2})"
    rf"(?:[Tt ]{_TIME})?(?: ?(?:[Zz]|UTC|GMT|[+-][0-9]{{2}}(?::?[0-9]{{2}})?))?"
    r"(?:\[[A-Za-z0-9_/+-]{1,40}\])?"
)
_HL7 = re.compile(
    r"([0-9]{4})([0-9]{2})([0-9]{2})"
    r"(?:T?(?:(?:[01][0-9]|2[0-3])(?:[0-5][0-9](?:(?:[0-5][0-9]|60)(?:\.[0-9]{1,9})?)?)?|2400(?:00)?)"
    r"(?:Z|[+-][0-9]{2}:?[0-9]{2})?)?"
)
"""Dates without separators, of HL7 version 2 and 3 (C-CDA) and of ISO 8601: with at least the day."""

_MONTHS = "January|February|March|April|May|June|July|August|September|October|November|December"
_FIRST_LETTERS = "janfebmaraprmayjunjulaugsepoctnovdec"
_DAYS = "Monday|Tuesday|Wednesday|Thursday|Friday|Saturday|Sunday"
_BEHIND_THREE = re.compile(r"(?<=[A-Z][a-z]{2})[a-z]+")
_PARTS = {
    "Y": "(?P<Y>[0-9]{4})",
    "y": "(?P<y>[0-9]{2})",
    "m": "(?P<m>[0-9]{1,2})",
    "b": f"(?P<b>{_BEHIND_THREE.sub('', _MONTHS)})",
    "B": f"(?P<B>{_MONTHS})",
    "d": "(?P<d>[0-9]{1,2})",
    "j": "(?P<j>[0-9]{1,3})",
    "a": f"(?P<a>{_BEHIND_THREE.sub('', _DAYS)})",
    "A": f"(?P<A>{_DAYS})",
    "H": "(?P<H>[01]?[0-9]|2[0-4])",
    "I": "(?P<I>0?[1-9]|1[0-2])",
    "M": "(?P<M>[0-5]?[0-9])",
    "S": "(?P<S>[0-5]?[0-9]|6[01])",
    "f": "(?P<f>[0-9]{1,9})",
    "p": r"(?P<p>[AaPp]\.?[Mm]\.?)",
    "z": "(?P<z>[Zz]|[+-][0-9]{2}:?[0-9]{2}(?::?[0-9]{2})?)",
    "Z": "(?P<Z>[A-Za-z][A-Za-z0-9_/+-]{0,40})",
    "%": "%",
}
UNTIL = 2068
"""The last year that two digits mean, as in ``strptime``: 69 is 1969."""
MIDNIGHT_PARTS = {
    **{"H": "00", "I": "12", "M": "00", "S": "00", "f": "000000"},
    **{"p": "AM", "z": "+0000", "Z": "UTC"},
}
"""What a form that asks for a time of day has where only the day is meant."""
_PROBES = ((2001, 2, 3), (2010, 11, 12), (1908, 7, 6))


class NoSuchDay(Uncovered):
    """A value is written like a date, but the calendar does not have it: 31 February, month 0."""


@dataclass(frozen=True)
class DateFormat:
    """A form of dates as ``strptime`` has it, in English and independent of the machine.

    ``text`` is the form, and ``precision`` how many of year, month and day a value gives.
    """

    text: str
    pattern: re.Pattern[str]
    precision: int

    @classmethod
    def of(cls, text: str) -> DateFormat:
        """Compile a format. Raises ValueError, with a sentence for the author of the policy."""
        parts, previous, known = "", "", " ".join(f"%{part}" for part in _PARTS)
        pieces = re.findall(r"%.?|[^%]+", text, re.DOTALL)
        for piece, following in zip(pieces, [*pieces[1:], ""], strict=True):
            if not piece.startswith("%"):
                parts += re.sub(r"(?:\\?\s)+", r"\\s+", re.escape(piece))
            elif piece[1:] not in _PARTS:
                raise ValueError(f"the format {text!r} has {piece}, which is not among {known}")
            else:
                joined = previous.startswith("%") or following.startswith("%")
                parts += _write_whole(piece[1:]) if joined else _PARTS[piece[1:]]
            previous = piece
        try:
            pattern = re.compile(parts, re.IGNORECASE | re.ASCII)
        except re.error:
            raise ValueError(f"the format {text!r} has a part twice") from None
        return cls(text, pattern, _precision_of(pattern.groupindex.keys(), text))

    def read(self, text: str, until: int = UNTIL) -> Period | None:
        """Return the days that a text may mean, None if it has another form. Raises NoSuchDay.

        Years of two digits are the last ones up to ``until``.
        """
        match = self.pattern.fullmatch(text)
        if match is None:
            return None
        parts = match.groupdict()
        year = int(parts["Y"]) if "Y" in parts else until - (until - int(parts["y"])) % 100
        name = parts.get("b") or parts.get("B")
        month = _FIRST_LETTERS.index(name[:3].lower()) // 3 + 1 if name else int(parts.get("m") or 1)
        try:
            if "j" in parts:
                return _ordinal_day(year, int(parts["j"]))
            return period_of(
                year, month if self.precision > 1 else None, int(parts["d"]) if "d" in parts else None
            )
        except ValueError:
            raise NoSuchDay from None

    def write(self, day: int, times: Mapping[str, str] = MIDNIGHT_PARTS) -> str | None:
        """Return a day in this form, with leading zeros; None if reading it would give another day.

        ``times`` has the parts of the time of day, such as those that ``times_of`` finds in a text.
        """
        year, month, number = date_of(day)
        weekday, name = _DAYS.split("|")[(day - 1) % 7], _MONTHS.split("|")[month - 1]
        parts = {
            "Y": f"{year:04}",
            "y": f"{year % 100:02}",
            "m": f"{month:02}",
            "d": f"{number:02}",
            "%": "%",
        }
        parts |= {"b": name[:3], "B": name, "a": weekday[:3], "A": weekday}
        parts["j"] = f"{day - day_of(year, 1, 1) + 1:03}"
        written = re.sub("%(.)", lambda match: parts.get(match[1]) or times[match[1]], self.text)
        try:
            return written if self.read(written) == (day, day) else None
        except NoSuchDay:
            return None

    def times_of(self, text: str) -> dict[str, str]:
        """Return the parts of a text in this form by their letter."""
        match = self.pattern.fullmatch(text)
        return {} if match is None else match.groupdict()

    @property
    def days_pattern(self) -> str:
        """The regular expression of days in this form, at midnight."""

        def strict(piece: str) -> str:
            if not piece.startswith("%"):
                return re.escape(piece)
            part = piece[1:]
            return re.escape(MIDNIGHT_PARTS[part]) if part in MIDNIGHT_PARTS else _write_whole(part)

        pattern = "".join(strict(piece) for piece in re.findall(r"%.|[^%]+", self.text, re.DOTALL))
        return re.sub(r"\?P<\w>", "?:", pattern)


def _write_whole(part: str) -> str:
    """Return the pattern of a part with all its digits: no sign separates it from its neighbours."""
    return _PARTS[part].replace("{1,2}", "{2}").replace("{1,3}", "{3}")


def _precision_of(parts: object, text: str) -> int:
    """Return the precision of the parts of a format. Raises ValueError if they name no period."""
    has = set(parts)  # type: ignore[call-overload]
    years, months = has & {"Y", "y"}, has & {"m", "b", "B"}
    if len(years) != 1 or len(months) > 1 or ("d" in has and not months) or ("j" in has and months):
        raise ValueError(
            f"the format {text!r} must have one year (%Y or %y), with %d a month, and no part twice"
        )
    return 3 if has & {"d", "j"} else 2 if months else 1


def period_of(year: int, month: int | None, day: int | None) -> Period:
    """Return the first and last day of a day, month or year. Raises ValueError.

    >>> first, last = period_of(2024, 2, None)
    >>> last - first + 1
    29
    """
    if day is not None and month is not None:
        only = day_of(year, month, day)
        return only, only
    first = day_of(year, month or 1, 1)
    after = day_of(year + 1, 1, 1) if month in (None, 12) else day_of(year, (month or 0) + 1, 1)
    return first, after - 1


def _ordinal_day(year: int, number: int) -> Period:
    first, last = period_of(year, None, None)
    if not 1 <= number <= last - first + 1:
        raise ValueError("no such day of the year")
    return first + number - 1, first + number - 1


def parse_day(value: Scalar) -> int:
    """Return the ordinal of the day that a value names, ignoring the time of day. Raises Uncovered.

    >>> parse_day("2001-03-09T10:00Z") - parse_day("2001-03-04"), parse_day("20010304T240000Z") % 7
    (5, 0)
    """
    if not isinstance(value, str):
        raise Uncovered
    text = value.partition(",")[0] if isinstance(value, Timestamp) else value
    match = _ISO.fullmatch(text) or _HL7.fullmatch(text)
    if match is None:
        raise Uncovered
    try:
        return day_of(int(match[1]), int(match[2]), int(match[3]))
    except ValueError:
        raise NoSuchDay from None


@cache
def format_of(text: str) -> DateFormat:
    """Return a compiled format (see DateFormat.of)."""
    return DateFormat.of(text)


def read_period(value: Scalar, formats: Sequence[str], until: int = UNTIL) -> Period:
    """Return the days that a value may mean (see ``find_format``).

    >>> read_period("4.3.2001", ["%d.%m.%Y"]) == read_period("2001-03-04", [])
    True
    """
    return find_format(value, formats, until)[1]


def find_format(value: Scalar, formats: Sequence[str], until: int = UNTIL) -> tuple[str, Period]:
    """Return the first of the formats that a value has, and the days that it may mean; without any, ISO.

    A whole number is read as its digits, a typed date as it is. Raises NoSuchDay where it has the form of one
    but the calendar has no such day, else Uncovered.
    """
    if isinstance(value, DateTime | Timestamp):
        formats = ()
    refused: type[Uncovered] = Uncovered  # not an instance: it would refer to this frame, a cycle
    text = str(value) if type(value) is int else value
    for name in formats or (ISO,):
        try:
            if name == ISO or not isinstance(text, str):
                day = parse_day(value)
                return ISO, (day, day)
            if (period := format_of(name).read(text, until)) is not None:
                return name, period
        except NoSuchDay:
            refused = NoSuchDay
        except Uncovered:
            continue
    raise refused


def check_formats(formats: Sequence[str]) -> None:
    """Raise ValueError for a format that cannot be used, and for two that read one text as different days."""
    for text in formats:
        if text != ISO:
            format_of(text)
    for name, other in permutations(formats, 2):
        for year, month, day in _PROBES:
            for text in _spellings(name, year, month, day):
                if _reading(text, name) not in (None, _reading(text, other)) and _reading(text, other):
                    raise ValueError(f"the formats {name!r} and {other!r} read one text as different days")


def _reading(text: str, name: str) -> Period | None:
    try:
        return read_period(text, (name,))
    except Uncovered:
        return None


def _spellings(name: str, year: int, month: int, day: int) -> Iterator[str]:
    """Yield spellings of a day in a format, with and without leading zeros."""
    if name == ISO:
        yield from (f"{year}-{month:02}-{day:02}", f"{year}{month:02}{day:02}")
        return
    written = _MONTHS.split("|")[month - 1]
    fixed = {"Y": f"{year}", "y": f"{year % 100:02}", "b": written[:3], "B": written}
    fixed |= {"a": "Mon", "A": "Monday", "H": "10", "I": "10", "M": "11", "S": "12", "f": "1", "p": "AM"}
    fixed |= {"z": "+0100", "Z": "UTC", "j": f"{31 * (month - 1) + day:03}", "%": "%"}
    for width in ("02", ""):
        parts = fixed | {"m": f"{month:{width}}", "d": f"{day:{width}}"}
        yield re.sub("%(.)", lambda match, parts=parts: parts[match[1]], name)  # type: ignore[misc]

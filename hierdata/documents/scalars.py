"""Typed values: the types of BSON and MongoDB's Extended JSON other than text, numbers and booleans.

Each is a subclass of str, int or Decimal, and is fully determined by its type and text. So domains, models
and recodings treat it like any other value, and a format writes it back with its type.
"""

from __future__ import annotations

import re
from decimal import Context, Decimal
from fractions import Fraction
from typing import ClassVar

from hierdata.documents.days import EPOCH, day_of, spell_day, year_month_day


class TypedText(str):
    """A typed value that is text. ``kind`` is the name of its type in MongoDB's ``$type``.

    It equals the plain text; only the type distinguishes them.

    >>> ObjectId("5f0c1b2a3d4e5f6071829304")
    ObjectId('5f0c1b2a3d4e5f6071829304')
    """

    __slots__ = ()
    kind: ClassVar[str]

    def __repr__(self) -> str:
        return f"{type(self).__name__}({str(self)!r})"


class ObjectId(TypedText):
    """The identifier that MongoDB gives a document, as 24 hexadecimal digits; the first 8 are a time."""

    __slots__ = ()
    kind = "objectId"


class Uuid(TypedText):
    """A UUID, written in groups of 8, 4, 4, 4 and 12 digits: binary data of subtype 4 and 16 bytes."""

    __slots__ = ()
    kind = "uuid"


class Binary(TypedText):
    """Binary data in base64, prefixed with a subtype other than 0: ``05:1B2M2Y8AsgTpgAmY7PhCfg==``."""

    __slots__ = ()
    kind = "binData"

    @classmethod
    def of(cls, base64: str, subtype: int) -> Binary:
        """Return the value of a subtype, 0 to 255."""
        return cls(f"{subtype:02x}:{base64}" if subtype else base64)

    @property
    def parts(self) -> tuple[str, int]:
        """The base64 text and the subtype."""
        subtype, _, base64 = self.rpartition(":")
        return base64, int(subtype, 16) if subtype else 0


class Regex(TypedText):
    """A regular expression and its options: ``/^a/i``."""

    __slots__ = ()
    kind = "regex"

    @classmethod
    def of(cls, pattern: str, options: str) -> Regex:
        """Return the expression; options are letters."""
        return cls(f"/{pattern}/{options}")

    @property
    def parts(self) -> tuple[str, str]:
        """The pattern and the options."""
        pattern, _, options = self[1:].rpartition("/")
        return pattern, options


class Code(TypedText):
    """A piece of JavaScript. One with a scope is an object, ``{"$code": "...", "$scope": {...}}``."""

    __slots__ = ()
    kind = "javascript"


class Symbol(TypedText):
    """A text of the deprecated type symbol."""

    __slots__ = ()
    kind = "symbol"


class Undefined(TypedText):
    """The deprecated value undefined; written ``undefined``."""

    __slots__ = ()
    kind = "undefined"


class MinKey(TypedText):
    """The value that sorts before all others; written ``MinKey``."""

    __slots__ = ()
    kind = "minKey"


class MaxKey(TypedText):
    """The value that sorts after all others; written ``MaxKey``."""

    __slots__ = ()
    kind = "maxKey"


NOT_FINITE = ("NaN", "Infinity", "-Infinity")


class DoubleWord(TypedText):
    """A double that is not finite: ``NaN``, ``Infinity``, ``-Infinity``; text is never computed with."""

    __slots__ = ()
    kind = "double"


class Decimal128Word(TypedText):
    """A Decimal128 that is not finite: ``NaN``, ``Infinity``, ``-Infinity``."""

    __slots__ = ()
    kind = "decimal"


class Int64(int):
    """A 64-bit integer; a 32-bit integer is a plain int.

    >>> Int64(5), str(Int64(5)), Int64(5) == 5
    (Int64(5), '5', True)
    """

    __slots__ = ()
    kind: ClassVar[str] = "long"

    __str__ = int.__repr__

    def __repr__(self) -> str:
        return f"Int64({self})"

    @classmethod
    def exactly(cls, number: Fraction | int) -> Int64 | None:
        """Return the value that equals a number, None where none does."""
        return cls(number) if number.denominator == 1 and -(2**63) <= number < 2**63 else None


class TypedDecimal(Decimal):
    """A decimal number with a type."""

    __slots__ = ()
    kind: ClassVar[str]

    def __repr__(self) -> str:
        return f"{type(self).__name__}({str(self)!r})"


class Double(TypedDecimal):
    """A 64-bit floating-point number, as the shortest decimal number that represents it.

    >>> Double.of(0.1), Double.of(float("nan")), Double.exactly(Fraction(1, 3))
    (Double('0.1'), DoubleWord('NaN'), None)
    """

    __slots__ = ("key",)
    kind = "double"
    key: tuple[str, type]

    def __new__(cls, text: str) -> Double:
        """Read the text; ``key``, its spelling and type, is stored since it is needed often."""
        number = super().__new__(cls, text)
        number.key = (str(number), cls)
        return number

    @classmethod
    def of(cls, number: float) -> Double | DoubleWord:
        """Return the value of a float."""
        return _KNOWN[number]

    @classmethod
    def exactly(cls, number: Fraction | Decimal | int) -> Double | None:
        """Return the value that equals a number, None where none does."""
        try:
            double = cls.of(float(number))
        except OverflowError:
            return None
        return double if isinstance(double, Double) and double == number else None


class _KnownDoubles(dict[float, "Double | DoubleWord"]):
    """A cache of doubles; zeros (since -0.0 equals 0.0), NaN and infinities are not cached."""

    def __missing__(self, number: float) -> Double | DoubleWord:
        text = float.__repr__(number)
        if text in _WORDS:
            return DoubleWord(_WORDS[text])
        double = Double(text)
        if number and len(self) < KEPT:
            self[number] = double
        return double


_KNOWN = _KnownDoubles()
KEPT = 1 << 16
"""Maximum number of cached values, which bounds memory."""
_WORDS = {"nan": "NaN", "inf": "Infinity", "-inf": "-Infinity"}
_DIGITS = 34
_WIDE = Context(prec=_DIGITS + 6)


class Decimal128(TypedDecimal):
    """A decimal number of up to 34 digits; trailing zeros are kept.

    >>> Decimal128.of("1.50"), Decimal128.of("-Infinity"), Decimal128.exactly(Fraction(3, 2))
    (Decimal128('1.50'), Decimal128Word('-Infinity'), Decimal128('1.5'))
    """

    __slots__ = ()
    kind = "decimal"

    @classmethod
    def of(cls, text: str) -> Decimal128 | Decimal128Word:
        """Return the value of a text. Raises ValueError if it would have to be rounded."""
        if text in NOT_FINITE:
            return Decimal128Word(text)
        number = cls(text) if _SPELLED.fullmatch(text) else cls("NaN")
        exponent = number.as_tuple().exponent
        fits = isinstance(exponent, int) and -6176 <= exponent <= 6111 and number.adjusted() <= 6144
        if not fits or len(number.as_tuple().digits) > _DIGITS:
            raise ValueError("not a Decimal128")
        return number

    @classmethod
    def exactly(cls, number: Fraction | int) -> Decimal128 | None:
        """Return the value that equals a number, None where none does."""
        quotient = _WIDE.divide(Decimal(number.numerator), Decimal(number.denominator))
        if quotient != number:
            return None
        short = _WIDE.normalize(quotient)
        exponent = short.as_tuple().exponent
        plain = isinstance(exponent, int) and exponent > 0 and short.adjusted() < _DIGITS
        try:
            decimal = cls.of(format(short, "f") if plain else str(short))
        except ValueError:
            return None
        return decimal if isinstance(decimal, Decimal128) else None


_SPELLED = re.compile(r"[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]{1,6})?")


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


TYPED_TEXTS: frozenset[type] = frozenset(TypedText.__subclasses__())
"""Types that are text."""
TYPED_NUMBERS: frozenset[type] = frozenset({Int64, Double, Decimal128})
"""Types that are numbers."""
TYPED = TYPED_TEXTS | TYPED_NUMBERS

WRAPPERS = frozenset(
    {
        *("$oid", "$numberInt", "$numberLong", "$numberDouble", "$numberDecimal", "$date", "$binary"),
        *("$uuid", "$timestamp", "$regularExpression", "$symbol", "$undefined", "$minKey", "$maxKey"),
    }
)
"""Keys of the objects in which Extended JSON writes these values; reading it leaves no such object."""

"""Typed values that are numbers."""

from __future__ import annotations

import re
from decimal import Context, Decimal
from fractions import Fraction
from typing import ClassVar

from hierdata.documents.scalars.texts import NOT_FINITE, Decimal128Word, DoubleWord


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
    def exactly(cls, number: Fraction | int) -> Double | None:
        """Return the value that equals a number, None where none does."""
        try:
            found = cls.of(float(number))
        except OverflowError:
            return None
        return found if isinstance(found, Double) and found == number else None


class _KnownDoubles(dict[float, "Double | DoubleWord"]):
    """A cache of doubles; zeros (since -0.0 equals 0.0), NaN and infinities are not cached."""

    def __missing__(self, number: float) -> Double | DoubleWord:
        text = float.__repr__(number)
        if text in _WORDS:
            return DoubleWord(_WORDS[text])
        found = Double(text)
        if number and len(self) < KEPT:
            self[number] = found
        return found


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
            found = cls.of(format(short, "f") if plain else str(short))
        except ValueError:
            return None
        return found if isinstance(found, Decimal128) else None


_SPELLED = re.compile(r"[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]{1,6})?")

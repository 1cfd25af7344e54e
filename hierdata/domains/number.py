"""Exact numbers: from a spelling in a document or policy to int or Fraction, and back to one spelling."""

from __future__ import annotations

import re
from decimal import Decimal
from fractions import Fraction
from typing import Annotated, TypeAlias

from pydantic import PlainSerializer, PlainValidator, WithJsonSchema

from hierdata.documents.document import Numeral, Scalar
from hierdata.documents.scalars import Decimal128, Double
from hierdata.domains.base import Uncovered
from hierdata.domains.bounds import LARGEST

Number: TypeAlias = "int | Fraction"

MAX_DIGITS = 1000
"""Limit on the digits on either side of the point. Keeps ``1e999999`` from becoming a million digits."""

_LIMIT = 10**MAX_DIGITS
_SPELLED = re.compile(r"[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]{1,6})?")
_RATIO = re.compile(r"[+-]?[0-9]{1,100}/[0-9]{1,100}")


def exact(value: Scalar) -> Number:
    """Return a document's value as a number: an int if it is integral, else a Fraction.

    Text is read as numbers are written in JSON and XML Schema, in ASCII digits: no NaN, infinity, underscores
    or spaces. Raises Uncovered for anything else, for booleans, and beyond MAX_DIGITS.

    >>> exact("1.50"), exact(Decimal("1e2")), exact(7)
    (Fraction(3, 2), 100, 7)
    """
    if isinstance(value, str):
        if len(value) > 2 * MAX_DIGITS or _SPELLED.fullmatch(value) is None:
            raise Uncovered
        value = Decimal(value)
    if isinstance(value, Decimal):
        exponent = value.as_tuple().exponent
        if not isinstance(exponent, int) or exponent < -MAX_DIGITS or value.adjusted() >= MAX_DIGITS:
            raise Uncovered
        top, bottom = value.as_integer_ratio()
        return top if bottom == 1 else Fraction(top, bottom)
    if not isinstance(value, int) or isinstance(value, bool) or not -_LIMIT < value < _LIMIT:
        raise Uncovered
    return value


def decimals(number: Number) -> int | None:
    """Return how many decimal places the number needs; None if no finite number suffices (1/3).

    >>> decimals(Fraction(1, 8)), decimals(5), decimals(Fraction(1, 3))
    (3, 0, None)
    """
    rest, twos, fives = number.denominator, 0, 0
    while rest % 2 == 0:
        rest, twos = rest // 2, twos + 1
    while rest % 5 == 0:
        rest, fives = rest // 5, fives + 1
    return max(twos, fives) if rest == 1 else None


def spell_fixed(units: int, digits: int) -> str:
    """Spell ``units`` / 10**``digits`` with exactly that many decimal places.

    >>> spell_fixed(-5, 1), spell_fixed(10, 1), spell_fixed(7, 0)
    ('-0.5', '1.0', '7')
    """
    if not digits:
        return str(units)
    text = str(abs(units)).rjust(digits + 1, "0")
    return f"{'-' if units < 0 else ''}{text[:-digits]}.{text[-digits:]}"


def plain(number: Number) -> str:
    """Return the shortest spelling without an exponent; a fraction without a decimal form is written p/q.

    >>> plain(Fraction(3, 2)), plain(100), plain(Fraction(1, 3))
    ('1.5', '100', '1/3')
    """
    digits = decimals(number)
    return str(number) if digits is None else spell_fixed(int(number * 10**digits), digits)


def canonical(number: Number) -> int | Decimal:
    """Return the one value that is published for all equal numbers: an int if it is integral."""
    return int(number) if number.denominator == 1 else Decimal(plain(number))


def identity(value: Scalar, number: bool = False) -> str | Number:
    """Return the key that equal values share: numbers by value, text by itself, booleans as in JSON.

    With ``number`` text is read as a number too (XML has only text). Raises Uncovered.

    >>> identity(Decimal("1.0")) == identity(1), identity("1.0") == identity(1), identity("1.0", number=True)
    (True, False, 1)
    """
    if number:
        return exact(value)
    if isinstance(value, str):
        return str(value)
    if isinstance(value, bool):
        return "true" if value else "false"
    return exact(value)


_PLAIN_NUMBERS = frozenset({int, Decimal, Numeral})


def spelling(value: Scalar) -> tuple[type, str]:
    """Return a key that equal values share only if they are spelled alike: 1, 1.0, 1.00 and "1" differ.

    Decimal("1") of a record in memory is written like the integer 1.
    """
    kind = Decimal if type(value) in _PLAIN_NUMBERS else type(value)
    return kind, value.text if isinstance(value, Numeral) else str(value)


def spell_once(value: Scalar) -> Scalar:
    """Return the one value of a type that is published for all that equal it; only numbers change.

    >>> spell_once(Decimal("1.50")), spell_once(Numeral("1e0")), spell_once(Double("-0.0")), spell_once("1.0")
    (Decimal('1.5'), 1, Double('0.0'), '1.0')
    """
    if not isinstance(value, Decimal):
        return value
    try:
        number = exact(value)
    except Uncovered:
        return value
    if type(value) not in (Double, Decimal128):
        return canonical(number)
    lasting: Scalar = type(value).exactly(number)  # type: ignore[attr-defined]  # one of these two
    return value if lasting is None else lasting


def spell_text_once(value: Scalar) -> Scalar:
    """Return the one value for a text that may spell a number, else that of ``spell_once``.

    >>> spell_text_once("1.50"), spell_text_once("1e0"), spell_text_once("one")
    ('1.5', '1', 'one')
    """
    if not isinstance(value, str):
        return spell_once(value)
    try:
        return plain(exact(value))
    except Uncovered:
        return value


def parameter(value: object) -> Fraction:
    """Parse a number of the policy, exactly as it is written there: 5, 0.1, "0.1" or "2/9".

    >>> parameter(0.1), parameter("2/9")
    (Fraction(1, 10), Fraction(2, 9))
    """
    if isinstance(value, Fraction):
        return value
    if isinstance(value, float):
        value = repr(value)
    if (
        isinstance(value, str)
        and _RATIO.fullmatch(value)
        and not value.endswith("/" + "0" * len(value.split("/")[1]))
    ):
        return Fraction(value)
    try:
        return Fraction(exact(value))  # type: ignore[arg-type]  # exact() refuses anything but a scalar
    except Uncovered:
        raise ValueError("must be a number, such as 5, 0.25 or '2/9'") from None


def _bounded_parameter(value: object) -> Fraction:
    number = parameter(value)
    if not -LARGEST <= number <= LARGEST or number.denominator > LARGEST:
        raise ValueError("must have at most 100 digits before and after the point")
    return number


def exact_schema(**bounds: float) -> WithJsonSchema:
    """Return the JSON Schema of an exact number within bounds, such as ``minimum``."""
    number = {"type": "number", "minimum": -float(LARGEST), "maximum": float(LARGEST)}
    if "exclusiveMinimum" in bounds:
        del number["minimum"]
    spelled = {"type": "string", "maxLength": _LONGEST, "description": "an exact number: 0.25, 2/9"}
    return WithJsonSchema({"anyOf": [number | bounds, spelled]})


_LONGEST = 250
Exact = Annotated[
    Fraction,
    PlainValidator(_bounded_parameter),
    PlainSerializer(plain, return_type=str),
    exact_schema(),
]
"""A field of the policy that holds an exact number."""

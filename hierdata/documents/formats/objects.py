"""Plain Python objects as documents, and documents as JSON text with exact numbers."""

from __future__ import annotations

from decimal import Decimal
from json.encoder import encode_basestring
from typing import cast

from hierdata.documents.document import Document, Numeral, Siblings, Value
from hierdata.documents.formats.base import MAX_DEPTH
from hierdata.documents.formats.decoder import (
    LONE_SURROGATE,
    MAX_DIGITS,
    SURROGATE,
    TOO_DEEP,
    RefusedTextError,
    number,
)
from hierdata.documents.formats.python_values import as_record, is_nan, to_plain
from hierdata.documents.scalars import KEPT
from hierdata.ground.errors import InputError

_quote = encode_basestring
_HUGE = 10**MAX_DIGITS


def from_python(value: object, *, record: int | None = None) -> Document:
    """Check and copy a record that was given as Python objects.

    Strings, integers, Decimals, booleans and None are kept; a float becomes ``Decimal(repr(x))``, NaN None;
    tuples become lists; other values are converted by ``to_plain``. Raises InputError for infinity, other
    types (named), keys that are not strings, nesting beyond 64, and numbers and strings that the readers do
    not accept.

    >>> from_python({"gpa": 3.75, "courses": ({"code": "CS201"},)})
    {'gpa': Decimal('3.75'), 'courses': [{'code': 'CS201'}]}
    >>> from_python({"seen": {1, 2}}, record=4)
    Traceback (most recent call last):
    hierdata.ground.errors.InputError: record 4: a value has the type set, which a record cannot contain
    """
    try:
        value = as_record(value)
        if not isinstance(value, dict):
            raise RefusedTextError(
                f"a record must be an object (dict), but this one has the type {type(value).__name__}"
            )
        return cast("Document", _convert(value, MAX_DEPTH))
    except RefusedTextError as refused:
        message = str(refused)
    raise InputError(message, record=record)


def dumps_exact(value: Value) -> str:
    """Write a value as compact JSON; integers, Decimals and Numerals keep their digits.

    >>> dumps_exact({"id": 10**30, "gpa": Decimal("3.750"), "score": Numeral("1e2"), "x": None})
    '{"id":1000000000000000000000000000000,"gpa":3.750,"score":1e2,"x":null}'
    """
    kind = value.__class__
    if kind is str:
        return _quote(cast("str", value))
    if kind is dict:
        # Most values are texts: a call for each would take most of the time.
        members = [
            _MEMBERS[key] + (_quote(item) if item.__class__ is str else dumps_exact(item))
            for key, item in cast("Document", value).items()
        ]
        return "{" + ",".join(members) + "}"
    if isinstance(value, list):
        return "[" + ",".join([dumps_exact(item) for item in value]) + "]"
    return "null" if value is None else literal(value)


class _Members(dict[str, str]):
    """The beginnings of members, by their key."""

    def __missing__(self, key: str) -> str:
        found = f"{_quote(key)}:"
        if len(self) < KEPT:
            self[key] = found
        return found


_MEMBERS = _Members()


def literal(value: Value) -> str:
    """Return the text of a number or a boolean, the same in JSON and XML; a Numeral as it was read.

    >>> literal(Numeral("1e2")), literal(Decimal("1E+2")), literal(True)
    ('1e2', '1E+2', 'true')
    """
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return str(value)
    if isinstance(value, Decimal) and value.is_finite():
        return value.text if isinstance(value, Numeral) else str(value)
    raise InputError(f"a value of the type {type(value).__name__} cannot be written")


def encode(text: str) -> bytes:
    """Encode text for a file. Raises InputError for half of a surrogate pair."""
    try:
        return text.encode()
    except UnicodeEncodeError:
        pass
    raise InputError(LONE_SURROGATE)


def _convert(value: object, room: int) -> Value:
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, str):
        return _text(value)
    if isinstance(value, int | float | Decimal):
        return None if is_nan(value) else _number(value)
    if not isinstance(value, dict | list | tuple):
        value = to_plain(value)
        if not isinstance(value, list):
            return _convert(value, room)
    if room == 0:
        raise RefusedTextError(TOO_DEEP)
    if isinstance(value, dict):
        return {_key(key): _convert(item, room - 1) for key, item in value.items()}
    items = [_convert(item, room - 1) for item in value]
    return Siblings(items) if isinstance(value, Siblings) else items


def _key(key: object) -> str:
    if not isinstance(key, str):
        raise RefusedTextError(f"a key has the type {type(key).__name__}, but keys must be strings")
    return _text(key)


def _text(text: str) -> str:
    if SURROGATE.search(text):
        raise RefusedTextError(LONE_SURROGATE)
    return str.__str__(text)


def _number(value: float | Decimal) -> int | Decimal:
    if isinstance(value, int):
        if abs(value) >= _HUGE:
            raise RefusedTextError(f"a number has more than {MAX_DIGITS} digits")
        return int(value)
    if isinstance(value, Numeral):
        return number(value.text)
    # A float subclass may have any repr; that of float is the shortest text that reads back as equal.
    text = float.__repr__(value) if isinstance(value, float) else Decimal.__str__(value)
    if not Decimal(text).is_finite():
        raise RefusedTextError("a number is infinite")
    return Decimal(number(text))

"""Plain Python objects as documents, and documents as JSON text with exact numbers.

Values of Python, numpy and pandas that JSON does not have become plain data; neither library is imported.
"""

from __future__ import annotations

import re
from base64 import b64encode
from collections.abc import Callable
from datetime import date, datetime, time
from decimal import Decimal
from json.encoder import encode_basestring
from typing import Any, cast
from uuid import UUID

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
from hierdata.documents.scalars import KEPT
from hierdata.ground.errors import InputError

_ZEROS = re.compile(r"(\.[0-9]*?)0+(?=$|[+-])")
_quote = encode_basestring
_HUGE = 10**MAX_DIGITS


def to_plain(value: object) -> object:
    """Return a value as None, a boolean, a number, text or a list; what NaN and NaT stand for is None.

    Dates and times become ISO text without zeros at the end of a fraction, with ``Z`` for UTC, UUIDs their
    text, and bytes Base64. Arrays become lists, scalars of numpy what they hold. Raises RefusedTextError for
    other types.

    >>> to_plain(datetime(2001, 3, 4, 5, 6, 7, 500000)), to_plain(UUID(int=1)), to_plain(b"abc")
    ('2001-03-04T05:06:07.5', '00000000-0000-0000-0000-000000000001', 'YWJj')
    """
    kind = type(value)
    home = kind.__module__.partition(".")[0]
    if home == "pandas" and kind.__name__ in ("NAType", "NaTType"):
        return None
    if home == "numpy" and (convert := _NUMPY.get(_numpy_kind(value))) is not None:
        return convert(value)
    if isinstance(value, datetime | date | time):
        return _spell_time(value.isoformat())
    if isinstance(value, UUID):
        return str(value)
    if isinstance(value, bytes | bytearray | memoryview):
        return b64encode(value).decode("ascii")
    raise RefusedTextError(f"a value has the type {kind.__name__}, which a record cannot contain")


def as_record(value: object) -> object:
    """Return a row of sqlite3 as a dict; anything else unchanged.

    Raises RefusedTextError where two columns have one name.
    """
    kind = type(value)
    if (kind.__module__, kind.__name__) != ("sqlite3", "Row"):
        return value
    row: Any = value
    names = row.keys()
    if len(set(names)) < len(names):
        raise RefusedTextError("a row has two columns of one name: name one of them anew in the query (AS)")
    return dict(zip(names, row, strict=True))


def _is_nan(value: float | Decimal) -> bool:
    """Return whether a number is NaN, which stands for a missing value."""
    return value.is_nan() if isinstance(value, Decimal) else value != value


def _spell_time(text: str) -> str:
    """Spell a time like those in tables: without zeros at the end of a fraction, with ``Z`` for UTC."""
    return _ZEROS.sub(lambda match: match[1].rstrip("."), text).removesuffix("+00:00") + (
        "Z" if text.endswith("+00:00") else ""
    )


def is_array(value: object) -> bool:
    """Return whether a value is one of numpy's arrays."""
    return type(value).__module__.partition(".")[0] == "numpy" and getattr(value, "ndim", 0) > 0


def _numpy_kind(value: Any) -> str:
    """Return numpy's letter for the kind of a scalar; empty for an array, which has dimensions."""
    return value.dtype.kind if value.ndim == 0 and hasattr(value, "item") else ""


def _read_time(value: Any) -> str | None:
    text = str(value)
    return None if text == "NaT" else _spell_time(text)


def _read_float(value: Any) -> Decimal | None:
    # 0.1 in 32 bits becomes 0.1, not the double nearest to the 32-bit value.
    number = Decimal(str(value))
    return None if number.is_nan() else number


_NUMPY: dict[str, Callable[[Any], object]] = {
    "": list,
    "b": bool,
    "i": int,
    "u": int,
    "f": _read_float,
    "M": _read_time,
    "U": str,
    "S": lambda value: to_plain(bytes(value)),
}


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
        beginning = f"{_quote(key)}:"
        if len(self) < KEPT:
            self[key] = beginning
        return beginning


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


def cell_text(value: Value) -> str | None:
    """Return the text of a table's cell, None for a missing value. Raises InputError for nested values."""
    if isinstance(value, dict | list):
        raise InputError(
            "a cell of a table must contain a single value, but this record has objects or arrays: publish "
            "several tables (`tables`), or another format"
        )
    return value if value is None or isinstance(value, str) else literal(value)


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
        return None if _is_nan(value) else _number(value)
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

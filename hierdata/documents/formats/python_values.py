"""Values of Python, numpy and pandas that JSON does not have, as plain data; neither library is imported."""

from __future__ import annotations

import re
from base64 import b64encode
from collections.abc import Callable
from datetime import date, datetime, time
from decimal import Decimal
from typing import Any
from uuid import UUID

from hierdata.documents.formats.decoder import RefusedTextError

_ZEROS = re.compile(r"(\.[0-9]*?)0+(?=$|[+-])")


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


def is_nan(value: float | Decimal) -> bool:
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

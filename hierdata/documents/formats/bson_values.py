"""Convert values between pymongo's bson and documents."""

from __future__ import annotations

import uuid
from base64 import b64decode, b64encode
from collections.abc import Callable
from decimal import Decimal
from typing import Any, TypeAlias, cast

from bson import (
    binary,
    code,
    datetime_ms,
    dbref,
    decimal128,
    int64,
    max_key,
    min_key,
    objectid,
    regex,
    timestamp,
)

from hierdata.documents.document import Document, Numeral, Siblings, Value
from hierdata.documents.formats.base import MAX_DEPTH
from hierdata.documents.formats.decoder import TOO_DEEP, RefusedTextError
from hierdata.documents.scalars import (
    KEPT,
    Binary,
    Code,
    DateTime,
    Decimal128,
    Decimal128Word,
    Double,
    DoubleWord,
    Int64,
    MaxKey,
    MinKey,
    ObjectId,
    Regex,
    Symbol,
    Timestamp,
    Undefined,
    Uuid,
)

_Convert: TypeAlias = "Callable[[Any, int], Value]"
AS_IT_IS = frozenset({str, int, bool, type(None)})
"""Types that need no conversion."""


class _Keys(dict[str, str]):
    """A cache of keys: objects share one string for each key, which saves memory and time."""

    def __missing__(self, key: str) -> str:
        if len(self) < KEPT:
            self[key] = key
        return key


_KEYS = _Keys()


def members(values: dict[str, Any], room: int = MAX_DEPTH) -> Document:
    """Return a document from the library's values; ``room`` is the remaining nesting.

    Raises RefusedTextError if the values are nested more deeply.
    """
    if not room:
        raise RefusedTextError(TOO_DEEP)
    room -= 1
    return {
        _KEYS[key]: value if type(value) in AS_IT_IS else _FROM[type(value)](value, room)
        for key, value in values.items()
    }


def single(value: Any, room: int) -> Value:
    """Return a value from the library's (see ``members``). Raises RefusedTextError."""
    return cast("Value", value) if type(value) in AS_IT_IS else _FROM[type(value)](value, room)


def _array(values: list[Any], room: int) -> Value:
    if not room:
        raise RefusedTextError(TOO_DEEP)
    room -= 1
    return [value if type(value) in AS_IT_IS else _FROM[type(value)](value, room) for value in values]


def _binary(data: bytes, _: int) -> Value:
    subtype = data.subtype if isinstance(data, binary.Binary) else 0
    if subtype == binary.UUID_SUBTYPE and len(data) == 16:
        return Uuid(uuid.UUID(bytes=bytes(data)))
    return Binary.of(b64encode(data).decode(), subtype)


def _code(value: code.Code, room: int) -> Value:
    if value.scope is None:
        return Code(str(value))
    return {"$code": str(value), "$scope": members(dict(value.scope), room)}


_FROM: dict[type, _Convert] = {
    dict: members,
    list: _array,
    float: lambda number, _: Double.of(number),
    int64.Int64: lambda number, _: Int64(number),
    decimal128.Decimal128: lambda number, _: Decimal128.of(str(number)),
    objectid.ObjectId: lambda value, _: ObjectId(value),
    datetime_ms.DatetimeMS: lambda value, _: DateTime.of(int(value)),
    bytes: _binary,
    binary.Binary: _binary,
    timestamp.Timestamp: lambda value, _: Timestamp.of(value.time, value.inc),
    regex.Regex: lambda value, _: Regex.of(value.pattern, _options(value.flags)),
    code.Code: _code,
    dbref.DBRef: lambda value, room: members(dict(value.as_doc()), room),
    min_key.MinKey: lambda *_: MinKey("MinKey"),
    max_key.MaxKey: lambda *_: MaxKey("MaxKey"),
}

_FLAGS = {"i": 2, "l": 4, "m": 8, "s": 16, "u": 32, "x": 64}


def _options(flags: int) -> str:
    return "".join(letter for letter, flag in _FLAGS.items() if flags & flag)


class OldTypeError(Exception):
    """A value of a type that the library cannot write."""


def fields(document: Document) -> dict[str, Any]:
    """Return the library's values of a document.

    Raises OldTypeError, and RefusedTextError for values that BSON cannot represent.
    """
    return {
        key: value if type(value) in AS_IT_IS else _TO[type(value)](value) for key, value in document.items()
    }


def is_scoped(document: Document) -> bool:
    """Return whether an object represents code with a scope."""
    keys = tuple(document)
    return keys == ("$code", "$scope") and type(document["$code"]) is str and type(document["$scope"]) is dict


def is_pointer(document: Document) -> bool:
    """Return whether an object represents a DBPointer, a deprecated type."""
    inner = document["$dbPointer"] if tuple(document) == ("$dbPointer",) else None
    if type(inner) is not dict or tuple(inner) != ("$ref", "$id"):
        return False
    return type(inner["$ref"]) is str and type(inner["$id"]) is ObjectId


def _object(document: Document) -> Any:
    if "$code" in document and is_scoped(document):
        return code.Code(str(document["$code"]), fields(cast("Document", document["$scope"])))
    if "$dbPointer" in document and is_pointer(document):
        raise OldTypeError
    return fields(document)


def _items(values: list[Value]) -> list[Any]:
    return [value if type(value) in AS_IT_IS else _TO[type(value)](value) for value in values]


def _bytes_of(value: Binary) -> binary.Binary:
    base64, subtype = value.parts
    return binary.Binary(b64decode(base64), subtype)


def _decimal(number: Decimal) -> float | decimal128.Decimal128:
    if Double.exactly(number) is not None:
        return float(number)
    try:
        return decimal128.Decimal128(str(Decimal128.of(str(number))))
    except ValueError:
        pass
    raise RefusedTextError("a number has more digits than BSON can represent")


def _regex(value: Regex) -> regex.Regex[str]:
    pattern, options = value.parts
    if _options(sum(_FLAGS.get(letter, 0) for letter in set(options))) != options:
        raise OldTypeError
    return regex.Regex(pattern, sum(_FLAGS[letter] for letter in options))


def _old(_: Value) -> Any:
    raise OldTypeError


_TO: dict[type, Callable[[Any], Any]] = {
    dict: _object,
    list: _items,
    Siblings: _items,
    Int64: int64.Int64,
    Double: float,
    DoubleWord: float,
    Decimal128: lambda number: decimal128.Decimal128(str(number)),
    Decimal128Word: lambda word: decimal128.Decimal128(str(word)),
    Decimal: _decimal,
    Numeral: _decimal,
    ObjectId: lambda value: objectid.ObjectId(str(value)),
    Uuid: lambda value: binary.Binary(uuid.UUID(value).bytes, binary.UUID_SUBTYPE),
    Binary: _bytes_of,
    DateTime: lambda value: datetime_ms.DatetimeMS(value.milliseconds),
    Timestamp: lambda value: timestamp.Timestamp(*value.parts),
    Regex: _regex,
    Code: lambda value: code.Code(str(value)),
    MinKey: lambda _: min_key.MinKey(),
    MaxKey: lambda _: max_key.MaxKey(),
    Symbol: _old,
    Undefined: _old,
}

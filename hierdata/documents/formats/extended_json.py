"""MongoDB Extended JSON as written by mongoexport: one document per line, or an array.

Values in wrappers are those of version 2 (relaxed and canonical), and of version 1.
"""

from __future__ import annotations

import math
import re
import uuid
from base64 import b64decode, b64encode
from binascii import Error as NotBase64
from codecs import BOM_UTF8
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from decimal import Decimal
from json.encoder import encode_basestring
from typing import Any, BinaryIO, ClassVar, cast

from hierdata.documents.document import Document, Numeral, Siblings, Value
from hierdata.documents.formats.base import WHOLE, Divisible, Layout, Split
from hierdata.documents.formats.decoder import RefusedTextError, strict, unique
from hierdata.documents.formats.json_reading import find_extent, ranges, read_array, read_lines
from hierdata.documents.formats.objects import encode, literal
from hierdata.documents.scalars import (
    NOT_FINITE,
    WRAPPERS,
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
from hierdata.ground.errors import InputError, PolicyError

LAST_ISO = 253_402_300_799_999
"""The last millisecond of year 9999; later times are numbers in relaxed mode too."""
_WHOLE = re.compile(r"-?[0-9]{1,19}")
_NUMBER = re.compile(r"[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]{1,5})?")
_SUBTYPE = re.compile(r"[0-9a-fA-F]{1,2}")
_OBJECT_ID = re.compile(r"[0-9a-fA-F]{24}")
_quote = encode_basestring
_HEAD = 1 << 17
"""Bytes at the beginning from which the spelling of numbers is determined."""
_WRAPPED = re.compile(r'("\$date"\s*:\s*)?\{\s*"\$number(?:Int|Long|Double)"\s*:\s*"(-?[0-9]+)')
_TIMESTAMP = re.compile(r'\{\s*"t"\s*:\s*[0-9]+\s*,\s*"i"\s*:\s*[0-9]+\s*\}')
_BARE = re.compile(r'(?<!\\)"(?!\$minKey"|\$maxKey")(?:[^"\\]|\\.)*"\s*:\s*-?[0-9]')
_WRAPPER = re.compile(
    rb'\{\s*"(?:' + b"|".join(re.escape(key.encode()) for key in sorted(WRAPPERS)) + rb')"\s*:'
)


class _MisspelledError(ValueError):
    """The content of a wrapper is invalid."""


def unwrap_value(document: Document) -> Value:
    """Return the value in a wrapper; any other object unchanged. Raises RefusedTextError.

    >>> unwrap_value({"$oid": "5F0C1B2A3D4E5F6071829304"}), unwrap_value({"$ref": "c", "$id": 1})
    (ObjectId('5f0c1b2a3d4e5f6071829304'), {'$ref': 'c', '$id': 1})
    """
    keys = tuple(document)
    due = keys if keys in _READ else keys[::-1]
    if due not in _READ:
        return document
    try:
        return _READ[due](*(document[key] for key in due))
    except ValueError:
        pass
    raise RefusedTextError(f"the value of {keys[0]} is not valid in Extended JSON")


def _require_pattern(value: Value, pattern: re.Pattern[str]) -> str:
    if type(value) is not str or pattern.fullmatch(value) is None:
        raise _MisspelledError
    return value


def _text(value: Value) -> str:
    if type(value) is not str:
        raise _MisspelledError
    return value


def _within(value: Value, low: int, high: int) -> int:
    number = int(_require_pattern(value, _WHOLE)) if isinstance(value, str) else value
    if type(number) is not int or not low <= number <= high:
        raise _MisspelledError
    return number


def _double(value: Value) -> Value:
    if value in NOT_FINITE:
        return DoubleWord(value)
    number = float(_require_pattern(value, _NUMBER))
    if math.isinf(number):
        raise _MisspelledError
    return Double.of(number)


def _date(value: Value) -> Value:
    if type(value) is str:
        return DateTime.read(value)
    return DateTime.of(int(_within(int(value) if isinstance(value, Int64) else value, -(2**63), 2**63 - 1)))


def _bytes(base64: Value, subtype: Value) -> Value:
    try:
        data = b64decode(_text(base64), validate=True)
    except NotBase64:
        raise _MisspelledError from None
    kind = subtype if type(subtype) is int else int(_require_pattern(subtype, _SUBTYPE), 16)
    if not 0 <= kind <= 255:
        raise _MisspelledError
    if kind == 4 and len(data) == 16:
        return Uuid(uuid.UUID(bytes=data))
    return Binary.of(b64encode(data).decode(), kind)


def _parts(value: Value, *keys: str) -> list[Value]:
    """Return the members of an object that has exactly these keys."""
    if type(value) is not dict or value.keys() != set(keys):
        raise _MisspelledError
    return [value[key] for key in keys]


def _timestamp(value: Value) -> Value:
    seconds, increment = _parts(value, "t", "i")
    return Timestamp.of(_within(seconds, 0, 2**32 - 1), _within(increment, 0, 2**32 - 1))


def _expression(pattern: Value, options: Value) -> Value:
    letters = _text(options)
    if not (letters == "" or letters.isalpha()) or "\0" in _text(pattern):
        raise _MisspelledError
    return Regex.of(_text(pattern), "".join(sorted(letters)))


def _marker(kind: Callable[[str], Value], text: str, due: object) -> Callable[[Value], Value]:
    def read(value: Value) -> Value:
        if value != due or type(value) is not type(due):
            raise _MisspelledError
        return kind(text)

    return read


def _read_scoped_code(code: Value, scope: Value) -> Value:
    if type(scope) is not dict:
        raise _MisspelledError
    return {"$code": _text(code), "$scope": scope}


def _pointer(value: Value) -> Value:
    name, identifier = _parts(value, "$ref", "$id")
    if type(identifier) is not ObjectId:
        raise _MisspelledError
    return {"$dbPointer": {"$ref": _text(name), "$id": identifier}}


_READ: dict[tuple[str, ...], Callable[..., Value]] = {
    ("$oid",): lambda value: ObjectId(_require_pattern(value, _OBJECT_ID).lower()),
    ("$numberInt",): lambda value: _within(_require_pattern(value, _WHOLE), -(2**31), 2**31 - 1),
    ("$numberLong",): lambda value: Int64(_within(value, -(2**63), 2**63 - 1)),
    ("$numberDouble",): _double,
    ("$numberDecimal",): lambda value: Decimal128.of(_text(value)),
    ("$date",): _date,
    ("$binary",): lambda value: _bytes(*_parts(value, "base64", "subType")),
    ("$binary", "$type"): _bytes,
    ("$uuid",): lambda value: Uuid(uuid.UUID(_text(value))),
    ("$timestamp",): _timestamp,
    ("$regularExpression",): lambda value: _expression(*_parts(value, "pattern", "options")),
    ("$regex", "$options"): _expression,
    ("$code",): lambda value: Code(_text(value)),
    ("$code", "$scope"): _read_scoped_code,
    ("$symbol",): lambda value: Symbol(_text(value)),
    ("$dbPointer",): _pointer,
    ("$undefined",): _marker(Undefined, "undefined", True),
    ("$minKey",): _marker(MinKey, "MinKey", 1),
    ("$maxKey",): _marker(MaxKey, "MaxKey", 1),
}


def _wrap_text(key: str, text: str) -> str:
    return f'{{"{key}":{_quote(text)}}}'


def _spell_date(value: DateTime) -> str:
    return _wrap_text("$date", value) if 0 <= value.milliseconds <= LAST_ISO else _spell_number(value)


def _spell_number(value: DateTime) -> str:
    return f'{{"$date":{{"$numberLong":"{value.milliseconds}"}}}}'


def _spell_bytes(base64: str, subtype: int) -> str:
    return f'{{"$binary":{{"base64":"{base64}","subType":"{subtype:02x}"}}}}'


def _spell_timestamp(value: Timestamp) -> str:
    seconds, increment = value.parts
    return f'{{"$timestamp":{{"t":{seconds},"i":{increment}}}}}'


def _spell_regex(value: Regex) -> str:
    pattern, options = value.parts
    return f'{{"$regularExpression":{{"pattern":{_quote(pattern)},"options":{_quote(options)}}}}}'


_RELAXED: dict[type, Callable[[Any], str]] = {
    str: _quote,
    ObjectId: lambda value: _wrap_text("$oid", value),
    Uuid: lambda value: _spell_bytes(b64encode(uuid.UUID(value).bytes).decode(), 4),
    Binary: lambda value: _spell_bytes(*value.parts),
    DateTime: _spell_date,
    Timestamp: _spell_timestamp,
    Regex: _spell_regex,
    Code: lambda value: _wrap_text("$code", value),
    Symbol: lambda value: _wrap_text("$symbol", value),
    Undefined: lambda _: '{"$undefined":true}',
    MinKey: lambda _: '{"$minKey":1}',
    MaxKey: lambda _: '{"$maxKey":1}',
    Decimal128: lambda value: _wrap_text("$numberDecimal", str(value)),
    Decimal128Word: lambda value: _wrap_text("$numberDecimal", value),
    DoubleWord: lambda value: _wrap_text("$numberDouble", value),
}


def _canonical_int(value: int) -> str:
    if -(2**31) <= value < 2**31:
        return _wrap_text("$numberInt", str(value))
    if -(2**63) <= value < 2**63:
        return _wrap_text("$numberLong", str(value))
    raise RefusedTextError("a number has more digits than BSON can hold")


def _canonical_decimal(value: Decimal) -> str:
    """Return a double if one equals the number, otherwise a Decimal128."""
    double = Double.exactly(value)
    if double is not None:
        return _wrap_text("$numberDouble", str(double))
    try:
        return _wrap_text("$numberDecimal", str(Decimal128.of(str(value))))
    except ValueError:
        pass
    raise RefusedTextError("a number has more digits than BSON can hold")


_CANONICAL = _RELAXED | {
    int: _canonical_int,
    Int64: lambda value: _wrap_text("$numberLong", str(value)),
    Double: lambda value: _wrap_text("$numberDouble", str(value)),
    Decimal: _canonical_decimal,
    Numeral: _canonical_decimal,
    DateTime: _spell_number,
}


def spelling(canonical: bool) -> Callable[[Value], str]:
    """Return a function that writes a value as compact text.

    It raises RefusedTextError for a number that BSON cannot represent.

    >>> spelling(False)({"at": DateTime("2001-03-04T00:00:00Z"), "n": Int64(5)})
    '{"at":{"$date":"2001-03-04T00:00:00Z"},"n":5}'
    >>> spelling(True)({"at": DateTime("1970-01-01T00:00:00Z"), "n": Int64(5)})
    '{"at":{"$date":{"$numberLong":"0"}},"n":{"$numberLong":"5"}}'
    """
    scalars = _CANONICAL if canonical else _RELAXED

    def spell(value: Value) -> str:
        kind = type(value)
        write = scalars.get(kind)
        if write is not None:
            return write(value)
        if kind is dict:
            members = cast("Document", value).items()
            return "{" + ",".join([f"{_quote(key)}:{spell(item)}" for key, item in members]) + "}"
        if kind is list or kind is Siblings:
            return "[" + ",".join([spell(item) for item in cast("list[Value]", value)]) + "]"
        return "null" if value is None else literal(value)

    return spell


def is_extended(stream: BinaryIO) -> bool:
    """Return whether the beginning of a JSON file has wrapped values, which are not plain objects.

    >>> from io import BytesIO
    >>> is_extended(BytesIO(b'{"age": {"$numberInt": "7"}}')), is_extended(BytesIO(b'{"a": "{ $numberInt"}'))
    (True, False)
    """
    return _WRAPPER.search(stream.read(_HEAD)) is not None


class ExtendedJson(Divisible):
    """Extended JSON version 2, relaxed or canonical; wrappers of version 1 are read too.

    It is written in the mode that was read: canonical if the beginning of the file has numbers in wrappers
    and none without, otherwise relaxed.
    """

    name: ClassVar[str] = "extended-json"
    extension: ClassVar[str] = ".ejson"
    types_numbers: ClassVar[bool] = True

    def joins(self, layout: Layout) -> bool:
        """Return whether the file has lines: concatenated arrays are not an array."""
        return not layout.array

    def layout(self, stream: BinaryIO, records: tuple[str, ...] = ()) -> Layout:
        """Find out whether the file is an array, and how it spells numbers."""
        if records:
            raise PolicyError("mongoexport writes lines or an array: `records` has no meaning here")
        head = stream.read(_HEAD).removeprefix(BOM_UTF8).decode(errors="replace")
        return Layout(array=head.lstrip(" \t\r\n").startswith("["), canonical=_is_canonical(head))

    def splits(self, stream: BinaryIO, layout: Layout, size: int) -> tuple[Split, ...]:
        """Cut lines by bytes; an array is one part (see Format.splits)."""
        return (WHOLE,) if layout.array else ranges(stream, size)

    def read_split(self, stream: BinaryIO, layout: Layout, split: Split) -> Iterator[Document]:
        """Yield the records of a part (see Format.read_split)."""
        if layout.array:
            return read_array(stream, layout, _DECODER)
        return read_lines(stream, split, _DECODER)

    def extent(self, stream: BinaryIO, layout: Layout, split: Split) -> tuple[int, int] | None:
        """Return the extent of the lines; an array is not joined (see Rowwise.extent)."""
        return None if layout.array else find_extent(stream, split)

    @contextmanager
    def writer(self, stream: BinaryIO, layout: Layout) -> Iterator[Callable[[Document], None]]:
        """Write one record per line in the layout's mode, as an array if the layout says so."""
        spell = spelling(layout.canonical)
        if not layout.array:
            yield lambda document: _write_texts(stream, "", _spell_document(spell, document), "\n")
            return
        before = "[\n"

        def put(document: Document) -> None:
            nonlocal before
            _write_texts(stream, before, _spell_document(spell, document))
            before = ",\n"

        yield put
        _write_texts(stream, "[]\n" if before == "[\n" else "\n]\n")


def _spell_document(spell: Callable[[Value], str], document: Document) -> str:
    try:
        return spell(document)
    except RefusedTextError as refused:
        message = str(refused)
    raise InputError(message)


def _write_texts(stream: BinaryIO, *texts: str) -> None:
    stream.write(encode("".join(texts)))


def _is_canonical(head: str) -> bool:
    """Return whether numbers have types. Dates count too, except those that relaxed mode also wraps."""
    if _BARE.search(_TIMESTAMP.sub("", head)):
        return False
    return any(not match[1] or 0 <= int(match[2]) <= LAST_ISO for match in _WRAPPED.finditer(head))


def _members(pairs: list[tuple[str, Value]]) -> Value:
    """Return an object, or the value that it wraps if its first key begins with a dollar sign."""
    document = unique(pairs)
    return unwrap_value(document) if pairs and pairs[0][0][:1] == "$" else document


_DECODER = strict(_members)

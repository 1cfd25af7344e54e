"""BSON to documents and back, one at a time, with the library and without loss.

The library drops types that it does not know (undefined, symbols, pointers) and the first of two equal keys.
So its result is encoded again: if that gives the same bytes, nothing was lost. Otherwise the elements are
decoded one by one (``Walker``), with the library for single values only.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from struct import Struct
from typing import Any, cast

import bson
from bson.codec_options import CodecOptions, DatetimeConversion
from bson.errors import BSONError

from hierdata.documents.document import Document, Value
from hierdata.documents.formats.base import MAX_DEPTH
from hierdata.documents.formats.bson_values import (
    OldTypeError,
    fields,
    is_pointer,
    is_scoped,
    members,
    single,
)
from hierdata.documents.formats.decoder import TOO_DEEP, RefusedTextError
from hierdata.documents.scalars import Code, Regex, Symbol, Undefined
from hierdata.ground.errors import InputError

MIN_BYTES = 5
"""Bytes of an empty document."""
NOT_BSON = "not valid BSON"
NO_FIT = "a length in the BSON does not fit"
OPTIONS: CodecOptions[dict[str, Any]] = CodecOptions(datetime_conversion=DatetimeConversion.DATETIME_MS)
"""Options of the library: times are numbers, so that none is out of its range."""
_INT32 = Struct("<i")
_SIZES = {
    **{0x01: 8, 0x06: 0, 0x07: 12, 0x08: 1, 0x09: 8, 0x0A: 0, 0x10: 4, 0x11: 8, 0x12: 8, 0x13: 16},
    **{0x7F: 0, 0xFF: 0},
}
"""The bytes of a value, by the type of the element, where all of a type have the same."""
_STRING, _OBJECT, _ARRAY, _BINARY, _UNDEFINED, _OBJECT_ID, _REGEX = 0x02, 0x03, 0x04, 0x05, 0x06, 0x07, 0x0B
_POINTER, _CODE, _SYMBOL, _SCOPED = 0x0C, 0x0D, 0x0E, 0x0F


def decode(raw: bytes) -> Document:
    """Decode one document. Raises RefusedTextError, whose message contains no data.

    >>> decode(bson.encode({"_id": bson.ObjectId("5f0c1b2a3d4e5f6071829304"), "n": 1.5}))
    {'_id': ObjectId('5f0c1b2a3d4e5f6071829304'), 'n': Double('1.5')}
    """
    try:
        values = bson.decode(raw, OPTIONS)
        if bson.encode(values, codec_options=OPTIONS) == raw:
            return members(values)
    except (BSONError, OverflowError, ValueError, RecursionError) as error:
        if isinstance(error, RefusedTextError):
            raise
    return Walker(raw).document()


def decode_all(raws: Iterable[bytes]) -> Iterator[Document]:
    """Yield decoded records. Raises InputError with the number of the first invalid one (see decode)."""
    for record, raw in enumerate(raws, 1):
        try:
            document = decode(raw)
        except RefusedTextError as refused:
            message = str(refused)
        else:
            yield document
            continue
        raise InputError(message, record=record)


def encode(document: Document) -> bytes:
    """Encode one document. Raises RefusedTextError for values that BSON cannot represent.

    A plain integer gets 32 bits if these are enough, otherwise 64; a plain decimal number becomes a double if
    one is equal to it, otherwise a Decimal128.
    """
    try:
        raw = _encode_by_library(document) or encode_elements(document)
    except (BSONError, OverflowError, UnicodeError, RecursionError):
        raw = b""
    if not raw:
        raise RefusedTextError("a record has a key or a value that BSON cannot represent")
    return raw


def _encode_by_library(document: Document) -> bytes | None:
    """Return the bytes, or None if the library cannot write one of the types."""
    try:
        return bson.encode(fields(document), codec_options=OPTIONS)
    except OldTypeError:
        return None


class Walker:
    """Decodes a document element by element; every length is checked against the data."""

    def __init__(self, raw: bytes) -> None:
        self._raw = raw
        self._position = 0
        self._end = len(raw)

    def document(self) -> Document:
        """Return the document, which must be all of the data."""
        document = self._members(MAX_DEPTH)
        if self._position != len(self._raw):
            raise RefusedTextError(NOT_BSON)
        return document

    def _members(self, room: int) -> Document:
        if not room:
            raise RefusedTextError(TOO_DEEP)
        outer, start = self._end, self._position
        size = self._int32()
        if size < MIN_BYTES or start + size > outer:
            raise RefusedTextError(NO_FIT)
        self._end = start + size - 1
        members: Document = {}
        while self._position < self._end:
            kind = self._take(1)[0]
            key = self._cstring()
            if key in members:
                raise RefusedTextError("an object has the same key twice")
            members[key] = self._value(kind, room - 1)
        self._end = outer
        if self._take(1) != b"\0":
            raise RefusedTextError(NOT_BSON)
        return members

    def _value(self, kind: int, room: int) -> Value:
        if kind in _READ:
            return _READ[kind](self, room)
        if kind not in _SIZES and kind != _BINARY:
            raise RefusedTextError(NOT_BSON)
        size = 5 + self._peek() if kind == _BINARY else _SIZES[kind]
        return self._single(kind, self._take(size), room)

    def _pointer(self, room: int) -> Value:
        return {"$dbPointer": {"$ref": self._string(), "$id": self._single(_OBJECT_ID, self._take(12), room)}}

    def _read_scoped_code(self, room: int) -> Value:
        end = self._position + self._int32()
        code: Value = {"$code": self._string(), "$scope": self._members(room)}
        if self._position != end:
            raise RefusedTextError(NO_FIT)
        return code

    def _single(self, kind: int, content: bytes, room: int) -> Value:
        """Decode a value with the library, as the only one of a document."""
        raw = b"".join([_INT32.pack(len(content) + 7), bytes([kind]), b"\0", content, b"\0"])
        try:
            return single(bson.decode(raw, OPTIONS)[""], room)
        except (BSONError, OverflowError, ValueError):
            pass
        raise RefusedTextError(NOT_BSON)

    def _take(self, count: int) -> bytes:
        if count < 0 or self._position + count > len(self._raw) or self._position + count > self._end + 1:
            raise RefusedTextError(NO_FIT)
        self._position += count
        return self._raw[self._position - count : self._position]

    def _peek(self) -> int:
        length = self._int32()
        self._position -= 4
        if length < 0:
            raise RefusedTextError(NO_FIT)
        return length

    def _int32(self) -> int:
        return cast("int", _INT32.unpack(self._take(4))[0])

    def _string(self) -> str:
        content = self._take(self._int32())
        if content[-1:] != b"\0":
            raise RefusedTextError(NO_FIT)
        return _decode_text(content[:-1])

    def _cstring(self) -> str:
        end = self._raw.find(b"\0", self._position, self._end + 1)
        if end < 0:
            raise RefusedTextError(NOT_BSON)
        return _decode_text(self._take(end - self._position + 1)[:-1])


_READ: dict[int, Callable[[Walker, int], Value]] = {
    _OBJECT: lambda walker, room: walker._members(room),
    _ARRAY: lambda walker, room: list(walker._members(room).values()),
    _STRING: lambda walker, _: walker._string(),
    _CODE: lambda walker, _: Code(walker._string()),
    _UNDEFINED: lambda *_: Undefined("undefined"),
    _REGEX: lambda walker, _: Regex.of(walker._cstring(), walker._cstring()),
    _SYMBOL: lambda walker, _: Symbol(walker._string()),
    _POINTER: Walker._pointer,
    _SCOPED: Walker._read_scoped_code,
}
"""Types that are not left to the library: containers, texts, and what it does not preserve."""


def _decode_text(content: bytes) -> str:
    try:
        return content.decode()
    except UnicodeDecodeError:
        pass
    raise RefusedTextError("a text in the BSON is not UTF-8")


def encode_elements(document: Document | list[Value]) -> bytes:
    """Encode a document or array with old types element by element."""
    members = document.items() if isinstance(document, dict) else enumerate(document)
    content = b"".join(_element(str(key), value) for key, value in members)
    return _INT32.pack(len(content) + MIN_BYTES) + content + b"\0"


def _element(key: str, value: Value) -> bytes:
    name = key.encode() + b"\0"
    if b"\0" in name[:-1]:
        raise OverflowError
    if isinstance(value, Undefined):
        return bytes([_UNDEFINED]) + name
    if isinstance(value, Symbol):
        return bytes([_SYMBOL]) + name + _text(value)
    if isinstance(value, Regex):
        return bytes([_REGEX]) + name + b"".join(part.encode() + b"\0" for part in value.parts)
    if isinstance(value, list):
        return bytes([_ARRAY]) + name + encode_elements(value)
    if isinstance(value, dict):
        if is_pointer(value):
            pointer = cast("Document", value["$dbPointer"])
            object_id = bytes.fromhex(str(pointer["$id"]))
            return bytes([_POINTER]) + name + _text(str(pointer["$ref"])) + object_id
        if is_scoped(value):
            content = _text(str(value["$code"])) + encode_elements(cast("Document", value["$scope"]))
            return bytes([_SCOPED]) + name + _INT32.pack(len(content) + 4) + content
        return bytes([_OBJECT]) + name + encode_elements(value)
    raw = bson.encode(fields({"": value}), codec_options=OPTIONS)
    return raw[4:5] + name + raw[6:-1]


def _text(text: str) -> bytes:
    content = text.encode() + b"\0"
    return _INT32.pack(len(content)) + content

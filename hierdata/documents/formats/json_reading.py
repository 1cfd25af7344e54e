"""Read JSON records in pieces, for all formats that have them: arrays through a window, and lines.

Of an array only the window and one record are held in memory. Lines are read completely, or in parts that
begin at any byte.
"""

from __future__ import annotations

import codecs
import json
import re
from codecs import BOM_UTF8
from collections import Counter
from collections.abc import Callable, Iterator
from os import SEEK_END
from typing import BinaryIO, NoReturn, cast

from hierdata.documents.document import Document, Value
from hierdata.documents.formats.base import (
    BESIDE,
    ENTRY_KEY,
    MAX_DEPTH,
    MAX_RECORD,
    TOO_LONG,
    WHOLE,
    Layout,
    Split,
)
from hierdata.documents.formats.decoder import (
    ENDS_EARLY,
    TOO_DEEP,
    RefusedTextError,
    complaint,
    decode,
    may_go_on,
)
from hierdata.documents.formats.encodings import STATE_ENCODING
from hierdata.ground.errors import InputError, VerificationError

WINDOW = 1 << 17
"""Bytes read at a time. The window is larger only while a longer record is read."""
COMMENTED = "JSON has no comments: remove them"
NO_OBJECT = "the record is not an object"
_SPACE = re.compile(r"[ \t\n\r]*")
_COMMENTS = ("/", "#")
_BLANKS = " \t\r\n"
_NAME = re.compile(r"[A-Za-z_]{2,40}")
_FEW_PLACES = 5
_LEVELS = 4
"""How many objects are looked into, one in the other."""
_LOOKED_AT = 50
_FEWEST_ENTRIES = 3


def read_array(
    stream: BinaryIO, layout: Layout, decoder: json.JSONDecoder | None = None
) -> Iterator[Document]:
    """Yield the records of an array, or of an object's values. Raises InputError."""
    window = Window(stream, decoder)
    records = _entries if layout.entries else _array
    yield from _below(window, layout.records, 1, layout.alone, records)
    if window.peek():
        window.fail("text follows the end of the JSON value")


def read_object(stream: BinaryIO, decoder: json.JSONDecoder | None = None) -> Iterator[Document]:
    """Yield the one record that a file is. Raises InputError."""
    window = Window(stream, decoder)
    window.record = 1
    window.require("{", NO_OBJECT)
    yield cast("Document", window.value(MAX_DEPTH))
    if window.peek():
        window.fail("text follows the record: is it one of several, which JSON puts into an array?")


def _array(window: Window) -> Iterator[Document]:
    """Yield the records of the next array."""
    window.require(
        "[",
        "the records are not in an array; if an object has them by key, `records` ends in .*",
    )
    for _ in _items(window):
        yield _next_record(window)
    window.record = 0


def _entries(window: Window) -> Iterator[Document]:
    """Yield the values of the next object, each with its key."""
    window.require("{", "`records` ends in .*, but there is no object: leave .* out for an array")
    for key in _members(window):
        value = _next_record(window)
        if ENTRY_KEY in value:
            window.fail(f"the record has a field {ENTRY_KEY}, where its key in the object is put: rename it")
        yield {ENTRY_KEY: key, **value}
    window.record = 0


def _next_record(window: Window) -> Document:
    window.record += 1
    window.require("{", NO_OBJECT)
    value = window.value(MAX_DEPTH)
    if not isinstance(value, dict):  # a wrapped value of Extended JSON
        window.fail(NO_OBJECT)
    return value


def _below(
    window: Window,
    keys: tuple[str, ...],
    depth: int,
    alone: bool,
    records: Callable[[Window], Iterator[Document]],
) -> Iterator[Document]:
    """Yield the records at the path ``keys`` in the next value."""
    if not keys:
        yield from records(window)
        return
    window.require("{", "the path of the records leads through something that is not an object")
    exists = False
    for key in _members(window):
        if key == keys[0]:
            exists = True
            yield from _below(window, keys[1:], depth + 1, alone, records)
        elif alone:
            raise VerificationError(BESIDE)
        else:
            _skip(window, depth + 1)
    if not exists:
        window.fail("the path of the records does not exist")


def find_records(window: Window) -> list[str]:
    """Return the paths at which a file that is an object may have its records, if they are few; else none.

    These are arrays of objects, and objects whose values are alike (their paths end in .*). Keys that do not
    look like names of fields may be data, and are left out.
    """
    try:
        paths, _ = _look_into(window, "$", _LEVELS)
    except InputError:
        return []
    return paths if len(paths) <= _FEW_PLACES else []


def _look_into(window: Window, path: str, levels: int) -> tuple[list[str], set[str]]:
    """Return the places of records in the next object, and some of its keys."""
    paths: list[str] = []
    keys: set[str] = set()
    below: list[set[str]] = []
    has_others = False
    for key in _members(window):
        named = [f"{path}.{key}"] if _NAME.fullmatch(key) else []
        if len(keys) < _LOOKED_AT:
            keys.add(key)
        if window.peek() == "{" and levels:
            places, under = _look_into(window, f"{path}.{key}", levels - 1)
            if len(below) < _LOOKED_AT:
                below.append(under)
        else:
            has_others = True
            places = named if _skip_array(window) else []
        if named and len(paths) <= _FEW_PLACES:
            paths += places
    if not has_others and _are_alike(below):
        return [f"{path}.*"], keys
    return paths, keys


def _skip_array(window: Window) -> bool:
    """Skip a value; return whether it is an array whose first item is an object."""
    if window.peek() != "[":
        _skip(window, 2)
        return False
    has_object = False
    for place, _ in enumerate(_items(window)):
        has_object |= place == 0 and window.peek() == "{"
        _skip(window, 2)
    return has_object


def _are_alike(objects: list[set[str]]) -> bool:
    """Return whether objects have so many keys in common that they are records rather than fields."""
    counts = Counter(key for keys in objects for key in keys)
    usual = {key for key, count in counts.items() if 2 * count > len(objects)}
    return len(objects) >= _FEWEST_ENTRIES and all(
        keys and 2 * len(keys & usual) >= len(keys) for keys in objects
    )


def _skip(window: Window, depth: int) -> None:
    """Skip a value: at once if it is in the window, otherwise member by member, to bound memory."""
    if window.step_over(MAX_DEPTH + 1 - depth):
        return
    if depth > MAX_DEPTH:
        window.fail(TOO_DEEP)
    for _ in _members(window) if window.peek() == "{" else _items(window):
        _skip(window, depth + 1)


def _members(window: Window) -> Iterator[str]:
    """Yield the keys of the next object; the caller takes the value of each before the next key."""
    window.take("{")
    keys: set[str] = set()
    while keys or window.peek() != "}":
        window.require('"', "not valid JSON: a key is missing")
        key = cast("str", window.value(MAX_DEPTH))
        if key in keys:
            window.fail("an object has the same key twice")
        keys.add(key)
        window.take(":")
        yield key
        if window.peek() == "}":
            break
        window.take(",")
    window.take("}")


def _items(window: Window) -> Iterator[None]:
    """Yield once for each item of the next array; the caller takes the item."""
    window.take("[")
    if window.peek() != "]":
        while True:
            yield None
            if window.peek() == "]":
                break
            window.take(",")
    window.take("]")


class Window:
    """The part of a JSON text in memory: from the current position to the end of the last chunk."""

    def __init__(self, stream: BinaryIO, decoder: json.JSONDecoder | None = None) -> None:
        self.record = 0
        self._json = decoder
        self._stream = stream
        self._decoder = codecs.getincrementaldecoder("utf-8-sig")()
        self._text = ""
        self._position = 0
        self._passed = 0
        self._ended = False
        self._broken = False

    def fail(self, message: str) -> NoReturn:
        """Raise InputError for the current record (0: none), with the position in the file."""
        character = self._passed + self._position + 1
        raise InputError(f"{message} (character {character})", record=self.record or None)

    def peek(self) -> str:
        """Return the next character that is not white space, without taking it; "" at the end of the file."""
        while True:
            self._position = cast("re.Match[str]", _SPACE.match(self._text, self._position)).end()
            if self._position < len(self._text):
                return self._text[self._position]
            if not self._more():
                return ""

    def require(self, character: str, otherwise: str) -> None:
        """Fail with the message ``otherwise`` unless ``character`` is next; do not take it."""
        following = self.peek()
        if following != character:
            self.fail(COMMENTED if following in _COMMENTS else otherwise if following else ENDS_EARLY)

    def take(self, character: str) -> None:
        """Take a punctuation mark."""
        self.require(character, f"not valid JSON: {character!r} is missing")
        self._position += 1

    def value(self, room: int) -> Value:
        """Take the next value, reading until all of it is in the window."""
        while True:
            self.peek()
            decoded = self._decode(room)
            if decoded is not None:
                return decoded[0]
            self._more()

    def step_over(self, room: int) -> bool:
        """Take the next value if it is a scalar or complete in the window; otherwise return False."""
        if self.peek() not in ("{", "["):
            self.value(room)
            return True
        return self._decode(room) is not None

    def _decode(self, room: int) -> tuple[Value] | None:
        """Take the value if all of it is in the window; None if more must be read."""
        try:
            value, end = decode(self._text, self._position, room, self._json)
        except RefusedTextError as refused:
            message = str(refused)
        except json.JSONDecodeError as error:
            if not self._ended and may_go_on(error, self._text):
                return None
            self._position = error.pos
            message = complaint(error, self._text)
        else:
            # A number near the window's end may continue after it ("1e+" reads as 1, two before the end).
            if end >= len(self._text) - 2 and not self._ended and self._text[end - 1] not in '}]"':
                return None
            self._position = end
            return (value,)
        return self.fail(message)

    def _more(self) -> bool:
        """Drop what was read; read at least as much as remains, so that a long record takes linear time."""
        if self._ended:
            return False
        if self._broken:
            self._position = len(self._text)
            self.fail(f"the file is not UTF-8: {STATE_ENCODING}")
        self._passed += self._position
        self._text = self._text[self._position :]
        self._position = 0
        if len(self._text) > MAX_RECORD:
            self.fail(TOO_LONG)
        chunk = self._stream.read(max(WINDOW, len(self._text)))
        self._ended = not chunk
        try:
            self._text += self._decoder.decode(chunk, final=self._ended)
        except UnicodeDecodeError as error:
            # The text before the error is read first, so that the error gets its record number.
            good = len(chunk) - (len(error.object) - error.start)
            self._text += self._decoder.decode(chunk[: max(0, good)])
            self._broken = True
        return True


def ranges(stream: BinaryIO, size: int) -> tuple[Split, ...]:
    """Return ranges of ``size`` bytes; WHOLE if the stream is compressed."""
    if not stream.seekable():
        return (WHOLE,)
    length = stream.seek(0, SEEK_END)
    return tuple(Split(start, min(start + size, length)) for start in range(0, length, size)) or (WHOLE,)


def find_extent(stream: BinaryIO, split: Split) -> tuple[int, int] | None:
    """Return where the lines that begin in a range of bytes begin and end; None for a compressed file."""
    if not stream.seekable():
        return None
    end = stream.seek(0, SEEK_END) if split.end is None else _next_line(stream, split.end)
    return _next_line(stream, split.start), end


def _next_line(stream: BinaryIO, position: int) -> int:
    """Return where the first line begins that does not begin before a place."""
    if position == 0:
        return 0
    stream.seek(position - 1)
    return position - 1 + len(stream.readline(MAX_RECORD + 1))


def read_lines(stream: BinaryIO, split: Split, decoder: json.JSONDecoder | None = None) -> Iterator[Document]:
    """Yield the records of the lines that begin in a range of bytes. Raises InputError."""
    record = 0
    for line in _lines(stream, split):
        text = _text_of(line, record + 1).strip(_BLANKS)
        if text:
            record += 1
            yield _record_of(text, record, decoder)


def _lines(stream: BinaryIO, split: Split) -> Iterator[bytes]:
    """Yield the lines that begin in a range of bytes, the last one to its end."""
    position = split.start
    if position:
        stream.seek(position - 1)
        # Skip the rest of a line that began before the range, reading at most to the end of the range.
        passed = stream.readline(-1 if split.end is None else split.end - position + 1)
        if not passed.endswith(b"\n"):
            return
        position += len(passed) - 1
    elif first := stream.readline(MAX_RECORD + 1):
        position = len(first)
        yield first.removeprefix(BOM_UTF8)
    while (split.end is None or position < split.end) and (line := stream.readline(MAX_RECORD + 1)):
        position += len(line)
        yield line


def _text_of(line: bytes, record: int) -> str:
    if len(line) > MAX_RECORD:
        raise InputError(TOO_LONG, record=record)
    try:
        return line.decode()
    except UnicodeDecodeError:
        pass
    raise InputError(f"the line is not UTF-8: {STATE_ENCODING}", record=record)


def _record_of(text: str, record: int, decoder: json.JSONDecoder | None) -> Document:
    try:
        value, end = decode(text, decoder=decoder)
    except RefusedTextError as refused:
        message = str(refused)
    except json.JSONDecodeError as error:
        begins = text.startswith(("//", "/*", "#"))
        message = f"{COMMENTED if begins else complaint(error, text)} (character {error.pos + 1} of the line)"
    else:
        if end == len(text) and isinstance(value, dict):
            return value
        message = NO_OBJECT if end == len(text) else "text follows the record on its line"
        if text[end : end + 1] == "\r":
            message = "lines end in CR alone: JSON Lines ends them in LF or CR LF, so convert the file"
    raise InputError(message, record=record)

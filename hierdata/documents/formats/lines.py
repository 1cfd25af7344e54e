"""JSON records, one per line: read completely, or in parts that begin at any byte."""

from __future__ import annotations

import json
from codecs import BOM_UTF8
from collections.abc import Iterator
from os import SEEK_END
from typing import BinaryIO

from hierdata.documents.document import Document
from hierdata.documents.formats.base import MAX_RECORD, TOO_LONG, WHOLE, Split
from hierdata.documents.formats.decoder import RefusedTextError, complaint, decode
from hierdata.ground.errors import InputError

_SPACE = " \t\r\n"


def ranges(stream: BinaryIO, size: int) -> tuple[Split, ...]:
    """Return ranges of ``size`` bytes; WHOLE if the stream is compressed."""
    if not stream.seekable():
        return (WHOLE,)
    length = stream.seek(0, SEEK_END)
    return tuple(Split(at, min(at + size, length)) for at in range(0, length, size)) or (WHOLE,)


def find_extent(stream: BinaryIO, split: Split) -> tuple[int, int] | None:
    """Return where the lines that begin in a range of bytes begin and end; None for a compressed file."""
    if not stream.seekable():
        return None
    end = stream.seek(0, SEEK_END) if split.end is None else _next_line(stream, split.end)
    return _next_line(stream, split.start), end


def _next_line(stream: BinaryIO, at: int) -> int:
    """Return where the first line begins that does not begin before a place."""
    if at == 0:
        return 0
    stream.seek(at - 1)
    return at - 1 + len(stream.readline(MAX_RECORD + 1))


def read_lines(stream: BinaryIO, split: Split, decoder: json.JSONDecoder | None = None) -> Iterator[Document]:
    """Yield the records of the lines that begin in a range of bytes. Raises InputError."""
    record = 0
    for line in _lines(stream, split):
        text = _text(line, record + 1).strip(_SPACE)
        if text:
            record += 1
            yield _record(text, record, decoder)


def _lines(stream: BinaryIO, split: Split) -> Iterator[bytes]:
    """Yield the lines that begin in a range of bytes, the last one to its end."""
    at = split.start
    if at:
        stream.seek(at - 1)
        # Skip the rest of a line that began before the range, reading at most to the end of the range.
        passed = stream.readline(-1 if split.end is None else split.end - at + 1)
        if not passed.endswith(b"\n"):
            return
        at += len(passed) - 1
    elif first := stream.readline(MAX_RECORD + 1):
        at = len(first)
        yield first.removeprefix(BOM_UTF8)
    while (split.end is None or at < split.end) and (line := stream.readline(MAX_RECORD + 1)):
        at += len(line)
        yield line


def _text(line: bytes, record: int) -> str:
    if len(line) > MAX_RECORD:
        raise InputError(TOO_LONG, record=record)
    try:
        return line.decode()
    except UnicodeDecodeError:
        pass
    raise InputError("the line is not UTF-8", record=record)


def _record(text: str, record: int, decoder: json.JSONDecoder | None) -> Document:
    try:
        value, end = decode(text, decoder=decoder)
    except RefusedTextError as refused:
        message = str(refused)
    except json.JSONDecodeError as error:
        message = f"{complaint(error, text)} (character {error.pos + 1} of the line)"
    else:
        if end == len(text) and isinstance(value, dict):
            return value
        message = "text follows the record on its line" if end < len(text) else "the record is not an object"
    raise InputError(message, record=record)

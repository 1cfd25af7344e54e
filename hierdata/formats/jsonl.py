"""JSON Lines: one record a line."""

from __future__ import annotations

import json
from codecs import BOM_UTF8
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from os import SEEK_END
from typing import BinaryIO, ClassVar

from hierdata.document import Document
from hierdata.errors import InputError, PolicyError
from hierdata.formats.base import MAX_RECORD, TOO_LONG, WHOLE, Layout, Rowwise, Split
from hierdata.formats.decoder import RefusedError, complaint, decode
from hierdata.formats.objects import dumps_exact, encode

_SPACE = " \t\r\n"


class JsonLines(Rowwise):
    """JSON Lines (also called NDJSON): one object a line; empty lines are passed over."""

    name: ClassVar[str] = "jsonl"
    extension: ClassVar[str] = ".jsonl"

    def layout(self, stream: BinaryIO, records: tuple[str, ...] = ()) -> Layout:
        """Every line is a record: there is no place to find."""
        if records:
            raise PolicyError("every line of JSON Lines is a record: `records` has no meaning here")
        return Layout()

    def read(self, stream: BinaryIO, layout: Layout) -> Iterator[Document]:
        """Yield one record a line (see Format.read)."""
        return self.read_split(stream, layout, WHOLE)

    def splits(self, stream: BinaryIO, layout: Layout, size: int) -> tuple[Split, ...]:
        """Cut by bytes; what is compressed cannot be entered in the middle (see Format.splits)."""
        if not stream.seekable():
            return (WHOLE,)
        length = stream.seek(0, SEEK_END)
        return tuple(Split(at, min(at + size, length)) for at in range(0, length, size)) or (WHOLE,)

    def read_split(self, stream: BinaryIO, layout: Layout, split: Split) -> Iterator[Document]:
        """Yield the records of the lines that begin in a range of bytes (see Format.read_split)."""
        record = 0
        for line in _lines(stream, split):
            text = _text(line, record + 1).strip(_SPACE)
            if text:
                record += 1
                yield _record(text, record)

    @contextmanager
    def writer(self, stream: BinaryIO, layout: Layout) -> Iterator[Callable[[Document], None]]:
        """Write one record a line."""

        def put(document: Document) -> None:
            stream.write(encode(dumps_exact(document) + "\n"))

        yield put


def _lines(stream: BinaryIO, split: Split) -> Iterator[bytes]:
    """The lines that begin in a range of bytes, the last one to its end."""
    at = split.start
    if at:
        stream.seek(at - 1)
        # The rest of a line that began before; of one that goes on beyond the range nothing is held.
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


def _record(text: str, record: int) -> Document:
    try:
        value, end = decode(text)
    except RefusedError as refused:
        message = str(refused)
    except json.JSONDecodeError as error:
        message = f"{complaint(error, text)} (character {error.pos + 1} of the line)"
    else:
        if end == len(text) and isinstance(value, dict):
            return value
        message = "text follows the record on its line" if end < len(text) else "the record is not an object"
    raise InputError(message, record=record)

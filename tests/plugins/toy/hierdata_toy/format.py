"""A format: one record a line, after a sign."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import islice, pairwise
from typing import BinaryIO, ClassVar

from hierdata.documents.document import Document
from hierdata.documents.formats.base import WHOLE, Layout, Rowwise, Split
from hierdata.documents.formats.decoder import RefusedTextError, decode
from hierdata.documents.formats.objects import dumps_exact, encode
from hierdata.ground.errors import InputError, PolicyError

_PARTS = 3


class Numbered(Rowwise):
    """``#`` and an object of JSON on each line. A file is read in three parts, each of some lines."""

    name: ClassVar[str] = "numbered"
    extension: ClassVar[str] = ".numbered"

    def joins(self, layout: Layout) -> bool:
        return True

    def layout(self, stream: BinaryIO, records: tuple[str, ...] = ()) -> Layout:
        if records:
            raise PolicyError("every line is a record: `records` has no meaning here")
        return Layout()

    def read(self, stream: BinaryIO, layout: Layout) -> Iterator[Document]:
        return self.read_split(stream, layout, WHOLE)

    def splits(self, stream: BinaryIO, layout: Layout, size: int) -> tuple[Split, ...]:
        lines = sum(1 for _ in stream)
        ends = [lines * part // _PARTS for part in range(_PARTS + 1)]
        return tuple(Split(start, end) for start, end in pairwise(ends) if start < end) or (WHOLE,)

    def read_split(self, stream: BinaryIO, layout: Layout, split: Split) -> Iterator[Document]:
        for number, line in enumerate(islice(stream, split.start, split.end), 1):
            yield _record(line, number)

    @contextmanager
    def writer(self, stream: BinaryIO, layout: Layout) -> Iterator[Callable[[Document], None]]:
        def put(document: Document) -> None:
            stream.write(encode(f"#{dumps_exact(document)}\n"))

        yield put


def _record(line: bytes, number: int) -> Document:
    try:
        text = line.decode().strip()
        value, end = decode(text[1:])
        if text[0] == "#" and end == len(text) - 1 and isinstance(value, dict):
            return value
    except (RefusedTextError, ValueError, IndexError):
        pass
    raise InputError("the line is no # with an object behind it", record=number)

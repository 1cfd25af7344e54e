"""BSON as written by mongodump: a sequence of documents."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from os import SEEK_CUR, SEEK_END
from struct import Struct
from types import ModuleType
from typing import BinaryIO, ClassVar

from hierdata.documents.document import Document
from hierdata.documents.formats.base import WHOLE, Divisible, Layout, Split
from hierdata.documents.formats.decoder import RefusedTextError
from hierdata.ground.errors import InputError, PolicyError, missing_extra

MAX_BYTES = 16 * 1024 * 1024 + 16 * 1024
"""Maximum bytes of a document: MongoDB's 16 MiB, plus the excess that its own tools allow."""
MIN_BYTES = 5
"""Bytes of an empty document."""
TOO_LONG = "the record has more than 16 MiB, the limit of MongoDB: is this BSON?"
ENDS_EARLY = "the BSON ends inside the record: is the file complete?"

_LENGTH = Struct("<i")
_ARCHIVE = b"\x6d\xe2\x99\x81"  # first bytes of an archive of mongodump


class Bson(Divisible):
    """A sequence of documents, each with its length. All BSON types are written back unchanged."""

    name: ClassVar[str] = "bson"
    extension: ClassVar[str] = ".bson"
    types_numbers: ClassVar[bool] = True

    def joins(self, layout: Layout) -> bool:
        """Return True: concatenated documents are BSON."""
        return True

    def layout(self, stream: BinaryIO, records: tuple[str, ...] = ()) -> Layout:
        """Return an empty layout: every document is a record."""
        if records:
            raise PolicyError("every document of BSON is a record: `records` has no meaning here")
        _length(stream, 1)
        return Layout()

    def splits(self, stream: BinaryIO, layout: Layout, size: int) -> tuple[Split, ...]:
        """Cut between documents, which are skipped by their lengths (see Format.splits)."""
        if not stream.seekable():
            return (WHOLE,)
        starts, position, record = [0], 0, 0
        while length := _length(stream, record := record + 1):
            if position - starts[-1] >= size:
                starts.append(position)
            position += length
            stream.seek(length - _LENGTH.size, SEEK_CUR)
        return tuple(Split(*both) for both in zip(starts, (*starts[1:], None), strict=True))

    def read_split(self, stream: BinaryIO, layout: Layout, split: Split) -> Iterator[Document]:
        """Yield the records of a part (see Format.read_split)."""
        return _codec().decode_all(_read_frames(stream, split))  # type: ignore[no-any-return]

    def extent(self, stream: BinaryIO, layout: Layout, split: Split) -> tuple[int, int] | None:
        """Return the extent of the documents (see Rowwise.extent)."""
        if not stream.seekable():
            return None
        return split.start, stream.seek(0, SEEK_END) if split.end is None else split.end

    @contextmanager
    def writer(self, stream: BinaryIO, layout: Layout) -> Iterator[Callable[[Document], None]]:
        """Write a document for each record."""
        encode = _codec().encode

        def put(document: Document) -> None:
            try:
                raw = encode(document)
            except RefusedTextError as refused:
                message = str(refused)
            else:
                if len(raw) > MAX_BYTES:
                    raise InputError("a record of the release has more than MongoDB's 16 MiB")
                stream.write(raw)
                return
            raise InputError(message)

        yield put


def _codec() -> ModuleType:
    """Return the module that reads and writes one document. Raises PolicyError without the library."""
    try:
        from hierdata.documents.formats import bson_codec
    except ImportError:
        raise missing_extra("BSON needs pymongo", "mongodb") from None
    return bson_codec


def _read_frames(stream: BinaryIO, split: Split) -> Iterator[bytes]:
    """Yield the bytes of each record of a part."""
    position, record = split.start, 0
    if position:
        stream.seek(position)
    while split.end is None or position < split.end:
        record += 1
        length = _length(stream, record)
        if not length:
            return
        position += length
        raw = _LENGTH.pack(length) + stream.read(length - _LENGTH.size)
        if len(raw) < length:
            raise InputError(ENDS_EARLY, record=record)
        yield raw


def _length(stream: BinaryIO, record: int) -> int:
    """Return the length of the next document, 0 at the end of the file. Raises InputError."""
    head = stream.read(_LENGTH.size)
    if not head:
        return 0
    if len(head) < _LENGTH.size:
        raise InputError(ENDS_EARLY, record=record)
    if head == _ARCHIVE:
        raise InputError("this is an archive of mongodump: dump the collection with --out, not --archive")
    length: int = _LENGTH.unpack(head)[0]
    if length > MAX_BYTES:
        raise InputError(TOO_LONG, record=record)
    if length < MIN_BYTES:
        raise InputError("the record has a length that BSON does not allow: is this BSON?", record=record)
    return length

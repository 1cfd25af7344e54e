"""BSON, as mongodump writes a collection: one document behind the other."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from os import SEEK_CUR
from struct import Struct
from types import ModuleType
from typing import BinaryIO, ClassVar

from hierdata.documents.document import Document
from hierdata.documents.formats.base import WHOLE, Layout, Rowwise, Split
from hierdata.documents.formats.decoder import RefusedTextError
from hierdata.errors import InputError, PolicyError

MAX_BYTES = 16 * 1024 * 1024 + 16 * 1024
"""Bytes of a document: MongoDB's 16 MiB, and what its own tools let one have beyond that."""
MIN_BYTES = 5
TOO_LONG = "the record has more than 16 MiB, and no document of MongoDB has: is this BSON?"
ENDS_EARLY = "the BSON ends inside the record: is the file complete?"

_LENGTH = Struct("<i")
_ARCHIVE = b"\x6d\xe2\x99\x81"  # what an archive of mongodump begins with


class Bson(Rowwise):
    """Documents one behind the other, each with its length. All of BSON's types come back as they were."""

    name: ClassVar[str] = "bson"
    extension: ClassVar[str] = ".bson"

    def joins(self, layout: Layout) -> bool:
        """Documents behind documents are BSON."""
        return True

    def layout(self, stream: BinaryIO, records: tuple[str, ...] = ()) -> Layout:
        """Every document is a record: there is no place to find."""
        if records:
            raise PolicyError("every document of BSON is a record: `records` has no meaning here")
        _length(stream, 1)
        return Layout()

    def read(self, stream: BinaryIO, layout: Layout) -> Iterator[Document]:
        """Yield one record a document (see Format.read)."""
        return self.read_split(stream, layout, WHOLE)

    def splits(self, stream: BinaryIO, layout: Layout, size: int) -> tuple[Split, ...]:
        """Cut between documents, going from length to length (see Format.splits)."""
        if not stream.seekable():
            return (WHOLE,)
        starts, at, record = [0], 0, 0
        while length := _length(stream, record := record + 1):
            if at - starts[-1] >= size:
                starts.append(at)
            at += length
            stream.seek(length - _LENGTH.size, SEEK_CUR)
        return tuple(Split(*both) for both in zip(starts, (*starts[1:], None), strict=True))

    def read_split(self, stream: BinaryIO, layout: Layout, split: Split) -> Iterator[Document]:
        """Yield the records of a part (see Format.read_split)."""
        return _codec().decode_all(_read_frames(stream, split))  # type: ignore[no-any-return]

    @contextmanager
    def writer(self, stream: BinaryIO, layout: Layout) -> Iterator[Callable[[Document], None]]:
        """Write one document a record."""
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
    """What reads and writes one document; PolicyError where the library is not there."""
    try:
        from hierdata.documents.formats import bson_codec
    except ImportError:
        raise PolicyError("BSON needs pymongo: install hierdata[mongodb]") from None
    return bson_codec


def _read_frames(stream: BinaryIO, split: Split) -> Iterator[bytes]:
    """The bytes of each record of a part."""
    at, record = split.start, 0
    if at:
        stream.seek(at)
    while split.end is None or at < split.end:
        record += 1
        length = _length(stream, record)
        if not length:
            return
        at += length
        raw = _LENGTH.pack(length) + stream.read(length - _LENGTH.size)
        if len(raw) < length:
            raise InputError(ENDS_EARLY, record=record)
        yield raw


def _length(stream: BinaryIO, record: int) -> int:
    """The length of the document ahead, 0 at the end of the file. Raises InputError."""
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
        raise InputError("the record's length is none that BSON has: is this BSON?", record=record)
    return length

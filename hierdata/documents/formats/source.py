"""Sources that can be opened repeatedly, and streams to write to; gzip in both directions, zip when read."""

from __future__ import annotations

import gzip
import io
import zlib
from abc import ABC, abstractmethod
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, cast

from hierdata.documents.formats.encodings import (
    BOMB_RATIO,
    BOMB_START,
    ZIP_MAGIC,
    Unpacking,
    Unzip,
    find_mark,
    find_member,
    transcode,
)
from hierdata.ground.errors import InputError, file_error

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer

CHUNK = 1 << 16

_GZIP_MAGIC = b"\x1f\x8b"
_GZIP_WINDOW = 31  # zlib's code for "a gzip member with header and checksum"


class Source(ABC):
    """Bytes that can be opened repeatedly: a run reads its input more than once."""

    name: str

    @abstractmethod
    def open(self) -> BinaryIO:
        """Open at the beginning; gzip and zip (recognized by their first bytes, not the name) are unpacked.

        Raises TargetError if it cannot be opened. Reading raises InputError if gzip data is damaged, ends too
        early, or decompresses to more than 200 times its size after the first 10 MiB.
        """


class PathSource(Source):
    """A file."""

    def __init__(self, path: str | Path, encoding: str | None = None) -> None:
        self.path = Path(path)
        self.encoding = encoding
        self.name = self._name()

    def open(self) -> BinaryIO:
        """Open the file (see Source); text in an ``encoding`` becomes UTF-8."""
        try:
            stream = self.path.open("rb")
            with ExitStack() as refused:
                refused.callback(stream.close)
                plain = _plain(stream)
                refused.pop_all()
        except OSError as error:
            raise file_error(error, f"cannot read {self.path}: {_why(error)}") from None
        return plain if self.encoding is None else transcode(plain, self.encoding)

    def absolute(self) -> PathSource:
        """Return the file by its absolute path."""
        return PathSource(self.path.absolute(), self.encoding)

    def decode_as(self, encoding: str | None) -> PathSource:
        """Return the file as UTF-8: from a stated encoding, or from UTF-16 or UTF-32 by their mark."""
        if encoding is None:
            with self.open() as stream:
                encoding = find_mark(stream.read(4))
        return self if encoding is None else PathSource(self.path, encoding)

    def _name(self) -> str:
        """Return the name of the file; for a zip file with the suffix of its member."""
        if self.path.suffix.lower() != ".zip" or not self.path.is_file():
            return self.path.name
        try:
            with self.path.open("rb") as file:
                return self.path.stem + Path(find_member(file).filename).suffix
        except OSError as error:
            raise file_error(error, f"cannot read {self.path}: {_why(error)}") from None


@contextmanager
def write_stream(path: str | Path) -> Iterator[BinaryIO]:
    """Open a file for writing; if its name ends in ``.gz``, it is compressed reproducibly.

    The gzip header has no time and no file name. Raises TargetError if the file cannot be written.
    """
    target = Path(path)
    try:
        with target.open("wb", buffering=CHUNK) as stream:
            if target.suffix.lower() != ".gz":
                yield stream
                return
            with gzip.GzipFile(filename="", mode="wb", fileobj=stream, mtime=0) as packer:
                # GzipFile compresses each write separately: a buffer combines them into a few large ones.
                buffer = io.BufferedWriter(cast("io.RawIOBase", packer), CHUNK)
                try:
                    yield buffer
                finally:
                    buffer.detach()
    except OSError as error:
        raise file_error(error, f"cannot write {target}: {_why(error)}") from None


def _why(error: OSError) -> str:
    return error.strerror or type(error).__name__


def _plain(stream: io.BufferedReader) -> BinaryIO:
    """Wrap a stream in a decompressor if it begins like gzip."""
    if stream.peek(len(_GZIP_MAGIC))[: len(_GZIP_MAGIC)] == _GZIP_MAGIC:
        return io.BufferedReader(_Gunzip(stream), CHUNK)
    if stream.peek(len(ZIP_MAGIC))[: len(ZIP_MAGIC)] == ZIP_MAGIC:
        return io.BufferedReader(Unzip(stream), CHUNK)
    return stream


class _Gunzip(Unpacking):
    """A sequence of gzip members, decompressed in bounded pieces."""

    def __init__(self, packed: BinaryIO) -> None:
        super().__init__(packed)
        self._member = zlib.decompressobj(_GZIP_WINDOW)
        self._pending = b""
        self._bytes_in = 0
        self._bytes_out = 0

    def readinto(self, buffer: WriteableBuffer) -> int:
        """Fill the buffer with decompressed bytes; return their number, 0 at the end."""
        view = memoryview(buffer)
        while True:
            if self._member.eof and not self._next_member():
                return 0
            if not self._pending and not self._refill():
                raise InputError("the gzip data ends too early: is the file complete?")
            plain = self._inflate(len(view))
            if plain:
                view[: len(plain)] = plain
                return len(plain)

    def _refill(self) -> bool:
        self._pending = self._origin.read(CHUNK)
        self._bytes_in += len(self._pending)
        return bool(self._pending)

    def _next_member(self) -> bool:
        """Begin the member after a finished one; skip zeros, which are padding."""
        self._pending = self._member.unused_data.lstrip(b"\0")
        while not self._pending:
            if not self._refill():
                return False
            self._pending = self._pending.lstrip(b"\0")
        self._member = zlib.decompressobj(_GZIP_WINDOW)
        return True

    def _inflate(self, most: int) -> bytes:
        try:
            plain = self._member.decompress(self._pending, most)
        except zlib.error:
            raise InputError("the gzip data is damaged") from None
        self._pending = self._member.unconsumed_tail
        self._bytes_out += len(plain)
        if self._bytes_out > BOMB_START and self._bytes_out > BOMB_RATIO * self._bytes_in:
            raise InputError(
                f"the gzip data decompresses to more than {BOMB_RATIO} times its size: decompress it yourself"
                " if you trust it"
            )
        return plain

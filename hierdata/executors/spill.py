"""Values outside of memory: pickled into private files, small ones kept as bytes.

A record is one pickled value: the lengths of its parts, the pickle stream, then large buffers (arrays) as
they are in memory. A task writes its records consecutively into one file; extents say where they are.
"""

from __future__ import annotations

import os
import pickle
import struct
from array import array
from collections.abc import Iterable, Iterator
from contextlib import suppress
from io import SEEK_END, BytesIO
from itertools import groupby
from operator import attrgetter
from pathlib import Path
from types import TracebackType
from typing import Any, BinaryIO, NamedTuple, Self

from hierdata.executors.base import within
from hierdata.ground.private_folder import explain_full_disk

_HEAD = struct.Struct("<QQ")  # length of the pickle stream, number of buffers after it
_SMALL = 1 << 12  # a shorter buffer goes into the stream


class SpillPlace(NamedTuple):
    """Where a task stores its results: ``keep`` bytes may stay in memory, more goes to the file ``path``.

    ``buffer`` is how many bytes may wait in memory to be sorted by bin before they are written.
    """

    path: Path
    keep: int
    buffer: int


class Extent(NamedTuple):
    """The place of records: ``length`` bytes from ``offset`` on, in a file (its path) or in bytes."""

    source: Path | bytes
    offset: int
    length: int


class Scattered(NamedTuple):
    """What a task scattered: for each run of records of one bin, the bin, its offset and its length."""

    source: Path | bytes
    runs: array[int]

    def extents(self) -> Iterator[tuple[int, Extent]]:
        """Yield (bin, extent) for each run, in the order in which they were made."""
        whole = self.source
        for start in range(0, len(self.runs), 3):
            number, offset, length = self.runs[start : start + 3]
            if isinstance(whole, bytes):
                yield number, Extent(whole[offset : offset + length], 0, length)
            else:
                yield number, Extent(whole, offset, length)


class Spool:
    """A file that is created only beyond ``place.keep`` bytes, and removed after an exception."""

    def __init__(self, place: SpillPlace) -> None:
        self._place = place
        self._file: BinaryIO = BytesIO()
        self._kept = True
        self.size = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: Any, trace: TracebackType | None) -> None:
        try:
            if kind is None and not self._kept:
                with explain_full_disk():
                    self._file.close()
        except BaseException:
            self._forget()
            raise
        if kind is not None:
            self._forget()

    def _forget(self) -> None:
        if not self._kept:
            with suppress(OSError):
                self._file.close()
            self._place.path.unlink(missing_ok=True)

    @property
    def source(self) -> Path | bytes:
        """The path of the file, or the bytes if there is none. Valid once everything is written."""
        return self._file.getvalue() if isinstance(self._file, BytesIO) else self._place.path

    def write(self, data: Any) -> int:
        """Append bytes or a bytes-like object; return the length."""
        length = data.nbytes if isinstance(data, memoryview) else len(data)
        if self._kept and self.size + length > self._place.keep:
            self._move()
        with explain_full_disk():
            self._file.write(data)
        self.size += length
        return length

    def _open(self) -> BinaryIO:
        self._place.path.parent.mkdir(mode=0o700, exist_ok=True)
        number = os.open(self._place.path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
        return os.fdopen(number, "wb")

    def _move(self) -> None:
        assert isinstance(self._file, BytesIO)
        with explain_full_disk():
            kept, self._file, self._kept = self._file, self._open(), False
            self._file.write(kept.getbuffer())

    def put(self, value: Any) -> None:
        """Append a record. Its pickle stream is not held in memory."""
        start = self.size
        self.write(_HEAD.pack(0, 0))
        buffers = _dump(value, self)
        stream = self.size - start - _HEAD.size
        for part in _behind(buffers):
            self.write(part)
        with explain_full_disk():
            self._file.seek(start)
            self._file.write(_HEAD.pack(stream, len(buffers)))
            self._file.seek(0, SEEK_END)


def _dump(value: Any, stream: Any) -> list[pickle.PickleBuffer]:
    """Pickle into a stream; return the large buffers to be written after it."""
    buffers: list[pickle.PickleBuffer] = []

    def aside(buffer: pickle.PickleBuffer) -> bool:
        if buffer.raw().nbytes < _SMALL:
            return True
        buffers.append(buffer)
        return False

    import cloudpickle

    cloudpickle.Pickler(stream, pickle.HIGHEST_PROTOCOL, buffer_callback=aside).dump(value)
    return buffers


def _behind(buffers: list[pickle.PickleBuffer]) -> Iterator[bytes | memoryview]:
    """Yield the lengths of buffers (with a lowest bit that is 1 for read-only ones), then the buffers."""
    raw = [buffer.raw() for buffer in buffers]
    yield array("Q", [each.nbytes << 1 | each.readonly for each in raw]).tobytes()
    yield from raw


def record(value: Any) -> list[bytes | memoryview]:
    """Build a record in memory; large buffers are not copied."""
    stream = BytesIO()
    buffers = _dump(value, stream)
    return [_HEAD.pack(stream.tell(), len(buffers)), stream.getbuffer(), *_behind(buffers)]


def put(value: Any, place: SpillPlace) -> Extent:
    """Store one value."""
    with Spool(place) as spool:
        spool.put(value)
    return Extent(spool.source, 0, spool.size)


def scatter(pieces: Iterable[tuple[int, Any]], bins: int, place: SpillPlace) -> Scattered:
    """Store pieces as they come, sorted by bin within ``place.buffer`` bytes, in order within a bin."""
    waiting: dict[int, bytearray] = {}
    size = 0
    runs = array("Q")
    with Spool(place) as spool:

        def run(number: int, parts: Iterable[Any]) -> None:
            start = spool.size
            for part in parts:
                spool.write(part)
            runs.extend((number, start, spool.size - start))

        def flush() -> None:
            for number in sorted(waiting):
                run(number, [waiting[number]])
            waiting.clear()

        for number, piece in pieces:
            within(number, bins)
            parts = record(piece)
            length = sum(memoryview(part).nbytes for part in parts)
            if size + length > place.buffer:
                flush()
                size = 0
            if length > place.buffer:
                run(number, parts)
                continue
            into = waiting.setdefault(number, bytearray())
            for part in parts:
                into += part
            size += length
        flush()
    return Scattered(spool.source, runs)


def read(extents: Iterable[Extent]) -> Iterator[Any]:
    """Yield the values of the records in these extents, in order."""
    for source, runs in groupby(extents, attrgetter("source")):
        with BytesIO(source) if isinstance(source, bytes) else source.open("rb") as file:
            for _, offset, length in runs:
                file.seek(offset)
                while file.tell() < offset + length:
                    yield _read(file)


def _read(file: BinaryIO) -> Any:
    stream, count = _HEAD.unpack(file.read(_HEAD.size))
    if not count:
        return pickle.load(file)  # our own file, of mode 0600
    start = file.tell()
    file.seek(start + stream)
    lengths = array("Q", file.read(8 * count))
    buffers = []
    for length in lengths:
        buffer = bytearray(length >> 1)
        if file.readinto(buffer) != len(buffer):  # type: ignore[attr-defined]
            raise EOFError("a file with intermediate results is truncated")
        buffers.append(memoryview(buffer).toreadonly() if length & 1 else buffer)
    end = file.tell()
    file.seek(start)
    value = pickle.load(file, buffers=buffers)  # our own file, of mode 0600
    file.seek(end)
    return value

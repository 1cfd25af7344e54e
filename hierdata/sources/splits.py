"""Parts of a collection or of a published file, which several processes can read in parallel.

Parts that are shaped as they are read, or spilled to a private file, read like any other part.
"""

from __future__ import annotations

import os
import pickle
import struct
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from io import BytesIO
from itertools import chain, repeat
from pathlib import Path
from typing import BinaryIO

from hierdata.documents.document import Document
from hierdata.documents.formats import WHOLE, Format, Layout, Rowwise, Split
from hierdata.documents.formats.source import PathSource, Source
from hierdata.ground.errors import InputError, file_error
from hierdata.ground.private_folder import explain_full_disk
from hierdata.records.shape.base import ShapeTally, Shaping

SIZE = 16 * 1024 * 1024
"""Bytes of a split. Results depend on where splits end, so all executors use this size."""
_LENGTH = struct.Struct("<Q")


class InputSplit(ABC):
    """A part of an input: the documents of all splits, concatenated, are those of the whole.

    Each reading starts from the beginning. A split of a file can be pickled.
    """

    @abstractmethod
    def documents(self) -> Iterator[Document]:
        """Return the documents of this part, in order. An InputError has the record number in the whole."""

    def tally_documents(self, tally: ShapeTally) -> Iterator[Document]:
        """Return the documents; count in ``tally`` what the steps of a shape meet in them."""
        return self.documents()

    def count_documents(self) -> Iterator[tuple[Document, int]]:
        """Return the documents in any order, each with its count; merge equal ones where that is cheap."""
        return zip(self.documents(), repeat(1))

    @contextmanager
    def open_rewriting(self) -> Iterator[Rewriting | None]:
        """Open a comparison of the part's bytes with those that are written for its documents.

        None where the bytes of the part cannot be separated from those of the others.
        """
        yield None


def documents_of(splits: Iterable[InputSplit]) -> Iterator[Document]:
    """Return the documents of all splits, in order."""
    return chain.from_iterable(split.documents() for split in splits)


class Rewriting:
    """Writes documents again, and compares their bytes with those that ``stream`` has up to ``end``.

    ``stream`` is at the beginning of the part's bytes; ``put`` writes a document to ``again``.
    """

    def __init__(self, stream: BinaryIO, end: int, again: BytesIO, put: Callable[[Document], None]) -> None:
        self._stream = stream
        self._end = end
        self._again = again
        self._put = put
        self._equal = True

    def add(self, batch: Iterable[Document]) -> None:
        """Compare some more documents."""
        if not self._equal:
            return
        for document in batch:
            self._put(document)
        written = self._again.getvalue()
        self._again.seek(0)
        self._again.truncate()
        self._equal = written == self._stream.read(len(written))

    def are_equal(self) -> bool:
        """Return whether the part has the bytes of its documents and no others."""
        return self._equal and self._stream.tell() == self._end


@dataclass(frozen=True)
class WholeSplit(InputSplit):
    """The whole input, if it cannot be cut; it can be pickled if ``read`` can."""

    read: Callable[[], Iterator[Document]]

    def documents(self) -> Iterator[Document]:
        """Return all documents (see InputSplit.documents)."""
        return self.read()


@dataclass(frozen=True)
class FileSplit(InputSplit):
    """A part of a file."""

    source: Source
    format: Format
    layout: Layout
    split: Split = WHOLE

    def documents(self) -> Iterator[Document]:
        """Read the part (see InputSplit.documents)."""
        try:
            with open_source(self.source) as stream:
                yield from self.format.read_split(stream, self.layout, self.split)
        except InputError:
            if self.split != WHOLE:
                self._tell()
            raise

    def count_documents(self) -> Iterator[tuple[Document, int]]:
        """Read the part (see InputSplit.count_documents)."""
        if self.split != WHOLE:
            yield from super().count_documents()
            return
        try:
            with open_source(self.source) as stream:
                yield from self.format.count_documents(stream, self.layout)
        except InputError:
            self._tell()
            raise

    @contextmanager
    def open_rewriting(self) -> Iterator[Rewriting | None]:
        """Open a comparison with what is written again (see InputSplit.open_rewriting)."""
        if not isinstance(self.format, Rowwise) or not self.format.joins(self.layout):
            yield None
            return
        with open_source(self.source) as stream:
            extent = self.format.extent(stream, self.layout, self.split)
            if extent is None:
                yield None
                return
            stream.seek(extent[0])
            again = BytesIO()
            with self.format.writer(again, self.layout) as put:
                yield Rewriting(stream, extent[1], again, put)

    def _tell(self) -> None:
        """Read all from the beginning, record by record, to raise the error with the record number."""
        for _ in read_file(self.source, self.format, self.layout):
            pass


def file_splits(source: Source, format: Format, layout: Layout, size: int = SIZE) -> tuple[InputSplit, ...]:
    """Return the splits of a file, of about ``size`` bytes each; one for a source that is not a file.

    A relative path is made absolute: a process that reads a split may have another working directory.
    """
    if not isinstance(source, PathSource):
        return (FileSplit(source, format, layout),)
    if not source.path.is_absolute():
        source = source.absolute()
    with open_source(source) as stream:
        splits = format.splits(stream, layout, size)
    return tuple(FileSplit(source, format, layout, split) for split in splits)


def measure_split(split: InputSplit, file: Path) -> int:
    """Return about how many bytes of a file a split has."""
    size = file.stat().st_size
    if not isinstance(split, FileSplit):
        return size
    end = size if split.split.end is None else min(size, split.split.end)
    return max(1, end - split.split.start)


def read_file(source: Source, format: Format, layout: Layout) -> Iterator[Document]:
    """Yield the documents of a file; the file is closed after the last one."""
    with open_source(source) as stream:
        yield from format.read(stream, layout)


@contextmanager
def open_source(source: Source) -> Iterator[BinaryIO]:
    """Open a source. Raises TargetError if it cannot be read."""
    try:
        with source.open() as stream:
            yield stream
    except OSError as error:
        raise file_error(error, f"cannot read {source.name}: {error.strerror}") from None


@dataclass(frozen=True)
class ShapedSplit(InputSplit):
    """A part of a collection, shaped."""

    split: InputSplit
    shaping: Shaping

    def documents(self) -> Iterator[Document]:
        """Return the shaped documents (see InputSplit.documents)."""
        return self.tally_documents(ShapeTally())

    def tally_documents(self, tally: ShapeTally) -> Iterator[Document]:
        """Return the shaped documents (see InputSplit.tally_documents)."""
        return self.shaping.documents(self.split.documents(), tally)


@dataclass(frozen=True)
class HeldOutSplit(InputSplit):
    """The individuals of a part of a collection who are held out of a release, or the others."""

    split: InputSplit
    is_held_out: Callable[[Document], bool]
    wanted: bool

    def documents(self) -> Iterator[Document]:
        """Return the documents of those who are wanted (see InputSplit.documents)."""
        return (document for document in self.split.documents() if self.is_held_out(document) == self.wanted)


@dataclass(frozen=True)
class SpilledSplit(InputSplit):
    """Documents in a private file, one for each individual."""

    path: Path

    def documents(self) -> Iterator[Document]:
        """Read the documents (see InputSplit.documents)."""
        return map(pickle.loads, self._read())  # our own file, of mode 0600

    def _read(self) -> Iterator[bytes]:
        with self.path.open("rb") as file:
            while head := file.read(_LENGTH.size):
                yield file.read(_LENGTH.unpack(head)[0])


def spill_split(pickled: Iterable[bytes], path: Path) -> SpilledSplit:
    """Write pickled documents to a new private file. Raises TargetError where the disk is full."""
    path.unlink(missing_ok=True)  # a task may be repeated
    with explain_full_disk():
        number = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
        with os.fdopen(number, "wb") as file:
            for document in pickled:
                file.write(_LENGTH.pack(len(document)))
                file.write(document)
    return SpilledSplit(path)

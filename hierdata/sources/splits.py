"""Parts of a collection or of a published file, which several processes can read side by side."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import repeat
from typing import BinaryIO

from hierdata.documents.document import Document
from hierdata.documents.formats import WHOLE, Format, Layout, Split
from hierdata.documents.formats.source import PathSource, Source
from hierdata.errors import InputError, TargetError

SIZE = 16 * 1024 * 1024
"""Bytes of a split. Results depend on where splits end, so this is the same whoever reads them."""


class InputSplit(ABC):
    """A part of what is read: the documents of all splits, one after the other, are those of the whole.

    Each reading starts anew. A split of a file can be pickled.
    """

    @abstractmethod
    def documents(self) -> Iterator[Document]:
        """The documents of this part, in order. InputError tells the record by its number in the whole."""

    def counted(self) -> Iterator[tuple[Document, int]]:
        """The same in any order, equal ones once where that is cheap: each with how many there are."""
        return zip(self.documents(), repeat(1))


@dataclass(frozen=True)
class WholeSplit(InputSplit):
    """All there is, where no parts can be told; it can be pickled where ``read`` can."""

    read: Callable[[], Iterator[Document]]

    def documents(self) -> Iterator[Document]:
        """All documents (see InputSplit.documents)."""
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
            with opened(self.source) as stream:
                yield from self.format.read_split(stream, self.layout, self.split)
        except InputError:
            if self.split != WHOLE:
                self._tell()
            raise

    def counted(self) -> Iterator[tuple[Document, int]]:
        """Read the part (see InputSplit.counted)."""
        if self.split != WHOLE:
            yield from super().counted()
            return
        try:
            with opened(self.source) as stream:
                yield from self.format.counted(stream, self.layout)
        except InputError:
            self._tell()
            raise

    def _tell(self) -> None:
        """Read all from the beginning, one by one: that tells which record of the file is wrong."""
        for _ in read_file(self.source, self.format, self.layout):
            pass


def file_splits(source: Source, format: Format, layout: Layout, size: int = SIZE) -> tuple[InputSplit, ...]:
    """The splits of a file, of about ``size`` bytes each; one of a source that is not a file.

    A relative path is made absolute: who reads a split may stand in another folder.
    """
    if not isinstance(source, PathSource):
        return (FileSplit(source, format, layout),)
    if not source.path.is_absolute():
        source = PathSource(source.path.absolute())
    with opened(source) as stream:
        found = format.splits(stream, layout, size)
    return tuple(FileSplit(source, format, layout, split) for split in found)


def read_file(source: Source, format: Format, layout: Layout) -> Iterator[Document]:
    """The documents of a file; the file is closed with the last of them."""
    with opened(source) as stream:
        yield from format.read(stream, layout)


@contextmanager
def opened(source: Source) -> Iterator[BinaryIO]:
    """Open a source; TargetError where it cannot be read."""
    try:
        with source.open() as stream:
            yield stream
    except OSError as error:
        raise TargetError(f"cannot read {source.name}: {error.strerror}") from None

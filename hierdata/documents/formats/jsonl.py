"""JSON Lines: one record per line."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import BinaryIO, ClassVar

from hierdata.documents.document import Document
from hierdata.documents.formats.base import WHOLE, Layout, Rowwise, Split
from hierdata.documents.formats.lines import find_extent, ranges, read_lines
from hierdata.documents.formats.objects import dumps_exact, encode
from hierdata.ground.errors import PolicyError


class JsonLines(Rowwise):
    """JSON Lines (also called NDJSON): one object per line; empty lines are skipped."""

    name: ClassVar[str] = "jsonl"
    extension: ClassVar[str] = ".jsonl"
    is_wrapped: ClassVar[bool] = True
    other_suffixes: ClassVar[tuple[str, ...]] = (".ndjson",)
    table_suffixes: ClassVar[tuple[str, ...]] = (".jsonl",)

    def joins(self, layout: Layout) -> bool:
        """Return True: concatenated files are JSON Lines."""
        return True

    def layout(self, stream: BinaryIO, records: tuple[str, ...] = ()) -> Layout:
        """Return an empty layout: every line is a record."""
        if records:
            raise PolicyError("every line of JSON Lines is a record: `records` has no meaning here")
        return Layout()

    def read(self, stream: BinaryIO, layout: Layout) -> Iterator[Document]:
        """Yield one record per line (see Format.read)."""
        return self.read_split(stream, layout, WHOLE)

    def splits(self, stream: BinaryIO, layout: Layout, size: int) -> tuple[Split, ...]:
        """Cut by bytes; a compressed file cannot be cut (see Format.splits)."""
        return ranges(stream, size)

    def read_split(self, stream: BinaryIO, layout: Layout, split: Split) -> Iterator[Document]:
        """Yield the records of the lines that begin in a range of bytes (see Format.read_split)."""
        return read_lines(stream, split)

    def extent(self, stream: BinaryIO, layout: Layout, split: Split) -> tuple[int, int] | None:
        """Return the extent of the lines (see Rowwise.extent)."""
        return find_extent(stream, split)

    @contextmanager
    def writer(self, stream: BinaryIO, layout: Layout) -> Iterator[Callable[[Document], None]]:
        """Write one record per line."""

        def put(document: Document) -> None:
            stream.write(encode(dumps_exact(document) + "\n"))

        yield put

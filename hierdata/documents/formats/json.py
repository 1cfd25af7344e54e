"""JSON: an array of records, at the top or at a path in a document, and JSON Lines: one record per line."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import BinaryIO, ClassVar

from hierdata.documents.document import Document
from hierdata.documents.formats.base import Divisible, Format, Layout, Split
from hierdata.documents.formats.decoder import decoder_with
from hierdata.documents.formats.json_reading import (
    Window,
    find_extent,
    find_records,
    ranges,
    read_array,
    read_lines,
    read_object,
)
from hierdata.documents.formats.objects import dumps_exact, encode
from hierdata.ground.errors import InputError, PolicyError


@dataclass(frozen=True)
class Json(Format):
    """A JSON array of objects, at the top or at a path of keys; anything else is skipped.

    ``words`` are those of NaN and infinity that are read, since some rule counts them as missing.
    """

    name: ClassVar[str] = "json"
    extension: ClassVar[str] = ".json"
    is_wrapped: ClassVar[bool] = True

    words: frozenset[str] = frozenset()

    def with_marks(self, comment: str | None, decimal: str, words: Collection[str]) -> Json:
        """Return JSON that reads some words of NaN and infinity (see Format.with_marks)."""
        return Json(frozenset(words))

    def layout(self, stream: BinaryIO, records: tuple[str, ...] = ()) -> Layout:
        """Use the policy's path, or check that the file begins with an array."""
        window = Window(stream)
        if not records and window.peek() == "{":
            paths = find_records(window)
            where = f" ({', '.join(paths)})" if paths else ""
            raise InputError(
                f"the file is an object, not an array: state with `records` where its records are{where}; if "
                "each file is a record, name their folder"
            )
        return Layout(records, stated=bool(records))

    def find_records(self, stream: BinaryIO) -> list[str]:
        """Return where the records of a file that is an object may be (see Format.find_records)."""
        window = Window(stream)
        return find_records(window) if window.peek() == "{" else []

    def layout_of_entries(self, records: tuple[str, ...]) -> Layout:
        """Return the layout of records that are the values of an object (see Format.layout_of_entries)."""
        return Layout(records, stated=True, entries=True)

    def layout_of_record(self, stream: BinaryIO) -> Layout | None:
        """Return the layout of a file that is one object (see Format.layout_of_record)."""
        return Layout(whole=True) if Window(stream).peek() == "{" else None

    def read(self, stream: BinaryIO, layout: Layout) -> Iterator[Document]:
        """Yield the records (see Format.read); only a window and one record are held in memory."""
        if layout.whole:
            return read_object(stream, decoder_with(self.words))
        return read_array(stream, layout, decoder_with(self.words))

    def write(self, documents: Iterable[Document], stream: BinaryIO, layout: Layout) -> None:
        """Write an array with one record per line, inside the objects of the layout's path."""
        head = "".join("{" + dumps_exact(key) + ":" for key in layout.records)
        stream.write(encode(head + "["))
        separator = "\n"
        for document in documents:
            stream.write(encode(separator + dumps_exact(document)))
            separator = ",\n"
        stream.write(encode("\n]" + "}" * len(layout.records) + "\n"))


@dataclass(frozen=True)
class JsonLines(Divisible):
    """JSON Lines (also called NDJSON): one object per line; empty lines are skipped. ``words`` as in Json."""

    name: ClassVar[str] = "jsonl"
    extension: ClassVar[str] = ".jsonl"
    is_wrapped: ClassVar[bool] = True
    other_suffixes: ClassVar[tuple[str, ...]] = (".ndjson",)
    table_suffixes: ClassVar[tuple[str, ...]] = (".jsonl", ".jsonl.gz", ".ndjson", ".ndjson.gz")

    words: frozenset[str] = frozenset()

    def with_marks(self, comment: str | None, decimal: str, words: Collection[str]) -> JsonLines:
        """Return JSON Lines that reads some words of NaN and infinity (see Format.with_marks)."""
        return JsonLines(frozenset(words))

    def joins(self, layout: Layout) -> bool:
        """Return True: concatenated files are JSON Lines."""
        return True

    def layout(self, stream: BinaryIO, records: tuple[str, ...] = ()) -> Layout:
        """Return an empty layout: every line is a record."""
        if records:
            raise PolicyError("every line of JSON Lines is a record: `records` has no meaning here")
        return Layout()

    def splits(self, stream: BinaryIO, layout: Layout, size: int) -> tuple[Split, ...]:
        """Cut by bytes; a compressed file cannot be cut (see Format.splits)."""
        return ranges(stream, size)

    def read_split(self, stream: BinaryIO, layout: Layout, split: Split) -> Iterator[Document]:
        """Yield the records of the lines that begin in a range of bytes (see Format.read_split)."""
        return read_lines(stream, split, decoder_with(self.words))

    def extent(self, stream: BinaryIO, layout: Layout, split: Split) -> tuple[int, int] | None:
        """Return the extent of the lines (see Rowwise.extent)."""
        return find_extent(stream, split)

    @contextmanager
    def writer(self, stream: BinaryIO, layout: Layout) -> Iterator[Callable[[Document], None]]:
        """Write one record per line."""

        def put(document: Document) -> None:
            stream.write(encode(dumps_exact(document) + "\n"))

        yield put

"""CSV: a header and one record per line; all values are text, and an empty cell is a missing value."""

from __future__ import annotations

import csv
import re
from codecs import BOM_UTF8
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from itertools import chain, islice, repeat
from os import SEEK_CUR
from typing import BinaryIO, ClassVar, Literal, cast

from hierdata.documents.document import Document, Value
from hierdata.documents.formats.base import Layout, Rowwise, check_columns
from hierdata.documents.formats.encodings import STATE_ENCODING
from hierdata.documents.formats.objects import cell_text, encode
from hierdata.ground.errors import InputError, PolicyError, VerificationError

# What spreadsheets read as a formula (OWASP, "CSV Injection"), after any number of apostrophes.
_FORMULA = re.compile("'*[=+\\-@\t\r\n\uff1d\uff0b\uff0d\uff20]")
_NUMBER = re.compile(r"'*[+-]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]+)?")
DELIMITERS = ",;\t|"
"""Delimiters that are tried in the header if none is stated."""
_LONGEST_HEADER = 1 << 20
_BATCH = 1 << 16
_DISTINCT = 1 << 18
"""Lines per batch, and maximum number of distinct lines held for counting."""
_DECODED = 1024
"""Lines decoded at a time."""
_WRITTEN = 1024
"""Records written at a time."""
_BLANK = b"\n"
_HEAD = 1 << 12
"""Bytes in which the line ends of the file are looked for."""
_COMMA = re.compile(",")
_DECIMAL = re.compile(r"[+-]?[0-9]+,[0-9]+")
_TERMINATOR = "\r\n"  # the csv module quotes cells that contain one of its characters


@dataclass(frozen=True)
class Csv(Rowwise):
    """Comma-separated values (RFC 4180) in UTF-8; empty lines are skipped.

    ``columns`` are the names for a file without a header. A first line with nothing but some of these names
    is a header all the same, as in a release. Lines above a header that begin with ``comment`` are skipped.
    With ``decimal`` a comma, numbers are read with a point.

    If ``delimiter`` is None, it is found in the header: the one of comma, semicolon, tab and bar that gives
    the most columns. With ``for_people`` the file is safe for spreadsheets: an apostrophe is added before
    every cell that they would read as a formula, even if it already has apostrophes, so that reading removes
    exactly what writing added. Numbers are unchanged.
    """

    name: ClassVar[str] = "csv"
    extension: ClassVar[str] = ".csv"
    other_suffixes: ClassVar[tuple[str, ...]] = (".tsv", ".tab")
    table_suffixes: ClassVar[tuple[str, ...]] = (".csv", ".csv.gz", ".tsv", ".tsv.gz")
    is_tabular: ClassVar[bool] = True
    is_textual: ClassVar[bool] = True
    is_delimited: ClassVar[bool] = True

    delimiter: str | None = None
    for_people: bool = False
    columns: tuple[str, ...] = ()
    comment: str | None = None
    decimal: str = "."

    def with_options(self, delimiter: str | None, columns: tuple[str, ...], paths: Mapping[str, str]) -> Csv:
        """Return CSV with delimiter and columns of the policy (see Format.with_options)."""
        return Csv(delimiter, columns=columns)

    def with_marks(self, comment: str | None, decimal: str, words: Collection[str]) -> Csv:
        """Return CSV that skips comments and reads decimal commas (see Format.with_marks)."""
        return replace(self, comment=comment, decimal=decimal)

    def as_published(self, layout: Layout, for_people: bool) -> Csv:
        """Return CSV with the delimiter of the layout (see Format.as_published)."""
        return Csv(layout.delimiter, for_people, () if layout.header else layout.columns)

    def layout_to_write(self, layout: Layout) -> Layout:
        """Return the layout; a single column gets the delimiter that a reader of its header would find."""
        if self.delimiter is None and len(layout.columns) == 1:
            return replace(layout, delimiter=DELIMITERS[0])
        return layout

    def layout(self, stream: BinaryIO, records: tuple[str, ...] = ()) -> Layout:
        """Read the header: the columns, the delimiter, the line ends.

        Raises InputError if it is missing, repeats a name, or has another delimiter than the stated one.
        """
        if records:
            raise PolicyError("every line of a CSV table is a record: `records` has no meaning here")
        header, skipped = _header(stream, self.comment)
        cut = {delimiter: _cells(header, delimiter) for delimiter in DELIMITERS}
        terminator = "\r\n" if header.endswith("\r\n") else "\n"
        if self.columns and (layout := self._without_header(header, cut)):
            return replace(layout, terminator=terminator, skipped=skipped)
        delimiter = self.delimiter or _find_delimiter(cut)
        columns = cut.get(delimiter) or _cells(header, delimiter)
        other = max(cut, key=lambda mark: len(cut[mark]))
        if len(columns) == 1 and len(cut[other]) > 1:
            raise InputError(f"the stated delimiter does not occur in the header, but {other!r} does")
        if self.for_people:
            columns = [_restore_cell(column) for column in columns]
        named = max((place for place, column in enumerate(columns, 1) if column), default=len(columns))
        check_columns(columns[:named])
        return Layout(
            columns=tuple(columns[:named]),
            delimiter=delimiter,
            terminator=terminator,
            skipped=skipped,
            trailing=len(columns) - named,
        )

    def _without_header(self, first: str, cut: Mapping[str, list[str]]) -> Layout | None:
        """Return the layout by the stated columns; None if the first line is a header of these."""
        delimiters = DELIMITERS if self.delimiter is None else self.delimiter
        rows = {delimiter: cut.get(delimiter) or _cells(first, delimiter) for delimiter in delimiters}
        if any(cells and set(cells) <= set(self.columns) for cells in rows.values()):
            return None
        for delimiter, cells in rows.items():
            if len(cells) == len(self.columns):
                return Layout(columns=self.columns, delimiter=delimiter, header=False)
        most = max(map(len, rows.values()))
        raise InputError(f"`columns` names {len(self.columns)} columns, but the first line has {most} cells")

    def read(self, stream: BinaryIO, layout: Layout) -> Iterator[Document]:
        """Yield one record per line (see Format.read)."""
        return self._records(_lines_of(stream, layout), layout)

    def count_documents(self, stream: BinaryIO, layout: Layout) -> Iterator[tuple[Document, int]]:
        """Yield equal lines once, with their count (see Format.count_documents)."""
        lines = _lines_of(stream, layout)
        header = list(islice(lines, 1))
        counts: Counter[bytes] = Counter()
        batch = header
        while (
            not _has_quoted_lines(batch)
            and (batch := list(islice(lines, _BATCH)))
            and not _has_quoted_lines(batch)
        ):
            counts.update(batch)
            if len(counts) > _DISTINCT:
                yield from self._distinct(header, counts, layout)
                counts.clear()
        yield from self._distinct(header, counts, layout)
        rest = lines if batch is header else chain(batch, lines)
        yield from zip(self._records(chain(header, rest), layout), repeat(1))

    def _distinct(
        self, header: list[bytes], counts: Counter[bytes], layout: Layout
    ) -> Iterator[tuple[Document, int]]:
        """Yield the records of distinct lines, each with its count."""
        for blank in [line for line in counts if not line.strip(b"\r\n")]:
            del counts[blank]
        yield from zip(self._records(chain(header, counts), layout), counts.values(), strict=True)

    def _records(self, lines: Iterable[bytes], layout: Layout) -> Iterator[Document]:
        """Yield the records of lines that begin with the header."""
        columns, width = layout.columns, len(layout.columns)
        due = "the header has" if layout.header else "the number of columns is"
        record = 0
        try:
            rows = csv.reader(_lines(lines), delimiter=layout.delimiter, strict=True)
            next(rows, None)
            for row in rows:
                if len(row) != width:
                    if not row:
                        continue
                    row = _without_trailing(row, width, layout.trailing, due)
                record += 1
                if self.decimal == ",":
                    row = [_COMMA.sub(".", cell) if _DECIMAL.fullmatch(cell) else cell for cell in row]
                if self.for_people:
                    row = [_restore_cell(cell) for cell in row]
                if "" in row:
                    yield {column: cell for column, cell in zip(columns, row, strict=True) if cell}
                else:
                    yield dict(zip(columns, row))  # noqa: B905  (the lengths are equal; strict costs a third of the time)
            return
        except csv.Error as error:
            message = _complaint(str(error))
        except _RefusedError as refused:
            message = str(refused)
        raise InputError(message, record=record + 1)

    @contextmanager
    def writer(self, stream: BinaryIO, layout: Layout) -> Iterator[Callable[[Document], None]]:
        """Write the header and one record per line, in the order of the layout's columns."""
        with self._batches(stream, layout) as put:
            yield lambda document: put([document])

    def write(self, documents: Iterable[Document], stream: BinaryIO, layout: Layout) -> None:
        """Write documents (see Format.write)."""
        rest = iter(documents)
        with self._batches(stream, layout) as put:
            while batch := list(islice(rest, _WRITTEN)):
                put(batch)

    @contextmanager
    def _batches(self, stream: BinaryIO, layout: Layout) -> Iterator[Callable[[Sequence[Document]], None]]:
        """Write the header; yield a function that writes a batch of records, column by column."""
        columns, known = layout.columns, frozenset(layout.columns)
        sink = _Sink(stream, layout.terminator)
        rows = csv.writer(sink, delimiter=layout.delimiter, lineterminator=_TERMINATOR)
        # A quoted name may contain another delimiter and does not mislead a reader that looks for one.
        odd = any(mark in column for column in columns for mark in DELIMITERS)
        quoting: Literal[0, 1] = csv.QUOTE_ALL if odd else csv.QUOTE_MINIMAL
        header = csv.writer(sink, delimiter=layout.delimiter, lineterminator=_TERMINATOR, quoting=quoting)
        header.writerow([_neutralize_cell(column) if self.for_people else column for column in columns])
        sink.flush()

        def put(batch: Sequence[Document]) -> None:
            if not all(map(known.issuperset, batch)):
                raise InputError("a record has a field that is not a column of the table")
            cells = [self._column([document.get(column) for document in batch]) for column in columns]
            rows.writerows(zip(*cells, strict=True))
            sink.flush()

        yield put

    def _column(self, values: Sequence[Value]) -> Sequence[str]:
        """Return the cells of a column."""
        if set(map(type, values)) != {str}:
            values = [value if isinstance(value, str) else cell_text(value) or "" for value in values]
        texts = cast("Sequence[str]", values)
        return list(map(_neutralize_cell, texts)) if self.for_people else texts


def _without_trailing(row: list[str], width: int, trailing: int, due: str) -> list[str]:
    """Return a row of another width without the empty cells below a header that ends with delimiters."""
    if not width < len(row) <= width + trailing:
        raise _RefusedError(f"the row has {len(row)} cells, but {due} {width}")
    if any(row[width:]):
        raise _RefusedError(f"column {width + 1} has no name: name it in the header, or leave it out")
    return row[:width]


def _lines_of(stream: BinaryIO, layout: Layout) -> Iterator[bytes]:
    """Return the lines of a file; the first is the header, or blank if there is none."""
    lines = islice(split_lines(stream), layout.skipped, None)
    if layout.header:
        return lines
    return chain([_BLANK], (line.removeprefix(BOM_UTF8) for line in islice(lines, 1)), lines)


def split_lines(stream: BinaryIO) -> Iterator[bytes]:
    """Yield the lines of a file; where its beginning has carriage returns only, these end lines."""
    if hasattr(stream, "peek"):
        head = stream.peek(_HEAD)[:_HEAD]
    else:
        head = stream.read(_HEAD)
        stream.seek(-len(head), SEEK_CUR)
    if b"\r" not in head or b"\n" in head:
        yield from islice(stream, None)  # closing this generator would close the stream itself
        return
    rest = b""
    while chunk := stream.read(_HEAD):
        *lines, rest = (rest + chunk.replace(b"\n", b"\r")).split(b"\r")
        yield from (line + b"\n" for line in lines)
    if rest:
        yield rest


def _has_quoted_lines(lines: list[bytes]) -> bool:
    """Return whether a quoted record may span several lines, so that lines cannot be parsed separately."""
    return b'"' in b"".join(lines)


class _RefusedError(ValueError):
    """Text that is refused. The message contains no data."""


class _Sink:
    """Collects rows written by the csv module, and writes them with the line ends of the input."""

    def __init__(self, stream: BinaryIO, terminator: str) -> None:
        self._stream = stream
        self._terminator = terminator
        self._rows: list[str] = []
        self.write = self._rows.append

    def flush(self) -> None:
        """Write the collected rows to the stream."""
        end, terminator = -len(_TERMINATOR), self._terminator
        self._stream.write(encode("".join([row[:end] + terminator for row in self._rows])))
        self._rows.clear()


def _lines(stream: Iterable[bytes]) -> Iterator[str]:
    """Yield the lines of a file as text."""
    lines = iter(stream)
    first = [line.removeprefix(BOM_UTF8) for line in islice(lines, 1)]
    for batch in chain([first], iter(lambda: list(islice(lines, _DECODED)), [])):
        if b"\0" not in b"".join(batch):
            try:
                texts = [line.decode() for line in batch]
            except UnicodeDecodeError:
                pass
            else:
                yield from texts
                continue
        yield from map(_text, batch)  # yields the lines before the refused one


def _text(line: bytes) -> str:
    if b"\0" in line:
        raise _RefusedError("the line contains NUL bytes: is this a text file in UTF-8?")
    try:
        return line.decode()
    except UnicodeDecodeError:
        raise _RefusedError(f"the line is not UTF-8: {STATE_ENCODING}") from None


def _header(stream: BinaryIO, comment: str | None) -> tuple[str, int]:
    """Return the header, in which a quoted name may span several lines, and how many lines lie above it."""
    header, skipped = "", 0
    try:
        for line in _lines(split_lines(stream)):
            if comment is not None and not header and line.startswith(comment):
                skipped += 1
                continue
            header += line
            if header.count('"') % 2 == 0 or len(header) > _LONGEST_HEADER:
                break
    except _RefusedError as refused:
        message = str(refused).replace("the line", "the header")
        raise InputError(message) from None
    if not header.strip("\r\n"):
        raise InputError(
            "the table has no header: its first line must name the columns, or `csv: {columns: [...]}`"
        )
    return header, skipped


def _cells(header: str, delimiter: str) -> list[str]:
    try:
        return next(csv.reader([header], delimiter=delimiter, strict=True))
    except csv.Error:
        return []


def _find_delimiter(cut: dict[str, list[str]]) -> str:
    """Return the delimiter that gives the most columns in the header; a comma for a single column."""
    most = max(map(len, cut.values()))
    delimiters = [delimiter for delimiter, columns in cut.items() if len(columns) == most]
    if most == 0 or (most == 1 and not cut[DELIMITERS[0]]):
        raise InputError("the header is not valid CSV: a quote or a carriage return is misplaced")
    if most > 1 and len(delimiters) > 1:
        raise InputError(
            f"{' and '.join(map(repr, delimiters))} give the same number of columns in the header: state the "
            "delimiter, such as `csv: {delimiter: ','}`"
        )
    return delimiters[0]


def _complaint(message: str) -> str:
    """Return our message for an error of the csv module."""
    if "unexpected end" in message:
        return "a quoted cell does not end: is the file complete?"
    if "field larger" in message:
        return f"a cell has more than {csv.field_size_limit()} characters: is a quote missing?"
    if "new-line" in message:
        return "a line ends in a carriage return alone: end lines in line feeds"
    return "a quote is misplaced"


def _neutralize_cell(cell: str) -> str:
    """Return a cell that spreadsheets show as text."""
    return f"'{cell}" if _FORMULA.match(cell) and not _NUMBER.fullmatch(cell) else cell


def _restore_cell(cell: str) -> str:
    """Undo ``_neutralize_cell``. Raises VerificationError for a cell that it would not have written."""
    if not _FORMULA.match(cell) or _NUMBER.fullmatch(cell):
        return cell
    if not cell.startswith("'"):
        raise VerificationError("a cell begins like a formula, which a file written for people never does")
    return cell[1:]

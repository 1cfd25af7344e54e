"""The interface of formats: bytes to documents and back, one record at a time."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from itertools import repeat
from typing import Any, BinaryIO, ClassVar, TypeAlias

from hierdata.documents.document import Document
from hierdata.ground.errors import InputError, PolicyError

MAX_DEPTH = 64
"""Maximum nesting of containers that a reader accepts."""
MAX_RECORD = 1 << 26
"""Maximum size of a record in bytes (of text, in characters), which limits the memory of a reader."""
TOO_LONG = f"the record is longer than {MAX_RECORD >> 20} MiB"


Order: TypeAlias = "dict[str, Order]"
"""Names of elements in order, each with the order of its children."""


@dataclass(frozen=True)
class Layout:
    """Where the records are in a file: the path of JSON keys or XML element names to them, and other options.

    For JSON an empty ``records`` means that the file is an array of records. For XML it is (root, record), or
    the root alone if the root is the only record of its file. ``stated`` means that the policy gave the path:
    other children of an XML root are then skipped, otherwise they are an error.

    For tables ``columns`` are the names in order. ``delimiter``, ``terminator`` (of a line) and ``header``
    (whether there is one), ``skipped`` (lines above it) and ``trailing`` (empty cells behind it) are for CSV,
    ``types`` (by column) for Parquet. For Extended JSON ``array`` means
    that the records are in an array, ``canonical`` that every number has its type.

    For XML ``namespaces`` maps the prefixes that are written to URIs ("" is the default namespace);
    ``declared`` are those of the root of the file that was opened, which are never written. ``asides`` are
    the keys of comments and processing instructions that are read; others are skipped. ``order`` is the order
    of the elements in a written record, each with the order inside it; elements that are not in it follow in
    their own order. ``trim`` removes white space around the text of elements, which is layout and could mark
    a record; not where ``alone``, since the judge must see what is written.

    ``whole`` means that a JSON file is one record itself, ``entries`` that the records are the values of an
    object, each with its key as the field ENTRY_KEY.

    ``alone`` raises VerificationError for any other content than the records: the judge must see all of a
    file.
    """

    records: tuple[str, ...] = ()
    namespaces: dict[str, str] = field(default_factory=dict)
    declared: dict[str, str] = field(default_factory=dict)
    stated: bool = False
    alone: bool = False
    asides: frozenset[tuple[str, ...]] = frozenset()
    order: Order = field(default_factory=dict)
    trim: bool = False
    columns: tuple[str, ...] = ()
    delimiter: str = ","
    terminator: str = "\n"
    header: bool = True
    types: dict[str, object] = field(default_factory=dict)
    array: bool = False
    skipped: int = 0
    trailing: int = 0
    whole: bool = False
    entries: bool = False
    canonical: bool = False


@dataclass(frozen=True)
class Split:
    """A part of a file that can be read separately: from ``start`` up to ``end`` (None: to the end).

    The unit depends on the format: bytes for JSON Lines, row groups for Parquet.
    """

    start: int = 0
    end: int | None = None


WHOLE = Split()
"""The whole file."""

ENTRY_KEY = "@key"
"""The field of a record that has its key, where the records are the values of an object."""

BESIDE = "there is something besides the records, which would not be judged"


class Format(ABC):
    """A serialization of documents. Readers stream: they hold only one record in memory."""

    name: ClassVar[str]
    extension: ClassVar[str]
    """The suffix of published files."""
    other_suffixes: ClassVar[tuple[str, ...]] = ()
    """Further suffixes of file names by which the format is recognized."""
    table_suffixes: ClassVar[tuple[str, ...]] = ()
    """Suffixes of files that can each be one of several keyed tables; empty if the format has no tables."""
    is_tabular: ClassVar[bool] = False
    """Whether a file is one table: records are rows, and columns have names."""
    is_textual: ClassVar[bool] = False
    """Whether every value is text, so that numbers and dates must be recognized."""
    is_binary: ClassVar[bool] = False
    """Whether a file is not text."""
    is_wrapped: ClassVar[bool] = False
    """Whether a file of this suffix may turn out to be Extended JSON."""
    types_numbers: ClassVar[bool] = False
    """Whether numbers have types, so that the equal ones of one type are written alike."""
    is_delimited: ClassVar[bool] = False
    """Whether the policy's ``csv`` states the delimiter of cells."""
    has_elements: ClassVar[bool] = False
    """Whether records are elements: their children have an order, and an XSD describes them."""

    def with_options(
        self, delimiter: str | None, columns: tuple[str, ...], paths: Mapping[str, str]
    ) -> Format:
        """Return the format with a policy's options.

        ``columns`` are the names for a table without a header, ``paths`` the policy's paths by column.
        """
        return self

    def names_below(self, kind: Any) -> Iterator[str]:
        """Yield the names of fields below a column of a type (see Layout.types); none where it has none."""
        return iter(())

    def with_marks(self, comment: str | None, decimal: str, words: Collection[str]) -> Format:
        """Return the format with what a policy says of the input alone.

        ``comment`` begins lines above a header that are skipped, ``decimal`` is the decimal sign of numbers,
        ``words`` are those of NaN and infinity that some rule counts as missing.
        """
        return self

    def as_published(self, layout: Layout, for_people: bool) -> Format:
        """Return the format of the release of a file with this layout (see ``csv.for_people``)."""
        return self

    def layout_to_write(self, layout: Layout) -> Layout:
        """Return the layout to write, changed if a reader could not recognize it from the file itself."""
        return layout

    @abstractmethod
    def layout(self, stream: BinaryIO, records: tuple[str, ...] = ()) -> Layout:
        """Find the layout of a file from its beginning.

        ``records`` is the path in the policy; if it is empty, the path is found in the file. Raises
        InputError if the file does not show it, PolicyError if the format has no such path.
        """

    def find_records(self, stream: BinaryIO) -> list[str]:
        """Return the paths at which records may be, for a file that does not show which; mostly none."""
        return []

    def layout_of_entries(self, records: tuple[str, ...]) -> Layout:
        """Return the layout of a file with an object at a path whose values are records.

        Raises PolicyError if the format has no such objects.
        """
        raise PolicyError("`records` ends in .*, which is for the objects of a JSON file: leave it out")

    def layout_of_record(self, stream: BinaryIO) -> Layout | None:
        """Return the layout of a file that is one record itself, None for any other file."""
        return None

    @abstractmethod
    def read(self, stream: BinaryIO, layout: Layout) -> Iterator[Document]:
        """Yield the records in order, from a stream at its beginning.

        Raises InputError with the record's number (from 1, if known) and no raw value.
        """

    def count_documents(self, stream: BinaryIO, layout: Layout) -> Iterator[tuple[Document, int]]:
        """Return the records in any order, each with its count; merge equal ones where that is cheap.

        Raises the errors of ``read``, but without the record's number if equal records are merged.
        """
        return zip(self.read(stream, layout), repeat(1))

    def splits(self, stream: BinaryIO, layout: Layout, size: int) -> tuple[Split, ...]:
        """Return the parts of a file of about ``size`` bytes each, in order; WHOLE if it cannot be cut.

        They depend only on the file and on ``size``.
        """
        return (WHOLE,)

    def read_split(self, stream: BinaryIO, layout: Layout, split: Split) -> Iterator[Document]:
        """Yield the records of one part of ``splits``; every record is in exactly one of them.

        Raises the errors of ``read``, but counts records from the beginning of the part.
        """
        assert split == WHOLE, "this format is read as a whole"
        return self.read(stream, layout)

    @abstractmethod
    def write(self, documents: Iterable[Document], stream: BinaryIO, layout: Layout) -> None:
        """Write documents so that ``read`` returns equal documents, with exact numbers."""


class Rowwise(Format):
    """A format in which one record follows another, so that several files can be written at the same time."""

    def joins(self, layout: Layout) -> bool:
        """Return whether the concatenation of several files is a valid file with all their records."""
        return False

    def extent(self, stream: BinaryIO, layout: Layout, split: Split) -> tuple[int, int] | None:
        """Return where the bytes of a split's records begin and end; None where files cannot be joined.

        The extents of all splits follow each other, and together they are the whole file. A writer of the
        records of a split writes these bytes, if the file is written as this format writes.
        """
        return None

    @abstractmethod
    def writer(self, stream: BinaryIO, layout: Layout) -> AbstractContextManager[Callable[[Document], None]]:
        """Return a function that writes one record; the file is complete when the context ends."""

    def write(self, documents: Iterable[Document], stream: BinaryIO, layout: Layout) -> None:
        """Write documents (see Format.write)."""
        with self.writer(stream, layout) as put:
            for document in documents:
                put(document)


class Divisible(Rowwise):
    """A format whose files are read in the parts of ``splits``, and as a whole likewise."""

    def read(self, stream: BinaryIO, layout: Layout) -> Iterator[Document]:
        """Yield the records (see Format.read); only a window of the file is held in memory."""
        return self.read_split(stream, layout, WHOLE)

    @abstractmethod
    def read_split(self, stream: BinaryIO, layout: Layout, split: Split) -> Iterator[Document]:
        """Yield the records of a part (see Format.read_split)."""


def check_columns(columns: Sequence[str]) -> None:
    """Raise InputError unless every column has a unique name; the error contains no name."""
    first: dict[str, int] = {}
    for place, column in enumerate(columns, 1):
        if not column:
            raise InputError(f"column {place} has no name: name it in the header, or leave it out")
        if column in first:
            raise InputError(f"columns {first[column]} and {place} have the same name")
        first[column] = place

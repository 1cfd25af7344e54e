"""Documents and what every format can do: bytes to documents and back, one record at a time."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from itertools import repeat
from typing import BinaryIO, ClassVar, TypeAlias

from hierdata.documents.document import Document
from hierdata.errors import InputError

MAX_DEPTH = 64
"""Containers inside containers that a reader accepts."""
MAX_RECORD = 1 << 26
"""Bytes (of text, characters) of a record that a reader accepts: no file can make it hold more than a few."""
TOO_LONG = f"the record is longer than {MAX_RECORD >> 20} MiB"


Order: TypeAlias = "dict[str, Order]"
"""Names of elements in order, each with the order of what is in it."""


@dataclass(frozen=True)
class Layout:
    """Where the records lie in a file: the keys (JSON) or element names (XML, root and record) down to them.

    Of a table ``columns`` are the names in order; ``delimiter`` and ``terminator`` (of a line) are those of
    CSV, ``types`` those of Parquet, by column. Of Extended JSON ``array`` tells that the records lie in one,
    ``canonical`` that every number says its type.
    For JSON an empty path means that the file is an array of records; for XML (root, record), or the root
    alone where it is the one record of its file. ``namespaces`` maps prefixes, as the published file writes
    them, to URIs ("" is the default namespace). ``asides`` are the keys of comments and processing
    instructions that are read; others are passed over. ``order`` is that of the elements in a written
    record, each with the order inside it; what is not in it follows as it comes.
    ``stated`` tells that the policy named the place: other children of an XML root are then dropped, where
    they are an error otherwise. ``alone`` refuses all that lies beside the records with a VerificationError:
    who judges a file must have seen all of it.
    """

    records: tuple[str, ...] = ()
    namespaces: dict[str, str] = field(default_factory=dict)
    stated: bool = False
    alone: bool = False
    asides: frozenset[tuple[str, ...]] = frozenset()
    order: Order = field(default_factory=dict)
    columns: tuple[str, ...] = ()
    delimiter: str = ","
    terminator: str = "\n"
    types: dict[str, object] = field(default_factory=dict)
    array: bool = False
    canonical: bool = False


@dataclass(frozen=True)
class Split:
    """A part of a file that can be read by itself: from ``start`` on, up to ``end`` (None: all that follows).

    They count what the format cuts by: bytes of JSON Lines, row groups of Parquet.
    """

    start: int = 0
    end: int | None = None


WHOLE = Split()
"""All of a file."""

BESIDE = "something lies beside the records, where nobody judges it"


class Format(ABC):
    """A serialization of documents. Readers stream: no more than one record is held."""

    name: ClassVar[str]
    extension: ClassVar[str]
    """What names of published files end in."""
    other_suffixes: ClassVar[tuple[str, ...]] = ()
    """Further endings of file names by which the format is recognized."""
    table_suffixes: ClassVar[tuple[str, ...]] = ()
    """Endings of files that may each be one of several keyed tables; empty where the format has no tables."""
    is_tabular: ClassVar[bool] = False
    """Whether a file is one table: records are rows, and columns have names."""
    is_textual: ClassVar[bool] = False
    """Whether every value is text, so that numbers and dates must be recognized."""
    is_delimited: ClassVar[bool] = False
    """Whether the policy's ``csv`` says how cells are separated."""
    has_elements: ClassVar[bool] = False
    """Whether records are elements: their children have an order, and an XSD describes them."""

    def with_options(self, delimiter: str | None, paths: Mapping[str, str]) -> Format:
        """The format as a policy spells it; ``paths`` are the policy's names for the columns of a table."""
        return self

    def as_published(self, layout: Layout, for_people: bool) -> Format:
        """The format of the release of a file with this layout (DECISIONS 20 for ``for_people``)."""
        return self

    def layout_to_write(self, layout: Layout) -> Layout:
        """The layout, completed where a reader could not recognize it from the published columns alone."""
        return layout

    @abstractmethod
    def layout(self, stream: BinaryIO, records: tuple[str, ...] = ()) -> Layout:
        """Find out where the records lie, reading no more than the beginning.

        ``records`` is what the policy says; empty means that the file must tell. Raises InputError where it
        does not, PolicyError where the format has no such place.
        """

    @abstractmethod
    def read(self, stream: BinaryIO, layout: Layout) -> Iterator[Document]:
        """Yield the records in order, from a stream at its beginning.

        Raises InputError with the record's number (from 1, where there is one) and no raw value.
        """

    def counted(self, stream: BinaryIO, layout: Layout) -> Iterator[tuple[Document, int]]:
        """The records in any order, equal ones together where that is cheap: each with how many there are.

        Raises as ``read`` does, where equal records are put together without the record's number.
        """
        return zip(self.read(stream, layout), repeat(1))

    def splits(self, stream: BinaryIO, layout: Layout, size: int) -> tuple[Split, ...]:
        """The parts of a file of about ``size`` bytes each, in order; all of it where no part can be told.

        They depend on the file and on ``size`` alone.
        """
        return (WHOLE,)

    def read_split(self, stream: BinaryIO, layout: Layout, split: Split) -> Iterator[Document]:
        """Yield the records of one part of ``splits``; every record is in exactly one of them.

        Raises as ``read`` does, but counts records from the beginning of the part.
        """
        assert split == WHOLE, "this format is read as a whole"
        return self.read(stream, layout)

    @abstractmethod
    def write(self, documents: Iterable[Document], stream: BinaryIO, layout: Layout) -> None:
        """Write documents so that ``read`` gives them back equal, exact numbers included."""


class Rowwise(Format):
    """A format in which one record follows another, so that several files can be written side by side."""

    def joins(self, layout: Layout) -> bool:
        """Whether files that were written side by side make one when they are put one behind the other."""
        return False

    @abstractmethod
    def writer(self, stream: BinaryIO, layout: Layout) -> AbstractContextManager[Callable[[Document], None]]:
        """A function that writes one record; the file is complete when the context is left."""

    def write(self, documents: Iterable[Document], stream: BinaryIO, layout: Layout) -> None:
        """Write documents (see Format.write)."""
        with self.writer(stream, layout) as put:
            for document in documents:
                put(document)


def check_columns(columns: Sequence[str]) -> None:
    """Raise InputError unless every column has a name of its own; the names stay untold."""
    first: dict[str, int] = {}
    for place, column in enumerate(columns, 1):
        if not column:
            raise InputError(f"column {place} has no name: name it in the header, or leave it out")
        if column in first:
            raise InputError(f"columns {first[column]} and {place} have the same name")
        first[column] = place

"""How documents are arranged in files, and collections that can be read repeatedly."""

from __future__ import annotations

from abc import ABC, abstractmethod
from codecs import BOM_UTF8
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import repeat
from pathlib import Path
from typing import TYPE_CHECKING

from hierdata.documents.document import COMMENT, INSTRUCTION, Document
from hierdata.documents.formats import Format, Layout, Order
from hierdata.documents.formats.kinds import Kinds
from hierdata.documents.formats.source import PathSource, Source, write_stream
from hierdata.ground.errors import InputError, file_error
from hierdata.policy.policy import Policy
from hierdata.sources.splits import (
    SIZE,
    FileSplit,
    InputSplit,
    WholeSplit,
    file_splits,
    open_source,
    read_file,
)

if TYPE_CHECKING:
    from hierdata.sources.rows import KeyedRows

_HEAD = 1 << 12


class Form(ABC):
    """How the documents of a collection are arranged in files; a release has the form of its input."""

    format: Format

    def fit(self, policy: Policy, order: Order) -> Form:
        """Return the form that writes what a policy publishes; it has a rule for each field that it keeps.

        ``order`` is that of the elements of records, if the format has elements.
        """
        return self

    @abstractmethod
    def name(self, part: str) -> str:
        """Return the name of the file (or folder) of a part of a release, such as ``records``."""

    @abstractmethod
    def write(self, documents: Iterable[Document], path: Path, element: str | None = None) -> None:
        """Write documents; ``element`` is the name of a document if the input's own name does not fit."""

    @abstractmethod
    def read(self, path: Path, element: str | None = None, *, alone: bool = False) -> Iterator[Document]:
        """Return the documents of a written file; ``alone`` rejects any other content (see Layout)."""

    def count_documents(
        self, path: Path, element: str | None = None, *, alone: bool = False
    ) -> Iterator[tuple[Document, int]]:
        """Return the documents in any order, each with its count; merge equal ones where that is cheap."""
        return zip(self.read(path, element, alone=alone), repeat(1))

    def read_for_store(self, path: Path, element: str | None = None) -> Iterator[Document]:
        """Return the documents of a written file as a store takes them."""
        return self.read(path, element, alone=True)

    def splits(
        self, path: Path, element: str | None = None, *, alone: bool = False, size: int = SIZE
    ) -> Sequence[InputSplit]:
        """Return the parts of a written file of about ``size`` bytes each; one if it cannot be cut."""
        return (WholeSplit(partial(self.read, path, element, alone=alone)),)


@dataclass(frozen=True)
class FileForm(Form):
    """One file of a format, whose name ends in ``suffix``."""

    format: Format
    layout: Layout
    suffix: str

    def name(self, part: str) -> str:
        """Return the part's name with the suffix."""
        return part + self.suffix

    def write(self, documents: Iterable[Document], path: Path, element: str | None = None) -> None:
        """Write one file (see Form.write)."""
        with write_stream(path) as stream:
            self.format.write(documents, stream, self._layout(element))

    def read(self, path: Path, element: str | None = None, *, alone: bool = False) -> Iterator[Document]:
        """Read one file (see Form.read)."""
        return read_file(PathSource(path), self.format, self._find_layout(path, element, alone))

    def count_documents(
        self, path: Path, element: str | None = None, *, alone: bool = False
    ) -> Iterator[tuple[Document, int]]:
        """Read one file (see Form.count_documents)."""
        yield from FileSplit(
            PathSource(path), self.format, self._find_layout(path, element, alone)
        ).count_documents()

    def splits(
        self, path: Path, element: str | None = None, *, alone: bool = False, size: int = SIZE
    ) -> Sequence[InputSplit]:
        """Return the parts of one file (see Form.splits)."""
        return file_splits(PathSource(path), self.format, self._find_layout(path, element, alone), size)

    def _find_layout(self, path: Path, element: str | None, alone: bool) -> Layout:
        """Return the layout of a written file."""
        return replace(self._layout(element), alone=alone)

    def _layout(self, element: str | None) -> Layout:
        if element is None or not self.format.has_elements:
            return self.layout
        return replace(self.layout, records=(self.layout.records[0], element), order={})

    def fit(self, policy: Policy, order: Order) -> Form:
        """Return the form with this order of elements (see Form.fit)."""
        return replace(self, layout=replace(self.layout, order=order))


@dataclass(frozen=True)
class Collection:
    """A collection that can be read repeatedly.

    ``documents`` starts from the beginning at every call. An input that can be read only once is in a private
    file, which is removed with the collection and its splits. ``cut`` returns splits of a size; it is None if
    the collection cannot be cut. ``kinds`` returns the types of objects in memory, for values that are
    published unchanged; it is None for files. ``rows`` are those of keyed tables in files, which may be
    joined beyond memory; ``documents`` joins them in memory.
    """

    form: Form
    documents: Callable[[], Iterator[Document]]
    cut: Callable[[int], Sequence[InputSplit]] | None = None
    kinds: Callable[[], Kinds] | None = None
    rows: KeyedRows | None = None

    def splits(self, size: int = SIZE) -> Sequence[InputSplit]:
        """Return the parts of the collection, of about ``size`` bytes each; one if it cannot be cut."""
        return (WholeSplit(self.documents),) if self.cut is None else self.cut(size)


def make_folder(path: Path) -> None:
    """Make the folder of a part of a release. Raises TargetError."""
    try:
        path.mkdir()
    except OSError as error:
        raise file_error(error, f"cannot write {path}: {error.strerror}") from None


def file_in(source: Source, format: Format, layout: Layout, form: Form) -> Collection:
    """Return the collection in one file; ``form`` is the form of its release."""
    return Collection(
        form, partial(read_file, source, format, layout), partial(file_splits, source, format, layout)
    )


def open_input(source: Source, format: Format, place: tuple[str, ...], *, entries: bool = False) -> Layout:
    """Return the layout of an input file; with ``entries`` its records are the values of an object.

    Raises InputError if the file is empty.
    """
    with open_source(source) as stream:
        head = stream.read(_HEAD)
    if not head or (len(head) < _HEAD and not format.is_binary and not head.removeprefix(BOM_UTF8).strip()):
        raise InputError("the file is empty: there is nothing to read")
    if entries:
        return format.layout_of_entries(place)
    return open_layout(source, format, place)


def open_layout(source: Source, format: Format, place: tuple[str, ...]) -> Layout:
    """Return the layout of a file."""
    with open_source(source) as stream:
        return format.layout(stream, place)


def state_layout(layout: Layout, policy: Policy) -> Layout:
    """Return a layout of XML with what the policy reads of it, and the policy's prefixes to write."""
    namespaces, trim = dict(policy.namespaces), policy.spelling is None
    return replace(layout, namespaces=namespaces, asides=asides_of(policy), trim=trim)


def shorten_place(layout: Layout) -> Layout:
    """Return the layout of a release: XML records that lie deep in the input are right below the root."""
    if len(layout.records) <= 2:
        return layout
    return replace(layout, records=(layout.records[0], layout.records[-1]))


def asides_of(policy: Policy) -> frozenset[tuple[str, ...]]:
    """Return the keys of comments and processing instructions named by rules; all others are not read."""
    last = (COMMENT, INSTRUCTION)
    return frozenset(path.keys for path in policy.paths if path.place and path.keys[-1].startswith(last))

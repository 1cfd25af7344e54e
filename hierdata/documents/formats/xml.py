"""XML: repeated elements below one root, read element by element."""

from __future__ import annotations

import codecs
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, BinaryIO, ClassVar, NoReturn

from hierdata.documents.document import Document
from hierdata.documents.formats.base import BESIDE, Format, Layout
from hierdata.documents.formats.objects import encode
from hierdata.documents.formats.xmltree import (
    ASIDES,
    NOT_UTF8,
    SPACE,
    chunks_of,
    convert_element,
    drop_asides,
    events_of,
    feed_parser,
    find_places,
    head_of,
    parser_of,
)
from hierdata.ground.errors import InputError, VerificationError

if TYPE_CHECKING:
    from lxml.etree import _Element

_MIXED = (
    "the elements below the root have different names: state with `records` which are records (/root/record, "
    "or deeper)"
)
_WRONG_ROOT = "the root element is not the one in the path of the records"
_WRONG_NAMESPACE = (
    "the root element is in another XML namespace than in the policy's paths: state it under `namespaces` "
    'in the policy, with the prefix "" for names without a prefix'
)


class Xml(Format):
    """XML whose root has one element for each record, or is the only record of its file.

    In an input the records may be deeper, at a stated path; a release has them right below its root.

    An element becomes a string if it contains only text, otherwise an object: attributes under ``@name``,
    child elements under their names (always as Siblings), text between them under ``#text``. White space
    between child elements is ignored. Comments and processing instructions are skipped unless the layout
    lists them, and so is a DOCTYPE that only names a DTD. One with declarations, entities and encodings
    other than UTF-8 are refused.
    """

    name: ClassVar[str] = "xml"
    extension: ClassVar[str] = ".xml"
    other_suffixes: ClassVar[tuple[str, ...]] = (".gpx", ".kml", ".xhtml")
    is_textual: ClassVar[bool] = True
    has_elements: ClassVar[bool] = True

    def layout(self, stream: BinaryIO, records: tuple[str, ...] = ()) -> Layout:
        """Find root and record name in the policy, or from the first two elements; the root's prefixes."""
        _, (root, *others), _ = head_of(stream, 1 if records else 2)
        if not records and not others:
            raise InputError("the root element is empty: there are no records")
        declared = {prefix or "": uri for prefix, uri in root.nsmap.items()}
        return Layout(records or (root.tag, others[0].tag), declared=declared, stated=bool(records))

    def find_records(self, stream: BinaryIO) -> list[str]:
        """Return where records may be that are not all of what is below the root (see Format.find_records).

        Only names without a namespace, or in that of the root, can be written without a prefix.
        """
        paths = find_places(stream)
        if len({name.rpartition("}")[0] for path in paths for name in path}) > 1:
            return []
        return ["/" + "/".join(name.rpartition("}")[2] for name in path) for path in paths]

    def read(self, stream: BinaryIO, layout: Layout) -> Iterator[Document]:
        """Yield the records (see Format.read); only those of one chunk are held in memory."""
        head, (root, *_), has_doctype = head_of(stream, 1)
        if has_doctype and layout.alone:
            raise VerificationError(BESIDE)
        if root.tag != layout.records[0]:
            same_name = root.tag.rpartition("}")[2] == layout.records[0].rpartition("}")[2]
            raise InputError(_WRONG_NAMESPACE if same_name else _WRONG_ROOT)
        return _Reader(layout).read(chunks_of(head, stream))

    def write(self, documents: Iterable[Document], stream: BinaryIO, layout: Layout) -> None:
        """Write one record per line below the root, or the only record; no namespace that is not used.

        Raises InputError for characters and names that XML does not allow.
        """
        from hierdata.documents.formats.xmltext import Markup

        markup = Markup(layout.namespaces)
        stream.write(b'<?xml version="1.0" encoding="UTF-8"?>\n')
        if len(layout.records) == 1:
            (document,) = documents
            stream.write(encode(markup.whole(layout.records[0], document, layout.order) + "\n"))
            return
        root, record = layout.records
        opening, closing, default = markup.root(root)
        stream.write(encode(opening + "\n"))
        for document in documents:
            stream.write(encode(markup.record(record, document, default, layout.order) + "\n"))
        stream.write(encode(closing + "\n"))


class _Reader:
    """One pass over the records of a file."""

    def __init__(self, layout: Layout) -> None:
        self._layout = layout
        self._path = layout.records
        self._is_root = len(layout.records) == 1
        self._alone = layout.alone
        self._trim = layout.trim and not layout.alone
        self._asides = layout.alone or bool(layout.asides)
        events = ("start", "end", *(ASIDES if layout.alone else ()))
        self._parser = parser_of(events, layout.records, asides=self._asides)
        self._utf8 = codecs.getincrementaldecoder("utf-8")()
        self._root: _Element | None = None
        self._begun = 0
        self._done = 0

    def read(self, chunks: Iterable[bytes]) -> Iterator[Document]:
        """Feed the parser, yield complete records, and free them."""
        for chunk in chunks:
            fault = self._feed(chunk)
            # Records that were complete before an error come first, so that the record of the error is known.
            yield from self._records()
            if fault:
                self._fail(fault)
            if self._root is not None and not self._is_root:
                self._free()
        assert self._root is not None
        if len(self._path) == 2:
            self._check(self._root[-1] if len(self._root) else None)

    def _free(self) -> None:
        """Free what is complete; the parser may still be adding to the last element of each level."""
        level = self._root
        for _ in self._path[1:]:
            if level is None or not len(level):
                return
            del level[:-1]
            level = level[-1]

    def _feed(self, chunk: bytes) -> str:
        """Feed a chunk (an empty one is the end); return an error message, empty if none."""
        fault = ""
        try:
            self._utf8.decode(chunk, final=not chunk)
        except UnicodeDecodeError as error:
            chunk = chunk[: max(0, len(chunk) - (len(error.object) - error.start))]
            fault = NOT_UTF8
        return feed_parser(self._parser, chunk, last=not chunk and not fault) or fault

    def _records(self) -> Iterator[Document]:
        for event, element in events_of(self._parser):
            if event in ASIDES:
                self._check_aside(element)
                continue
            if self._root is None:
                self._root = element
                if self._alone and not self._is_root and element.keys():
                    raise VerificationError(BESIDE)
            if not self._is_record(element):
                continue
            if event == "start":
                self._begun += 1
                if len(self._path) == 2:
                    self._check(element.getprevious())
            else:
                if self._asides:
                    drop_asides(element, self._layout.asides, alone=self._alone)
                document = convert_element(element, self._begun, trim=self._trim)
                self._done += 1
                yield document

    def _is_record(self, element: _Element) -> bool:
        if self._is_root:
            return element is self._root
        if element.tag != self._path[-1]:
            return False
        above: _Element | None = element
        for tag in reversed(self._path):
            if above is None or above.tag != tag:
                return False
            above = above.getparent()
        return above is None

    def _check_aside(self, aside: _Element) -> None:
        """Raise VerificationError for a comment or processing instruction outside of the records."""
        parent = aside.getparent()
        if parent is None or (parent is self._root and not self._is_root):
            raise VerificationError(BESIDE)

    def _check(self, before: _Element | None) -> None:
        """Raise an error for other content between a record, or the end, and the element before it."""
        assert self._root is not None
        if self._layout.stated and not self._alone:
            return
        mixed = before is not None and before.tag != self._path[-1]
        between = self._root.text if before is None else before.tail
        text = bool(between and between.strip(SPACE))
        if self._alone and (mixed or text):
            raise VerificationError(BESIDE)
        if mixed or text:
            self._fail(_MIXED if mixed else "there is text between the records")

    def _fail(self, message: str) -> NoReturn:
        raise InputError(message, record=self._begun if self._begun > self._done else None)

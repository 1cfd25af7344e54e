"""XML: repeated elements below one root, read element by element."""

from __future__ import annotations

import codecs
import copy
import re
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, BinaryIO, ClassVar, Literal, NoReturn, cast

from hierdata.document import Document, Siblings, Value
from hierdata.errors import InputError, PolicyError, VerificationError
from hierdata.formats.base import BESIDE, MAX_DEPTH, Format, Layout
from hierdata.formats.decoder import TOO_DEEP, RefusedError
from hierdata.formats.objects import encode

if TYPE_CHECKING:
    from lxml.etree import XMLPullParser, _Element

CHUNK = 1 << 16

MAX_PROLOG = 1 << 20

_DOCTYPE = b"<!DOCTYPE"
_MISC = re.compile(rb"(?:[ \t\r\n]+|<\?.*?\?>|<!--.*?-->)*", re.DOTALL)
_ENCODING = re.compile(rb"""<\?xml\s[^>]*?\bencoding\s*=\s*["']([^"']*)["']""")
_UTF8_NAMES = (b"utf-8", b"utf8", b"us-ascii", b"ascii")
_SPACE = " \t\r\n"

_Event = Literal["start", "end", "comment", "pi"]
_ASIDES: tuple[_Event, ...] = ("comment", "pi")

_ENTITY = "the XML uses an entity beside the five that XML defines"
_LIMITS = "the XML is beyond the parser's limits"
_MIXED = (
    "the elements below the root have different names: say with `records` which are records (/root/record)"
)
_NOT_UTF8 = "the file is not UTF-8"
_WRONG_ROOT = "the root element is not the one that the place of the records names"
_WRONG_NAMESPACE = (
    "the root element is in another XML namespace than the policy's paths say: state it under `namespaces` "
    'in the policy, with the prefix "" for that of plain names'
)
# What libxml2's error codes say where it helps the user; its own messages quote the file.
_REASONS = {
    26: _ENTITY,
    81: _NOT_UTF8,
    110: _LIMITS,
    114: _LIMITS,
}


class Xml(Format):
    """XML whose root holds one element a record. DOCTYPE and entities are refused, only UTF-8 is read.

    An element becomes a string if it holds only text, else an object: attributes under ``@name``, child
    elements under their names (always as Siblings), text beside them under ``#text``. White space between
    child elements is no text, comments and processing instructions are passed over.
    """

    name: ClassVar[str] = "xml"
    extension: ClassVar[str] = ".xml"

    def layout(self, stream: BinaryIO, records: tuple[str, ...] = ()) -> Layout:
        """Take root and record name from the policy, or the first two elements; prefixes from the root."""
        if records and len(records) != 2:
            raise PolicyError("the place of XML records has two names, /root/record")
        _, (root, *others) = _head(stream, 1 if records else 2)
        if not records and not others:
            raise InputError("the root element is empty: there are no records")
        namespaces = {prefix or "": uri for prefix, uri in root.nsmap.items()}
        return Layout(records or (root.tag, others[0].tag), namespaces, stated=bool(records))

    def read(self, stream: BinaryIO, layout: Layout) -> Iterator[Document]:
        """Yield the records (see Format.read); no more is held than those of one chunk."""
        head, (root, *_) = _head(stream, 1)
        if root.tag != layout.records[0]:
            raise InputError(_WRONG_NAMESPACE if _same_name(root.tag, layout.records[0]) else _WRONG_ROOT)
        return _Reader(layout).read(_chunks(head, stream))

    def write(self, documents: Iterable[Document], stream: BinaryIO, layout: Layout) -> None:
        """Write one record a line below the root, namespaces declared there.

        Raises InputError for text that XML cannot hold (control characters) and names that it does not allow.
        """
        from hierdata.formats.xmltext import Markup  # its patterns take 10 ms to compile

        root, record = layout.records
        markup = Markup(layout.namespaces)
        opening, closing, default = markup.root(root)
        stream.write(encode(f'<?xml version="1.0" encoding="UTF-8"?>\n{opening}\n'))
        for document in documents:
            stream.write(encode(markup.element(record, document, default) + "\n"))
        stream.write(encode(closing + "\n"))


def _same_name(tag: str, other: str) -> bool:
    """Whether two names differ in their namespace at most."""
    return tag.rpartition("}")[2] == other.rpartition("}")[2]


def from_element(element: _Element, *, record: int | None = None) -> Document:
    """Read a record that was given as an lxml element, as if it stood in a file.

    Raises InputError for nesting beyond 64 and for entities.

    >>> from lxml import etree
    >>> from_element(etree.fromstring('<student id="1"><course><code>CS201</code></course></student>'))
    {'@id': '1', 'course': [{'code': ['CS201']}]}
    """
    from lxml import etree

    if next(element.iter(etree.Entity), None) is not None:
        raise InputError(_ENTITY, record=record)
    asides = (etree.Comment, etree.ProcessingInstruction)
    if next(element.iter(*asides), None) is not None:
        element = copy.deepcopy(element)
        etree.strip_tags(element, *asides)
    return _convert(element, record)


class _Reader:
    """One pass over the records of a file."""

    def __init__(self, layout: Layout) -> None:
        self._tag = layout.records[1]
        self._lenient = layout.stated
        self._alone = layout.alone
        self._parser = _parser((*("start", "end"), *(_ASIDES if layout.alone else ())), layout.records)
        self._utf8 = codecs.getincrementaldecoder("utf-8")()
        self._root: _Element | None = None
        self._begun = 0
        self._done = 0

    def read(self, chunks: Iterable[bytes]) -> Iterator[Document]:
        """Feed the parser, yield the records that are complete, free them."""
        for chunk in chunks:
            fault = self._feed(chunk)
            # What the parser finished before a fault comes first: so the record of the fault is known.
            yield from self._records()
            if fault:
                self._fail(fault)
            if self._root is not None:
                # The parser may still be filling the last one.
                del self._root[:-1]
        assert self._root is not None
        self._check(self._root[-1] if len(self._root) else None)

    def _feed(self, chunk: bytes) -> str:
        """Feed a chunk (an empty one is the end) and say what is wrong with it."""
        fault = ""
        try:
            self._utf8.decode(chunk, final=not chunk)
        except UnicodeDecodeError as error:
            chunk = chunk[: max(0, len(chunk) - (len(error.object) - error.start))]
            fault = _NOT_UTF8
        return _feed(self._parser, chunk, last=not chunk and not fault) or fault

    def _records(self) -> Iterator[Document]:
        for event, element in _events(self._parser):
            if event in _ASIDES or (self._alone and self._root is None and element.items()):
                raise VerificationError(BESIDE)
            if self._root is None:
                self._root = element
            if element.getparent() is not self._root or element.tag != self._tag:
                continue
            if event == "start":
                self._begun += 1
                self._check(element.getprevious())
            else:
                document = _convert(element, self._begun)
                self._done += 1
                yield document

    def _check(self, before: _Element | None) -> None:
        """Refuse what stands between a record, or the end, and the element before it."""
        assert self._root is not None
        if self._lenient and not self._alone:
            return
        mixed = before is not None and before.tag != self._tag
        between = self._root.text if before is None else before.tail
        text = bool(between and between.strip(_SPACE))
        if self._alone and (mixed or text):
            raise VerificationError(BESIDE)
        if mixed or text:
            self._fail(_MIXED if mixed else "text stands between the records")

    def _fail(self, message: str) -> NoReturn:
        raise InputError(message, record=self._begun if self._begun > self._done else None)


def _convert(element: _Element, record: int | None) -> Document:
    try:
        return _document(element, element.items(), MAX_DEPTH)
    except RefusedError as refused:
        message = str(refused)
    raise InputError(message, record=record)


def _document(element: _Element, attributes: Sequence[tuple[Any, Any]], room: int) -> Document:
    """Read an element as an object (see Xml)."""
    if room == 0:
        raise RefusedError(TOO_DEEP)
    document: Document = {"@" + name: value for name, value in attributes}
    texts = [element.text]
    children: dict[str, Siblings] = {}
    for child in element:
        texts.append(child.tail)
        inner = child.items()
        value: Value = _document(child, inner, room - 1) if inner or len(child) else child.text or ""
        tag = child.tag
        if tag in children:
            children[tag].append(value)
        else:
            document[tag] = children[tag] = Siblings([value])
    text = "".join([part for part in texts if part and part.strip(_SPACE)])
    if text:
        document["#text"] = text
    return document


def _parser(events: Sequence[_Event], tags: tuple[str, ...] | None = None) -> XMLPullParser:
    from lxml.etree import XMLPullParser

    return XMLPullParser(
        events=events,
        tag=tags,
        encoding="utf-8",
        resolve_entities=False,
        load_dtd=False,
        no_network=True,
        huge_tree=False,
        remove_comments="comment" not in events,
        remove_pis="pi" not in events,
    )


def _events(parser: XMLPullParser) -> Iterator[tuple[str, _Element]]:
    return cast("Iterator[tuple[str, _Element]]", parser.read_events())


def _chunks(head: bytes, stream: BinaryIO) -> Iterator[bytes]:
    """Yield what was read already, the rest, and an empty chunk for the end."""
    chunk = head
    while chunk:
        yield chunk
        chunk = stream.read(CHUNK)
    yield b""


def _feed(parser: XMLPullParser, chunk: bytes, *, last: bool = False) -> str:
    """Feed a chunk, or tell the parser that there is no more, and say what is wrong."""
    from lxml.etree import ErrorLevels, XMLSyntaxError

    broken = False
    try:
        if chunk:
            parser.feed(chunk)
        elif last:
            parser.close()
    except XMLSyntaxError:
        broken = True
    # Some errors (an undefined entity) stop the parser without an exception: the log has them all.
    for entry in parser.feed_error_log:
        if entry.level > ErrorLevels.WARNING:
            reason = _REASONS.get(entry.type, "not well-formed XML")
            reason += f" (line {entry.line}, column {entry.column})"
            if entry.level == ErrorLevels.ERROR:
                # The parser went on (after an unbound prefix): what it is at now is not where the error is.
                raise InputError(reason)
            return reason
    return "not well-formed XML" if broken else ""


def _head(stream: BinaryIO, least: int) -> tuple[bytes, list[_Element]]:
    """Read on until the first two elements have begun; return what was read and these elements.

    Raises InputError if the XML breaks before ``least`` of them, or has no root at all.
    """
    parser = _parser(("start",))
    chunk = head = _prolog(stream)
    started: list[_Element] = []
    fault = ""
    while chunk and not fault and len(started) < 2:
        fault = _feed(parser, chunk)
        started += [element for _, element in _events(parser)]
        if len(started) < 2:
            chunk = stream.read(CHUNK)
            head += chunk
    if fault and len(started) < least:
        raise InputError(fault)
    if not started:
        raise InputError("not well-formed XML: there is no root element")
    return head, started[:2]


def _prolog(stream: BinaryIO) -> bytes:
    """Read up to the root without a parser, since a parser acts on a DOCTYPE before one can refuse it."""
    head = stream.read(CHUNK).removeprefix(codecs.BOM_UTF8)
    while True:
        rest = head[cast("re.Match[bytes]", _MISC.match(head)).end() :][: len(_DOCTYPE)]
        if rest == _DOCTYPE:
            raise InputError("the XML has a DOCTYPE, which is not accepted: remove it")
        if rest not in (b"", b"<") and rest[:2] not in (b"<!", b"<?"):
            break
        if len(head) > MAX_PROLOG:
            raise InputError("the XML has no root element within its first MiB")
        chunk = stream.read(CHUNK)
        if not chunk:
            break
        head += chunk
    declared = _ENCODING.match(head)
    if declared and declared[1].lower() not in _UTF8_NAMES:
        raise InputError("the XML declares an encoding other than UTF-8: convert it")
    return head

"""Read XML: chunks in, events out, and elements as documents.

The parser refuses DOCTYPE with declarations, entities and other risks.
"""

from __future__ import annotations

import codecs
import copy
import re
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Sequence
from functools import cache
from typing import TYPE_CHECKING, Any, BinaryIO, Literal, NamedTuple, cast

from hierdata.documents.document import COMMENT, INSTRUCTION, TEXT, Document, Siblings, Value
from hierdata.documents.formats.base import BESIDE, MAX_DEPTH
from hierdata.documents.formats.decoder import TOO_DEEP, RefusedTextError
from hierdata.documents.formats.encodings import STATE_ENCODING
from hierdata.ground.errors import InputError, VerificationError

if TYPE_CHECKING:
    from lxml.etree import XMLPullParser, _Element

CHUNK = 1 << 16
MAX_PROLOG = 1 << 20
_MOST_LOOKED_AT = 1 << 20
_DEEPEST_PLACE = 6
"""Records are looked for in the first megabyte of a file, and down to this depth."""
Event = Literal["start", "end", "comment", "pi"]
ASIDES: tuple[Event, ...] = ("comment", "pi")
ENTITY = "the XML uses an entity other than the five that XML defines"
NOT_UTF8 = f"the file is not UTF-8: {STATE_ENCODING}"
_DOCTYPE = b"<!DOCTYPE"
_EXTERNAL = re.compile(
    rb"""<!DOCTYPE\s+[^\s\[\]<>"']+"""
    rb"""(?:\s+(?:SYSTEM|PUBLIC\s+(?:"[^"]*"|'[^']*'))\s+(?:"[^"]*"|'[^']*'))?\s*>"""
)
"""A DOCTYPE that declares nothing itself; what it refers to is never loaded."""
_MISC = re.compile(rb"(?:[ \t\r\n]+|<\?.*?\?>|<!--.*?-->)*", re.DOTALL)
_ENCODING = re.compile(rb"""<\?xml\s[^>]*?\bencoding\s*=\s*["']([^"']*)["']""")
_UTF8_NAMES = (b"utf-8", b"utf8", b"us-ascii", b"ascii")
_REFUSED = "the XML has a DOCTYPE with declarations, or a second one, which is not accepted: remove it"
_LIMITS = "the XML is beyond the parser's limits"
_NO_MEMORY = 2
"""The error code of libxml2 where memory runs out."""
# Messages for libxml2's error codes where they help the user; its own messages quote the file.
_REASONS = {26: ENTITY, 81: NOT_UTF8, 110: _LIMITS, 114: _LIMITS}
SPACE = " \t\r\n"
_MOST_NAMES = 10_000
"""Maximum number of cached names; a file may have any number."""
_FEW = 32
"""Attributes up to which ``items()`` is fast: it looks up each value by its name, in a list."""


def parser_of(
    events: Sequence[Event], tags: tuple[str, ...] | None = None, *, asides: bool = False
) -> XMLPullParser:
    """Return a parser with these events; ``asides`` keeps comments and processing instructions."""
    from lxml.etree import XMLPullParser

    return XMLPullParser(
        events=events,
        tag=tags,
        encoding="utf-8",
        resolve_entities=False,
        load_dtd=False,
        no_network=True,
        huge_tree=False,
        remove_comments=not asides,
        remove_pis=not asides,
    )


def events_of(parser: XMLPullParser) -> Iterator[tuple[str, _Element]]:
    """Return the parser's events since the last call."""
    return cast("Iterator[tuple[str, _Element]]", parser.read_events())


def chunks_of(head: bytes, stream: BinaryIO) -> Iterator[bytes]:
    """Yield the bytes that were already read, the rest, and an empty chunk at the end."""
    chunk = head
    while chunk:
        yield chunk
        chunk = stream.read(CHUNK)
    yield b""


def feed_parser(parser: XMLPullParser, chunk: bytes, *, last: bool = False) -> str:
    """Feed a chunk, or close the parser; return an error message, empty if none."""
    from lxml.etree import ErrorLevels, XMLSyntaxError

    broken = False
    try:
        if chunk:
            parser.feed(chunk)
        elif last:
            parser.close()
    except XMLSyntaxError:
        broken = True
    # Some errors (an undefined entity) stop the parser without an exception, but the log has them all.
    for entry in parser.feed_error_log:
        if entry.type == _NO_MEMORY:
            raise MemoryError
        if entry.level > ErrorLevels.WARNING:
            reason = _REASONS.get(entry.type, "not well-formed XML")
            reason += f" (line {entry.line}, column {entry.column})"
            if entry.level == ErrorLevels.ERROR:
                # The parser continued (after an unbound prefix), so its position is not that of the error.
                raise InputError(reason)
            return reason
    return "not well-formed XML" if broken else ""


class Head(NamedTuple):
    """The beginning of a file: its bytes, and its first two elements.

    ``has_doctype`` says that the bytes have blanks in place of a DOCTYPE.
    """

    data: bytes
    elements: list[_Element]
    has_doctype: bool


def head_of(stream: BinaryIO, least: int) -> Head:
    """Read until the first two elements have begun.

    Raises InputError if the XML is broken before ``least`` elements, or has no root.
    """
    parser = parser_of(("start",))
    chunk, has_doctype = _prolog(stream)
    data = chunk
    started: list[_Element] = []
    fault = ""
    while chunk and not fault and len(started) < 2:
        fault = feed_parser(parser, chunk)
        started += [element for _, element in events_of(parser)]
        if len(started) < 2:
            chunk = stream.read(CHUNK)
            data += chunk
    if fault and len(started) < least:
        raise InputError(fault)
    if not started:
        raise InputError("not well-formed XML: there is no root element")
    return Head(data, started[:2], has_doctype)


def find_places(stream: BinaryIO) -> list[tuple[str, ...]]:
    """Return the paths at which records may be, by the first megabyte, unless they are all below the root."""
    parser = parser_of(("start",))
    chunk, _ = _prolog(stream)
    root, size = None, 0
    while chunk and size < _MOST_LOOKED_AT:
        fault = feed_parser(parser, chunk)
        for _, element in events_of(parser):
            root = element if root is None else root
        size += len(chunk)
        chunk = b"" if fault else stream.read(CHUNK)
    if root is None:
        return []
    paths = _repeated_below(root, ())
    return [] if len({child.tag for child in root}) == 1 and len(root) > 1 else paths


def _repeated_below(element: _Element, above: tuple[str, ...]) -> list[tuple[str, ...]]:
    """Return the paths of the outermost elements with parts that are several below one parent.

    None beside another element with one of their attributes: it may be a record under another name.
    """
    here = (*above, element.tag)
    children = list(element)
    counts = Counter(child.tag for child in children if len(child) or child.keys())
    if repeated := [tag for tag, count in counts.items() if count > 1]:
        named = {name for child in children if child.tag in repeated for name in child.attrib}
        stray = any(counts[child.tag] == 1 and named.intersection(child.attrib) for child in children)
        return [] if stray else [(*here, tag) for tag in repeated]
    if len(here) >= _DEEPEST_PLACE:
        return []
    return [path for child in children for path in _repeated_below(child, here)]


def _prolog(stream: BinaryIO) -> tuple[bytes, bool]:
    """Read up to the root without a parser, since a parser processes a DOCTYPE before it can be refused.

    One that only names a DTD is replaced by blanks, so that no parser sees it: nothing is loaded, and every
    entity is undefined. Also return whether there was one.
    """
    head = stream.read(CHUNK).removeprefix(codecs.BOM_UTF8)
    has_doctype = False
    while True:
        begin = cast("re.Match[bytes]", _MISC.match(head)).end()
        rest = head[begin:][: len(_DOCTYPE)]
        if rest == _DOCTYPE and not has_doctype and (doctype := _EXTERNAL.match(head, begin)):
            head = head[:begin] + re.sub(rb"[^\r\n]", b" ", doctype[0]) + head[doctype.end() :]
            has_doctype = True
            continue
        if rest == _DOCTYPE and (has_doctype or b"[" in head[begin:] or b">" in head[begin:]):
            raise InputError(_REFUSED)
        if rest not in (b"", b"<") and rest[:2] not in (b"<!", b"<?"):
            break
        if len(head) > MAX_PROLOG:
            raise InputError("the XML has no root element within its first MiB")
        chunk = stream.read(CHUNK)
        if not chunk:
            if rest == _DOCTYPE:
                raise InputError(_REFUSED)
            break
        head += chunk
    declared = _ENCODING.match(head)
    if declared and declared[1].lower() not in _UTF8_NAMES:
        raise InputError(f"the XML declares an encoding other than UTF-8: {STATE_ENCODING}")
    return head, has_doctype


def from_element(
    element: _Element,
    *,
    record: int | None = None,
    asides: Collection[tuple[str, ...]] = (),
    trim: bool = False,
) -> Document:
    """Convert a record given as an lxml element, as if it were read from a file with such a layout.

    Raises InputError for nesting beyond 64 and for entities.

    >>> from lxml import etree
    >>> from_element(etree.fromstring('<student id="1"><course><code>CS201</code></course></student>'))
    {'@id': '1', 'course': [{'code': ['CS201']}]}
    """
    from lxml import etree

    if next(element.iter(etree.Entity), None) is not None:
        raise InputError(ENTITY, record=record)
    if next(element.iter(etree.Comment, etree.ProcessingInstruction), None) is not None:
        element = copy.deepcopy(element)
        drop_asides(element, asides)
    return convert_element(element, record, trim=trim)


def convert_element(element: _Element, record: int | None, *, trim: bool) -> Document:
    """Return a record's element with its content as a document (see Xml). Raises InputError."""
    try:
        return _document(element, _attributes_of(element), MAX_DEPTH, SPACE if trim else "")
    except RefusedTextError as refused:
        message = str(refused)
    raise InputError(message, record=record)


def _attributes_of(element: _Element) -> Sequence[tuple[Any, Any]]:
    """Return the names and values of an element's attributes, in time linear in their number."""
    names = element.keys()
    if len(names) <= _FEW:
        return element.items() if names else ()
    return list(zip(names, _values()(element), strict=True))


@cache
def _values() -> Callable[[_Element], list[str]]:
    from lxml import etree

    return cast("Callable[[_Element], list[str]]", etree.XPath("@*", smart_strings=False))


def drop_asides(record: _Element, listed: Collection[tuple[str, ...]], *, alone: bool = False) -> None:
    """Remove comments and processing instructions from a record, except those at the ``listed`` keys.

    ``alone`` raises VerificationError for them instead.
    """
    from lxml import etree

    for aside in [*record.iter(etree.Comment, etree.ProcessingInstruction)]:
        if _keys(aside, record) in listed:
            continue
        if alone:
            raise VerificationError(BESIDE)
        before, parent, tail = aside.getprevious(), aside.getparent(), aside.tail or ""
        assert parent is not None
        if before is None:
            parent.text = (parent.text or "") + tail
        else:
            before.tail = (before.tail or "") + tail
        parent.remove(aside)


def _keys(aside: Any, record: _Element) -> tuple[str, ...]:
    """Return the keys from a record down to a comment or a processing instruction."""
    keys = [COMMENT if (key := _KEYS[aside.tag]) == COMMENT else key + aside.target]
    while (aside := aside.getparent()) is not record:
        keys.append(aside.tag)
    return tuple(reversed(keys))


class _ElementKeys(dict[Any, str]):
    """A cache of the keys of elements by the parser's names, so that equal keys are one string."""

    before = ""

    def __missing__(self, name: Any) -> str:
        if len(self) == _MOST_NAMES:
            self.clear()
        key = self[name] = self.before + name if isinstance(name, str) else _aside(name)
        return key


def _aside(kind: object) -> str:
    from lxml import etree

    return COMMENT if kind is etree.Comment else INSTRUCTION


class _AttributeKeys(_ElementKeys):
    """The same for attributes."""

    before = "@"


_KEYS = _ElementKeys()
_ATTRIBUTE_KEYS = _AttributeKeys()


def _document(element: _Element, attributes: Sequence[tuple[Any, Any]], room: int, around: str) -> Document:
    """Convert an element to an object, without the characters ``around`` its text."""
    if room == 0:
        raise RefusedTextError(TOO_DEEP)
    document: Document = {_ATTRIBUTE_KEYS[name]: value for name, value in attributes}
    text = element.text or ""
    if not text.strip(SPACE):
        text = ""
    for child in element:
        inner = _attributes_of(child)
        value: Value
        if inner or len(child):
            value = _document(child, inner, room - 1, around)
        else:
            value = (child.text or "").strip(around)
        key = _KEYS[child.tag]
        if key == INSTRUCTION:
            key += cast("Any", child).target
        if key in document:
            cast("Siblings", document[key]).append(value)
        else:
            document[key] = Siblings((value,))
        tail = child.tail
        if tail is not None and tail.strip(SPACE):
            text += tail
    if text:
        document[TEXT] = text.strip(around)
    return document

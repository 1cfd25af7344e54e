"""The XML parser: chunks in, events out; DOCTYPE, entities and other risks are refused."""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, BinaryIO, Literal, NamedTuple, cast

from hierdata.ground.errors import InputError

if TYPE_CHECKING:
    from lxml.etree import XMLPullParser, _Element

CHUNK = 1 << 16
MAX_PROLOG = 1 << 20

Event = Literal["start", "end", "comment", "pi"]
ASIDES: tuple[Event, ...] = ("comment", "pi")

ENTITY = "the XML uses an entity other than the five that XML defines"
NOT_UTF8 = "the file is not UTF-8"

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
        if rest == _DOCTYPE and not has_doctype and (found := _EXTERNAL.match(head, begin)):
            head = head[:begin] + re.sub(rb"[^\r\n]", b" ", found[0]) + head[found.end() :]
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
        raise InputError("the XML declares an encoding other than UTF-8: convert it")
    return head, has_doctype

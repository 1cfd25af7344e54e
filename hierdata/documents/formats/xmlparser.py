"""XML as the parser gives it: chunks in, events out, and everything refused that could do harm."""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, BinaryIO, Literal, NamedTuple, cast

from hierdata.errors import InputError

if TYPE_CHECKING:
    from lxml.etree import XMLPullParser, _Element

CHUNK = 1 << 16
MAX_PROLOG = 1 << 20

Event = Literal["start", "end", "start-ns", "comment", "pi"]
ASIDES: tuple[Event, ...] = ("comment", "pi")

ENTITY = "the XML uses an entity beside the five that XML defines"
NOT_UTF8 = "the file is not UTF-8"

_DOCTYPE = b"<!DOCTYPE"
_MISC = re.compile(rb"(?:[ \t\r\n]+|<\?.*?\?>|<!--.*?-->)*", re.DOTALL)
_ENCODING = re.compile(rb"""<\?xml\s[^>]*?\bencoding\s*=\s*["']([^"']*)["']""")
_UTF8_NAMES = (b"utf-8", b"utf8", b"us-ascii", b"ascii")
_LIMITS = "the XML is beyond the parser's limits"
# What libxml2's error codes say where it helps the user; its own messages quote the file.
_REASONS = {26: ENTITY, 81: NOT_UTF8, 110: _LIMITS, 114: _LIMITS}


def parser_of(
    events: Sequence[Event], tags: tuple[str, ...] | None = None, *, asides: bool = False
) -> XMLPullParser:
    """A parser that answers by these events; comments and processing instructions are ``asides``."""
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
    """What the parser has found since the last call."""
    return cast("Iterator[tuple[str, _Element]]", parser.read_events())


def chunks_of(head: bytes, stream: BinaryIO) -> Iterator[bytes]:
    """Yield what was read already, the rest, and an empty chunk for the end."""
    chunk = head
    while chunk:
        yield chunk
        chunk = stream.read(CHUNK)
    yield b""


def fed(parser: XMLPullParser, chunk: bytes, *, last: bool = False) -> str:
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


class Head(NamedTuple):
    """The beginning of a file: its bytes, its first two elements, and the prefixes declared in it."""

    data: bytes
    elements: list[_Element]
    namespaces: dict[str, str]


def head_of(stream: BinaryIO, least: int) -> Head:
    """Read on until the first two elements have begun.

    Prefixes are those of the root and, where these leave a namespace without one, of elements below it.
    Raises InputError if the XML breaks before ``least`` elements, or has no root at all.
    """
    parser = parser_of(("start", "start-ns"))
    chunk = data = _prolog(stream)
    started: list[_Element] = []
    declared: list[tuple[str, str]] = []
    fault = ""
    while chunk and not fault and len(started) < 2:
        fault = fed(parser, chunk)
        for event, found in cast("Iterator[tuple[str, Any]]", parser.read_events()):
            (started if event == "start" else declared).append(found)
        if len(started) < 2:
            chunk = stream.read(CHUNK)
            data += chunk
    if fault and len(started) < least:
        raise InputError(fault)
    if not started:
        raise InputError("not well-formed XML: there is no root element")
    namespaces = {prefix or "": uri for prefix, uri in started[0].nsmap.items()}
    for prefix, uri in declared:
        if prefix and prefix not in namespaces and uri not in namespaces.values():
            namespaces[prefix] = uri
    return Head(data, started[:2], namespaces)


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

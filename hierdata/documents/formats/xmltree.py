"""Convert XML elements to documents."""

from __future__ import annotations

import copy
from collections.abc import Callable, Collection, Sequence
from functools import cache
from typing import TYPE_CHECKING, Any, cast

from hierdata.documents.document import COMMENT, INSTRUCTION, TEXT, Document, Siblings, Value
from hierdata.documents.formats.base import BESIDE, MAX_DEPTH
from hierdata.documents.formats.decoder import TOO_DEEP, RefusedTextError
from hierdata.documents.formats.xmlparser import ENTITY
from hierdata.ground.errors import InputError, VerificationError

if TYPE_CHECKING:
    from lxml.etree import _Element

SPACE = " \t\r\n"

_MOST_NAMES = 10_000
"""Maximum number of cached names; a file may have any number."""
_FEW = 32
"""Attributes up to which ``items()`` is fast: it looks up each value by its name, in a list."""


def from_element(
    element: _Element, *, record: int | None = None, asides: Collection[tuple[str, ...]] = ()
) -> Document:
    """Convert a record given as an lxml element, as if it were read from a file.

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
    return convert_element(element, record)


def convert_element(element: _Element, record: int | None) -> Document:
    """Return a record's element with its content as a document (see Xml). Raises InputError."""
    try:
        return _document(element, attributes_of(element), MAX_DEPTH)
    except RefusedTextError as refused:
        message = str(refused)
    raise InputError(message, record=record)


def attributes_of(element: _Element) -> Sequence[tuple[Any, Any]]:
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


class _Names(dict[Any, str]):
    """A cache of keys by the parser's names, so that equal keys are one string."""

    def __init__(self, before: str) -> None:
        super().__init__()
        self._before = before

    def __missing__(self, name: Any) -> str:
        if len(self) == _MOST_NAMES:
            self.clear()
        key = self[name] = self._before + name if isinstance(name, str) else _aside(name)
        return key


def _aside(kind: object) -> str:
    from lxml import etree

    return COMMENT if kind is etree.Comment else INSTRUCTION


_KEYS = _Names("")
_ATTRIBUTE_KEYS = _Names("@")


def _document(element: _Element, attributes: Sequence[tuple[Any, Any]], room: int) -> Document:
    """Convert an element to an object."""
    if room == 0:
        raise RefusedTextError(TOO_DEEP)
    document: Document = {_ATTRIBUTE_KEYS[name]: value for name, value in attributes}
    text = element.text or ""
    if not text.strip(SPACE):
        text = ""
    for child in element:
        inner = attributes_of(child)
        value: Value = _document(child, inner, room - 1) if inner or len(child) else child.text or ""
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
        document[TEXT] = text
    return document

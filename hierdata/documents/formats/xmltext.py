"""Write documents as XML text, with namespaces and escapes."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from itertools import count

from hierdata.documents.document import COMMENT, INSTRUCTION, TEXT, Document, Value
from hierdata.documents.formats.base import Order
from hierdata.documents.formats.objects import literal
from hierdata.ground.errors import InputError

_XML = "http://www.w3.org/XML/1998/namespace"
_XMLNS = "http://www.w3.org/2000/xmlns/"
_START = (
    "A-Z_a-z\xc0-\xd6\xd8-\xf6\xf8-\u02ff\u0370-\u037d\u037f-\u1fff\u200c\u200d\u2070-\u218f"
    "\u2c00-\u2fef\u3001-\ud7ff\uf900-\ufdcf\ufdf0-\ufffd\U00010000-\U000effff"
)
_NAME = re.compile(f"[{_START}][{_START}\\-.0-9\xb7\u0300-\u036f\u203f\u2040]*")
_FORBIDDEN = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")
# Parsers change line ends in text, and all white space in attributes, unless it is escaped.
_IN_TEXT = re.compile("[&<>\r]|" + _FORBIDDEN.pattern)
_IN_ATTRIBUTE = re.compile('[&<>"\t\n\r]|' + _FORBIDDEN.pattern)
_ESCAPES = str.maketrans({"&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "\r": "&#13;"})
_ATTRIBUTE_ESCAPES = _ESCAPES | str.maketrans({"\t": "&#9;", "\n": "&#10;"})

_MOST_ORDERS = 10_000
_ANY_ORDER: Order = {}


def check_namespaces(namespaces: Mapping[str, str]) -> None:
    """Raise ValueError for a prefix that no XML file can declare."""
    for prefix, uri in namespaces.items():
        if (prefix == "xml") != (uri == _XML) or prefix == "xmlns" or uri == _XMLNS:
            raise ValueError(f"xml and xmlns are bound to their own namespaces: leave {prefix!r} out")
        if (prefix and (_NAME.fullmatch(prefix) is None or not uri)) or _FORBIDDEN.search(uri):
            raise ValueError(f"the prefix {prefix!r} must be an XML name and stand for a URI")


class Markup:
    """Writes the elements of one file as text.

    ``namespaces`` are the prefixes of URIs, "" for the default. Each is declared where it is used: at the
    root for the root's own name, else at the record. An element of any other namespace declares it as the
    default namespace, an attribute gets a prefix of its own.
    """

    def __init__(self, namespaces: dict[str, str]) -> None:
        self._prefixes = {uri: prefix for prefix, uri in reversed(namespaces.items()) if prefix and uri}
        self._prefixes[_XML] = "xml"
        self._default = namespaces.get("", "")
        self._declared = {_XML}
        self._stated = {*self._prefixes.values()}
        self._forget_prefixes()
        self._tags: dict[tuple[str, str], tuple[str, str, str, str]] = {}
        self._attributes: dict[str, tuple[str, str]] = {}
        self._orders: dict[tuple[int, tuple[str, ...]], Sequence[str]] = {}

    def root(self, key: str) -> tuple[str, str, str]:
        """Return the root's opening and closing tag, and the default namespace inside it."""
        name, declaration, default = self._root_tag(key)
        opening = f"<{name}{declaration}{self._declarations()}>"
        self._declared |= self._used.keys()
        return opening, f"</{name}>", default

    def whole(self, key: str, value: Value, order: Order) -> str:
        """Return a record that is the root of its file."""
        name, declaration, default = self._root_tag(key)
        return self._declare(name, self._content(name, declaration, value, default, order))

    def record(self, key: str, value: Value, default: str, order: Order) -> str:
        """Return a record with its content in this order (see Layout).

        ``default`` is the default namespace of its parent.
        """
        self._forget_prefixes()
        name, declaration, default = self._tag(key, default)
        return self._declare(name, self._content(name, declaration, value, default, order))

    def _forget_prefixes(self) -> None:
        self._used: dict[str, str] = {}
        self._new = (name for name in map("ns{}".format, count()) if name not in self._stated)

    def _root_tag(self, key: str) -> tuple[str, str, str]:
        self._forget_prefixes()
        uri, local = _split(key)
        if uri and uri == self._default:
            return local, f' xmlns="{_attribute_text(uri)}"', uri
        return self._tag(key, "")

    def _declare(self, name: str, text: str) -> str:
        """Add the declarations of all used prefixes behind an element's name."""
        if self._used.keys() <= self._declared:
            return text
        return f"<{name}{self._declarations()}{text[len(name) + 1 :]}"

    def _declarations(self) -> str:
        """Return the declarations of the used prefixes that the root does not declare."""
        undeclared = sorted((prefix, uri) for uri, prefix in self._used.items() if uri not in self._declared)
        return "".join(f' xmlns:{_check_name(prefix)}="{_attribute_text(uri)}"' for prefix, uri in undeclared)

    def _content(self, name: str, declaration: str, value: Value, default: str, order: Order) -> str:
        if not isinstance(value, dict):
            text = _text(_scalar(value))
            return f"<{name}{declaration}>{text}</{name}>" if text else f"<{name}{declaration}/>"
        opening, content, text = [f"<{name}{declaration}"], [], ""
        for inner in self._in_order(value, order) if order else value:
            item = value[inner]
            if item is None:
                continue
            if inner.startswith("@"):
                opening.append(self._attribute(inner, item))
            elif inner == TEXT:
                text = _text(_scalar(item))
            elif inner == COMMENT or inner.startswith(INSTRUCTION):
                content += [_aside(inner, each) for each in (item if isinstance(item, list) else [item])]
            elif isinstance(item, list):
                below = order.get(inner, _ANY_ORDER)
                content += [self._element(inner, each, default, below) for each in item if each is not None]
            else:
                content.append(self._element(inner, item, default, order.get(inner, _ANY_ORDER)))
        # Text has one place, behind the elements, since readers do not know where it stood between them.
        content.append(text)
        if not any(content):
            return "".join(opening) + "/>"
        return "".join(opening) + ">" + "".join(content) + f"</{name}>"

    def _in_order(self, value: Document, order: Order) -> Sequence[str]:
        keys = tuple(value)
        known = self._orders.get((id(order), keys))
        if known is None:
            if len(self._orders) == _MOST_ORDERS:
                self._orders.clear()
            places = {key: place for place, key in enumerate(order)}
            known = sorted(keys, key=lambda key: places.get(key, len(places)))
            self._orders[id(order), keys] = known
        return known

    def _element(self, key: str, value: Value, default: str, order: Order) -> str:
        name, declaration, default = self._tag(key, default)
        return self._content(name, declaration, value, default, order)

    def _tag(self, key: str, default: str) -> tuple[str, str, str]:
        """Return an element's name, its namespace declaration and the default namespace inside it."""
        known = self._tags.get((key, default))
        if known is None:
            uri, local = _split(key)
            if uri == default:
                known = (local, "", default, "")
            elif uri in self._prefixes:
                known = (f"{self._prefixes[uri]}:{local}", "", default, uri)
            else:
                known = (local, f' xmlns="{_attribute_text(uri)}"', uri, "")
            self._tags[key, default] = known
        name, declaration, default, uri = known
        if uri:
            self._used[uri] = self._prefixes[uri]
        return name, declaration, default

    def _attribute(self, key: str, value: Value) -> str:
        known = self._attributes.get(key)
        if known is None:
            uri, local = _split(key[1:])
            if local == "xmlns":
                raise InputError(_NO_NAME)
            known = self._attributes[key] = (uri, local)
        uri, local = known
        name = f"{self._prefix(uri)}:{local}" if uri else local
        return f' {name}="{_attribute_text(_scalar(value))}"'

    def _prefix(self, uri: str) -> str:
        """Return the prefix of a namespace for attributes of this record: the stated one, or a new one."""
        if uri not in self._used:
            self._used[uri] = self._prefixes.get(uri) or next(self._new)
        return self._used[uri]


_NO_NAME = "a field has a name that XML does not allow"


def _split(key: str) -> tuple[str, str]:
    """Split a name in Clark notation into namespace and local name."""
    uri, closed, local = key[1:].partition("}") if key.startswith("{") else ("", "", key)
    if uri and not closed:
        raise InputError(_NO_NAME)
    return uri, _check_name(local)


def _aside(key: str, value: Value) -> str:
    """Return a comment or a processing instruction."""
    text = _scalar(value)
    if key == COMMENT:
        opening, closing, fits = "<!--", "-->", "--" not in text and not text.endswith("-")
    else:
        opening, closing, fits = f"<?{_check_name(key.removeprefix(INSTRUCTION))} ", "?>", "?>" not in text
    if not fits or _FORBIDDEN.search(text):
        raise InputError("a comment or processing instruction has characters that XML does not allow there")
    return opening + text + closing


def _check_name(name: str) -> str:
    if not _NAME.fullmatch(name):
        raise InputError(_NO_NAME)
    return name


def _scalar(value: Value) -> str:
    if isinstance(value, str):
        return value
    if isinstance(value, dict | list):
        raise InputError("an attribute or a text can have only one value in XML, but this one has several")
    return "" if value is None else literal(value)


def _text(text: str) -> str:
    return text if _IN_TEXT.search(text) is None else _escape(text, _ESCAPES)


def _attribute_text(text: str) -> str:
    return text if _IN_ATTRIBUTE.search(text) is None else _escape(text, _ATTRIBUTE_ESCAPES)


def _escape(text: str, escapes: dict[int, str]) -> str:
    if _FORBIDDEN.search(text):
        raise InputError("a text contains a character that XML does not allow")
    return text.translate(escapes)

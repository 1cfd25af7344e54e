"""A document: nested plain data as read by a format. Every other package may use this type."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal
from typing import TypeAlias
from urllib.parse import quote

Scalar: TypeAlias = "str | int | Decimal | bool | None"
Value: TypeAlias = "Scalar | list[Value] | dict[str, Value]"
Document: TypeAlias = "dict[str, Value]"


class Numeral(Decimal):
    """A decimal number whose spelling in the input differs from ``str(Decimal)``; ``text`` keeps it.

    >>> Numeral("1e2").text, Numeral("1e2") == 100
    ('1e2', True)
    """

    text: str

    def __new__(cls, text: str) -> Numeral:
        """Read the text as a decimal and keep it."""
        number = super().__new__(cls, text)
        number.text = text
        return number

    def __reduce__(self) -> tuple[type[Numeral], tuple[str]]:
        """Copy and pickle by the spelling."""
        return Numeral, (self.text,)


class Siblings(list["Value"]):
    """Child elements with one name; whether a path can have several depends on the whole collection."""


TEXT = "#text"
"""The key of an element's own text if it has attributes or children too."""
COMMENT = "#comment"
"""The key of an element's comments."""
INSTRUCTION = "?"
"""The prefix of the key of processing instructions, before their target: no XML name begins with it."""
LIST_IN_ITEM = "value"
"""The key of a list inside an array item: XML has no lists in lists."""


def is_element_key(key: str) -> bool:
    """Return whether a key of XML is that of an element, not of an attribute, a text or the like."""
    return key not in (TEXT, COMMENT) and not key.startswith(("@", INSTRUCTION))


def list_key(key: str) -> str:
    """Return the key of a value that has become a list: in XML attributes and text cannot repeat.

    >>> list_key("@grade"), list_key("#text"), list_key("grade")
    ('grade', 'text', 'grade')
    """
    return "text" if key == TEXT else key.removeprefix("@")


GROUP = "group"
"""The key of a vertex's group if sensitive values are published separately."""
COUNT = "count"
"""The key of the number of times a value occurs in its group."""
SENSITIVE_PART = "sensitive"
"""The part of a release with the records' own sensitive values if they are published separately."""


def group_key(table: int | None = None) -> str:
    """Return the key of a record's group; ``table`` is the number of the table that has groups of its own.

    >>> group_key(), group_key(2)
    ('group', 'group_2')
    """
    return GROUP if table is None else f"{GROUP}_{table}"


def _plain(key: str) -> str:
    return quote(key, safe="").replace("-", "%2D").replace(".", "%2E")


def sensitive_part(keys: Sequence[str], table: int | None = None) -> str:
    """Return the part for the vertices at these keys: a file name without suffix, different for every path.

    ``table`` is its number, from 1, if a vertex type has several.

    >>> sensitive_part(()), sensitive_part(("courses", "books")), sensitive_part(("a-b/c",), 2)
    ('sensitive', 'sensitive-courses-books', 'sensitive-a%2Db%2Fc-2')
    """
    number = () if table is None else (str(table),)
    return "-".join((SENSITIVE_PART, *(_plain(key) for key in keys), *number))


_DIGITS = 19
"""More digits than any count has; a longer text is not read."""


def single(value: Value) -> Value:
    """Return the content of an element that occurs once, any other value unchanged."""
    return value[0] if isinstance(value, Siblings) and len(value) == 1 else value


def field_at(item: Value, keys: Sequence[str]) -> Value:
    """Return the value of a field of an item, None if it is missing; an element alone is its own value."""
    for key in keys:
        item = single(item.get(key)) if isinstance(item, dict) else None
    return item


def put_value(document: Document, keys: Sequence[str], value: Value) -> None:
    """Put a value into a document at the given keys, through objects, which are made where there are none."""
    for key in keys[:-1]:
        inner = document.setdefault(key, {})
        assert isinstance(inner, dict), "the keys lead through objects"
        document = inner
    document[keys[-1]] = value


def whole(value: Value) -> int | None:
    """Return a value as an integer of at least 0, else None; XML and CSV have only text.

    A number has one spelling: for a reader who joins by text, 07 and 7 would be two groups.

    >>> whole("12"), whole(0), whole("-1"), whole(True), whole("07")
    (12, 0, None, None, None)
    """
    if isinstance(value, str) and value.isascii() and value.isdecimal() and len(value) <= _DIGITS:
        number = int(value)
        return number if str(number) == value else None
    return value if type(value) is int and value >= 0 else None

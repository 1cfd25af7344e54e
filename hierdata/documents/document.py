"""A document: nested plain data, as a format read it. The one noun that every floor above may use."""

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
    """Element children of one name. Whether such a path holds one or many is for the collection to decide."""


TEXT = "#text"
"""The key of an element's own text, where it has attributes or children too."""
COMMENT = "#comment"
"""The key of an element's comments."""
INSTRUCTION = "?"
"""What the key of processing instructions begins with, before their target: no name of XML does."""
LIST_IN_ITEM = "value"
"""The key under which an item of an array that has become a list holds it: XML has no lists in lists."""


def list_key(key: str) -> str:
    """The key of a value that has become a list: in XML only elements repeat, attributes and text do not.

    >>> list_key("@grade"), list_key("#text"), list_key("grade")
    ('grade', 'text', 'grade')
    """
    return "text" if key == TEXT else key.removeprefix("@")


GROUP = "group"
"""The key of a vertex's group, where sensitive values are published apart."""
COUNT = "count"
"""The key of how often a value occurs in its group."""
SENSITIVE_PART = "sensitive"
"""The part of a release that holds the records' own sensitive values, where they are published apart."""


def _plain(key: str) -> str:
    return quote(key, safe="").replace("-", "%2D").replace(".", "%2E")


def sensitive_part(keys: Sequence[str], table: int | None = None) -> str:
    """The part for the vertices at these keys: a file's name without its suffix, and one for every path.

    ``table`` is its number, from 1, where a vertex type has several.

    >>> sensitive_part(()), sensitive_part(("courses", "books")), sensitive_part(("a-b/c",), 2)
    ('sensitive', 'sensitive-courses-books', 'sensitive-a%2Db%2Fc-2')
    """
    number = () if table is None else (str(table),)
    return "-".join((SENSITIVE_PART, *(_plain(key) for key in keys), *number))

"""Types of published columns: the source's type if all values fit it, otherwise a type that holds them."""

from __future__ import annotations

from collections.abc import Set
from decimal import Decimal
from typing import Literal, TypeAlias

from hierdata.documents.document import Value

Kind: TypeAlias = Literal["whole", "large", "number", "boolean", "text", "nested"]
"""The kind of a published value; large: a whole number beyond 64 bits."""

TEXT, JSON = "text", "jsonb"
_WHOLE = ("smallint", "integer", "bigint")
_NUMBERS = ("numeric", "real", "double precision")
_TEXTS = ("text", "character varying", "character", "name", '"char"')
_LARGEST = 2**63


def kind_of(value: Value) -> Kind | None:
    """Return the kind of a value, None for null.

    >>> kind_of(7), kind_of(True), kind_of("[1, 5]"), kind_of(None)
    ('whole', 'boolean', 'text', None)
    """
    if value is None:
        return None
    if isinstance(value, bool):
        return "boolean"
    if isinstance(value, int):
        return "whole" if -_LARGEST <= value < _LARGEST else "large"
    if isinstance(value, Decimal):
        return "number"
    return "text" if isinstance(value, str) else "nested"


def type_of(source: str | None, kinds: Set[Kind]) -> str:
    """Return the type of a column with values of these kinds; ``source`` is the original's type, if known.

    A column published as text keeps a type that is neither text nor a number only if the server can read all
    its values as that type (``must_be_tried``).

    >>> type_of("smallint", {"whole"}), type_of("smallint", {"whole", "text"}), type_of("date", {"text"})
    ('smallint', 'text', 'date')
    >>> type_of(None, {"whole"}), type_of(None, {"whole", "number"}), type_of("integer[]", {"nested"})
    ('bigint', 'numeric', 'jsonb')
    """
    if source in ("json", JSON) or kinds == {"nested"}:
        return JSON
    if not kinds:
        return TEXT if source in (None, *_TEXTS) or "[" in (source or "") else str(source)
    if kinds == {"boolean"}:
        return "boolean"
    if kinds == {"text"}:
        return TEXT if source is None or source in (*_WHOLE, *_NUMBERS, *_TEXTS, "boolean") else source
    if kinds <= {"whole", "large", "number"}:
        whole = kinds == {"whole"}
        if source in _NUMBERS or (whole and source in _WHOLE):
            return str(source)
        return "bigint" if whole else "numeric"
    return TEXT


def must_be_tried(type: str, kinds: Set[Kind]) -> bool:
    """Return whether only the server can tell if all texts of a column are values of a type."""
    return kinds == {"text"} and type != TEXT

"""JSON text to values, strictly: what JSON parsers commonly let pass is refused, and numbers stay exact."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from decimal import Decimal
from typing import NoReturn

from hierdata.documents.document import Document, Numeral, Value
from hierdata.documents.formats.base import MAX_DEPTH
from hierdata.documents.scalars import KEPT

MAX_DIGITS = 4300
"""Characters of a number that are accepted (Python's own limit for integers)."""
MAX_EXPONENT = 400

ENDS_EARLY = "the JSON text ends too early: is it complete?"
TOO_DEEP = f"values are nested more than {MAX_DEPTH} deep"

SURROGATE = re.compile("[\ud800-\udfff]")
LONE_SURROGATE = "a string holds half of a surrogate pair"

_SURROGATE_ESCAPE = re.compile(r"\\u[dD][89a-fA-F]")
# The longest that is broken off without a quote before it: an escape that makes a surrogate pair.
_LONGEST_TOKEN = 12


class RefusedError(ValueError):
    """Text that is JSON for many parsers and that we refuse. The message holds no data."""


def decode(
    text: str, start: int = 0, room: int = MAX_DEPTH, decoder: json.JSONDecoder | None = None
) -> tuple[Value, int]:
    """Read the value that begins at ``start``; return it and the position after it.

    ``room`` is the nesting that is left for it; ``decoder`` another one of ``strict``. Raises RefusedError,
    or json.JSONDecodeError where the text is no JSON or ends inside the value (see ``may_go_on``).

    >>> decode('[1.50, 1e2] ')
    ([Decimal('1.50'), Decimal('1E+2')], 11)
    >>> decode('{"a": 1, "a": 2}')
    Traceback (most recent call last):
    hierdata.documents.formats.decoder.RefusedError: an object has the same key twice
    """
    try:
        value, end = (decoder or _DECODER).raw_decode(text, start)
    except RecursionError:
        raise RefusedError(TOO_DEEP) from None
    except (json.JSONDecodeError, RefusedError):
        raise
    except ValueError:
        raise RefusedError(f"a number has more than {MAX_DIGITS} digits") from None
    if text.count("{", start, end) + text.count("[", start, end) > room and _nested_beyond(value, room):
        raise RefusedError(TOO_DEEP)
    # Raw halves of a pair cannot come out of UTF-8: they are always written as escapes.
    if text.find("\\u", start, end) >= 0 and _SURROGATE_ESCAPE.search(text, start, end):
        _refuse_lone_surrogates(value)
    return value, end


def may_go_on(error: json.JSONDecodeError, text: str) -> bool:
    """Tell whether more text behind it could turn an error into a value."""
    return error.pos >= len(text) - _LONGEST_TOKEN or error.msg.startswith("Unterminated string")


def complaint(error: json.JSONDecodeError, text: str) -> str:
    """Say what is wrong with a text that is complete; the parser's own words are left out."""
    cut = may_go_on(error, text) and not text.rstrip().endswith(("}", "]"))
    return ENDS_EARLY if cut else "not valid JSON"


def number(text: str) -> Decimal:
    """Read a number with a fraction or an exponent; a Numeral keeps a spelling that Decimal would change.

    Raises RefusedError for more than 4300 characters or an exponent beyond 400: arithmetic with such a number
    takes for ever.
    """
    if len(text) > MAX_DIGITS:
        raise RefusedError(f"a number has more than {MAX_DIGITS} characters")
    if ("e" in text or "E" in text) and abs(int(text.lower().partition("e")[2])) > MAX_EXPONENT:
        raise RefusedError(f"a number has an exponent beyond {MAX_EXPONENT}")
    exact = Decimal(text)
    return exact if str(exact) == text else Numeral(text)


def unique(pairs: list[tuple[str, Value]]) -> Document:
    """An object of its members. Raises RefusedError where two have the same key."""
    document = dict(pairs)
    if len(document) != len(pairs):
        raise RefusedError("an object has the same key twice")
    return document


def _constant(_: str) -> NoReturn:
    raise RefusedError("NaN and infinity are not numbers in JSON")


def strict(members: Callable[[list[tuple[str, Value]]], Value]) -> json.JSONDecoder:
    """A decoder that makes of an object's members what the caller wants."""
    return json.JSONDecoder(
        object_pairs_hook=members, parse_float=_KNOWN.__getitem__, parse_constant=_constant
    )


class _Known(dict[str, Decimal]):
    """Numbers that were met before, by their spelling."""

    def __missing__(self, text: str) -> Decimal:
        found = number(text)
        if len(text) <= _SHORT and len(self) < KEPT:
            self[text] = found
        return found


_KNOWN = _Known()
_SHORT = 32
_DECODER = strict(unique)


_CONTAINERS = {dict, list}


def _nested_beyond(value: Value, room: int) -> bool:
    """Tell whether containers lie more than ``room`` deep: level by level, the cheapest way in Python."""
    level: list[Value] = [value] if value.__class__ in _CONTAINERS else []
    for _ in range(room):
        level = [
            part
            for whole in level
            for part in (whole.values() if isinstance(whole, dict) else whole)  # type: ignore[union-attr]
            if part.__class__ in _CONTAINERS
        ]
        if not level:
            return False
    return bool(level)


def _refuse_lone_surrogates(value: Value) -> None:
    if isinstance(value, str):
        if SURROGATE.search(value):
            raise RefusedError(LONE_SURROGATE)
    elif isinstance(value, list):
        for item in value:
            _refuse_lone_surrogates(item)
    elif isinstance(value, dict):
        for key, item in value.items():
            _refuse_lone_surrogates(key)
            _refuse_lone_surrogates(item)

"""Decode JSON strictly: errors that parsers commonly tolerate are refused, and numbers stay exact."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Collection
from decimal import Decimal
from functools import cache

from hierdata.documents.document import Document, Numeral, Value
from hierdata.documents.formats.base import MAX_DEPTH
from hierdata.documents.scalars import KEPT, DoubleWord

MAX_DIGITS = 4300
"""Maximum characters of a number (Python's own limit for integers)."""
MAX_EXPONENT = 400

ENDS_EARLY = "the JSON text ends too early: is it complete?"
TOO_DEEP = f"values are nested more than {MAX_DEPTH} deep"

SURROGATE = re.compile("[\ud800-\udfff]")
LONE_SURROGATE = "a string contains half of a surrogate pair"

_SURROGATE_ESCAPE = re.compile(r"\\u[dD][89a-fA-F]")
# Length of the longest token that can be cut off without an unclosed quote: an escaped surrogate pair.
_LONGEST_TOKEN = 12


class RefusedTextError(ValueError):
    """Text that many JSON parsers accept and this one refuses. The message contains no data."""


def decode(
    text: str, start: int = 0, room: int = MAX_DEPTH, decoder: json.JSONDecoder | None = None
) -> tuple[Value, int]:
    """Decode the value that begins at ``start``; return it and the position after it.

    ``room`` is the remaining nesting; ``decoder`` is a decoder from ``strict``. Raises RefusedTextError, or
    json.JSONDecodeError if the text is not JSON or ends inside the value (see ``may_go_on``).

    >>> decode('[1.50, 1e2] ')
    ([Decimal('1.50'), Decimal('1E+2')], 11)
    >>> decode('{"a": 1, "a": 2}')
    Traceback (most recent call last):
    hierdata.documents.formats.decoder.RefusedTextError: an object has the same key twice
    """
    try:
        value, end = (decoder or _DECODER).raw_decode(text, start)
    except RecursionError:
        raise RefusedTextError(TOO_DEEP) from None
    except (json.JSONDecodeError, RefusedTextError):
        raise
    except ValueError:
        raise RefusedTextError(f"a number has more than {MAX_DIGITS} digits") from None
    if text.count("{", start, end) + text.count("[", start, end) > room and _nested_beyond(value, room):
        raise RefusedTextError(TOO_DEEP)
    # UTF-8 cannot encode half of a surrogate pair, so it can only be written as an escape.
    if text.find("\\u", start, end) >= 0 and _SURROGATE_ESCAPE.search(text, start, end):
        _refuse_lone_surrogates(value)
    return value, end


def may_go_on(error: json.JSONDecodeError, text: str) -> bool:
    """Return whether more text after it could turn an error into a value."""
    return error.pos >= len(text) - _LONGEST_TOKEN or error.msg.startswith("Unterminated string")


def complaint(error: json.JSONDecodeError, text: str) -> str:
    """Return our message for an error in a complete text; the parser's own message is not used."""
    cut = may_go_on(error, text) and not text.rstrip().endswith(("}", "]"))
    return ENDS_EARLY if cut else "not valid JSON"


def number(text: str) -> Decimal:
    """Read a number with a fraction or an exponent; a Numeral keeps a spelling that Decimal would change.

    Raises RefusedTextError for more than 4300 characters or an exponent beyond 400, since arithmetic with
    such a number takes too long.
    """
    if len(text) > MAX_DIGITS:
        raise RefusedTextError(f"a number has more than {MAX_DIGITS} characters")
    if ("e" in text or "E" in text) and abs(int(text.lower().partition("e")[2])) > MAX_EXPONENT:
        raise RefusedTextError(f"a number has an exponent beyond {MAX_EXPONENT}")
    exact = Decimal(text)
    return exact if str(exact) == text else Numeral(text)


def unique(pairs: list[tuple[str, Value]]) -> Document:
    """Return an object from its members. Raises RefusedTextError if two have the same key."""
    document = dict(pairs)
    if len(document) != len(pairs):
        raise RefusedTextError("an object has the same key twice")
    return document


def strict(
    members: Callable[[list[tuple[str, Value]]], Value], words: Collection[str] = ()
) -> json.JSONDecoder:
    """Return a decoder that calls ``members`` to convert the members of each object.

    ``words`` are those of NaN and infinity that are read; others are refused.
    """

    def read_word(word: str) -> DoubleWord:
        if word not in words:
            raise RefusedTextError(
                f"NaN and infinity are not numbers in JSON: `missing: [{word}]` reads them as missing"
            )
        return DoubleWord(word)

    return json.JSONDecoder(
        object_pairs_hook=members, parse_float=_KNOWN.__getitem__, parse_constant=read_word
    )


@cache
def decoder_with(words: frozenset[str]) -> json.JSONDecoder:
    """Return a decoder of plain JSON that reads these words of NaN and infinity."""
    return strict(unique, words)


class _KnownDecimals(dict[str, Decimal]):
    """A cache of numbers by their spelling."""

    def __missing__(self, text: str) -> Decimal:
        exact = number(text)
        if len(text) <= _SHORT and len(self) < KEPT:
            self[text] = exact
        return exact


_KNOWN = _KnownDecimals()
_SHORT = 32
_DECODER = strict(unique)


_CONTAINERS = {dict, list}


def _nested_beyond(value: Value, room: int) -> bool:
    """Return whether containers are nested deeper than ``room``; level by level is fastest in Python."""
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
            raise RefusedTextError(LONE_SURROGATE)
    elif isinstance(value, list):
        for item in value:
            _refuse_lone_surrogates(item)
    elif isinstance(value, dict):
        for key, item in value.items():
            _refuse_lone_surrogates(key)
            _refuse_lone_surrogates(item)

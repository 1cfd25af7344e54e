"""Plain data as YAML in one line, which the policy reader reads back."""

from __future__ import annotations

import re
from decimal import Decimal
from typing import Any

from hierdata.ground.escaping import escape

_PLAIN = re.compile(
    r"[A-Za-z][\w-]*(?: [\w-]+)*|\$(?:\.[^\W\d]\w*(?:\[\*\])*)+~?|(?:/@?[^\W\d][\w.-]*)+", re.ASCII
)
_WORDS = {"true", "false", "null"}


def flow(value: Any, inside: bool = False) -> str:
    """Return the value in flow style; ``inside`` a collection, a text with brackets is quoted.

    >>> flow({"role": "quasi", "interval": {"steps": [1, Decimal("0.5")]}, "flat": True})
    '{role: quasi, interval: {steps: [1, 0.5]}, flat: true}'
    """
    if isinstance(value, dict):
        return "{" + ", ".join(f"{flow(key, True)}: {flow(item, True)}" for key, item in value.items()) + "}"
    if isinstance(value, list | tuple):
        return "[" + ", ".join(flow(item, True) for item in value) + "]"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int | Decimal):
        return f"{value:f}" if isinstance(value, Decimal) else str(value)
    return text(str(value), inside)


def text(value: str, inside: bool = False) -> str:
    """Return a text, in quotes if necessary.

    >>> print(text("$.a[*].b"), text("$.a[*].b", True), text("$['odd \\n name']"), text("true"))
    $.a[*].b "$.a[*].b" "$['odd \\u000A name']" "true"
    """
    if _PLAIN.fullmatch(value) and value not in _WORDS and not (inside and "[" in value):
        return value
    return '"' + "".join(map(_escape_character, value)) + '"'


def _escape_character(character: str) -> str:
    if character in '"\\':
        return "\\" + character
    if escape(character) == character:
        return character
    point = ord(character)
    return f"\\u{point:04X}" if point < 0x10000 else f"\\U{point:08X}"

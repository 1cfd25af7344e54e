"""Filters of list items in paths: the part of RFC 9535 that compares fields of an item with texts.

``[?@.resource.resourceType == 'Condition' && @.status == 'active']`` selects the items that have these texts
at these fields. Each filter of a list is a vertex type of its own (see ``mixed``).
"""

from __future__ import annotations

import re
from typing import NoReturn, TypeAlias

from hierdata.ground.errors import PolicyError

Conditions: TypeAlias = tuple[tuple[tuple[str, ...], str], ...]
"""The fields of an item, each with the text that it must have, in order and each field once."""

NAME = re.compile(r"[^\W\d]\w*")
QUOTED = re.compile(r"""'((?:[^'\\]|\\.)*)'|"((?:[^"\\]|\\.)*)\"""", re.DOTALL)
BEGIN = re.compile(r"\[\s*\?")
_CONTROL = re.compile(r"[\x00-\x1f]")
_SPACE = re.compile(r"\s*")
_OTHER_OPERATORS = re.compile(r"!=|<=|>=|<|>|\|\||!|=~|=")
_ESCAPE = re.compile(r"\\(?:u([0-9a-fA-F]{4})(?:\\u([dD][c-fC-F][0-9a-fA-F]{2}))?|(.))", re.DOTALL)
_ESCAPES = {"b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "/": "/", "\\": "\\", "'": "'", '"': '"'}
_FORM = "write a filter as [?@.field == 'text'], several conditions joined by &&"


def refuse(text: str, position: int, why: str) -> NoReturn:
    """Raise PolicyError for a path that cannot be read at a position, from 0."""
    raise PolicyError(f"the path {text!r} cannot be read at position {position + 1}: {why}")


def _unescape(text: str, position: int, raw: str) -> str:
    """Return the characters of a quoted name or text, without its quotes. Raises PolicyError."""

    def character(match: re.Match[str]) -> str:
        high, low, short = match.groups()
        if high is None:
            if short not in _ESCAPES:
                refuse(text, position, "unknown escape in a quoted name")
            return _ESCAPES[short]
        units = (high + (low or "")).encode()
        try:
            return bytes.fromhex(units.decode()).decode("utf-16-be")
        except UnicodeDecodeError:
            refuse(text, position, "incomplete surrogate pair in a quoted name")

    return _ESCAPE.sub(character, raw)


def match_name(text: str, position: int) -> re.Match[str]:
    """Return the name that begins at a position, behind its dot. Raises PolicyError."""
    name = NAME.match(text, position)
    if name is None:
        refuse(text, position, "expected a name of letters, digits and _; write others as ['name']")
    return name


def unquote(text: str, position: int, quoted: re.Match[str]) -> str:
    """Return what is in the single or double quotes of a match that begins at a position."""
    return _unescape(text, position, quoted[1] if quoted[1] is not None else quoted[2])


def parse_filter(text: str, position: int) -> tuple[Conditions, int]:
    """Return the conditions of the filter that begins at a position, and where it ends. Raises PolicyError.

    >>> parse_filter("[?@.use == 'work' && @['system'] == \\"phone\\"]", 0)
    (((('system',), 'phone'), (('use',), 'work')), 44)
    """
    conditions: dict[tuple[str, ...], str] = {}
    begin = BEGIN.match(text, position)
    assert begin is not None
    position = begin.end()
    while True:
        start = _skip(text, position)
        keys, position = _parse_field(text, start)
        literal, position = _parse_literal(text, _skip(text, position))
        if conditions.setdefault(keys, literal) != literal:
            refuse(text, start, "a field cannot equal two texts, so this filter matches nothing")
        position = _skip(text, position)
        if text.startswith("&&", position):
            position += 2
        elif text.startswith("]", position):
            return tuple(sorted(conditions.items())), position + 1
        else:
            refuse(text, position, _FORM)


def _skip(text: str, position: int) -> int:
    space = _SPACE.match(text, position)
    assert space is not None
    return space.end()


def _parse_field(text: str, position: int) -> tuple[tuple[str, ...], int]:
    """Read the field of a condition, such as ``@.resource.resourceType``."""
    if not text.startswith("@", position):
        refuse(text, position, _FORM)
    position += 1
    keys: list[str] = []
    while position < len(text):
        if text[position] == ".":
            name = match_name(text, position + 1)
            keys.append(name[0])
            position = name.end()
        elif text[position] == "[":
            quoted = QUOTED.match(text, position + 1)
            if quoted is None or not text.startswith("]", quoted.end()):
                why = "a filter names fields of the item, not items of its lists: @.name or @['name']"
                refuse(text, position, why)
            keys.append(unquote(text, position + 1, quoted))
            position = quoted.end() + 1
        else:
            break
    if not keys:
        refuse(text, position, "a filter compares a field of the item: @.name")
    return tuple(keys), position


def _parse_literal(text: str, position: int) -> tuple[str, int]:
    """Read the comparison of a condition, and the text after it."""
    if not text.startswith("==", position):
        other = _OTHER_OPERATORS.match(text, position)
        why = f"a filter has only == and &&, not {other[0]}" if other else f"expected ==; {_FORM}"
        refuse(text, position, why)
    position = _skip(text, position + 2)
    quoted = QUOTED.match(text, position)
    if quoted is None:
        refuse(text, position, "a filter compares with a text in quotes, not with a number or a field")
    return unquote(text, position, quoted), quoted.end()


def write_filter(conditions: Conditions) -> str:
    """Return the canonical text of a filter.

    >>> write_filter(((("code", "odd name"), "it's"),))
    "[?@.code['odd name'] == 'it\\\\'s']"
    """
    return f"[?{' && '.join(f'@{_write_keys(keys)} == {quote(literal)}' for keys, literal in conditions)}]"


def _write_keys(keys: tuple[str, ...]) -> str:
    return "".join(f".{key}" if NAME.fullmatch(key) else f"[{quote(key)}]" for key in keys)


def quote(text: str) -> str:
    """Return a text in the quotes of JSONPath."""
    escaped = text.replace("\\", "\\\\").replace("'", "\\'")
    return "'" + _CONTROL.sub(lambda control: f"\\u{ord(control[0]):04x}", escaped) + "'"

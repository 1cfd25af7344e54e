"""Find line and column of each key and item in the text of a policy."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

from hierdata.policy.load.yaml import compose
from hierdata.policy.positions import Place, Position

_BLANK = re.compile(r"[ \t\r\n]*")


def yaml_positions(text: str) -> dict[Place, Position]:
    """Return the positions of all keys and items of a YAML text that was read without an error.

    >>> yaml_positions("a:\\n  - b\\n  - {c: 1}")[("a", 1, "c")]
    Position(line=3, column=6)
    """
    found: dict[Place, Position] = {}

    def visit(node: Any, place: Place) -> None:
        if node.id == "scalar":
            return
        for index, part in enumerate(node.value):
            key, below = (index, part) if node.id == "sequence" else (part[0].value, part[1])
            mark = (part if node.id == "sequence" else part[0]).start_mark
            found[*place, key] = Position(mark.line + 1, mark.column + 1)
            visit(below, (*place, key))

    if (root := compose(text)) is not None:
        visit(root, ())
    return found


def json_positions(text: str) -> dict[Place, Position]:
    """Return the positions of all keys and items of a JSON text that was read without an error.

    >>> json_positions('{"a": [1,\\n {"c": 2}]}')[("a", 1, "c")]
    Position(line=2, column=3)
    """
    starts: dict[Place, int] = {}

    def skip(at: int) -> int:
        blank = _BLANK.match(text, at)
        return at if blank is None else blank.end()

    def visit(at: int, place: Place) -> int:
        """Visit the value that begins at ``at``; return the position after it."""
        if text[at] not in "{[":
            return _SCALARS.raw_decode(text, at)[1]
        is_list, index, at = text[at] == "[", 0, skip(at + 1)
        while text[at] not in "}]":
            start = at
            if is_list:
                key: int | str = index
            else:
                key, at = _SCALARS.raw_decode(text, at)
                at = skip(skip(at) + 1)  # behind the colon
            starts[*place, key] = start
            at = skip(visit(at, (*place, key)))
            at = skip(at + 1) if text[at] == "," else at
            index += 1
        return at + 1

    visit(skip(0), ())
    return _in_lines(text, starts)


_SCALARS = json.JSONDecoder(parse_int=str, parse_float=str, parse_constant=str)


def _in_lines(text: str, starts: Mapping[Place, int]) -> dict[Place, Position]:
    """Convert offsets, which rise, to lines and columns."""
    found: dict[Place, Position] = {}
    line, begin = 1, 0
    for place, start in starts.items():
        while (end := text.find("\n", begin, start)) >= 0:
            line, begin = line + 1, end + 1
        found[place] = Position(line, start - begin + 1)
    return found

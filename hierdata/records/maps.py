"""Objects that are used as maps: their keys are data, and each entry is a vertex.

A map is read as the array of its entries, ``[{"key": ..., "value": ...}, ...]``, and published as one:
generalized keys may coincide, so what is published cannot be an object. In a policy ``$.visits`` is the map,
``$.visits[*]`` an entry's value, and ``$.visits[*]~`` its key.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import replace

from hierdata.documents.document import Value
from hierdata.ground.errors import PolicyError
from hierdata.records.path import Path, Step, jsonpath
from hierdata.records.survey import Keys, PathSurvey

KEY = "key"
"""The key of an entry's key."""
VALUE = "value"
"""The key of an entry's value."""

DYNAMIC = (
    "the names of the fields here look like data, such as ids or dates: if the object is a map, state "
    "`map: true` for it and give its keys a rule; otherwise list the fields, or drop them"
)
_MANY_KEYS = 32
_RARE = 10
"""At least ``_MANY_KEYS`` keys that are on average in less than one of ``_RARE`` objects are data."""
_FEW_KEYS = 3
_LOOKS_LIKE_DATA = re.compile(
    r"[0-9]+"
    r"|[+-]?[0-9]{4,}-[0-9]{2}(?:-[0-9]{2}(?:[T ].*)?)?"
    r"|[0-9a-fA-F]{8}-(?:[0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}"
    r"|(?=[a-fA-F]*[0-9])[0-9a-fA-F]{8,}"
    r"|[^@\s]+@[^@\s]+\.[^@\s]+"
    r"|[A-Za-z]{1,4}[-_]?[0-9]{3,}"
)
"""Numbers, dates, UUIDs, hexadecimal ids, e-mail addresses, short prefixes with a number."""


def unfold_map(value: Value) -> list[Value] | None:
    """Return the entries of a map as an array; None if it is not an object.

    >>> unfold_map({"2001": 1, "2002": None})
    [{'key': '2001', 'value': 1}, {'key': '2002', 'value': None}]
    """
    if not isinstance(value, dict):
        return None
    return [{KEY: key, VALUE: item} for key, item in value.items()]


def resolve_maps(path: Path, maps: Collection[Keys], *, whole: bool = False) -> Path:
    """Add the steps into the entries of maps to a path as the user writes it; ``whole``: it names a map.

    Raises PolicyError for ``~`` without a map, and for an array directly inside an array.

    >>> from hierdata.records.path import parse
    >>> maps = {("visits",)}
    >>> [resolve_maps(parse(text), maps).keys for text in ("$.visits[*]~", "$.visits[*].code", "$.visits[*]")]
    [('visits', 'key'), ('visits', 'value', 'code'), ('visits', 'value')]
    """
    steps: list[Step] = []
    ends = [path.ends[0]]
    entered = False  # the last step is an entry's value, added for a map
    for depth, (step, end) in enumerate(zip(path.steps, path.ends[1:], strict=True), 1):
        if step.inner:
            if not entered:
                raise PolicyError(
                    f"{path}: arrays directly inside arrays are not supported; [*][*] goes through a map "
                    "that the policy names with `map: true`"
                )
            steps[-1], ends[-1] = Step(VALUE, True), end
        else:
            if entered and tuple(step.key for step in steps) in maps:
                raise PolicyError(f"{path}: {path.text[: ends[-1]]} is a map: write [*] again for its values")
            steps.append(step)
            ends.append(end)
        itself = whole and depth == len(path.steps) and not step.many
        entered = tuple(step.key for step in steps) in maps and not itself
        if entered:
            steps[-1] = replace(steps[-1], many=True)
            steps.append(Step(VALUE, False))
            ends.append(end)
    if path.named and not entered:
        raise PolicyError(f"{path}: ~ names the keys of a map, but the policy states no map there")
    if path.named:
        steps[-1], ends[-1] = Step(KEY, False), len(path.text)
    if whole and steps:
        steps[-1] = replace(steps[-1], many=True)
    return Path(tuple(steps), path.text, path.place, tuple(ends))


def write_path(steps: Sequence[Step], maps: Collection[Keys]) -> str:
    """Return the JSONPath of steps that go into maps: the inverse of ``resolve_maps``.

    >>> write_path((Step("visits", True), Step("value", False), Step("code", False)), {("visits",)})
    '$.visits[*].code'
    """
    shown: list[Step] = []
    keys: Keys = ()
    named = False
    for step in steps:
        if keys not in maps:
            shown.append(step)
        elif step.key == KEY:
            named = True
        elif step.many:
            shown.append(Step(VALUE, True, inner=True))
        keys = (*keys, step.key)
    return jsonpath(shown) + ("~" if named else "")


def dynamic(shape: PathSurvey, listed: Collection[str] = ()) -> bool:
    """Return whether the keys of an object look like data: many rare keys, or most of them like ids.

    ``listed`` are keys that the policy names; they are not counted.

    >>> from hierdata.records.survey import survey
    >>> records = [{"visits": {f"2001-03-{day:02}": 1}, "name": "x"} for day in range(1, 9)]
    >>> shape = survey(records).shape
    >>> dynamic(shape.children["visits"]), dynamic(shape)
    (True, False)
    """
    keys = [key for key in shape.children if key not in listed]
    if shape.crowded:
        return True
    if len(keys) >= _MANY_KEYS:
        there = sum(shape.children[key].occurrences for key in keys)
        if _RARE * there < len(keys) * shape.objects:
            return True
    return look_like_data(keys)


def look_like_data(keys: Collection[str]) -> bool:
    """Return whether most of some keys look like ids or dates.

    >>> look_like_data(["p001", "p002", "p003", "p004"]), look_like_data(["age", "sex", "zip"])
    (True, False)
    """
    alike = sum(_LOOKS_LIKE_DATA.fullmatch(key) is not None for key in keys)
    return len(keys) >= _FEW_KEYS and 2 * alike > len(keys)

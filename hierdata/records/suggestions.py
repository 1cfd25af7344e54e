"""The field that a rule without a match probably means."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from difflib import SequenceMatcher, get_close_matches
from itertools import islice

from hierdata.records.path import Path, Step, jsonpath, xpath
from hierdata.records.survey import Keys, PathSurvey

_MOST = 1000
"""Limit on the fields that are compared."""
_LONGEST = 100
"""Names above this length are not compared."""
_CLOSE = 5
"""Limit on the similar names whose whole paths are compared."""
UNKNOWN = "<key>"


def suggest(path: Path, shape: PathSurvey, declared: Collection[Keys]) -> tuple[str, str]:
    """Return the path of the most similar field, and the same with all its names; empty if none is similar.

    Fields are similar if their last names are; of these the whole path decides, so that a forgotten or
    misspelled parent is found too. The name of a parent that no rule names (``declared``) may be data: the
    first text has ``<key>`` instead, unless the path states a similar one.
    """
    stated = path.keys
    by_name: dict[str, list[Keys]] = {}
    for keys in islice(_fields(shape, ()), _MOST):
        by_name.setdefault(_local(keys[-1]), []).append(keys)
    names = get_close_matches(
        _local(stated[-1])[:_LONGEST], [name for name in by_name if len(name) <= _LONGEST], _CLOSE
    )
    found = [keys for name in names for keys in by_name[name] if keys != stated]
    if not found:
        parents = {keys[:end] for keys in islice(_fields(shape, ()), _MOST) for end in range(1, len(keys))}
        found = [keys for keys in parents if len(keys) < len(stated) and _is_near(keys, stated)]
    if not found:
        return "", ""
    best = max(found, key=lambda keys: _similarity(keys, stated))
    return _text(path, shape, best, declared), _text(path, shape, best, None)


def _fields(shape: PathSurvey, above: Keys) -> Iterator[Keys]:
    for key, child in shape.children.items():
        yield (*above, key)
        yield from _fields(child, (*above, key))


def _is_near(keys: Keys, stated: Keys) -> bool:
    """Return whether only the last of the keys differs from what is stated there, by a little."""
    end = len(keys) - 1
    return keys[:end] == stated[:end] and _are_alike(keys[end], stated[end])


def _are_alike(one: str, other: str) -> bool:
    return bool(get_close_matches(_local(one)[:_LONGEST], [_local(other)[:_LONGEST]], 1))


def _similarity(keys: Keys, stated: Keys) -> float:
    return sum(
        SequenceMatcher(None, one, other).ratio()
        for one, other in (
            (_local(keys[-1]), _local(stated[-1])),
            ("/".join(map(_local, keys)), "/".join(map(_local, stated))),
        )
    )


def _local(key: str) -> str:
    """Return a key without its namespace; an attribute keeps its ``@``."""
    return ("@" if key.startswith("@") else "") + key.rpartition("}")[2].removeprefix("@")


def _text(path: Path, shape: PathSurvey, keys: Keys, declared: Collection[Keys] | None) -> str:
    """Write keys in the notation of a path; ``declared`` None shows all names."""
    same = next(
        (end for end, (one, other) in enumerate(zip(keys, path.keys, strict=False)) if one != other),
        min(len(keys), len(path.keys)),
    )
    text = path.prefix(same)
    for end in range(same, len(keys)):
        key = keys[end]
        hidden = declared is not None and end < len(keys) - 1 and keys[: end + 1] not in declared
        if hidden and not (end < len(path.keys) and _are_alike(key, path.keys[end])):
            key = UNKNOWN
        there = shape.find(keys[: end + 1])
        text += _step(path, key, there is not None and there.arrays > 0, first=not text)
    return text


def _step(path: Path, key: str, many: bool, first: bool) -> str:
    """Write one step in the notation of a path."""
    if path.place:
        return xpath((), [key])
    if not path.text.startswith("$"):
        return key if first else f".{key}"
    if key == UNKNOWN:
        return f".{key}{'[*]' if many else ''}"
    return jsonpath([Step(key, many)]).removeprefix("$")

"""Fields in a server's own schema, such as a validator of MongoDB, read for structure only."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from hierdata.records.path import Step
from hierdata.records.survey import Keys

_ALTERNATIVES = ("allOf", "anyOf", "oneOf")
_DEEPEST = 64
_MOST = 10_000
"""Maximum number of fields of a schema that are read."""


@dataclass
class Stated:
    """The schema of one path: its types, the number of values it allows, and whether it is required.

    ``choices`` is None if the schema lists no values.
    """

    steps: tuple[Step, ...]
    types: list[str] = field(default_factory=list)
    required: bool = False
    choices: int | None = None
    has_fields: bool = False


def stated_fields(schema: Mapping[str, Any] | None) -> dict[Keys, Stated]:
    """Return the fields in a JSON Schema (with ``bsonType`` or ``type``), by their keys.

    Values in the schema (enumerations, limits, patterns) are never kept; those of enumerations are counted.

    >>> tags = {"bsonType": "array", "items": {"enum": ["a", "b"]}}
    >>> found = stated_fields({"required": ["tags"], "properties": {"tags": tags}})["tags",]
    >>> found.types, found.required, found.choices, found.steps[-1].many
    (['array'], True, 2, True)
    """
    fields: dict[Keys, Stated] = {}
    if schema is not None:
        _visit(schema, (), fields, 0)
    return fields


def _visit(schema: object, steps: tuple[Step, ...], fields: dict[Keys, Stated], depth: int) -> None:
    if not isinstance(schema, Mapping) or depth > _DEEPEST or len(fields) > _MOST:
        return
    stated = fields.get(tuple(step.key for step in steps))
    if stated is not None:
        _describe(schema, stated)
    properties = schema.get("properties")
    if isinstance(properties, Mapping):
        if stated is not None:
            stated.has_fields |= bool(properties)
        required = schema.get("required")
        names = required if isinstance(required, list) else []
        for name, below in properties.items():
            path = (*steps, Step(str(name), False))
            inner = fields.setdefault(tuple(step.key for step in path), Stated(path))
            inner.required |= name in names
            _visit(below, path, fields, depth + 1)
    if stated is not None and isinstance(schema.get("items"), Mapping):
        *before, last = steps
        stated.steps = (*before, Step(last.key, True))
        _visit(schema["items"], stated.steps, fields, depth + 1)
    for key in _ALTERNATIVES:
        alternatives = schema.get(key)
        for alternative in alternatives if isinstance(alternatives, list) else ():
            _visit(alternative, steps, fields, depth + 1)


def _describe(schema: Mapping[str, Any], stated: Stated) -> None:
    for kind in _list_types(schema.get("bsonType", schema.get("type"))):
        if kind not in stated.types and kind.isascii() and kind.isalpha():
            stated.types.append(kind)
    if isinstance(schema.get("enum"), list):
        stated.choices = (stated.choices or 0) + len(schema["enum"])


def _list_types(kinds: object) -> Iterator[str]:
    for kind in kinds if isinstance(kinds, list) else [kinds]:
        if isinstance(kind, str):
            yield kind

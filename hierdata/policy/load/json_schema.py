"""A policy embedded in a JSON Schema: ``x-hierdata`` at each property, and the other keys at the root."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, TypeAlias

from hierdata.documents.formats.base import MAX_DEPTH
from hierdata.ground.errors import PolicyError
from hierdata.policy.problems import Location
from hierdata.records.path import TOO_LONG, Step, jsonpath

KEY = "x-hierdata"

Origins: TypeAlias = "dict[Location, Location]"
"""The place in the schema of each part of the policy."""

_ALTERNATIVES = ("allOf", "anyOf", "oneOf")
_MOST_REFERENCES = 64
_MOST_VISITS = 100_000
"""Limit on places visited: forty definitions with two references each can lead to about 10^12."""


def is_schema(data: object) -> bool:
    """Return whether a file's content is a JSON Schema rather than a plain policy."""
    return isinstance(data, Mapping) and any(key in data for key in ("$schema", "properties", KEY))


def policy_of(schema: Mapping[str, Any]) -> tuple[dict[str, Any], Origins]:
    """Return the policy that a JSON Schema's annotations state, as plain data, and where each part is stated.

    Properties give the paths, arrays ``[*]``; for a map, ``propertyNames`` gives the keys and
    ``additionalProperties`` the values. ``$ref`` within the file and allOf, anyOf, oneOf are followed.
    Raises PolicyError with every annotation that no path leads to.

    >>> tags = {"type": "array", "items": {"type": "string", "x-hierdata": {"role": "quasi"}}}
    >>> policy_of({"x-hierdata": {"version": 1}, "properties": {"tags": tags}})[0]
    {'version': 1, 'fields': {'$.tags[*]': {'role': 'quasi'}}}
    """
    stated = schema.get(KEY, {})
    if not isinstance(stated, Mapping):
        raise PolicyError(f"{KEY}: at the root it must be a mapping with the policy's other keys")
    walk = _SchemaWalk(schema)
    walk.visit(schema, (), ())
    walk.reached.add(id(schema))
    problems = walk.problems
    annotated: dict[int, Location] = {}
    for location, node in _find_annotated(schema, ()):
        annotated[id(node)] = (*location, KEY)
        if id(node) not in walk.reached:
            problems.append(f"{'/'.join(('#', *map(str, location)))}: no property leads to this {KEY}")
    origins: Origins = {(key,): (KEY, key) for key in stated}
    origins |= {("fields", path): annotated[node] for path, node in walk.stated_at.items()}
    fields = dict(stated.get("fields", {}))
    problems += [
        f"fields[{path}]: stated at the root and at the property" for path in walk.fields if path in fields
    ]
    if problems:
        raise PolicyError(problems)
    return {**stated, "fields": {**fields, **walk.fields}}, origins


class _SchemaWalk:
    """The annotations found along properties and items."""

    def __init__(self, root: Mapping[str, Any]) -> None:
        self._root = root
        self.fields: dict[str, Any] = {}
        self.problems: list[str] = []
        self.reached: set[int] = set()
        self.stated_at: dict[str, int] = {}
        self._visits = 0

    def visit(self, schema: object, steps: tuple[Step, ...], refs: tuple[str, ...]) -> None:
        """Collect the annotations at and below one path; ``refs`` are the references that led here."""
        if not isinstance(schema, Mapping):
            return
        self._count_visit(steps)
        if KEY in schema and steps:
            self._record(schema, jsonpath(steps))
        if (reference := schema.get("$ref")) is not None:
            self._follow(str(reference), steps, refs)
        properties = schema.get("properties")
        for name, below in properties.items() if isinstance(properties, Mapping) else ():
            self.visit(below, (*steps, Step(name, False)), refs)
        if "items" in schema and steps:
            self._items(schema["items"], steps, refs)
        if steps:
            self._entries(schema, steps, refs)
        for key in _ALTERNATIVES:
            for alternative in schema.get(key, ()):
                self.visit(alternative, steps, refs)

    def _count_visit(self, steps: tuple[Step, ...]) -> None:
        self._visits += 1
        if self._visits > _MOST_VISITS:
            raise PolicyError(f"the schema's references lead to more than {_MOST_VISITS} places")
        if len(steps) > MAX_DEPTH:
            raise PolicyError(f"the schema's references lead too deep: {TOO_LONG}")

    def _items(self, items: object, steps: tuple[Step, ...], refs: tuple[str, ...]) -> None:
        *before, last = steps
        if last.many:
            self.problems.append(f"{jsonpath(steps)}: arrays directly inside arrays are not supported")
        else:
            self.visit(items, (*before, Step(last.key, True)), refs)

    def _entries(self, schema: Mapping[str, Any], steps: tuple[Step, ...], refs: tuple[str, ...]) -> None:
        """Visit the keys and the values of an object that is a map."""
        *before, last = steps
        inside = (*steps, Step("value", True, inner=True)) if last.many else (*before, Step(last.key, True))
        names = schema.get("propertyNames")
        if isinstance(names, Mapping) and KEY in names:
            self._record(names, f"{jsonpath(inside)}~")
        self.visit(schema.get("additionalProperties"), inside, refs)

    def _record(self, schema: Mapping[str, Any], path: str) -> None:
        self.reached.add(id(schema))
        self.stated_at.setdefault(path, id(schema))
        if self.fields.setdefault(path, schema[KEY]) != schema[KEY]:
            self.problems.append(f"{path}: two annotations differ")

    def _follow(self, reference: str, steps: tuple[Step, ...], refs: tuple[str, ...]) -> None:
        target = self._resolve(reference)
        if target is None:
            self.problems.append(f"{jsonpath(steps)}: the reference {reference} leads nowhere in this file")
        elif reference in refs:
            self.problems.append(f"{jsonpath(steps)}: the reference {reference} is circular")
        elif len(refs) == _MOST_REFERENCES:
            self.problems.append(f"{jsonpath(steps)}: more than {_MOST_REFERENCES} references in a row")
        else:
            self.visit(target, steps, (*refs, reference))

    def _resolve(self, reference: str) -> object:
        head, *parts = reference.split("/")
        node: Any = self._root if head == "#" else None
        for part in parts:
            key = part.replace("~1", "/").replace("~0", "~")
            node = node.get(key) if isinstance(node, Mapping) else None
        return node


def _find_annotated(node: object, location: Location) -> Iterator[tuple[Location, object]]:
    """Yield each annotated object with its place."""
    if isinstance(node, Mapping):
        if KEY in node:
            yield location, node
        for key, below in node.items():
            if key != KEY:
                yield from _find_annotated(below, (*location, key))
    elif isinstance(node, list):
        for index, below in enumerate(node):
            yield from _find_annotated(below, (*location, index))

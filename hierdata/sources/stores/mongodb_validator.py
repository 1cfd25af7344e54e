"""A validator for published documents: every type and key that occurs, and nothing else."""

from __future__ import annotations

from typing import Any

from bson import Binary, Code, Decimal128, Int64, MaxKey, MinKey, ObjectId, Regex, Timestamp
from bson.datetime_ms import DatetimeMS

MOST_KEYS = 1000
"""Maximum number of keys listed for an object; an object with more counts as a map and may have any key."""

_TYPES: dict[type, str] = {
    dict: "object",
    list: "array",
    str: "string",
    bool: "bool",
    int: "int",
    Int64: "long",
    float: "double",
    Decimal128: "decimal",
    ObjectId: "objectId",
    DatetimeMS: "date",
    bytes: "binData",
    Binary: "binData",
    Timestamp: "timestamp",
    Regex: "regex",
    MinKey: "minKey",
    MaxKey: "maxKey",
    type(None): "null",
}


class ValueTypes:
    """The types of all values at one path, and the types below it.

    They come only from published documents. The validator of the original (values, limits, patterns,
    descriptions) may reveal more than the published records, so nothing is taken from it.

    >>> shape = ValueTypes()
    >>> shape.see({"age": 31, "visits": [{"ward": "A"}, {}]})
    >>> shape.see({"age": "[30, 40]"})
    >>> shape.schema()["properties"]["age"], shape.schema()["required"]
    ({'bsonType': ['int', 'string']}, ['age'])
    >>> shape.holds("visits.ward"), shape.holds("visits.doctor")
    (True, False)
    """

    def __init__(self) -> None:
        self._types: dict[str, None] = {}
        self._objects = 0
        self._keys: dict[str, ValueTypes] | None = {}
        self._present: dict[str, int] = {}
        self._items: ValueTypes | None = None

    def see(self, value: object) -> None:
        """Add one value, as the library reads it."""
        self._types[_type(value)] = None
        if isinstance(value, dict):
            self._objects += 1
            for key, member in value.items():
                self._member(key, member)
        elif isinstance(value, list):
            self._items = self._items or ValueTypes()
            for item in value:
                self._items.see(item)

    def holds(self, path: str) -> bool:
        """Return whether anything was seen at a dotted path, as an index names it."""
        key, _, rest = path.partition(".")
        below = [shape for shape in (self, self._items) if shape is not None]
        found = [shape._keys[key] for shape in below if shape._keys is not None and key in shape._keys]
        return any(not rest or shape.holds(rest) for shape in found)

    def schema(self) -> dict[str, Any]:
        """Return the schema that every value seen satisfies, in MongoDB's dialect."""
        types = sorted(self._types)
        schema: dict[str, Any] = {"bsonType": types[0] if len(types) == 1 else types}
        if self._items is not None and self._items._types:
            schema["items"] = self._items.schema()
        if self._objects and self._keys is not None:
            schema["properties"] = {key: shape.schema() for key, shape in self._keys.items()}
            always = [key for key, count in self._present.items() if count == self._objects]
            if always:
                schema["required"] = always
            schema["additionalProperties"] = False
        return schema

    def _member(self, key: str, value: object) -> None:
        if self._keys is None:
            return
        if key not in self._keys:
            # A key that looks like a path or an operator cannot be named in a schema.
            if len(self._keys) == MOST_KEYS or "." in key or key.startswith("$"):
                self._keys = None
                return
            self._keys[key] = ValueTypes()
        self._keys[key].see(value)
        self._present[key] = self._present.get(key, 0) + 1


def _type(value: object) -> str:
    if isinstance(value, Code):
        return "javascript" if value.scope is None else "javascriptWithScope"
    return _TYPES[type(value)]

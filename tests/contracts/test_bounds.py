"""Nothing that a policy or an option states is without a limit."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, get_args, get_type_hints

from typer.models import OptionInfo

from hierdata.cli import app
from hierdata.cli.arguments import MOST_PASSES
from hierdata.domains import bounds
from hierdata.policy.schema import json_schema

LEFT_OPEN = {
    "/$defs/Taxonomy/anyOf/1/properties/tree": "a tree is measured as a file is: by its values, characters "
    "and depth, while it is read",
}
"""Parts of the schema that say nothing of their values, each with the reason."""


def unbounded(node: Any, place: str = "") -> Iterator[str]:
    """Yield the places of a schema where a number, list, map or text has no limit, or anything is allowed."""
    if not is_bounded(node):
        yield place
    for key in ("properties", "$defs"):
        for name, own in node.get(key, {}).items():
            if not own.keys() - {"default", "description"}:
                yield f"{place}/{key}/{name}"
            yield from unbounded(own, f"{place}/{key}/{name}")
    for key in ("prefixItems", "anyOf", "oneOf", "allOf"):
        for at, own in enumerate(node.get(key, ())):
            yield from unbounded(own, f"{place}/{key}/{at}")
    for key in ("items", "additionalProperties"):
        if isinstance(node.get(key), dict):
            yield from unbounded(node[key], f"{place}/{key}")


def is_bounded(node: dict[str, Any]) -> bool:
    """Return whether what a schema says of its own value, without its parts, has a limit."""
    if "enum" in node or "const" in node:
        return True
    between = bool({"minimum", "exclusiveMinimum"} & node.keys()) and "maximum" in node
    bounded = {
        "integer": between,
        "number": between,
        "array": "maxItems" in node,
        "string": "maxLength" in node,
        "object": node.get("additionalProperties", False) is False or "maxProperties" in node,
    }
    return bounded.get(node.get("type", ""), True)


def test_everything_that_a_policy_states_has_a_limit() -> None:
    assert set(unbounded(json_schema())) == set(LEFT_OPEN)


def test_the_check_sees_what_has_no_limit() -> None:
    found = {
        "properties": {
            "a": {"type": "integer", "minimum": 1},
            "b": {
                "anyOf": [{"type": "array", "items": {"type": "string"}}, {"const": "x", "type": "string"}]
            },
            "c": {"type": "object", "additionalProperties": {"type": "number", "maximum": 1, "minimum": 0}},
            "d": {},
        }
    }
    assert list(unbounded(found)) == [
        "/properties/a",
        "/properties/b/anyOf/0",
        "/properties/b/anyOf/0/items",
        "/properties/c",
        "/properties/d",
    ]


def test_numbers_on_the_command_line_have_limits() -> None:
    numbers = 0
    for command in app.registered_commands:
        assert command.callback is not None
        for name, stated in get_type_hints(command.callback, include_extras=True).items():
            kinds = {*get_args(get_args(stated)[0]), get_args(stated)[0]} if get_args(stated) else {stated}
            if not kinds & {int, float}:
                continue
            numbers += 1
            (option,) = (one for one in get_args(stated)[1:] if isinstance(one, OptionInfo))
            assert None not in (option.min, option.max), f"{command.callback.__name__} {name}"
    assert numbers > 10
    assert MOST_PASSES == bounds.MOST_PASSES

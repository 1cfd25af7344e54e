"""Policies at random, valid and nearly valid, from the JSON Schema of the policy."""

from __future__ import annotations

import copy
from collections.abc import Callable
from random import Random
from typing import Any

from hierdata.policy.schema import json_schema

PATHS = ("$.q", "$.z", "$.d", "$.s", "$.c[*].n", "$.c[*].g")
"""The fields of ``records``."""
_NUMBERS = (0, 1, 2, 3, 5, 10, 100, -1, 0.5, 0.1)
_TEXTS = ("", "a", "b", "$.q", "$.c[*]", "$.s", "2/9", "0.5", "1/0", "1e100", "é", "\x1b", "x" * 300)
_WRONG: tuple[Any, ...] = (None, True, "x", -1, 1.5, 10**30, [], {}, [[]], {"a": 1})


def records(draws: Random, count: int = 12) -> list[dict[str, Any]]:
    """Return small records that the policies here are about."""
    return [
        {
            "q": draws.randrange(40),
            "z": str(draws.randrange(100, 999)),
            "d": f"20{draws.randrange(10, 30)}-0{draws.randrange(1, 10)}-1{draws.randrange(10)}",
            "s": draws.choice("ABCDE"),
            "c": [{"n": draws.randrange(9), "g": draws.choice("xyz")} for _ in range(draws.randrange(3))],
        }
        for _ in range(count)
    ]


BASE: dict[str, Any] = {
    "version": 1,
    "models": [{"kind": "k-anonymity", "k": 2}],
    "fields": {
        "$.q": {"role": "quasi", "interval": {"steps": [1, 10]}},
        "$.z": {"role": "quasi", "prefix": {"keep": [3, 1]}},
        "$.d": {"role": "quasi", "date": {"steps": ["day", "year"]}},
        "$.s": {"role": "sensitive"},
        "$.c[*].n": {"role": "quasi", "interval": {"steps": [1, 4]}},
        "$.c[*].g": {"role": "sensitive"},
    },
}


class PolicyMaker:
    """Makes policies: the base, with some of its parts made anew as the schema describes them."""

    def __init__(self, draws: Random) -> None:
        self._draws = draws
        self._schema = json_schema()
        self._top = [key for key in self._schema["properties"] if key not in ("version", "schema", "format")]

    def make(self) -> dict[str, Any]:
        """Return a policy; most have parts that are wrong by themselves or do not go together."""
        policy = copy.deepcopy(BASE)
        for _ in range(self._draws.randrange(1, 4)):
            self._draws.choice((self._change_top, self._change_rule, self._add_model, self._change_engine))(
                policy
            )
        return policy

    def _change_top(self, policy: dict[str, Any]) -> None:
        key = self._draws.choice(self._top)
        if key != "fields":
            policy[key] = self._value(self._schema["properties"][key])

    def _change_rule(self, policy: dict[str, Any]) -> None:
        path = self._draws.choice(PATHS)
        rule = self._schema["$defs"]["FieldRule"]["properties"]
        own = policy["fields"].get(path)
        if self._draws.random() < 0.3 or not isinstance(own, dict):
            policy["fields"][path] = self._value(self._schema["$defs"]["FieldRule"])
            return
        key = self._draws.choice([*own, self._draws.choice([*rule])])
        if key in rule:
            own[key] = self._value(rule[key])

    def _add_model(self, policy: dict[str, Any]) -> None:
        models = self._schema["properties"]["models"]["items"]
        if isinstance(policy.get("models"), list):
            policy["models"].append(self._value(models))

    def _change_engine(self, policy: dict[str, Any]) -> None:
        policy["engine"] = self._value(self._schema["$defs"]["EngineSpec"])

    def _value(self, node: dict[str, Any], depth: int = 0) -> Any:
        """Return a value that a part of the schema describes, and once in a while another."""
        if self._draws.random() < 0.02:
            return self._draws.choice(_WRONG)
        if "$ref" in node:
            return self._value(self._schema["$defs"][node["$ref"].rpartition("/")[2]], depth)
        for key in ("anyOf", "oneOf"):
            if key in node:
                return self._value(self._draws.choice(node[key]), depth)
        if "const" in node:
            return node["const"]
        if "enum" in node:
            return self._draws.choice(node["enum"])
        makers: dict[str, Callable[[dict[str, Any], int], Any]] = {
            "integer": self._number, "number": self._number, "string": self._text,
            "array": self._list, "object": self._mapping, "boolean": lambda *_: self._draws.random() < 0.5,
        }  # fmt: skip
        maker = makers.get(node.get("type", ""))
        return None if maker is None else maker(node, depth)

    def _number(self, node: dict[str, Any], depth: int) -> Any:
        ends = [node[key] for key in ("minimum", "maximum", "exclusiveMinimum") if key in node]
        number = self._draws.choice((*_NUMBERS, *_NUMBERS, *ends))
        if self._draws.random() < 0.05:
            number = self._draws.choice(ends or [0]) * 10 + self._draws.choice((-1, 1))
        return int(number) if node["type"] == "integer" else number

    def _text(self, node: dict[str, Any], depth: int) -> str:
        return self._draws.choice((*PATHS, *_TEXTS))

    def _list(self, node: dict[str, Any], depth: int) -> list[Any]:
        if "prefixItems" in node:
            return [self._value(item, depth + 1) for item in node["prefixItems"]]
        count = self._draws.choice((node.get("minItems", 0), 1, 2, 3)) if depth < 8 else 0
        if self._draws.random() < 0.01:
            count = node.get("maxItems", 10) % 2000 + 1
        return [self._value(node.get("items", {}), depth + 1) for _ in range(count)]

    def _mapping(self, node: dict[str, Any], depth: int) -> dict[str, Any]:
        required = node.get("required", ())
        made = {
            key: self._value(own, depth + 1)
            for key, own in node.get("properties", {}).items()
            if key in required or self._draws.random() < (0.3 if depth < 4 else 0.1)
        }
        if isinstance(node.get("additionalProperties"), dict):
            keys = self._draws.sample((*PATHS, "A", "B", "C", "D", "E", "1"), self._draws.randrange(1, 6))
            made |= {key: self._value(node["additionalProperties"], depth + 1) for key in keys}
        return made

"""The JSON Schema of the policy, generated from the models; editors complete and check policies with it."""

from __future__ import annotations

import json
from typing import Any

from hierdata.policy.policy import Policy


def json_schema() -> dict[str, Any]:
    """Return the schema of a policy file, YAML or JSON."""
    schema = Policy.model_json_schema(mode="validation")
    _tidy(schema)
    schema["required"].remove("models")
    schema["anyOf"] = [
        {"required": ["models"]},
        {"required": ["engine"], "properties": {"engine": {"required": ["preset"]}}},
    ]
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "hierdata policy",
        **{key: part for key, part in schema.items() if key != "title"},
    }


def text() -> str:
    """Return the schema as the text of the file in ``schemas/``."""
    return json.dumps(json_schema(), indent=2, ensure_ascii=False) + "\n"


def _tidy(node: Any) -> None:
    """Keep a docstring's first paragraph, drop what is not JSON Schema, require ``kind`` of union members."""
    if isinstance(node, list):
        for item in node:
            _tidy(item)
    if not isinstance(node, dict):
        return
    if isinstance(node.get("title"), str):
        del node["title"]
    if isinstance(node.get("description"), str):
        node["description"] = " ".join(node["description"].split("\n\n")[0].split())
    node.pop("discriminator", None)
    kind = node.get("properties", {}).get("kind")
    if isinstance(kind, dict) and "const" in kind:
        node["required"] = ["kind", *(name for name in node.get("required", ()) if name != "kind")]
    for part in node.values():
        _tidy(part)

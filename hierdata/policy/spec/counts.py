"""Counts that bounded knowledge declares: for each vertex type a new field of the record with its bin."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from pydantic import ValidationError

from hierdata.ground.errors import PolicyError
from hierdata.records.path import Path, Step, depth_of, jsonpath, parse, xpath
from hierdata.records.shape import CountItems

COUNT_RULE: dict[str, Any] = {"role": "quasi", "flat": True, "weight": 0}
"""The rule of such a field. It is always published, so that its weight would tell nothing of a search."""


def name_count(path: Path) -> str:
    """Return the path of the field that has the count of the vertices at a path.

    >>> name_count(parse("$.visits[*].tests[*]")), name_count(parse("/people/person/visit"))
    ('$.visits_tests_count', '/people/person/visit_count')
    """
    space, _, _ = path.keys[-1].rpartition("}")
    words = (re.sub(r"\W", "_", key.rpartition("}")[2]) for key in path.keys)
    name = f"{'_'.join(words)}_count"
    if path.place:
        return xpath(path.place, [f"{space}}}{name}" if space else name])
    return jsonpath([Step(name, None)]) if path.text.startswith("$") else name


def with_counts(data: Any) -> Any:
    """Return a policy's data with what counts add: a step of the shape that counts, and a rule.

    What cannot be read is left as it is: the checks of the policy tell it.
    """
    if not isinstance(data, dict) or not isinstance(data.get("fields"), Mapping):
        return data
    models, shape = data.get("models"), data.get("shape", ())
    if not isinstance(models, list | tuple) or not isinstance(shape, list | tuple):
        return data
    steps, fields = list(shape), dict(data["fields"])
    for path, edges in _stated_counts(models):
        try:
            namespaces = data.get("namespaces", {})
            field = name_count(parse(path, namespaces, depth_of(data.get("records"), namespaces)))
            step = CountItems(path=path, to=field, bins=edges, optional=True)
        except (PolicyError, ValidationError, AttributeError, IndexError, TypeError):
            continue
        if field not in fields:
            steps.append({step.kind: step.model_dump(exclude_defaults=True)})
            fields[field] = dict(COUNT_RULE)
    return {**data, "shape": steps, "fields": fields} if len(fields) > len(data["fields"]) else data


def _stated_counts(models: list[Any] | tuple[Any, ...]) -> list[tuple[str, Any]]:
    """Return the paths with edges that bounded knowledge states, whatever form the models have."""
    for model in models:
        counts = model.get("counts") if isinstance(model, Mapping) else getattr(model, "counts", None)
        if isinstance(counts, Mapping):
            return list(counts.items())
    return []

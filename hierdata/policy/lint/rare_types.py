"""Vertex types that hardly any record has."""

from __future__ import annotations

from collections.abc import Iterator

from hierdata.policy.checks.sizes import class_size
from hierdata.policy.policy import Policy
from hierdata.records.survey import Keys, Survey


def find_rare_types(policy: Policy, survey: Survey) -> Iterator[tuple[str, str]]:
    """Yield the path of each vertex type that occurs so rarely that its presence could identify a record."""
    size = class_size(policy)
    places: dict[Keys, str] = {}
    for path, rule in policy.rules_by_keys.values():
        if rule.published_as is not None:
            for depth in range(1, len(path.keys) + 1):
                places.setdefault(path.keys[:depth], path.prefix(depth))
    for keys, text in places.items():
        shape = survey.shape.find(keys)
        if shape is None or not (keys in policy.vertices or shape.arrays or shape.longest > 1):
            continue
        present = shape.occurrences - shape.nulls
        if 0 < present < size:
            plural = "s" if present > 1 else ""
            yield (
                text,
                f"occurs in {present} place{plural} only, fewer than the {size} records of a class: "
                "its presence could identify a record, so it will be suppressed",
            )

"""The fields of a collection that no rule names."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from hierdata.records.path import TEXT, Step, jsonpath
from hierdata.records.schema import Rule
from hierdata.records.survey import Keys, Shape


def unlisted_paths(rules: Sequence[Rule], shape: Shape) -> list[str]:
    """The paths of single values that no rule covers, in the notation of the rules."""
    covered = {rule.path.keys for rule in rules if rule.role is not None or rule.drops}
    place = rules[0].path.place
    found = (steps for steps in _leaves(shape, (), covered))
    if place:
        return ["/" + "/".join([*place, *map(_xpath_step, steps)]) for steps in found]
    return [jsonpath(steps) for steps in found]


def _xpath_step(step: Step) -> str:
    return "text()" if step.key == TEXT else step.key


def _leaves(shape: Shape, steps: tuple[Step, ...], covered: set[Keys]) -> Iterator[tuple[Step, ...]]:
    keys = tuple(step.key for step in steps)
    for key, child in shape.children.items():
        if (*keys, key) in covered:
            continue
        below = (*steps, Step(key, child.arrays > 0 or child.longest > 1))
        if child.objects:
            yield from _leaves(child, below, covered)
        else:
            yield below
    if (
        shape.texts
        and shape.objects
        and steps
        and TEXT not in shape.children
        and (*keys, TEXT) not in covered
    ):
        yield (*steps, Step(TEXT, False))

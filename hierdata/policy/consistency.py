"""What models, recoding and preset of a policy say against each other, or against its fields."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from hierdata.errors import PolicyError
from hierdata.policy.problems import Problem, nearest
from hierdata.presets import PRESETS
from hierdata.records.path import parse
from hierdata.records.rules import plant
from hierdata.records.survey import Shape

if TYPE_CHECKING:
    from hierdata.policy.model import Policy


def problems(policy: Policy) -> Iterator[Problem]:
    """Every contradiction that needs more than one part of the policy to be seen."""
    yield from _of_places(policy)
    yield from _of_models(policy)
    yield from _of_values_apart(policy)
    yield from _of_presets(policy)


def _of_places(policy: Policy) -> Iterator[Problem]:
    yield from ((("fields",), str(problem)) for problem in plant(policy.rules(), Shape())[1])
    place = policy.paths[0].place
    if policy.records is not None and place and policy.place != place:
        yield ("records",), "the paths of the fields begin elsewhere"


def _of_models(policy: Policy) -> Iterator[Problem]:
    for index, model in enumerate(policy.models):
        if model.per_attribute and not policy.sensitive:
            yield ("models", index), f"{model.kind} judges sensitive fields, and there are none"
            continue
        for text in model.on or ():
            try:
                known = parse(text, policy.namespaces).keys in policy.sensitive
            except PolicyError as error:
                yield ("models", index, "on"), str(error)
            else:
                if not known:
                    names = [str(policy.by_keys[keys][0]) for keys in policy.sensitive]
                    yield ("models", index, "on"), f"{text} is no sensitive field{nearest(text, names)}"


def _of_values_apart(policy: Policy) -> Iterator[Problem]:
    """What does not go with sensitive values that are published apart."""
    if not policy.separates:
        return
    if not policy.sensitive:
        yield ("recoding",), "anatomy publishes sensitive fields apart, and there are none"
    for index, model in enumerate(policy.models):
        if model.needs_population:
            reason = f"{model.kind} hides records among others of a population, and anatomy hides none"
            yield ("models", index), reason


def _of_presets(policy: Policy) -> Iterator[Problem]:
    if policy.preset is None:
        return
    preset = PRESETS[policy.preset]
    for index, model in enumerate(policy.models):
        if model.kind not in preset.kinds:
            allowed = " and ".join(preset.kinds)
            reason = f"the preset {policy.preset} goes with {allowed}, not with {model.kind}"
            yield ("models", index), reason
    if policy.recoding != preset.recoding:
        yield ("recoding",), f"the preset {policy.preset} fixes {preset.recoding}"

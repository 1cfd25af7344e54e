"""What models, recoding and preset of a policy say against each other, or against its fields."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import TYPE_CHECKING

from hierdata.errors import PolicyError
from hierdata.policy.presets import PRESETS
from hierdata.policy.problems import Problem, nearest
from hierdata.records.rules import plant
from hierdata.records.survey import Keys, Shape

if TYPE_CHECKING:
    from hierdata.policy.policy import Policy


def problems(policy: Policy) -> Iterator[Problem]:
    """Every contradiction that needs more than one part of the policy to be seen."""
    yield from _of_places(policy)
    yield from _of_models(policy)
    yield from _of_values_apart(policy)
    yield from _of_sets(policy)
    yield from _of_tables_apart(policy)
    yield from _of_presets(policy)
    if policy.effort is not None and policy.engine is not None:
        yield ("effort",), "it is for the search that is taken without `engine`: state `passes` of a step"


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
                known = policy.path(text).keys in policy.sensitive
            except PolicyError as error:
                yield ("models", index, "on"), str(error)
            else:
                if not known:
                    names = [str(policy.by_keys[keys][0]) for keys in policy.sensitive]
                    yield ("models", index, "on"), f"{text} is no sensitive field{nearest(text, names)}"


def _of_values_apart(policy: Policy) -> Iterator[Problem]:
    """What does not go with sensitive values that are published apart."""
    if not policy.recoding_traits.separates_values:
        return
    if not policy.sensitive:
        yield ("recoding",), f"{policy.recoding} publishes sensitive fields apart, and there are none"
    for index, model in enumerate(policy.models):
        if model.needs_population and policy.recoding_traits.partitions_each_type:
            reason = (
                f"{model.kind} hides records among others of a population, and {policy.recoding} hides none"
            )
            yield ("models", index), reason


def _of_sets(policy: Policy) -> Iterator[Problem]:
    """Models that engines keep by hierarchy nodes, where smaller sets of values are published."""
    for index, model in enumerate(policy.models):
        if model.needs_population and policy.recoding_traits.publishes_value_sets:
            reason = (
                f"{model.kind} counts people whom hierarchy nodes fit, and sets and ranges fit fewer: take "
                "recoding generalization"
            )
            yield ("models", index), reason


def _of_tables_apart(policy: Policy) -> Iterator[Problem]:
    """What is wrong with the tables that sensitive fields are put into."""
    stated = policy.sensitive_tables
    if stated is None:
        return
    if not policy.recoding_traits.takes_sensitive_tables:
        yield ("sensitive_tables",), f"only recoding slicing has them, not {policy.recoding}"
    if isinstance(stated, int):
        return
    names = {keys: str(policy.by_keys[keys][0]) for keys in policy.sensitive}
    times = Counter[Keys]()
    for index, table in enumerate(stated):
        for text in table:
            keys = policy.path(text).keys
            times[keys] += 1
            if keys not in names:
                what = f"{text} is no sensitive field{nearest(text, names.values())}"
                yield ("sensitive_tables", index), what
    for keys, name in names.items():
        if times[keys] != 1:
            what = "in no table" if not times[keys] else "in more than one place"
            yield ("sensitive_tables",), f"{name} stands {what}: each sensitive field belongs to one table"


def _of_presets(policy: Policy) -> Iterator[Problem]:
    if policy.preset is None:
        return
    preset = PRESETS[policy.preset]
    for index, model in enumerate(policy.models):
        if model.kind not in preset.kinds:
            allowed = ", ".join(preset.kinds)
            reason = f"the preset {policy.preset} does not go with {model.kind}; it goes with {allowed}"
            yield ("models", index), reason
    if policy.recoding != preset.recoding:
        yield ("recoding",), f"the preset {policy.preset} fixes {preset.recoding}"

"""Contradictions between models, recoding and preset of a policy, or with its fields.

Also here: the population table of k-map and delta-presence, and recodings that give records a group id for
each sensitive table.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import TYPE_CHECKING

from hierdata.ground.errors import PolicyError
from hierdata.policy.checks.gates import explain_not_sensitive
from hierdata.policy.presets import PRESETS
from hierdata.policy.problems import Problem
from hierdata.privacy import model_named
from hierdata.records.rules import plant
from hierdata.records.survey import Keys, PathSurvey

if TYPE_CHECKING:
    from hierdata.policy.policy import Policy


def judges_values(kind: str) -> bool:
    """Return whether models of a kind judge sensitive values; the others judge records alone.

    Raises PolicyError if the kind cannot be imported, KeyError if there is none.
    """
    return model_named(kind).per_attribute


def check_combinations(policy: Policy) -> Iterator[Problem]:
    """Yield the contradictions that involve more than one part of the policy."""
    yield from _check_places(policy)
    yield from _check_models(policy)
    yield from _check_separated_values(policy)
    yield from _check_sets(policy)
    yield from _check_separated_tables(policy)
    yield from _check_presets(policy)
    if policy.effort is not None and policy.engine is not None:
        yield ("effort",), "`effort` applies only without `engine`: set `passes` of a step instead"


def _check_places(policy: Policy) -> Iterator[Problem]:
    texts = {str(path): text for path, text in zip(policy.paths, policy.fields, strict=True)}
    for problem in plant(policy.rules(), PathSurvey())[1]:
        stated = texts.get(problem.path)
        if stated is None:
            yield ("fields",), str(problem)
        else:
            yield ("fields", stated), problem.message
    place_of_fields = policy.paths[0].place
    if policy.records is not None and place_of_fields and policy.place != place_of_fields:
        yield ("records",), "the paths of the fields do not begin with this path"


def _check_models(policy: Policy) -> Iterator[Problem]:
    for index, model in enumerate(policy.models):
        if model.per_attribute and not policy.sensitive:
            yield ("models", index), f"{model.kind} judges sensitive fields, and there are none"
            continue
        for text in model.on or ():
            if reason := explain_not_sensitive(policy, text):
                yield ("models", index, "on"), reason


def _check_separated_values(policy: Policy) -> Iterator[Problem]:
    """Yield what cannot be combined with sensitive values that are published separately."""
    if not policy.recoding_traits.separates_values:
        return
    if not policy.sensitive:
        yield ("recoding",), f"{policy.recoding} publishes sensitive fields separately, and there are none"
    for index, model in enumerate(policy.models):
        if model.needs_population and policy.recoding_traits.partitions_each_type:
            reason = f"{model.kind} hides records in a population, which recoding {policy.recoding} cannot do"
            yield ("models", index), reason


def _check_sets(policy: Policy) -> Iterator[Problem]:
    """Yield what does not go with sets of values and ranges, or with facts: models, and partial dates."""
    for index, model in enumerate(policy.models):
        if model.needs_population and policy.recoding_traits.publishes_value_sets:
            problem = (
                f"{model.kind} counts the people who fit hierarchy nodes, and fewer fit sets and ranges: "
                "use recoding generalization"
            )
            yield ("models", index), problem
    below = policy.knowledge is not None
    for keys, domain in policy.quasi.items():
        inside = below and policy.is_inside(keys)
        if domain.has_partial_values and (policy.recoding_traits.publishes_value_sets or inside):
            reason = "facts may not overlap" if inside else "no range has a partial date as its end"
            problem = f"{reason}: leave out the formats without a day, or begin `steps` with month or year"
            yield ("fields", policy.spell_path(keys), "date"), problem


def _check_separated_tables(policy: Policy) -> Iterator[Problem]:
    """Yield what is wrong with the tables that sensitive fields are divided into."""
    stated = policy.sensitive_tables
    if stated is None:
        return
    if not policy.recoding_traits.takes_sensitive_tables:
        reason = f"only recoding slicing and slicing_by_table have them, not {policy.recoding}"
        yield ("sensitive_tables",), reason
    if not isinstance(stated, tuple):
        return
    times = Counter[Keys]()
    for index, table in enumerate(stated):
        for text in table:
            keys = policy.path(text).keys
            times[keys] += 1
            if unfit := explain_not_sensitive(policy, text):
                yield ("sensitive_tables", index), unfit
    for keys in policy.sensitive:
        if times[keys] != 1:
            here = "in no table" if not times[keys] else "in more than one place"
            message = f"{policy.spell_path(keys)} is {here}: put each sensitive field into exactly one table"
            yield ("sensitive_tables",), message


def _check_presets(policy: Policy) -> Iterator[Problem]:
    if policy.preset is None:
        return
    preset = PRESETS[policy.preset]
    for index, model in enumerate(policy.models):
        if model.kind not in preset.kinds:
            allowed = ", ".join(preset.kinds)
            reason = f"the preset {policy.preset} cannot be combined with {model.kind}; it allows {allowed}"
            yield ("models", index), reason
    if policy.recoding != preset.recoding:
        yield ("recoding",), f"the preset {policy.preset} requires recoding {preset.recoding}"


def check_population(policy: Policy) -> Iterator[Problem]:
    """Yield where table and models do not match, or a column belongs to no quasi-identifier."""
    asking = [index for index, model in enumerate(policy.models) if model.needs_population]
    if policy.population is None:
        for index in asking:
            kind = policy.models[index].kind
            yield ("models", index), f"{kind} needs a population table: name its file under population"
        return
    if not asking:
        yield ("population",), "no model asks for a population table: leave it out"
    for text in policy.population.columns or ():
        try:
            known = policy.path(text).keys in policy.quasi
        except PolicyError as error:
            yield ("population", "columns"), str(error)
        else:
            if not known:
                yield ("population", "columns"), f"{text} is not a quasi-identifier"


def check_group_ids(policy: Policy) -> Iterator[Problem]:
    """Yield what is missing or superfluous where records have a group id for each table, or one for all."""
    apart, reason = policy.recoding_traits.groups_each_table, policy.accept.group_ids
    if apart and reason is None:
        instead = None if policy.preset is None else PRESETS[policy.preset].with_shared_groups
        shared = "recoding slicing" if instead is None else f"the preset {instead}"
        yield (
            ("recoding",) if policy.preset is None else ("engine", "preset"),
            f"recoding {policy.recoding} gives each record one group id for each sensitive table, and these "
            "ids may single it out: write `accept: {group-ids: <reason>}` if that is no risk here, or use "
            f"{shared}",
        )
    if reason is not None and not apart:
        yield ("accept", "group-ids"), f"recoding {policy.recoding} has no group ids that single out records"
    if not apart:
        if policy.engine is not None and policy.engine.sensitive_steps is not None:
            where = "engine", "sensitive_steps"
            yield where, f"recoding {policy.recoding} has no groups for each table: use slicing_by_table"
        return
    for index, step in enumerate(policy.sensitive_steps):
        if step.aligns or step.on is not None:
            where_of_step = "engine", "sensitive_steps", index
            yield where_of_step, f"{step.kind} must group the rows of a table: a row engine, without `on`"
    for keys, rule in policy.sensitive.items():
        if rule.asks == "presence":
            path = policy.spell_path(keys)
            yield ("fields", path, "asks"), f"recoding {policy.recoding} has one value for each record here"

"""Sensitive tables that have groups of their own: what the policy must accept, and what it cannot ask."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from hierdata.policy.presets import PRESETS
from hierdata.policy.problems import Problem

if TYPE_CHECKING:
    from hierdata.policy.policy import Policy


def problems(policy: Policy) -> Iterator[Problem]:
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
            path = str(policy.rules_by_keys[keys][0])
            yield ("fields", path, "asks"), f"recoding {policy.recoding} has one value for each record here"

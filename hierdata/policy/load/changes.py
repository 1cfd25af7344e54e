"""A policy with other keys or rules than its file states: changed, or with rules for unlisted fields."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

from hierdata.policy.checks.sensitive import class_size
from hierdata.policy.policy import Policy
from hierdata.policy.spec.fields import FieldRule
from hierdata.policy.spec.values import Keep
from hierdata.records.schema import Role
from hierdata.records.survey import Keys, PathSurvey
from hierdata.records.unlisted import keep_unlisted


def change_policy(policy: Policy, **changes: Any) -> Policy:
    """Return the policy with other values for some keys; None leaves a key out. Nothing is checked."""
    stated = {name: getattr(policy, name) for name in policy.model_fields_set} | changes
    stated = {name: value for name, value in stated.items() if name not in changes or value is not None}
    if "record_schema" in stated:
        stated["schema"] = stated.pop("record_schema")
    changed = Policy.model_validate(stated)
    changed._folder = policy._folder
    changed._file = policy._file
    return changed


def with_fields(policy: Policy, fields: Mapping[str, FieldRule]) -> Policy:
    """Return the policy with these rules in place of its own."""
    return change_policy(policy, fields=dict(fields))


def without_required_fields(policy: Policy) -> Policy:
    """Return the policy for single shaped records, which need not have every field of their collection."""
    found = with_fields(
        policy, {path: rule.model_copy(update={"optional": True}) for path, rule in policy.fields.items()}
    )
    return found.model_copy(update={"shape": (), "individual": None, "control": None})


def add_unlisted(
    policy: Policy, shape: PathSurvey, many_hints: Collection[Keys] = (), *, least: int | None = None
) -> Policy:
    """Return the policy with a rule for each field that ``unlisted: {keep: ...}`` publishes.

    These are the fields that at least as many records hold as the smallest class has, or as ``least`` says.
    """
    if not isinstance(policy.unlisted, Keep):
        return policy
    least = class_size(policy) if least is None else least
    unlisted = keep_unlisted(policy.rules(), shape, Role.QUASI, many_hints, policy.maps, least)
    added = {str(rule.path): FieldRule(role="insensitive") for rule in unlisted}
    return with_fields(policy, {**policy.fields, **added}) if added else policy

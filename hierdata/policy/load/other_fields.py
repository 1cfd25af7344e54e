"""A policy with something else than was stated."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from hierdata.policy.policy import Policy
from hierdata.policy.spec.fields import FieldRule


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
    return found.model_copy(update={"shape": (), "individual": None})

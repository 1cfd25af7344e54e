"""A policy with other rules for its fields than were stated."""

from __future__ import annotations

from collections.abc import Mapping

from hierdata.policy.policy import Policy
from hierdata.policy.spec.fields import FieldRule


def with_fields(policy: Policy, fields: Mapping[str, FieldRule]) -> Policy:
    """Return the policy with these rules in place of its own."""
    stated = {name: getattr(policy, name) for name in policy.model_fields_set}
    stated["fields"] = dict(fields)
    if "record_schema" in stated:
        stated["schema"] = stated.pop("record_schema")
    changed = Policy.model_validate(stated)
    changed._folder = policy._folder
    changed._file = policy._file
    return changed


def without_required_fields(policy: Policy) -> Policy:
    """Return the policy for single shaped records, which need not have every field of their collection."""
    found = with_fields(
        policy, {path: rule.model_copy(update={"optional": True}) for path, rule in policy.fields.items()}
    )
    return found.model_copy(update={"shape": (), "individual": None})

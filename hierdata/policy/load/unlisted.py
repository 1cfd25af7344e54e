"""Rules for the fields that a policy keeps without naming them."""

from __future__ import annotations

from collections.abc import Collection

from hierdata.policy.checks.sizes import class_size
from hierdata.policy.load.other_fields import with_fields
from hierdata.policy.policy import Policy
from hierdata.policy.spec.fields import FieldRule
from hierdata.policy.spec.values import Keep
from hierdata.records.schema import Role
from hierdata.records.survey import Keys, PathSurvey
from hierdata.records.unlisted import keep_unlisted


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

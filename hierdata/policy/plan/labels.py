"""The judge's rules for quasi-identifiers: in which forms the policy lets them be published."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hierdata.judge import QuasiRule

if TYPE_CHECKING:
    from hierdata.policy.policy import Policy


def label_rules(policy: Policy) -> tuple[QuasiRule, ...]:
    """Return the labels that each quasi-identifier may have, from the policy's domains.

    Raises PolicyError for an unusable domain.
    """
    rules = []
    for keys, domain in policy.quasi.items():
        path, field = policy.rules_by_keys[keys]
        labels = domain.labels(policy.folder)
        rules.append(QuasiRule(keys, str(path), labels, frozenset(field.missing)))
    return tuple(rules)

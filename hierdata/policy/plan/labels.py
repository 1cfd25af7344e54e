"""The judge's rules for quasi-identifiers: in which forms the policy lets them be published."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from hierdata.judge import QuasiRule

if TYPE_CHECKING:
    from hierdata.policy.policy import Policy


def label_rules(policy: Policy, codebooks: Mapping[str, Mapping[str, Any]]) -> tuple[QuasiRule, ...]:
    """Return the labels that each quasi-identifier may have, from the policy's domains.

    ``codebooks`` holds, by path, the codebook of each quasi-identifier of the collection, where known. Raises
    PolicyError for an unusable domain.
    """
    rules = []
    for keys, domain in policy.quasi.items():
        path, field = policy.rules_by_keys[keys]
        labels = domain.labels(codebooks.get(str(path), {}), policy.folder)
        rules.append(QuasiRule(keys, str(path), labels, frozenset(field.missing)))
    return tuple(rules)

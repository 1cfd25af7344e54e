"""The smallest class that the models of a policy allow."""

from __future__ import annotations

from collections.abc import Iterator

from hierdata.domains.base import Observed
from hierdata.domains.sensitive import SensitiveDomain
from hierdata.ground.errors import PolicyError
from hierdata.policy.policy import Policy
from hierdata.privacy import PrivacyModel
from hierdata.records.survey import Keys


def class_size(policy: Policy) -> int:
    """Return the smallest class size that all models of a policy allow; engines with a fixed size use it."""
    sizes = []
    for keys, model in pairs(policy):
        try:
            sizes.append(model.bind(None if keys is None else domain_of(policy, keys, {})).min_class_size)
        except PolicyError:
            continue
    return max(sizes, default=1)


def pairs(policy: Policy) -> Iterator[tuple[Keys | None, PrivacyModel]]:
    """Yield each model with each sensitive attribute that it judges; None for models on whole records."""
    for model, scope in policy.scoped_models:
        if not model.per_attribute:
            yield None, model
            continue
        for keys in policy.sensitive:
            if scope is None or keys in scope:
                yield keys, model


def domain_of(policy: Policy, keys: Keys, observed: Observed) -> SensitiveDomain:
    """Build the domain of a sensitive attribute from its observed values."""
    rule = policy.sensitive[keys]
    scale, taxonomy = rule.scale(observed), rule.semantics(policy.folder)
    return SensitiveDomain.build(str(policy.rules_by_keys[keys][0]), observed, scale, rule.number, taxonomy)

"""What is asked of each sensitive attribute, by which models, and the smallest class that all models allow.

A reading says what is asked: the value at a vertex, or the presence of a value among those of a person.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from typing import TypeAlias

from hierdata.domains.base import Observed
from hierdata.domains.sensitive import SensitiveDomain
from hierdata.ground.errors import PolicyError
from hierdata.policy.checks.knowledge import bounds_values_at
from hierdata.policy.policy import Policy
from hierdata.policy.problems import Problem
from hierdata.privacy import PrivacyModel
from hierdata.privacy.base import BY_VALUE, SensitiveReading
from hierdata.records.schema import Schema
from hierdata.records.survey import Keys

Readings: TypeAlias = Mapping[Keys, SensitiveReading]
"""The reading of each sensitive attribute."""


def bound_readings(policy: Policy, schema: Schema) -> Readings:
    """Return the readings for a collection with this schema; see ``resolve_readings``."""
    return resolve_readings(policy, [schema.keys(kind.index) for kind in schema.types if kind.many])


def resolve_readings(policy: Policy, repeated: Collection[Keys] = ()) -> Readings:
    """Return the readings: stated ones, else what follows from the ``repeated`` paths.

    Those that the policy marks with ``[*]`` are repeated too. The default is presence where the innermost
    repeated vertex has no quasi-identifier that is compared: nobody can point at one item of such a list.
    Presets read by value, as their papers do.
    """
    marked = {path.keys[:end] for path in policy.paths for end, step in enumerate(path.steps, 1) if step.many}
    marked.update(repeated)
    pointed_at = {_innermost(keys, marked) for keys in policy.quasi}
    readings = {}
    for keys, rule in policy.sensitive.items():
        vertex = _innermost(keys, marked)
        by_default = "presence" if vertex and vertex not in pointed_at and policy.preset is None else "value"
        asks = rule.asks or ("presence" if rule.within == "record" else by_default)
        presence = SensitiveReading("presence", rule.within or "place")
        readings[keys] = presence if asks == "presence" else BY_VALUE
    return readings


def states_reading(policy: Policy, keys: Keys) -> bool:
    """Return whether the policy fixes the reading of a sensitive field, whatever the collection is."""
    rule = policy.sensitive[keys]
    return rule.asks is not None or rule.within is not None or policy.preset is not None


def _innermost(keys: Keys, repeated: Collection[Keys]) -> Keys:
    """Return the path of the innermost repeated vertex that holds a field, () for the record."""
    above = (keys[:end] for end in range(len(keys), 0, -1))
    return next((vertex for vertex in above if vertex in repeated), ())


def check_readings(policy: Policy) -> Iterator[Problem]:
    """Yield sensitive fields that are to be read in a way that nothing here can judge."""
    for keys, rule in policy.sensitive.items():
        where = "fields", policy.spell_path(keys)
        if rule.within == "record" and policy.recoding_traits.separates_values:
            reason = (
                f"within: record needs each value in its record, and recoding {policy.recoding} publishes "
                "values apart: use within: place"
            )
            yield (*where, "within"), reason
        if rule.asks != "presence" and rule.within != "record":
            continue
        key = "asks" if rule.asks else "within"
        if policy.preset is not None:
            yield (*where, key), f"the preset {policy.preset} judges values: leave `asks` and `within` out"
        elif not is_limited(policy, keys):
            reason = (
                "asks: presence needs a model that limits it here: alpha-k, frequency-l-diversity, "
                "level-alpha-k with its alpha written out, delta-l-diversity, epsilon-m-anonymity, "
                "l-e-diversity or bounded-knowledge with alpha"
            )
            yield (*where, key), reason


def is_limited(policy: Policy, keys: Keys) -> bool:
    """Return whether a model limits the presence of values of a sensitive field."""
    return bounds_values_at(policy, keys) or any(
        model.limits_presence and (scope is None or keys in scope)
        for model, scope in policy.scoped_models
        if model.per_attribute
    )


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


def find_unlimited(policy: Policy) -> list[Keys]:
    """Return the sensitive fields of which no model limits what can be guessed."""
    judged = {keys for keys, _ in pairs(policy)}
    return [keys for keys in policy.sensitive if keys not in judged and not bounds_values_at(policy, keys)]


def domain_of(policy: Policy, keys: Keys, observed: Observed) -> SensitiveDomain:
    """Build the domain of a sensitive attribute from its observed values."""
    rule = policy.sensitive[keys]
    scale, taxonomy, form = (
        rule.scale(observed, policy.folder),
        rule.semantics(policy.folder),
        rule.form(policy.folder),
    )
    path = policy.spell_path(keys)
    return SensitiveDomain.build(path, observed, scale, rule.reads_numbers, taxonomy, form=form)

"""The rules of the judge, from what a policy promises."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import Literal

from hierdata.domains.derived import ValueLabels
from hierdata.judge import DerivedRule, ItemFilter, JudgeRules, Keys, MixedRule, QuasiRule, SensitiveRule
from hierdata.policy.checks.knowledge import bounded_values, known_counts, known_values
from hierdata.policy.checks.sensitive import Readings, resolve_readings
from hierdata.policy.plan.compared import LabelsKnown, References, Scales, population_of, semantics
from hierdata.policy.plan.plan import Prepared, many_keys, references
from hierdata.policy.plan.treatment import dropped_references, identities, steady_references, unlinked_domains
from hierdata.policy.policy import Policy
from hierdata.policy.spec.values import Keep


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


def mixed_rules(policy: Policy) -> tuple[MixedRule, ...]:
    """Return the keys with values of several vertex types."""
    return tuple(
        MixedRule(
            key.holder,
            key.name,
            key.path,
            tuple(ItemFilter(kind.key, kind.conditions, kind.is_object) for kind in key.kinds),
        )
        for key in policy.mixed_keys.keys
    )


def rules_of(prepared: Prepared) -> JudgeRules:
    """Return the rules by which the judge checks a release of a collection."""
    return judge_rules(
        prepared.policy,
        prepared.scales,
        references(prepared),
        many_keys(prepared.schema),
        readings=prepared.readings,
        labels=prepared.labels,
    )


def judge_rules(
    policy: Policy,
    scales: Scales,
    references: References,
    vertices: Collection[Keys] = (),
    *,
    readings: Readings | None = None,
    labels: LabelsKnown | None = None,
) -> JudgeRules:
    """Build the judge's rules from the policy's promise, independent of the search.

    ``readings`` are those of the collection; without them the policy alone tells. ``labels`` are by derived
    field the values of its source with their labels; without them labels are not judged.
    """
    readings = resolve_readings(policy) if readings is None else readings
    return JudgeRules(
        sensitive=tuple(_sensitive_rules(policy, scales, references, readings)),
        models=policy.scoped_models,
        exempt=frozenset(policy.exempt),
        tokens=unlinked_domains(policy),
        identities=identities(policy),
        references=dropped_references(policy),
        steady=steady_references(policy) - policy.vertices - frozenset(vertices),
        patterns={
            keys: rule.pattern
            for keys, (_, rule) in policy.rules_by_keys.items()
            if keys not in policy.sensitive and rule.pattern is not None
        },
        forbidden=policy.forbidden_fields,
        listed=None
        if isinstance(policy.unlisted, Keep)
        else frozenset((*policy.rules_by_keys, *(path.keys for path in policy.compared_fields))),
        vertices=policy.vertices | frozenset(vertices),
        recoding=policy.recoding_traits.judged_as,
        tables=_tables(policy),
        population=population_of(policy, vertices),
        quasi=label_rules(policy),
        bounded_values=bounded_values(policy),
        counts=known_counts(policy),
        known_values=known_values(policy),
        derived=derived_rules(policy, labels, vertices),
        mixed=mixed_rules(policy),
        not_judged=tuple(
            f"{policy.spell_path(keys)}, whether it follows from its source"
            for keys in policy.derived_fields
            if labels is None
        ),
    )


def _sensitive_rules(
    policy: Policy, scales: Scales, references: References, readings: Readings
) -> Iterator[SensitiveRule]:
    """Yield the rule of each sensitive field."""
    taxonomies = semantics(policy)
    for keys, rule in policy.sensitive.items():
        yield SensitiveRule(
            keys,
            policy.spell_path(keys),
            scales[keys],
            rule.reads_numbers,
            frozenset(rule.missing),
            taxonomies[keys],
            references.get(keys),
            readings[keys],
            rule.pattern,
            rule.sameness,
            respelled=policy.spelling is not None,
            form=rule.form(policy.folder),
        )


def derived_rules(
    policy: Policy, labels: LabelsKnown | None, vertices: Collection[Keys]
) -> tuple[DerivedRule, ...]:
    """Return how each derived field follows from its source.

    Raises PolicyError for an unusable domain of a source.
    """
    traits = policy.recoding_traits
    below = policy.vertices | frozenset(vertices)
    rules = []
    for keys, field in policy.derived_fields.items():
        domain = policy.quasi.get(field.source)
        ends = (end for end in range(len(field.source), 0, -1) if field.source[:end] in below)
        rules.append(
            DerivedRule(
                keys,
                policy.spell_path(keys),
                field.source,
                ValueLabels() if domain is None else domain.labels(policy.folder),
                None if labels is None else labels[keys],
                field.source[: next(ends, 0)],
                apart=traits.separates_values and field.source in policy.sensitive,
                sets=traits.publishes_value_sets and domain is not None,
            )
        )
    return tuple(rules)


def _tables(policy: Policy) -> int | Literal["correlated"] | tuple[frozenset[Keys], ...] | None:
    """Return which sensitive attributes share a table, as far as the policy says."""
    if not isinstance(policy.table_division, tuple):
        return policy.table_division
    keys_of = {str(path): keys for keys, (path, _) in policy.rules_by_keys.items()}
    return tuple(frozenset(keys_of[path] for path in table) for table in policy.table_division)

"""The rules of the judge, from what a policy promises."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from typing import Literal

from hierdata.documents.document import Scalar
from hierdata.domains.base import Hierarchy
from hierdata.domains.derived import ValueLabels
from hierdata.domains.levels import LevelScale
from hierdata.ground.errors import PolicyError
from hierdata.judge import DerivedRule, ItemFilter, JudgeRules, Keys, MixedRule, QuasiRule, SensitiveRule
from hierdata.policy.checks.knowledge import bounded_values, known_counts, known_values
from hierdata.policy.checks.sensitive import Readings, resolve_readings
from hierdata.policy.plan.treatment import dropped_references, identities, steady_references, unlinked_domains
from hierdata.policy.policy import Policy
from hierdata.policy.spec.values import Keep
from hierdata.privacy.population import Compared, Population, read_population


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
            one.holder,
            one.name,
            one.path,
            tuple(ItemFilter(kind.key, kind.conditions, kind.is_object) for kind in one.kinds),
        )
        for one in policy.mixed_keys.keys
    )


Scales = Mapping[Keys, LevelScale | None]
References = Mapping[Keys, Mapping[Scalar, int]]
"""By sensitive attribute, how often each value occurs in the original collection."""


def semantics(policy: Policy) -> dict[Keys, Hierarchy | None]:
    """Return the taxonomy of each sensitive attribute's values, None where the policy gives none."""
    return {keys: rule.semantics(policy.folder) for keys, rule in policy.sensitive.items()}


def stated_scales(policy: Policy) -> Scales:
    """Return the scales that the policy alone determines.

    A scale that depends on the collection is None, and the judge then rejects a model that asks for it.
    """
    return {
        keys: None if rule.levels is None or rule.levels.by == "frequency" else rule.scale({}, policy.folder)
        for keys, rule in policy.sensitive.items()
    }


def population_of(policy: Policy, vertices: Collection[Keys]) -> Population | None:
    """Read the policy's population table over the quasi-identifiers of the root; None if there is none.

    ``vertices`` are the paths of the vertex types below the root. Raises PolicyError for a column that is
    missing or belongs to no such quasi-identifier.
    """
    table = policy.population
    if table is None:
        return None
    below = policy.vertices | frozenset(vertices)
    at_root = [
        keys for keys in policy.quasi if not any(keys[:end] in below for end in range(1, len(keys) + 1))
    ]
    named = {keys: ".".join(key.removeprefix("@") for key in keys) for keys in at_root}
    if table.columns is not None:
        named = {policy.path(text).keys: column for text, column in table.columns.items()}
    for keys in named.keys() - set(at_root):
        raise PolicyError(
            "a population table is compared with the record itself, not with vertices below it",
            path=str(policy.rules_by_keys[keys][0]),
        )
    compared = [
        Compared(
            keys,
            str(policy.rules_by_keys[keys][0]),
            column,
            policy.quasi[keys],
            frozenset(policy.rules_by_keys[keys][1].missing),
        )
        for keys, column in named.items()
    ]
    return read_population(policy.folder / table.file, table.delimiter, compared, policy.folder)


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
            f"{policy.rules_by_keys[keys][0]}, whether it follows from its source"
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
            str(policy.rules_by_keys[keys][0]),
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


LabelsKnown = Mapping[Keys, tuple[tuple[Scalar, Scalar], ...]]
"""By derived field the values of its source, each with its label."""


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
                str(policy.rules_by_keys[keys][0]),
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

"""The rules of the judge, from what a policy promises; and what is said of the files that it judged.

That is: the values of quasi-identifiers, the paths, and the verdict by what is public.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from operator import is_
from pathlib import Path
from typing import Literal

from hierdata.documents.document import group_key
from hierdata.domains.derived import ValueLabels
from hierdata.ground.errors import VerificationError
from hierdata.judge import (
    DerivedRule,
    ItemFilter,
    JudgeRules,
    Keys,
    MixedRule,
    QuasiRule,
    SensitiveRule,
    Verdict,
)
from hierdata.pipeline.published import PublishedReading, Wanted, survey_published
from hierdata.pipeline.resources import RunContext
from hierdata.policy.checks.knowledge import bounded_values, known_counts, known_values
from hierdata.policy.checks.sensitive import Readings, resolve_readings, states_reading
from hierdata.policy.load import add_unlisted
from hierdata.policy.plan.compared import (
    LabelsKnown,
    References,
    Scales,
    population_of,
    semantics,
    stated_scales,
)
from hierdata.policy.plan.plan import Prepared, many_keys, references
from hierdata.policy.plan.treatment import dropped_references, identities, steady_references, unlinked_domains
from hierdata.policy.policy import Policy
from hierdata.policy.spec.values import Keep
from hierdata.privacy.base import BY_VALUE, SensitiveReading
from hierdata.records.survey import PathSurvey
from hierdata.release.layout import published_files
from hierdata.release.public import ReadBack
from hierdata.sources import InputSplit


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


@dataclass(frozen=True)
class Judged:
    """Published files as they were read and judged by ``rules``; ``judge`` judges them by others."""

    rules: JudgeRules
    published: PublishedReading
    judge: Callable[[JudgeRules], Verdict]

    @property
    def verdict(self) -> Verdict:
        """The verdict by the rules."""
        return self.published.verdict

    def public_verdict(self, policy: Policy, vertices: frozenset[Keys], readings: Readings) -> Verdict:
        """Return the verdict by the policy and the published files alone.

        These are the vertices, and how the sensitive attributes are read. The search may have read an
        attribute otherwise, where only suppressed records repeat some vertex: if a model fails and the
        policy states no reading, the other one is judged. Models that compare with the original are not
        judged. Raises VerificationError if one fails.
        """
        verdict = self._judge_public(policy, vertices, readings)
        failing = {judgement.path for judgement in verdict.judgements if judgement.held is False}
        other = {
            keys: SensitiveReading("presence") if reading == BY_VALUE else BY_VALUE
            for keys, reading in readings.items()
            if policy.spell_path(keys) in failing and not states_reading(policy, keys)
        }
        if other:
            verdict = self._judge_public(policy, vertices, {**readings, **other})
        if any(judgement.held is False for judgement in verdict.judgements):
            raise VerificationError(
                "the release does not keep its promise towards those who know nothing but the published files"
            )
        return verdict

    def _judge_public(self, policy: Policy, vertices: frozenset[Keys], readings: Readings) -> Verdict:
        scales = stated_scales(policy)
        sensitive = tuple(
            rule
            if rule.reference is None
            and (rule.scale is None or scales[rule.keys] is not None)
            and rule.reading == readings[rule.keys]
            else replace(rule, reference=None, scale=scales[rule.keys], reading=readings[rule.keys])
            for rule in self.rules.sensitive
        )
        known = self.rules.vertices == vertices and all(map(is_, sensitive, self.rules.sensitive))
        return (
            self.verdict if known else self.judge(replace(self.rules, vertices=vertices, sensitive=sensitive))
        )


def read_back(
    folder: Path,
    splits: Sequence[InputSplit],
    policy: Policy,
    format: str,
    judged: Judged,
    spread: RunContext,
) -> ReadBack:
    """Read the judged files of the public ``folder``; ``policy`` as it was stated, records in ``format``.

    Which XML elements are vertices, and so how values are read by default, may depend on suppressed records.
    The verdict that is published takes those for vertices that the policy or the published records show to
    be. Raises VerificationError if the release fails then.
    """
    survey = judged.published.survey
    if isinstance(policy.unlisted, Keep):
        if policy.recoding_traits.separates_values:
            names = group_key(), *(group_key(number) for number, _ in enumerate(policy.sensitive, 1))
            _drop_groups(survey.shape, names)
        policy = add_unlisted(policy, survey.shape, least=0)
        survey = survey_published(splits, Wanted.by(policy), spread)  # with the values of the kept fields
    # A class has a list of values there, which is no vertex type.
    lists = frozenset(policy.sensitive if policy.recoding_traits.publishes_classes else ())
    repeated = frozenset(_find_repeated(survey.shape, (), lists))
    verdict = judged.public_verdict(policy, policy.vertices | repeated, resolve_readings(policy, repeated))
    return ReadBack(policy, survey, verdict, format, published_files(folder))


def _drop_groups(shape: PathSurvey, names: Sequence[str]) -> None:
    """Remove the group numbers, which are no field of the records."""
    for name in names:
        shape.children.pop(name, None)
    for below in shape.children.values():
        _drop_groups(below, names)


def _find_repeated(shape: PathSurvey, keys: Keys, lists: frozenset[Keys]) -> Iterator[Keys]:
    """Yield the paths that show several vertices in one place, or arrays."""
    for key, below in shape.children.items():
        path = (*keys, key)
        if (below.arrays or below.longest > 1) and path not in lists:
            yield path
        yield from _find_repeated(below, path, lists)

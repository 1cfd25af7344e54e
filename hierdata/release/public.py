"""Build release.json and codebook.json from the published files, the policy and the build."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING

from hierdata.domains.base import ROOT_LABEL, Uncovered
from hierdata.ground.errors import VerificationError
from hierdata.ground.version import __version__
from hierdata.judge import Verdict
from hierdata.metrics.base import Figure
from hierdata.policy.checks.sensitive import find_unlimited
from hierdata.policy.checks.tables import closed_references
from hierdata.policy.plan.plan import list_plugins
from hierdata.policy.plan.treatment import dropped_references, kept_references, linked_domains
from hierdata.policy.policy import Policy
from hierdata.release.gates import describe_gate
from hierdata.release.labels import spell_labels
from hierdata.release.report import parts, sentences
from hierdata.release.report.knowledge import knowledge_sentences, read_missing
from hierdata.release.report.models import Codebook, CodebookField, PluginUse, ReleaseFile
from hierdata.release.report.shape import describe_steps, limit_individuals, limit_shape
from hierdata.release.verification import promises

if TYPE_CHECKING:
    from hierdata.documents.document import Scalar
    from hierdata.records.survey import Survey


@dataclass(frozen=True)
class ReadBack:
    """The published files as a reader finds them.

    ``policy`` has a rule for each field that is published, ``survey`` the published values of its
    quasi-identifiers. ``verdict`` is that of a judge who knows nothing else: a model without its facts is
    not judged, but the release passed with them. ``format`` is that of the records.
    """

    policy: Policy
    survey: Survey
    verdict: Verdict
    format: str
    files: tuple[parts.PublishedFile, ...]


def build_release_file(published: ReadBack) -> ReleaseFile:
    """Build ``release.json``. Raises VerificationError for a label that no domain publishes."""
    policy, verdict = published.policy, published.verdict
    return ReleaseFile(
        version=__version__,
        plugins=tuple(PluginUse(**vars(plugin)) for plugin in list_plugins(policy)),
        dataset=policy.dataset,
        recoding=policy.recoding,
        format=published.format,
        files=published.files,
        tables=dict(verdict.tables),
        passed=True,
        promises=_public_promises(policy, verdict),
        worst_guess={path: parts.Exact.of(share) for path, share in verdict.worst_guess.items()},
        group_ids=parts.GroupIds.of(verdict.group_ids),
        counts=parts.PublicCounts(
            records=verdict.records,
            classes=verdict.classes,
            smallest_class=verdict.k,
            largest_class=verdict.largest_class,
            k_raw=verdict.k_raw,
            k_exempt=verdict.k_exempt,
        ),
        fineness=dict(_fineness(published)),
        metrics=parts.figures(_published_figures(published)),
        gates=tuple(parts.PublicGate(**describe_gate(policy, gate), passed=True) for gate in policy.gates),
        limitations=describe_limitations(policy, verdict, published.survey.empty),
        labels=policy.labels,
    )


def build_codebook(published: ReadBack) -> Codebook:
    """Build ``codebook.json``: how to read the published values."""
    policy, survey = published.policy, published.survey
    spelled = policy.recoding_traits.generalized
    fields = []
    for keys, (path, rule) in policy.rules_by_keys.items():
        if rule.role is not None:
            domain = policy.quasi.get(keys)
            labels = [value for value in survey.values.get(keys, ()) if value is not None]
            fields.append(
                CodebookField(
                    path=str(path),
                    role=rule.role,
                    published=rule.published_as is not None,
                    domain=None if domain is None else domain.describe(labels, policy.folder),
                    missing=rule.missing,
                    exempt=rule.exempt,
                    action=None if rule.stated_action is None else rule.stated_action.kind,
                    same=rule.same,
                    form=describe_form(policy, keys),
                )
            )
        elif keys in policy.derived_fields:
            fields.append(
                CodebookField(
                    path=str(path),
                    role="derived",
                    published=True,
                    missing=rule.missing,
                    source=policy.spell_path(policy.derived_fields[keys].source),
                    labels=spell_labels(survey.labels[keys]) if keys in survey.labels else (),
                )
            )
    return Codebook(
        version=__version__,
        dataset=policy.dataset,
        recoding=policy.recoding,
        shape=describe_steps(policy),
        fields=tuple(fields),
        groups=policy.recoding_traits.groups,
        **(({} if spelled is None else {"generalized": spelled}) | _read_absent(policy)),
    )


def _read_absent(policy: Policy) -> dict[str, str]:
    """Return what the codebook says of what is not there instead of its usual sentences."""
    known = {} if policy.knowledge is None else read_missing(policy.knowledge)
    return known if policy.standard is None else known | sentences.READ_RESOURCES


def describe_limitations(policy: Policy, verdict: Verdict, empty: int = 0) -> tuple[str, ...]:
    """Return what is not promised, one sentence each; ``empty`` published records show nothing."""
    exempt, absent = _reasons_given(policy)
    apart = policy.recoding_traits.partitions_each_type
    scopes = [path for paths in verdict.tables.values() for path in paths] if apart else []
    suppression = sentences.suppression_sentences(
        judged=any(model.per_attribute for model in policy.models),
        guarded=policy.guards_suppressed,
        each_type=apart and not (policy.steps and policy.steps[0].aligns),
    )
    forms = {policy.spell_path(keys): describe_form(policy, keys) for keys in policy.sensitive}
    stated = sentences.limitations(policy.models, policy.recoding, exempt, scopes=scopes)
    stated += sentences.state_forms(forms)
    unlimited = [*map(policy.spell_path, find_unlimited(policy))]
    stated += sentences.unlimited_sentences(unlimited, tables=bool(verdict.tables))
    stated += sentences.count_empty(empty)
    stated += sentences.certain_sentences(
        [path for path, share in verdict.worst_guess.items() if share == 1 and path not in unlimited]
    )
    stated += suppression
    if policy.knowledge is not None:
        form = () if policy.standard is None else ("absent",)
        stated += tuple(knowledge_sentences(policy.knowledge, verdict.told_apart, *form))
    if policy.spelling is not None:
        stated += (sentences.spelling_sentence(policy.spelling.keep),)
    stated += tuple(
        f"{policy.spell_path(keys)} follows from {policy.spell_path(field.source)}: where it "
        "stands next to a coarser value, each value below that occurs in the original"
        for keys, field in policy.derived_fields.items()
        if field.source in policy.quasi
    )
    if policy.models_of_preset:
        stated += (f"These models are {policy.models_of_preset}",)
    stated += limit_individuals(policy)
    stated += sentences.unique_sentences(policy.accept.unique)
    substitutes = [keys for keys, spec in policy.pseudonyms.items() if spec.keeps_form]
    if substitutes:
        stated += (sentences.state_substitutes([*map(policy.spell_path, substitutes)]),)
    stated += tuple(limit_shape(spec.step for spec in policy.shape))
    stated += sentences.describe_group_ids(verdict.group_ids, policy.accept.group_ids)
    links = closed_references(policy)
    numbered = {field.keys for field in (*links.ids, *links.references)}
    stated += sentences.state_closed([policy.spell_path(field.keys) for field in links.references])
    return stated + sentences.identifier_sentences(
        [policy.spell_path(keys) for keys in policy.pseudonyms if keys not in numbered],
        linked_domains(policy),
        {policy.spell_path(keys): shift for keys, shift in policy.date_shifts.items()},
        absent=absent,
        references=[*map(policy.spell_path, dropped_references(policy))],
        kept=[*map(policy.spell_path, kept_references(policy))],
        per_run=policy.key == "per-run",
    )


def describe_form(policy: Policy, keys: tuple[str, ...]) -> str | None:
    """Describe the coarser form in which a sensitive field is published, None if it has none."""
    form = policy.rules_by_keys[keys][1].form(policy.folder)
    return None if form is None else form.describe()


def _reasons_given(policy: Policy) -> tuple[dict[str, str], dict[str, str]]:
    """Return the policy's reasons by path: why fields are exempt, why a missing pseudonym reveals nothing."""
    reasons = {keys: (policy.spell_path(keys), reason) for keys, reason in policy.exempt.items()}
    exempt = dict(pair for keys, pair in reasons.items() if keys not in policy.pseudonyms)
    return exempt, {path: reason for path, reason in reasons.values() if path not in exempt and reason}


def _public_promises(policy: Policy, verdict: Verdict) -> tuple[parts.Promise, ...]:
    """Return the promises; what a model achieved is left out if it can be computed from the original only."""
    public = (
        judgement if judgement.held else replace(judgement, held=True, reason="", achieved={})
        for judgement in verdict.judgements
    )
    return promises(policy, replace(verdict, judgements=tuple(public)))


def _fineness(published: ReadBack) -> Iterator[tuple[str, parts.PublishedValues]]:
    """Yield the path of each quasi-identifier, and how many of its published values are how fine."""
    for keys, losses in _losses(published):
        exact = sum(count for label, count, lost in losses if not lost and label != ROOT_LABEL)
        anything = sum(count for label, count, _ in losses if label == ROOT_LABEL)
        coarser = sum(count for _, count, _ in losses) - exact - anything
        path = published.policy.spell_path(keys)
        yield path, parts.PublishedValues(exact=exact, coarser=coarser, any=anything)


def _published_figures(published: ReadBack) -> dict[str, tuple[Figure, ...]]:
    """Return what the published quasi-identifier values lost and kept, by the public name of the metric."""
    total, values = Fraction(0), 0
    for _, losses in _losses(published):
        values += sum(count for _, count, _ in losses)
        total += sum((count * lost for _, count, lost in losses), Fraction(0))
    records = max(published.verdict.records, 1)
    share = total / max(values, 1)
    unit = "published quasi-identifier values"
    return {
        "published_lm_cost": (
            Figure("total", total, unit, 0, values, "lower"),
            Figure("per_record", total / records, unit, 0, None, "lower"),
            Figure("per_value", share, "share", 0, 1, "lower"),
        ),
        "published_kept": (Figure("per_value", 1 - share, "share", 0, 1, "higher"),),
    }


def losses_of(
    published: ReadBack, keys: tuple[str, ...]
) -> tuple[list[tuple[Scalar, int]], Callable[[Scalar], Fraction]]:
    """Return the published labels of a quasi-identifier with their counts, and a function for LM' of a label.

    That raises Uncovered for a label that no domain publishes.
    """
    policy = published.policy
    counted: list[tuple[Scalar, int]] = [
        (label, count) for label, count in published.survey.values[keys].items() if label is not None
    ]
    labels = [label for label, _ in counted]
    sets = policy.recoding_traits.publishes_value_sets
    return counted, policy.quasi[keys].published_losses(labels, policy.folder, sets=sets)


def _losses(
    published: ReadBack,
) -> Iterator[tuple[tuple[str, ...], list[tuple[Scalar, int, Fraction]]]]:
    """Yield the keys of each quasi-identifier with its published labels, their counts, and LM' of each."""
    for keys in published.policy.quasi:
        try:
            counted, loss = losses_of(published, keys)
            yield keys, [(label, count, loss(label)) for label, count in counted]
        except Uncovered:
            raise VerificationError(
                "a published value is not one that the policy's domain publishes",
                path=published.policy.spell_path(keys),
            ) from None

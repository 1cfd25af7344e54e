"""Collect the results of a run into the models of a release's files, and write these."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from pathlib import Path
from typing import Any

from hierdata.domains.membership import breakpoints
from hierdata.domains.scales import DomainScale
from hierdata.ground.errors import file_error
from hierdata.ground.version import __version__
from hierdata.judge import Verdict
from hierdata.metrics import metrics_of
from hierdata.metrics.base import Sums
from hierdata.metrics.kept import KeptWorth, Share
from hierdata.metrics.tallies import Counted, Tallies, count_part
from hierdata.policy.checks.safe_harbor import list_removed
from hierdata.policy.checks.sensitive import find_unlimited
from hierdata.policy.lint.levels import memberships
from hierdata.policy.lint.lint import lint
from hierdata.policy.plan.plan import Prepared
from hierdata.policy.policy import Policy
from hierdata.policy.spec.fields import FieldRule
from hierdata.records.schema import Schema
from hierdata.release.gates import attacker_risks, bind_attackers
from hierdata.release.layout import CODEBOOK_FILE, FACTS_FILE, RELEASE_FILE, SUMMARY_FILE
from hierdata.release.pictures import collect_pictures
from hierdata.release.public import ReadBack, build_codebook, build_release_file
from hierdata.release.report import parts
from hierdata.release.report.models import Outcome, ReleaseFile, SafeHarborRow, StewardReport, dump
from hierdata.release.report.page import render_report, render_summary
from hierdata.release.report.sentences import ROUNDED_LOSS
from hierdata.release.report.shape import ShapeFacts
from hierdata.release.report.wording import DROPPED, certain_guesses, warn_of_certainty
from hierdata.release.verification import freeze, promises
from hierdata.release.witness import digest_files


def write_files(
    folder: Path,
    prepared: Prepared,
    tallies: Tallies,
    verdict: Verdict,
    gates: tuple[parts.GateVerdict, ...],
    published: ReadBack,
    shaped: ShapeFacts,
    stated: tuple[str, ...],
    content: bytes,
) -> StewardReport:
    """Write all files of a release except the published data; return the steward's report.

    ``published`` is what was read back from the published data, ``stated`` are limitations of how the input
    was read, ``shaped`` is what was found of its shape, ``content`` is the digest of the input. Raises
    TargetError where a file cannot be written.
    """
    tables = tallies[count_part].tables.value
    public = build_release_file(published)
    report = build_report(public, prepared, tallies, verdict, gates, stated, published.survey.empty)
    bound = digest_files(public.files).hex() if public.files else None
    kept = {"drawn_by": shaped.drawn_by, "public": bound}
    facts = freeze(prepared, __version__, tables).model_copy(update=kept)
    additions = {
        "shape": shaped.figures,
        "fingerprints": parts.Fingerprints(input=content.hex(), policy=facts.policy),
        "pictures": collect_pictures(prepared, tallies[count_part], published),
    }
    report = report.model_copy(update=additions)
    files = {
        folder / "public" / RELEASE_FILE: dump(public),
        folder / "public" / CODEBOOK_FILE: dump(build_codebook(published)),
        folder / "public" / SUMMARY_FILE: render_summary(public).encode(),
        folder / FACTS_FILE: dump(facts),
        folder / "steward" / "report.json": dump(report),
        folder / "steward" / "report.html": render_report(report).encode(),
    }
    try:
        for file, content in files.items():
            file.write_bytes(content)
    except OSError as error:
        raise file_error(error, f"the release cannot be written ({error.strerror})") from None
    return report


def build_report(
    public: ReleaseFile,
    prepared: Prepared,
    tallies: Tallies,
    verdict: Verdict,
    gates: tuple[parts.GateVerdict, ...],
    stated: tuple[str, ...] = (),
    empty: int = 0,
) -> StewardReport:
    """Build the steward's report: what is public, and what was achieved and lost against the original.

    ``empty`` of the published records show nothing but the coarsest values.
    """
    policy = prepared.policy
    every = metrics_of(policy.metrics)
    measured = {name: metric.under(policy.diversity).figures(tallies) for name, metric in every.items()}
    attackers = bind_attackers(policy, prepared.schema, prepared.domains)
    counts: Counted = tallies[count_part]
    shared = {name: getattr(public, name) for name in Outcome.model_fields}
    rounded = (ROUNDED_LOSS,) if counts.rounded else ()
    unlimited = {*map(policy.spell_path, find_unlimited(policy))}  # lint warns of these
    return StewardReport(
        **shared
        | {
            "tables": dict(counts.tables.value),
            "promises": promises(policy, verdict),
            "limitations": (*public.limitations, *rounded, *stated),
            "labels": policy.labels,
        },
        class_size=prepared.constraints.min_class_size,
        counts=_counts(prepared.schema, counts, verdict, empty),
        metrics=parts.figures({name: measures for name, measures in measured.items() if measures}),
        kept=_kept_shares(tallies),
        attackers=attacker_risks(attackers, tallies),
        gates=gates,
        loss_exact=not counts.rounded,
        costs=parts.costs(counts.costs),
        levels=_levels(prepared, counts),
        safe_harbor=tuple(
            SafeHarborRow(letter=identifier.letter, what=identifier.what, fields=dict(identifier.treated))
            for identifier in list_removed(policy)
        ),
        reasons=_reasons(prepared.schema, counts),
        fields={
            str(path): _treatment(rule, prepared.codebooks.get(str(path)), policy)
            for path, rule in policy.rules_by_keys.values()
            if rule.role is not None or rule.derived is not None
        },
        warnings=(
            *(
                f"{finding.path}: {finding.message}"
                for finding in lint(policy, prepared.survey)
                if finding.severity == "warning"
            ),
            *(warn_of_certainty(path) for path in certain_guesses(public) if path not in unlimited),
        ),
    )


def _treatment(rule: FieldRule, book: Mapping[str, Any] | None, policy: Policy) -> str:
    """Describe in a few words what happens to a field; ``book`` is that of a quasi-identifier."""
    if rule.derived is not None:
        return f"derived from {rule.derived}"
    if rule.published_as is None:
        return DROPPED
    role = _role_of(rule, book, policy)
    if (form := rule.form(policy.folder)) is not None:
        role = f"{role}, {form.describe()}"
    return role if rule.stated_action is None else rule.stated_action.describe(role)


def _role_of(rule: FieldRule, book: Mapping[str, Any] | None, policy: Policy) -> str:
    """Describe in a few words the role of a published field in the promise."""
    traits = policy.recoding_traits
    if rule.exempt is not None:
        return "published as it stands, not judged"
    if book is None and traits.separates_values:
        return "sensitive: published apart, by group"
    if book is None:
        return "sensitive: published, protected within classes"
    return f"quasi-identifier: {traits.quasi_identifiers.format(kind=book['kind'])}"


def _counts(schema: Schema, counts: Counted, verdict: Verdict, empty: int) -> parts.Counts:
    return parts.Counts(
        records=_tally(counts.records, counts.published_records),
        empty_records=empty,
        vertices={
            kind.path: _tally(counts.vertices[kind.index], counts.published[kind.index])
            for kind in schema.types
        },
        classes=verdict.classes,
        smallest_class=verdict.k,
        largest_class=verdict.largest_class,
        k_raw=verdict.k_raw,
        k_exempt=verdict.k_exempt,
    )


def _kept_shares(tallies: Tallies) -> parts.KeptShares:
    shares = KeptWorth().shares(tallies)
    return parts.KeptShares(
        total=None if shares.total is None else _kept_share(shares.total),
        vertices={path: _kept_share(share) for path, share in shares.vertices.items()},
        fields={path: _kept_share(share) for path, share in shares.fields.items()},
    )


def _kept_share(share: Share) -> parts.KeptShare:
    return parts.KeptShare(kept=parts.Exact.of(share.kept), attainable=parts.Exact.of(share.attainable))


def _reasons(schema: Schema, counts: Counted) -> dict[str, str]:
    """Return by vertex type why no more could be published: the most frequent reason among the blocks."""
    reasons = {}
    for kind in sorted(counts.reasons):
        blocks = counts.reasons[kind]
        most = min(blocks, key=lambda reason: (-blocks[reason], reason))
        others = "" if len(blocks) == 1 else f" (in {blocks[most]} of {sum(blocks.values())} blocks)"
        reasons[schema.types[kind].path] = most + others
    return reasons


def _tally(total: int, published: int) -> parts.Tally:
    return parts.Tally(input=total, published=published, suppressed=total - published)


def _levels(prepared: Prepared, counts: Counted) -> dict[str, parts.LevelTable]:
    """Build the table of levels of each sensitive attribute: shares, capacities in a class, breakpoints."""
    policy, size = prepared.policy, prepared.constraints.min_class_size
    degrees = memberships(policy, prepared.survey)
    tables = {}
    for keys, scale in prepared.scales.items():
        if scale is None:
            continue
        path = policy.spell_path(keys)
        capacities = [
            most
            for model, scope in policy.scoped_models
            if (most := model.capacities(size)) and (scope is None or keys in scope)
        ]
        counted = counts.levels.get(path, Sums())
        total = max(sum(counted.values()), 1)
        rows = tuple(
            parts.LevelRow(
                level=level,
                count=count,
                share=parts.Exact.of(Fraction(count, total)),
                capacity=min((most[level - 1] for most in capacities), default=None),
            )
            for level in range(1, scale.count + 1)
            for count in [counted.get(level, 0)]
        )
        tables[path] = parts.LevelTable(
            levels=rows,
            breakpoints=tuple(map(str, breakpoints(scale.low, scale.high)))
            if isinstance(scale, DomainScale)
            else (),
            memberships=tuple(
                parts.MembershipRow(at=row.label, level=row.level, degrees=row.degrees)
                for row in degrees.get(path, ())
            ),
        )
    return tables

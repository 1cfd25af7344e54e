"""Collect the results of a run into the models of a release's files, and write these."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

from hierdata.domains.levels import LevelScale
from hierdata.domains.membership import breakpoints
from hierdata.domains.scales import DomainScale
from hierdata.errors import TargetError
from hierdata.judge import Verdict
from hierdata.metrics import metrics_of
from hierdata.metrics.sums import Sums
from hierdata.metrics.tallies import Counted, Tallies, count_part
from hierdata.policy.lint.lint import lint
from hierdata.policy.lint.memberships import memberships
from hierdata.policy.plan.plan import Prepared
from hierdata.policy.plan.plugins import list_plugins
from hierdata.policy.plan.treatment import linked_domains
from hierdata.policy.policy import Policy
from hierdata.records.identifiers import Action
from hierdata.records.schema import Role, Schema
from hierdata.release.gates import attacker_risks, bind_attackers
from hierdata.release.layout import FACTS_FILE, published_files
from hierdata.release.report.html import render
from hierdata.release.report.models import (
    Codebook,
    CodebookField,
    Counts,
    Exact,
    GateVerdict,
    LevelRow,
    LevelTable,
    MembershipRow,
    PluginUse,
    PublishedFile,
    StewardReport,
    Tally,
    costs,
    dump,
    figures,
    identifier_sentences,
    limitations,
)
from hierdata.release.verification import freeze, promises
from hierdata.sources import Form
from hierdata.version import __version__


def write_files(
    folder: Path,
    form: Form,
    prepared: Prepared,
    tallies: Tallies,
    verdict: Verdict,
    gates: tuple[GateVerdict, ...],
    stated: tuple[str, ...] = (),
) -> StewardReport:
    """Write all files of a release except the published data; return the steward's report.

    ``stated`` are limitations of how the input was read. Raises TargetError where a file cannot be read or
    written.
    """
    book = codebook(prepared)
    tables = tallies[count_part].tables.value
    try:
        written = published_files(folder / "public")
    except OSError as error:
        raise TargetError(f"the release cannot be read ({error.strerror})") from None
    report = build_report(form, written, prepared, tallies, verdict, gates, book, stated)
    files = {
        folder / "public" / "release.json": dump(report.public()),
        folder / "public" / "codebook.json": dump(book),
        folder / FACTS_FILE: dump(freeze(prepared, __version__, tables)),
        folder / "steward" / "report.json": dump(report),
        folder / "steward" / "report.html": render(report).encode(),
    }
    try:
        for file, content in files.items():
            file.write_bytes(content)
    except OSError as error:
        raise TargetError(f"the release cannot be written ({error.strerror})") from None
    return report


def build_report(
    form: Form,
    written: tuple[PublishedFile, ...],
    prepared: Prepared,
    tallies: Tallies,
    verdict: Verdict,
    gates: tuple[GateVerdict, ...],
    book: Codebook,
    stated: tuple[str, ...] = (),
) -> StewardReport:
    """Build the steward's report: what was promised, achieved and lost."""
    policy = prepared.policy
    exempt, absent = _reasons_given(policy)
    every = metrics_of(policy.metrics)
    measured = {name: metric.under(policy.diversity).figures(tallies) for name, metric in every.items()}
    actions = {str(path): rule.stated_action for path, rule in policy.rules_by_keys.values()}
    attackers = bind_attackers(policy, prepared.schema, prepared.domains)
    counts: Counted = tallies[count_part]
    return StewardReport(
        version=__version__,
        plugins=tuple(PluginUse(**vars(plugin)) for plugin in list_plugins(policy)),
        dataset=policy.dataset,
        recoding=policy.recoding,
        format=form.format.name,
        files=written,
        tables=dict(counts.tables.value),
        passed=verdict.passed,
        class_size=prepared.constraints.min_class_size,
        promises=promises(policy, verdict),
        counts=_counts(prepared.schema, counts, verdict),
        metrics=figures({name: found for name, found in measured.items() if found}),
        attackers=attacker_risks(attackers, tallies),
        gates=gates,
        loss_exact=not counts.rounded,
        limitations=limitations(
            policy.models,
            policy.recoding,
            exempt,
            loss_exact=not counts.rounded,
            scopes=_scopes(prepared),
        )
        + _identifier_caveats(policy, absent)
        + stated,
        costs=costs(counts.costs),
        levels=_levels(prepared, counts),
        reasons=_reasons(prepared.schema, counts),
        fields={field.path: _treatment(field, actions[field.path], policy) for field in book.fields},
        warnings=tuple(
            f"{finding.path}: {finding.message}"
            for finding in lint(policy, prepared.survey)
            if finding.severity == "warning"
        ),
    )


def codebook(prepared: Prepared) -> Codebook:
    """Build the codebook: how to read the published values, without anything that only the data tell."""
    policy = prepared.policy
    books = prepared.codebooks
    spelled = policy.recoding_traits.generalized
    fields = []
    for path, rule in policy.rules_by_keys.values():
        if rule.role is not None:
            fields.append(
                CodebookField(
                    path=str(path),
                    role=rule.role,
                    published=rule.published_as is not None,
                    domain=books.get(str(path)),
                    missing=rule.missing,
                    exempt=rule.exempt,
                    action=None if rule.stated_action is None else rule.stated_action.kind,
                )
            )
    return Codebook(
        version=__version__,
        dataset=policy.dataset,
        recoding=policy.recoding,
        fields=tuple(fields),
        groups=policy.recoding_traits.groups,
        **({} if spelled is None else {"generalized": spelled}),
    )


def _reasons_given(policy: Policy) -> tuple[dict[str, str], dict[str, str]]:
    """Return the policy's reasons by path: why fields are exempt, why a missing pseudonym tells nothing."""
    given = {keys: (str(policy.rules_by_keys[keys][0]), reason) for keys, reason in policy.exempt.items()}
    exempt = dict(one for keys, one in given.items() if keys not in policy.pseudonyms)
    return exempt, {path: reason for path, reason in given.values() if path not in exempt and reason}


def _identifier_caveats(policy: Policy, absent: dict[str, str]) -> tuple[str, ...]:
    """Return the sentences on what the actions on identifiers and dates do not hide."""
    return identifier_sentences(
        [str(policy.rules_by_keys[keys][0]) for keys in policy.pseudonyms],
        linked_domains(policy),
        [str(policy.rules_by_keys[keys][0]) for keys in policy.date_shifts],
        next((shift.days for shift in policy.date_shifts.values()), 0),
        absent=absent,
        per_run=policy.key == "per-run",
    )


def _scopes(prepared: Prepared) -> tuple[str, ...]:
    """Return the paths of the vertex types that were partitioned independently."""
    types = prepared.schema.types if prepared.policy.recoding_traits.partitions_each_type else ()
    return tuple(kind.path for kind in types if kind.of_role(Role.SENSITIVE))


def _treatment(field: CodebookField, action: Action | None, policy: Policy) -> str:
    """Describe in a few words what happens to a field."""
    if not field.published:
        return "dropped"
    role = _role_of(field, policy)
    return role if action is None else action.describe(role)


def _role_of(field: CodebookField, policy: Policy) -> str:
    """Describe in a few words the role of a published field in the promise."""
    traits = policy.recoding_traits
    if field.exempt is not None:
        return "published as it stands, not judged"
    if field.domain is None and traits.separates_values:
        return "sensitive: published apart, by group"
    if field.domain is None:
        return "sensitive: published, protected within classes"
    return f"quasi-identifier: {traits.quasi_identifiers.format(kind=field.domain['kind'])}"


def _counts(schema: Schema, counts: Counted, verdict: Verdict) -> Counts:
    return Counts(
        records=_tally(counts.records, counts.published_records),
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


def _reasons(schema: Schema, counts: Counted) -> dict[str, str]:
    """Return by vertex type why no more could be published: the most frequent reason among the blocks."""
    found = {}
    for kind in sorted(counts.reasons):
        given = counts.reasons[kind]
        most = min(given, key=lambda reason: (-given[reason], reason))
        others = "" if len(given) == 1 else f" (in {given[most]} of {sum(given.values())} blocks)"
        found[schema.types[kind].path] = most + others
    return found


def _tally(there: int, published: int) -> Tally:
    return Tally(input=there, published=published, suppressed=there - published)


def _levels(prepared: Prepared, counts: Counted) -> dict[str, LevelTable]:
    """Build the table of levels of each sensitive attribute: shares, capacities in a class, breakpoints."""
    policy, size = prepared.policy, prepared.constraints.min_class_size
    degrees = memberships(policy, prepared.survey)
    tables = {}
    for keys, scale in prepared.scales.items():
        if scale is None:
            continue
        path = str(policy.rules_by_keys[keys][0])
        capacities = [
            most
            for model, scope in policy.scoped_models
            if (most := model.capacities(size)) and (scope is None or keys in scope)
        ]
        own = counts.levels.get(path, Sums())
        total = max(sum(own.values()), 1)
        rows = tuple(
            LevelRow(
                level=level,
                count=count,
                share=Exact.of(Fraction(count, total)),
                capacity=min((most[level - 1] for most in capacities), default=None),
            )
            for level, count in ((level, own.get(level, 0)) for level in range(1, scale.count + 1))
        )
        tables[path] = LevelTable(
            levels=rows,
            breakpoints=_breakpoints(scale),
            memberships=tuple(
                MembershipRow(at=row.label, level=row.level, degrees=row.degrees)
                for row in degrees.get(path, ())
            ),
        )
    return tables


def _breakpoints(scale: LevelScale) -> tuple[str, ...]:
    if not isinstance(scale, DomainScale):
        return ()
    return tuple(str(point) for point in breakpoints(scale.low, scale.high))

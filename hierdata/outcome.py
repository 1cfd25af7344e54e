"""What a run came to: the figures of a release collected into the models of its files."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import numpy as np

from hierdata import __version__
from hierdata.domains.levels import LevelScale
from hierdata.domains.membership import breakpoints
from hierdata.domains.scales import DomainScale
from hierdata.errors import TargetError
from hierdata.facts import freeze, promises
from hierdata.forest import Forest
from hierdata.gates import bind_attackers, learned
from hierdata.intake import Form
from hierdata.judge import Verdict
from hierdata.lint import lint
from hierdata.metrics import METRICS
from hierdata.policy import Policy
from hierdata.policy.degrees import memberships
from hierdata.prepare import Prepared
from hierdata.privacy import LevelAlphaK
from hierdata.publication import Publication
from hierdata.published import FACTS_FILE, published_files
from hierdata.records.schema import Role
from hierdata.report.html import render
from hierdata.report.models import (
    Codebook,
    CodebookField,
    Counts,
    Exact,
    GateVerdict,
    LevelRow,
    LevelTable,
    MembershipRow,
    PublishedFile,
    StewardReport,
    Tally,
    costs,
    dump,
    figures,
    limitations,
)

_GROUPS = {
    "anatomy": "Sensitive values lie apart. The group of a vertex leads to the rows of the same group in the "
    "file that belongs to its type, where count says how many vertices of the group have the values of the "
    "row.",
    "slicing": "Sensitive values lie apart. The group of a vertex leads to the rows of the same group in "
    "each file that belongs to its type, where count says how many vertices of the group have the values of "
    "the row. release.json names the sensitive fields of each file; nothing ties rows of two files together.",
}


_GENERALIZED = {
    "full_domain": "Each field is generalized to one depth of its domain for all records: a category by the "
    "label of its node, a number or date by its interval or period; * is any value.",
    "sets_and_ranges": "What the records of a class have. Of categories the set {a, b}, of numbers and dates "
    "the range [least, greatest], both ends included; a value alone stands as it is, and a text that begins "
    "with { is always a set. In a set null is a missing value, and a text in quotes is spelled as in JSON.",
}
"""How generalized values read, where the recoding has a spelling of its own."""


def write_files(
    folder: Path,
    form: Form,
    prepared: Prepared,
    forest: Forest,
    publication: Publication,
    verdict: Verdict,
    gates: tuple[GateVerdict, ...],
) -> StewardReport:
    """Write everything of a release but its records; answer the steward's report."""
    book = codebook(prepared)
    try:
        written = published_files(folder / "public")
    except OSError as error:
        raise TargetError(f"the release cannot be read ({error.strerror})") from None
    report = build_report(form, written, prepared, forest, publication, verdict, gates, book)
    files = {
        folder / "public" / "release.json": dump(report.public()),
        folder / "public" / "codebook.json": dump(book),
        folder / FACTS_FILE: dump(freeze(prepared, __version__, publication.tables)),
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
    forest: Forest,
    publication: Publication,
    verdict: Verdict,
    gates: tuple[GateVerdict, ...],
    book: Codebook,
) -> StewardReport:
    """Promised, achieved, lost."""
    policy = prepared.policy
    exempt = {str(policy.by_keys[keys][0]): reason for keys, reason in policy.exempt.items()}
    measured = {
        name: metric.under(policy.diversity).figures(publication, forest) for name, metric in METRICS.items()
    }
    attackers = bind_attackers(policy, forest.schema, forest.domains)
    return StewardReport(
        version=__version__,
        dataset=policy.dataset,
        recoding=policy.recoding,
        format=form.format.name,
        files=written,
        tables=publication.tables,
        passed=verdict.passed,
        class_size=prepared.constraints.min_class_size,
        promises=promises(policy, verdict),
        counts=_counts(forest, publication, verdict),
        metrics=figures({name: found for name, found in measured.items() if found}),
        attackers=learned(attackers, publication, forest),
        gates=gates,
        loss_exact=forest.exact,
        limitations=limitations(
            {model.kind for model in policy.models},
            policy.recoding,
            exempt,
            loss_exact=forest.exact,
            scopes=_scopes(prepared),
        ),
        costs=costs(publication.costs),
        levels=_levels(prepared, forest),
        reasons={forest.schema.types[kind].path: reason for kind, reason in publication.reasons.items()},
        fields={field.path: _treatment(field, policy) for field in book.fields},
        warnings=tuple(
            f"{finding.path}: {finding.message}"
            for finding in lint(policy, prepared.survey)
            if finding.severity == "warning"
        ),
    )


def codebook(prepared: Prepared) -> Codebook:
    """How to read the published values: nothing that only the data tell."""
    policy = prepared.policy
    books = prepared.codebooks
    spelled = _GENERALIZED.get(policy.recoding)
    fields = []
    for path, rule in policy.by_keys.values():
        if rule.role is not None:
            fields.append(
                CodebookField(
                    path=str(path),
                    role=rule.role,
                    published=rule.published_as is not None,
                    domain=books.get(str(path)),
                    missing=rule.missing,
                    exempt=rule.exempt,
                )
            )
    return Codebook(
        version=__version__,
        dataset=policy.dataset,
        recoding=policy.recoding,
        fields=tuple(fields),
        groups=_GROUPS.get(policy.recoding),
        **({} if spelled is None else {"generalized": spelled}),
    )


def _scopes(prepared: Prepared) -> tuple[str, ...]:
    """The vertex types that were partitioned by themselves."""
    types = prepared.schema.types if prepared.policy.by_type else ()
    return tuple(kind.path for kind in types if kind.of_role(Role.SENSITIVE))


def _treatment(field: CodebookField, policy: Policy) -> str:
    """What becomes of a field, in a few words."""
    if not field.published:
        return "dropped"
    if field.exempt is not None:
        return "published as it stands, not judged"
    if field.domain is None and policy.separates:
        return "sensitive: published apart, by group"
    if field.domain is None:
        return "sensitive: published, protected within classes"
    if policy.by_type:
        return "quasi-identifier: published as it is"
    if policy.recoding == "sets_and_ranges":
        return f"quasi-identifier: published by the values of its class ({field.domain['kind']})"
    return f"quasi-identifier: generalized ({field.domain['kind']})"


def _counts(forest: Forest, publication: Publication, verdict: Verdict) -> Counts:
    kept = publication.shown >= 0
    types = forest.schema.types
    there = np.bincount(forest.type, minlength=len(types)).tolist()
    published = np.bincount(forest.type[kept], minlength=len(types)).tolist()
    records = int(kept[forest.roots[:-1]].sum())
    return Counts(
        records=_tally(forest.record_count, records),
        vertices={kind.path: _tally(there[kind.index], published[kind.index]) for kind in types},
        classes=verdict.classes,
        smallest_class=verdict.k,
        largest_class=verdict.largest_class,
        k_raw=verdict.k_raw,
        k_exempt=verdict.k_exempt,
    )


def _tally(there: int, published: int) -> Tally:
    return Tally(input=there, published=published, suppressed=there - published)


def _levels(prepared: Prepared, forest: Forest) -> dict[str, LevelTable]:
    """The levels of each sensitive attribute: how common, how many a class may hold, their borders."""
    policy, size = prepared.policy, prepared.constraints.min_class_size
    degrees = memberships(policy, prepared.survey)
    tables = {}
    for keys, scale in prepared.scales.items():
        if scale is None:
            continue
        path = str(policy.by_keys[keys][0])
        capacities = [
            model.capacities(size)
            for model, scope in policy.scoped_models
            if isinstance(model, LevelAlphaK) and (scope is None or keys in scope)
        ]
        counts = _level_counts(forest, path, scale.count)
        total = max(sum(counts), 1)
        rows = tuple(
            LevelRow(
                level=level,
                count=count,
                share=Exact.of(Fraction(count, total)),
                capacity=min((own[level - 1] for own in capacities), default=None),
            )
            for level, count in enumerate(counts, 1)
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


def _level_counts(forest: Forest, path: str, level_count: int) -> list[int]:
    """How many original values of a sensitive attribute have each level."""
    counts = np.zeros(level_count, np.int64)
    for kind, own in enumerate(forest.domains):
        vertices = np.flatnonzero(forest.type == kind)
        for position, domain in enumerate(own):
            if domain.path == path and domain.levels:
                codes = forest.sensitive[forest.first_sensitive[vertices] + position]
                levels = np.array(domain.levels, np.int64)[codes[codes >= 0]]
                counts += np.bincount(levels - 1, minlength=level_count)
    return [int(count) for count in counts]


def _breakpoints(scale: LevelScale) -> tuple[str, ...]:
    if not isinstance(scale, DomainScale):
        return ()
    return tuple(str(point) for point in breakpoints(scale.low, scale.high))

"""All steps of ``lint``: what is wrong with a policy, alone or for a collection, and its tables."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from hierdata.ground.errors import HierdataError, PolicyError
from hierdata.ground.progress import Progress

if TYPE_CHECKING:
    from hierdata.documents.document import Document
    from hierdata.pipeline.foresee import Forecast
    from hierdata.pipeline.look_over import Notice
    from hierdata.policy.lint.levels import Capacities, Degrees
    from hierdata.policy.lint.lint import Finding
    from hierdata.policy.lint.partial import Examined
    from hierdata.policy.policy import Policy
    from hierdata.records.survey import Keys, Survey


@dataclass(frozen=True)
class LintTables:
    """Tables shown with the findings, by path: membership degrees, and what a class may contain.

    ``asked`` are the degrees of the values that the user named, ``forecast`` what a release would keep.
    ``more`` says that there are tables of degrees, asked for or not.
    """

    degrees: dict[str, list[Degrees]] = field(default_factory=dict)
    capacities: dict[str, Capacities] = field(default_factory=dict)
    asked: dict[str, list[Degrees]] = field(default_factory=dict)
    forecast: Forecast | None = None
    more: bool = False


class LintExtras(NamedTuple):
    """What is asked beside the findings: degrees of values, every level table, a search with remedies.

    ``degrees`` are pairs of a path and a value as text.
    """

    degrees: list[tuple[str, str]]
    every: bool
    remedies: bool


def lint_file(
    file: Path,
    data: str | None,
    root: Path | None,
    as_format: str | None,
    asked: LintExtras,
    progress: Progress | None,
    notice: Notice | None,
) -> tuple[list[Finding], LintTables]:
    """Return everything that is wrong with a policy file, and the tables of a policy that can be used.

    ``data`` is the collection that the policy is for, None without one. Raises PolicyError for degrees and a
    format that do not fit, TargetError and InputError for a collection that cannot be read where nothing else
    is wrong.
    """
    from hierdata.policy.lint.lint import Finding
    from hierdata.policy.lint.partial import examine
    from hierdata.policy.load import in_format

    try:
        examined = examine(file, root)
    except PolicyError as error:
        return [Finding("error", "", line) for line in str(error).split("\n")], LintTables()
    findings = [
        Finding("error", "", str(mistake), position=examined.file.position(mistake.keys))
        for mistake in examined.mistakes
    ]
    if examined.policy is None:
        return findings, LintTables()
    policy = in_format(examined.policy, as_format)
    survey, hints = _survey(policy, data, findings, progress)
    findings, usable = _find_all(examined, policy, findings, data, survey, hints)
    tables = LintTables()
    # Without usable domains there are no fuzzy sets to show; the findings say why.
    if usable:
        forecast = None
        if survey is not None:
            from hierdata.pipeline.foresee import foresee_loss
            from hierdata.pipeline.search import announcing

            with announcing(notice):
                forecast = foresee_loss(data, policy, survey, hints, remedies=asked.remedies)
        tables = _list_tables(policy, survey, asked, forecast)
    return [_locate(finding, examined) for finding in findings], tables


def _locate(finding: Finding, examined: Examined) -> Finding:
    """Return a finding with its position in the file, if the policy names its path."""
    if finding.position is not None or not finding.path:
        return finding
    return replace(finding, position=examined.position(finding.path))


def _survey(
    policy: Policy, data: str | None, findings: list[Finding], progress: Progress | None
) -> tuple[Survey | None, frozenset[Keys]]:
    """Survey the collection; what it refuses is one more finding where there are others to report."""
    from hierdata.policy.lint.lint import Finding

    if data is None:
        return None, frozenset()
    from hierdata.pipeline.look_over import survey_collection

    try:
        return survey_collection(data, policy, progress=progress)
    except HierdataError as error:
        if not findings:
            raise
        findings.append(Finding("error", "", str(error), error.revealed))
        return None, frozenset()


def _find_all(
    examined: Examined,
    policy: Policy,
    before: list[Finding],
    data: str | None,
    survey: Survey | None,
    hints: frozenset[Keys],
) -> tuple[list[Finding], bool]:
    """Return the findings so far with those of the policy itself, and whether its domains can be used."""
    from hierdata.policy.lint.lint import lint

    of_policy = lint(policy, survey, hints, doubtful=examined.doubtful)
    findings = before + [
        finding for finding in of_policy if finding.severity == "error" or examined.models_stand
    ]
    if not any(finding.path == "schema" for finding in findings):
        findings = _against_schema(policy, data) + findings
    usable = all(finding.severity != "error" for finding in findings)
    if usable and survey is not None:
        findings = _against_steps(policy, survey, hints) + findings
    return findings, usable


def _list_tables(
    policy: Policy, survey: Survey | None, asked: LintExtras, forecast: Forecast | None
) -> LintTables:
    from hierdata.policy.checks.sensitive import class_size
    from hierdata.policy.lint.levels import capacities, degrees_of, has_memberships, memberships

    of_classes = capacities(policy, class_size(policy))
    of_values = degrees_of(policy, asked.degrees, survey)
    degrees = memberships(policy, survey) if asked.every else {}
    return LintTables(degrees, of_classes, of_values, forecast, has_memberships(policy, survey))


def _against_steps(policy: Policy, survey: Survey, hints: frozenset[Keys]) -> list[Finding]:
    """Return the first error that binding engines, population table and gates to these records raises."""
    from hierdata.policy.lint.lint import Finding
    from hierdata.policy.load import add_unlisted
    from hierdata.policy.plan.plan import prepare
    from hierdata.records.values import Values
    from hierdata.release.gates import bind_gates

    try:
        extended = add_unlisted(policy, survey.shape, hints)
        uncounted = {keys: Values() for keys in extended.quasi if keys not in survey.values}
        prepared = prepare(extended, replace(survey, values=survey.values | uncounted), hints)
        bind_gates(extended, prepared.schema, prepared.domains)
    except HierdataError as error:
        path = error.path or ""
        return [Finding("error", path, str(error).removeprefix(f"{path}: "), error.revealed)]
    return []


def _against_schema(policy: Policy, data: str | None) -> list[Finding]:
    """Check the records against the policy's JSON Schema; without data, check only the schema itself."""
    from hierdata.policy.lint.lint import Finding
    from hierdata.sources import check_documents

    if policy.record_schema is None or policy.record_schema.lower().endswith(".xsd"):
        return []
    try:
        schema = policy.folder / policy.record_schema
        with _open_documents(data, policy) as documents:
            for _ in check_documents(documents, schema):
                pass
    except HierdataError as error:
        return [Finding("error", "schema", str(error), error.revealed)]
    return []


@contextmanager
def _open_documents(data: str | None, policy: Policy) -> Iterator[Iterable[Document]]:
    """Open the shaped documents of a collection; without data there are none."""
    if data is None:
        yield ()
        return
    from hierdata.pipeline.look_over import open_shaped

    with open_shaped(data, policy) as (documents, _):
        yield documents

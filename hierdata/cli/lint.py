"""``hierdata lint``: everything that is wrong with a policy, at once.

For a collection also what a release would keep, and what would help.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from hierdata.cli.arguments import AllMetrics, AsJson, FormatName, Quiet, Reveal, Root
from hierdata.cli.feedback import Feedback
from hierdata.cli.session import explain, reveal_values, session, write_private
from hierdata.cli.terminal import fold, print_json, say, show
from hierdata.ground.errors import PolicyError
from hierdata.ground.escaping import quote
from hierdata.pipeline.lint import LintExtras, lint_file

if TYPE_CHECKING:
    from hierdata.pipeline.foresee import Forecast, ForeseenPlace
    from hierdata.pipeline.lint import LintTables
    from hierdata.policy.lint.levels import Degrees
    from hierdata.policy.lint.lint import Finding


_MOST_ROWS = 20
"""Limit on the rows of a level table that are printed."""


def lint(
    policy: Annotated[
        Path, typer.Argument(metavar="POLICY", help="YAML, JSON, or a JSON Schema with x-hierdata.")
    ],
    data: Annotated[str | None, typer.Option(help="The collection that the policy is for.")] = None,
    root: Root = None,
    as_format: FormatName = None,
    remedies: Annotated[
        bool, typer.Option("--remedies", help="Search once more with each change that may keep more.")
    ] = False,
    metrics: AllMetrics = False,
    as_json: AsJson = False,
    quiet: Quiet = False,
    reveal: Reveal = None,
    levels: Annotated[
        Path | None,
        typer.Option(help="A new CSV file for all rows of the level tables, readable only by you."),
    ] = None,
    degrees: Annotated[
        list[str] | None,
        typer.Option(
            metavar="PATH=VALUE",
            help="Print level and membership degrees of a sensitive value, such as $.gpa=3.2; repeatable.",
        ),
    ] = None,
) -> None:
    """Find everything that is wrong with a policy, alone or for a collection; exit code 2 for errors."""
    with session(as_json, reveal):
        with Feedback(quiet or as_json) as feedback:
            shown = as_json or metrics or levels is not None or reveal is not None
            asked = LintExtras([_pair(text) for text in degrees or []], shown, remedies)
            findings, tables = lint_file(
                policy, data, root, as_format, asked, feedback.listener, feedback.notice
            )
        errors = sum(finding.severity == "error" for finding in findings)
        if as_json:
            print_json(_as_dict(findings, tables))
        elif not quiet:
            _show(findings, tables, metrics=metrics, remedies=remedies)
        if levels is not None:
            write_private(levels, _list_levels(tables.degrees), "all rows of the level tables")
        if reveal is not None:
            reveal_values(reveal, _list_raw_values(findings, tables.degrees))
        if errors:
            subject = "1 error" if errors == 1 else f"{errors} errors"
            raise typer.Exit(explain("PolicyError", f"{subject} in {policy.name}", 2, as_json=False))


def _pair(text: str) -> tuple[str, str]:
    path, equals, value = text.partition("=")
    if not equals:
        raise PolicyError("--degrees takes PATH=VALUE, such as --degrees '$.gpa=3.2'")
    return path, value


def _as_dict(findings: list[Finding], tables: LintTables) -> dict[str, object]:
    """Return the JSON output; it contains no raw values."""
    return {
        "findings": [
            {
                "severity": finding.severity,
                "path": finding.path,
                "message": finding.message,
                "line": None if finding.position is None else finding.position.line,
                "column": None if finding.position is None else finding.position.column,
            }
            for finding in findings
        ],
        "memberships": _rows(tables.degrees),
        "asked": _rows(tables.asked),
        "capacities": {
            path: [
                {"class_size": size, "by_level": row}
                for size, row in zip(table.sizes, table.by_level, strict=True)
            ]
            for path, table in tables.capacities.items()
        },
        "forecast": None if tables.forecast is None else asdict(tables.forecast),
    }


def _rows(degrees: dict[str, list[Degrees]]) -> dict[str, object]:
    return {
        path: [{"at": row.label, "level": row.level, "degrees": row.degrees} for row in rows]
        for path, rows in degrees.items()
    }


def _list_raw_values(findings: list[Finding], degrees: dict[str, list[Degrees]]) -> list[str]:
    """Return a line with path and value for each raw value behind a finding or a label v1, v2 .."""
    lines = [f"{finding.path}\t{value}" for finding in findings for value in finding.revealed]
    return lines + [
        f"{path}\t{row.label}\t{row.revealed}"
        for path, rows in degrees.items()
        for row in rows
        if row.revealed is not None
    ]


def _list_levels(degrees: dict[str, list[Degrees]]) -> list[str]:
    """Return the level tables as lines of CSV, without raw values; none if there are no tables."""
    import csv
    from io import StringIO

    sets = max((len(rows[0].degrees) for rows in degrees.values()), default=0)
    text = StringIO()
    out = csv.writer(text, lineterminator="\n")
    out.writerow(["path", "at", "level", *(f"A{level}" for level in range(1, sets + 1))])
    for path, rows in degrees.items():
        out.writerows([path, row.label, row.level, *row.degrees] for row in rows)
    return text.getvalue().splitlines() if degrees else []


def _show(findings: list[Finding], tables: LintTables, *, metrics: bool, remedies: bool) -> None:
    """Print how many findings there are, then each; tables of levels only if asked."""
    from hierdata.release.report.wording import plural

    for path, rows in tables.asked.items():
        _show_degrees(f"Degrees of values of {path}", "value", rows)
    numbers = Counter(finding.severity for finding in findings)
    if findings:
        noted = f", {plural(numbers['note'], 'note')}" if numbers["note"] else ""
        say(f"{plural(numbers['error'], 'error')}, {plural(numbers['warning'], 'warning')}{noted}")
    else:
        say("Nothing is wrong.")
    for finding in findings:
        named = (finding.severity, _position(finding), quote(finding.path) if finding.path else "")
        say(*fold(f"{' '.join(filter(None, named))}: {finding.message}", "  ", "  "))
    if tables.forecast is not None:
        show_forecast(tables.forecast, tried=remedies)
    if metrics:
        _show_tables(tables)
    elif tables.capacities or tables.more:
        say("Tables of levels: --metrics")


def _show_tables(tables: LintTables) -> None:
    for path, table in tables.capacities.items():
        levels = [f"level {level}" for level in range(1, len(table.by_level[0]) + 1)]
        numbers = [[str(size), *map(str, row)] for size, row in zip(table.sizes, table.by_level, strict=True)]
        show(f"Most values of {path} in a class", ["records", *levels], numbers)
    for path, rows in tables.degrees.items():
        _show_degrees(f"Membership degrees of {path}", "at", rows[:_MOST_ROWS])
        if len(rows) > _MOST_ROWS:
            say(f"{len(rows) - _MOST_ROWS} more rows: --levels FILE writes all of them to a new file")


def _show_degrees(title: str, head: str, rows: list[Degrees]) -> None:
    sets = [f"A{level}" for level in range(1, len(rows[0].degrees) + 1)]
    cells = [[row.label, str(row.level), *(f"{degree:.3g}" for degree in row.degrees)] for row in rows]
    show(title, [head, "level", *sets], cells)


def _position(finding: Finding) -> str:
    return ":".join(str(number) for number in finding.position or () if number is not None)


_MOST_PLACES = 4
"""Limit on the places that are printed."""
_MOST_HELPS = 2
"""Limit on the remedies of a place that are printed."""


def show_forecast(forecast: Forecast, *, tried: bool) -> None:
    """Print what a release would keep, where little of it, and what helps most if remedies were ``tried``."""
    from hierdata.release.report.wording import plural

    if forecast.failure is not None:
        say(*fold(f"What a release would keep cannot be foreseen: {forecast.failure}", "", "  "))
        return
    if forecast.refusal is not None:
        sure = forecast.searched == forecast.records
        would = "`hierdata anonymize` would refuse this" if sure else "`hierdata anonymize` may refuse this"
        say(*fold(f"Foreseen: {would}: {forecast.refusal}", "", "  "))
    how = f"by a search of {forecast.searched:,} of {forecast.records:,} records"
    say(f"Foreseen: {_percent(forecast.kept)} kept, {how}")
    for foreseen in forecast.places[:_MOST_PLACES]:
        say(*fold(_describe(foreseen), "  ", "  "))
        if foreseen.helps:
            helps = (f"{_percent(remedy.kept)} with {remedy.text}" for remedy in foreseen.helps[:_MOST_HELPS])
            say(*fold(f"kept {', '.join(helps)}", "    ", "  "))
    if len(forecast.places) > _MOST_PLACES:
        more = plural(len(forecast.places) - _MOST_PLACES, "more place")
        say(f"  {more} of which little is kept: --json")
    if forecast.places and not tried:
        say("What may keep more: --remedies")


def _describe(foreseen: ForeseenPlace) -> str:
    """Return what is kept at a place, and how many vertices records have there."""
    parts = [f"{_percent(foreseen.kept)} kept"]
    if foreseen.published is not None:
        parts.insert(0, f"{_percent(foreseen.published)} published")
    if foreseen.numbers is not None:
        parts.append(
            f"{foreseen.numbers.median} or fewer in half of the records, up to {foreseen.numbers.most}"
        )
    return f"{quote(foreseen.path)}: {', '.join(parts)}"


def _percent(share: float | None) -> str:
    return "" if share is None else f"{100 * share:.0f} %"

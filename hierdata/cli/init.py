"""``hierdata init``: draft a policy from one pass over a collection."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from hierdata.cli import arguments
from hierdata.cli.feedback import Feedback
from hierdata.cli.session import require_absent, reveal_values, session
from hierdata.cli.terminal import fold, print_json, say, show
from hierdata.ground.progress import silent

if TYPE_CHECKING:
    from hierdata.drafting.draft import Draft, Drafted
    from hierdata.drafting.promises import FieldRisk
    from hierdata.drafting.standard import StandardDraft

_MOST_FIELDS = 12
"""Fields that are printed; the draft has all."""


StandardName = Annotated[
    str | None,
    typer.Option("--as", metavar="STANDARD", help="fhir-r4 (found by itself), c-cda, or hipaa-safe-harbor."),
]


def init(
    source: Annotated[
        str,
        typer.Argument(
            metavar="INPUT",
            help="A file, a folder of tables or of files with one record each, or the address of a store.",
        ),
    ],
    out: Annotated[
        Path | None, typer.Option(help="A new file for the draft; by default the draft is printed.")
    ] = None,
    as_format: arguments.FormatName = None,
    records: Annotated[
        str | None, typer.Option(help="Path of the records, such as $.export.people or /people/person.")
    ] = None,
    delimiter: Annotated[
        str | None, typer.Option(help="The delimiter of CSV cells; by default found in the header.")
    ] = None,
    encoding: Annotated[
        str | None, typer.Option(help="The encoding of the text, such as latin-1; by default UTF-8.")
    ] = None,
    table: arguments.TableName = None,
    query: arguments.Query = None,
    column: arguments.ColumnName = None,
    standard: StandardName = None,
    as_json: arguments.AsJson = False,
    quiet: arguments.Quiet = False,
    reveal: arguments.Reveal = None,
) -> None:
    """Read a collection once, and write the draft of a policy for you to review and change."""
    with session(as_json, reveal, out):
        from hierdata.pipeline import draft as drafting
        from hierdata.pipeline.draft_standards import SAFE_HARBOR, init_standard

        if out is not None:
            require_absent(out)
        keys = {"format": as_format, "encoding": encoding, "records": records}
        stated = {key: value for key, value in keys.items() if value is not None}
        with Feedback(quiet or as_json) as feedback:
            by_standard = init_standard(source, standard, stated, feedback.listener or silent)
        if by_standard is not None:
            _give(by_standard, out, as_json, quiet)
            return
        with Feedback(quiet or as_json) as feedback:
            draft = drafting.init(
                arguments.with_rows(source, table, query, column),
                format=as_format,
                records=records,
                delimiter=delimiter,
                encoding=encoding,
                safe_harbor=standard == SAFE_HARBOR,
                progress=feedback.listener,
            )
        _give(draft, out, as_json, quiet)
        if reveal is not None:
            reveal_values(reveal, draft.reveals)


def _give(draft: Draft | StandardDraft, out: Path | None, as_json: bool, quiet: bool) -> None:
    from hierdata.drafting.draft import Draft

    if out is not None:
        draft.save(out)
    if as_json:
        print_json(_as_dict(draft) if isinstance(draft, Draft) else draft.as_dict())
    elif out is None:
        say(*str(draft).splitlines())
    elif quiet:
        return
    elif isinstance(draft, Draft):
        _show(draft, out)
    else:
        published = [element for element in draft.list_roles() if element.is_published]
        say(f"{draft.standard}, {draft.records:,} patients: {len(published)} elements are published.")
        say(f"The draft is in {out}. Answer its questions, remove its line `draft`, and run lint.")


def _as_dict(draft: Draft) -> dict[str, Any]:
    """Return the JSON output; it contains no values of the data."""
    paths = {drafted.field.keys: drafted.path for drafted in draft.fields}
    return {
        "records": draft.records,
        "persons": None if draft.persons is None else asdict(draft.persons),
        "vertices": [{"path": below.path, "each": below.each} for below in draft.vertices],
        "fields": [
            {
                "path": drafted.path,
                "role": drafted.proposal.role,
                "reason": drafted.proposal.reason,
                "confirm": drafted.proposal.confirm or None,
                "presence": drafted.field.presence,
                "distinct": drafted.field.attribute and drafted.field.attribute.values.distinct,
                **_figures(drafted.risk),
            }
            for drafted in draft.fields
        ],
        "pairs": [
            {"paths": [paths[pair.first], paths[pair.second]], "gain": pair.gain, **_figures(pair.risk)}
            for pair in draft.pairs
        ],
    }


def _figures(risk: FieldRisk | None) -> dict[str, Any]:
    if risk is None:
        return {}
    return {"unique": risk.unique, "small": risk.small, "exact": risk.exact, "standard_error": risk.error}


def _show(draft: Draft, out: Path) -> None:
    from hierdata.drafting.draft import percent
    from hierdata.drafting.persons import describe_persons

    # Those to confirm first, then those that single out most.
    order = sorted(draft.fields, key=lambda drafted: (not drafted.proposal.confirm, -_risk(drafted)))
    chosen = order[:_MOST_FIELDS]
    rows = []
    for drafted in draft.fields:
        if drafted not in chosen:
            continue
        risk = drafted.risk
        shares = ["", ""] if risk is None else [percent(risk.unique), percent(risk.small)]
        mark = "confirm" if drafted.proposal.confirm else ""
        rows.append([drafted.path, drafted.proposal.role, *shares, drafted.proposal.reason, mark])
    show(
        f"Proposed for {draft.records:,} records",
        ["field", "role", "unique", "in groups below 5", "why", ""],
        rows,
    )
    if more := len(draft.fields) - len(rows):
        say(f"and {more:,} more field{'' if more == 1 else 's'}: the draft has them all")
    if draft.persons is not None:
        say(*fold(describe_persons(draft.persons, united="individual" in draft.stated), "", "  "))
    say(f"The draft is in {out}. Review it, remove its line `draft`, and run lint.")


def _risk(drafted: Drafted) -> float:
    return 0 if drafted.risk is None else drafted.risk.small

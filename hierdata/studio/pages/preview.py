"""The preview: what a release of a sample keeps and risks, and a record of it before and after."""

from __future__ import annotations

import json
from typing import Any

from hierdata.ground.errors import InputError
from hierdata.release.charts import BarRow, RowChart
from hierdata.release.charts.rows import describe_rows
from hierdata.release.report.wording import share
from hierdata.studio.page import Ask, Done, Page
from hierdata.studio.policy_view import check_policy, is_draft
from hierdata.studio.texts import say

_MOST_ROWS = 30


def view(ask: Ask) -> dict[str, Any]:
    """Return the figures of the preview, if there is one."""
    study = ask.study
    if not study.has_policy:
        return {"found": None, "ready": False}
    text = study.policy_text()
    found = study.figures("preview")
    content: dict[str, Any] = {
        "found": found,
        "ready": True,
        "problems": check_policy(study, text),
        "is_draft": is_draft(text),
        "is_older": found is not None and found["version"] != study.version(),
    }
    if found is None or found["refused"] is not None:
        return content
    return {
        **content,
        "types": _draw(say("preview.by_type"), found["kept_types"], "types"),
        "fields": _draw(say("preview.by_field"), found["kept_fields"], "fields"),
        "guesses": _draw(say("preview.guesses"), found["worst_guess"], "guesses"),
        "risks": [_describe(one) for one in found["risks"]],
        "has_records": bool(study.figures("records")),
    }


def _draw(title: str, shares: dict[str, float], kind: str) -> RowChart | None:
    """Draw shares by path, the least first; None without any."""
    ordered = sorted(shares.items(), key=lambda one: one[1], reverse=kind == "guesses")[:_MOST_ROWS]
    rows = tuple(BarRow(path or say("tree.record"), (own,), share(own)) for path, own in ordered)
    return RowChart(title, describe_rows(rows), rows) if rows else None


def _describe(one: dict[str, Any]) -> dict[str, Any]:
    return {
        **one,
        "name": one["risk"].replace("_", " "),
        "shown": share(one["value"]),
        "interval": f"{share(one['low'])} - {share(one['high'])}",
        "by_chance": "" if one["chance"] is None else share(one["chance"]),
    }


def _run(ask: Ask) -> Done:
    with ask.study.edit(ask.version):
        ask.works.start(ask.study, "preview", {"version": ask.version})
    return Done("preview")


def view_record(ask: Ask) -> dict[str, Any]:
    """Return one record of the preview before and after. Raises InputError for a number that is none."""
    pairs = ask.study.figures("records") or []
    at = ask.query.get("number", "1")
    if not at.isdecimal() or not 1 <= int(at) <= len(pairs):
        raise InputError("there is no such record: run the preview first")
    before, after = pairs[int(at) - 1]
    return {"number": int(at), "all": len(pairs), "before": _write(before), "after": _write(after)}


def _write(record: Any) -> list[str]:
    return json.dumps(record, ensure_ascii=False, indent=2).splitlines()


PAGE = Page("preview", view, actions={"run": _run})
RECORD = Page("record", view_record, shows_data=True, is_step=False)

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
    preview = study.figures("preview")
    content: dict[str, Any] = {
        "found": preview,
        "ready": True,
        "problems": check_policy(study, text),
        "is_draft": is_draft(text),
        "is_older": preview is not None and preview["version"] != study.version(),
    }
    if preview is None or preview["refused"] is not None:
        return content
    return {
        **content,
        "types": _draw(say("preview.by_type"), preview["kept_types"], "types"),
        "fields": _draw(say("preview.by_field"), preview["kept_fields"], "fields"),
        "guesses": _draw(say("preview.guesses"), preview["worst_guess"], "guesses"),
        "risks": [_describe(risk) for risk in preview["risks"]],
        "has_records": bool(study.figures("records")),
    }


def _draw(title: str, shares: dict[str, float], kind: str) -> RowChart | None:
    """Draw shares by path, the least first; None without any."""
    ordered = sorted(shares.items(), key=lambda item: item[1], reverse=kind == "guesses")[:_MOST_ROWS]
    rows = tuple(BarRow(path or say("tree.record"), (value,), share(value)) for path, value in ordered)
    return RowChart(title, describe_rows(rows), rows) if rows else None


def _describe(risk: dict[str, Any]) -> dict[str, Any]:
    return {
        **risk,
        "name": risk["risk"].replace("_", " "),
        "shown": share(risk["value"]),
        "interval": f"{share(risk['low'])} - {share(risk['high'])}",
        "by_chance": "" if risk["chance"] is None else share(risk["chance"]),
    }


def _run(ask: Ask) -> Done:
    with ask.study.edit(ask.version):
        ask.works.start(ask.study, "preview", {"version": ask.version})
    return Done("preview")


def view_record(ask: Ask) -> dict[str, Any]:
    """Return one record of the preview before and after. Raises InputError for a number that is none."""
    pairs = ask.study.figures("records") or []
    number = ask.query.get("number", "1")
    if not number.isdecimal() or not 1 <= int(number) <= len(pairs):
        raise InputError("there is no such record: run the preview first")
    before, after = pairs[int(number) - 1]
    return {"number": int(number), "all": len(pairs), "before": _write(before), "after": _write(after)}


def _write(record: Any) -> list[str]:
    return json.dumps(record, ensure_ascii=False, indent=2).splitlines()


PAGE = Page("preview", view, actions={"run": _run})
RECORD = Page("record", view_record, shows_data=True, is_step=False)

"""Compare: the curve of kept against risk over several policies; a click takes one."""

from __future__ import annotations

from typing import Any

from hierdata.drafting.draft import flow
from hierdata.ground.errors import InputError
from hierdata.release.charts.plots import Dot, ScatterChart
from hierdata.release.report.wording import share
from hierdata.studio.page import Ask, Done, Page
from hierdata.studio.policy_view import change_policy, check_policy, read_plain
from hierdata.studio.texts import say
from hierdata.studio.yaml_edit import set_items

_MOST_K = 8


def view(ask: Ask) -> dict[str, Any]:
    """Return the compared policies, drawn and in a table."""
    study = ask.study
    if not study.has_policy:
        return {"ready": False, "found": None}
    text, compared = study.policy_text(), study.figures("compare")
    content = {"ready": True, "found": compared, "problems": check_policy(study, text)}
    if compared is None:
        return content
    models = [_spell(model) for model in read_plain(text).get("models", [])]
    rows = [
        {**row, **_describe(row), "is_stated": [_spell(model) for model in row["models"]] == models}
        for row in compared["rows"]
    ]
    return {
        **content,
        "rows": rows,
        "is_older": compared["version"] != study.version(),
        "chart": _draw(compared["rows"]),
    }


def _describe(row: dict[str, Any]) -> dict[str, str]:
    return {
        "shown_kept": "-" if row["kept"] is None else share(row["kept"]),
        "shown_guess": "-" if row["worst_guess"] is None else share(row["worst_guess"]),
        "shown_models": "; ".join(flow(model) for model in row["models"]),
    }


def _spell(model: Any) -> str:
    settings = sorted(dict(model).items())
    return flow({key: value if isinstance(value, list) else str(value) for key, value in settings})


def _draw(rows: list[dict[str, Any]]) -> ScatterChart | None:
    """Draw kept against the worst guess, or where nothing is sensitive against one in the smallest class."""
    dots = tuple(
        Dot(
            100 * _risk(row),
            100 * row["kept"],
            str(row["number"]),
            not row["dominated_by"],
            f"#policy-{row['number']}",
        )
        for row in rows
        if row["refused"] is None and row["kept"] is not None
    )
    if not dots:
        return None
    description = "; ".join(f"{dot.label}: {dot.y:.1f} % kept, {dot.x:.1f} % risk" for dot in dots)
    return ScatterChart(
        say("comparison.chart"), description, say("comparison.x"), say("comparison.y"), dots,
        say("comparison.filled"), say("comparison.hollow"),
    )  # fmt: skip


def _risk(row: dict[str, Any]) -> float:
    """Return the worst guess of a value, or without sensitive fields the chance to pick the right record."""
    if row["worst_guess"] is not None:
        return float(row["worst_guess"])
    return 1 / max(1, int(row["smallest"]))


def _run(ask: Ask) -> Done:
    numbers = [part.strip() for part in ask.text("k", 100).split(",") if part.strip()]
    if not 1 <= len(numbers) <= _MOST_K or not all(
        number.isdecimal() and 2 <= int(number) <= 10**6 for number in numbers
    ):
        raise InputError(say("comparison.numbers", most=_MOST_K))
    with ask.study.edit(ask.version):
        arguments = {
            "version": ask.version,
            "k": sorted({*map(int, numbers)}),
            "without": bool(ask.text("without")),
        }
        ask.works.start(ask.study, "compare", arguments)
    return Done("comparison")


def _take(ask: Ask) -> Done:
    compared = ask.study.figures("compare") or {"rows": []}
    number = ask.text("number", 10)
    chosen = next((row for row in compared["rows"] if str(row["number"]) == number), None)
    if chosen is None:
        raise InputError("there is no such policy: compare again")
    description = say("comparison.did", name=chosen["name"])
    change_policy(ask, description, lambda text: set_items(text, "models", chosen["models"]), ["model"])
    return Done("comparison", "policy_taken")


PAGE = Page("comparison", view, actions={"run": _run, "take": _take})

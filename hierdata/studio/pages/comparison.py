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
    text, found = study.policy_text(), study.figures("compare")
    content = {"ready": True, "found": found, "problems": check_policy(study, text)}
    if found is None:
        return content
    models = [_spell(one) for one in read_plain(text).get("models", [])]
    rows = [
        {**one, **_describe(one), "is_stated": [_spell(own) for own in one["models"]] == models}
        for one in found["rows"]
    ]
    return {
        **content,
        "rows": rows,
        "is_older": found["version"] != study.version(),
        "chart": _draw(found["rows"]),
    }


def _describe(one: dict[str, Any]) -> dict[str, str]:
    return {
        "shown_kept": "-" if one["kept"] is None else share(one["kept"]),
        "shown_guess": "-" if one["worst_guess"] is None else share(one["worst_guess"]),
        "shown_models": "; ".join(flow(own) for own in one["models"]),
    }


def _spell(model: Any) -> str:
    return flow(
        {key: str(own) if not isinstance(own, list) else own for key, own in sorted(dict(model).items())}
    )


def _draw(rows: list[dict[str, Any]]) -> ScatterChart | None:
    """Draw kept against the worst guess, or where nothing is sensitive against one in the smallest class."""
    dots = tuple(
        Dot(
            100 * _risk(one),
            100 * one["kept"],
            str(one["number"]),
            not one["dominated_by"],
            f"#policy-{one['number']}",
        )
        for one in rows
        if one["refused"] is None and one["kept"] is not None
    )
    if not dots:
        return None
    told = "; ".join(f"{dot.label}: {dot.y:.1f} % kept, {dot.x:.1f} % risk" for dot in dots)
    return ScatterChart(
        say("comparison.chart"), told, say("comparison.x"), say("comparison.y"), dots,
        say("comparison.filled"), say("comparison.hollow"),
    )  # fmt: skip


def _risk(one: dict[str, Any]) -> float:
    """Return the worst guess of a value, or without sensitive fields the chance to pick the right record."""
    if one["worst_guess"] is not None:
        return float(one["worst_guess"])
    return 1 / max(1, int(one["smallest"]))


def _run(ask: Ask) -> Done:
    numbers = [part.strip() for part in ask.text("k", 100).split(",") if part.strip()]
    if not 1 <= len(numbers) <= _MOST_K or not all(
        one.isdecimal() and 2 <= int(one) <= 10**6 for one in numbers
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
    """Take the models of a compared policy."""
    found = ask.study.figures("compare") or {"rows": []}
    number = ask.text("number", 10)
    chosen = next((one for one in found["rows"] if str(one["number"]) == number), None)
    if chosen is None:
        raise InputError("there is no such policy: compare again")
    what = say("comparison.did", name=chosen["name"])
    change_policy(ask, what, lambda text: set_items(text, "models", chosen["models"]), ["model"])
    return Done("comparison", "policy_taken")


PAGE = Page("comparison", view, actions={"run": _run, "take": _take})

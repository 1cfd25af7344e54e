"""The tree of the collection: structure, how many, what values look like, and the risk of each field."""

from __future__ import annotations

from typing import Any

from hierdata.drafting.draft import percent
from hierdata.ground.errors import InputError
from hierdata.release.charts import TreeChart, TreeNode
from hierdata.studio.page import Ask, Done, Page

_MOST_DRAWN = 60
"""Fields in the picture; the table has all."""
_MOST_SHOWN = 50
"""Values of a field that are shown."""


def view(ask: Ask) -> dict[str, Any]:
    """Return the fields by vertex type, and a picture of their risks."""
    survey = ask.study.figures("survey")
    if survey is None:
        return {"found": None}
    fields = [{**field, **_describe(field)} for field in survey["fields"]]
    types = [{"path": "", "each": None}, *survey["vertices"]]
    groups = [{**kind, "fields": [row for row in fields if row["vertex"] == kind["path"]]} for kind in types]
    return {
        "found": survey,
        "groups": groups,
        "pairs": [{**pair, "shown": percent(pair["unique"])} for pair in survey["pairs"]],
        "chart": _draw(groups),
    }


def _describe(field: dict[str, Any]) -> dict[str, str]:
    about = "" if field["exact"] else "about "
    return {
        "shown_distinct": "" if field["distinct"] is None else f"{about}{field['distinct']:,}",
        "shown_presence": percent(field["presence"]),
        "shown_unique": "" if field["unique"] is None else percent(field["unique"]),
        "shown_small": "" if field["small"] is None else percent(field["small"]),
    }


def _draw(groups: list[dict[str, Any]]) -> TreeChart:
    """Draw the fields below their vertex types; a bar is the share of records that the field singles out."""
    nodes: list[TreeNode] = []
    paths = [group["path"] for group in groups]
    for group in groups:
        path = group["path"]
        depth = sum(path != other and path.startswith(other) for other in paths)
        nodes.append(TreeNode(path or "record", depth, None, "", inner=True))
        for field in group["fields"]:
            name = field["path"].removeprefix(path).lstrip("./") or field["path"]
            nodes.append(TreeNode(name, depth + 1, field["unique"], field["shown_unique"]))
    shown = tuple(nodes[:_MOST_DRAWN])
    description = "; ".join(f"{node.name}: {node.note}" for node in shown if node.note)
    return TreeChart("Records that each field singles out", description, shown)


def _survey(ask: Ask) -> Done:
    ask.works.start(ask.study, "survey", {})
    return Done("tree")


def view_values(ask: Ask) -> dict[str, Any]:
    """Return the values of one field, the most frequent first. Raises InputError for an unknown field."""
    path = ask.query.get("field", "")
    counted = (ask.study.figures("values") or {}).get(path)
    if counted is None:
        raise InputError("there is no such field: choose one on the page of the collection")
    values = [(_spell(value), times) for value, times in counted["values"][:_MOST_SHOWN]]
    return {
        "path": path,
        "values": values,
        "of": counted["of"],
        "all": counted["all"] and len(values) == len(counted["values"]),
    }


def _spell(value: object) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return "(missing)" if value is None else str(value)


PAGE = Page("tree", view, actions={"survey": _survey})
VALUES = Page("values", view_values, shows_data=True, is_step=False)

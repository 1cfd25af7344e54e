"""Hierarchies: how fields are made coarser, the number of values under each step, and import of files."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

from starlette.datastructures import UploadFile

from hierdata.documents.limits import TAXONOMY
from hierdata.domains import DOMAINS
from hierdata.domains.base import Uncovered
from hierdata.domains.taxonomy_files import read_tree
from hierdata.drafting.draft import flow
from hierdata.ground.errors import HierdataError, InputError
from hierdata.policy.load.yaml import fragment
from hierdata.studio.page import Ask, Done, Page
from hierdata.studio.policy_view import build_policy, change_policy, change_rules, rules_of, state_domain
from hierdata.studio.study import StudyFolder
from hierdata.studio.texts import say

_MOST_NODES = 60
"""Nodes that are shown, those with the most values."""
_FILE = re.compile(r"[A-Za-z0-9][\w. -]{0,80}\.(?:csv|yaml|yml)", re.ASCII)
_STEPS = ("day", "week", "month", "quarter", "year", "decade", "century")


def view(ask: Ask) -> dict[str, Any]:
    """Return the fields that are made coarser, and the values under each node of the one that is open."""
    study = ask.study
    if not study.has_policy:
        return {"rows": None}
    text = study.policy_text()
    rows = [
        {"path": path, "kind": _kind_of(rule), "written": flow(state_domain(rule))}
        for path, rule in rules_of(text).items()
        if rule.get("role") == "quasi" and rule.get("action") is None
    ]
    path = ask.query.get("field") or ask.text("field")
    here = next((row for row in rows if row["path"] == path), rows[0] if rows else None)
    return {
        "rows": rows,
        "here_row": here,
        "kinds": [*DOMAINS],
        "stated": None if here is None else _state(rules_of(text)[here["path"]]),
        "date_steps": _STEPS,
        "files": sorted(file.name for file in (study.folder / "hierarchies").iterdir()),
        "counted": None if here is None else _count_nodes(study, text, here["path"]),
    }


def _kind_of(rule: Mapping[str, Any]) -> str:
    return next((key for key in DOMAINS if key in rule), "" if "domain" in rule else "flat")


def _state(rule: Mapping[str, Any]) -> dict[str, str]:
    """Return what the form is filled with."""
    stated = rule.get(_kind_of(rule))
    options = stated if isinstance(stated, Mapping) else {}
    file = stated if isinstance(stated, str) else options.get("file", "")
    steps = options.get("steps", options.get("keep", []))
    return {"numbers": ", ".join(map(str, steps)), "file": Path(str(file)).name}


def _count_nodes(study: StudyFolder, text: str, path: str) -> dict[str, Any] | None:
    """Count the values of a field under each node of its hierarchy; None where that cannot be done."""
    counted = (study.figures("values") or {}).get(path)
    if counted is None:
        return None
    try:
        policy = build_policy(study, text)
        rule = policy.fields[path]
        counts = {_plain_number(value): times for value, times in counted["values"] if value is not None}
        assert rule.domain is not None, "a quasi-identifier has a domain"
        hierarchy = rule.domain.compile(counts, policy.folder)
    except HierdataError as error:
        return {"problem": str(error), "nodes": [], "outside": 0, "of": counted["of"]}
    totals: dict[int, list[int]] = {}
    outside = 0
    for value, times in counts.items():
        try:
            above = {node for node in hierarchy.ancestors[hierarchy.node_of(value)] if node >= 0}
        except Uncovered:
            outside += 1
            continue
        for node in above:
            total = totals.setdefault(node, [0, 0])
            total[0] += 1
            total[1] += times
    top = sorted(totals, key=lambda node: (-totals[node][1], node))[:_MOST_NODES]
    paths = {node: [above for above in hierarchy.ancestors[node] if above >= 0] for node in top}
    nodes = [
        {"label": str(hierarchy.labels[node]), "depth": min(len(paths[node]) - 1, 6),
         "values": totals[node][0], "times": totals[node][1]}
        for node in sorted(top, key=paths.__getitem__)
    ]  # fmt: skip
    return {
        "problem": "",
        "nodes": nodes,
        "outside": outside,
        "of": counted["of"],
        "more": len(totals) - len(top),
    }


def _plain_number(value: Any) -> Any:
    return str(value).lower() if isinstance(value, bool) else value


def _set(ask: Ask) -> Done:
    path, kind = ask.text("field"), ask.text("kind", 40)
    if kind not in DOMAINS:
        raise InputError("choose how the values are made coarser")
    domain = _read_domain(ask, kind)

    def edit(text: str) -> str:
        rule = rules_of(text).get(path)
        if rule is None or rule.get("role") != "quasi":
            raise InputError("this field is not made coarser any more: load the page again")
        before = rule.get(kind)
        if isinstance(before, Mapping) and isinstance(domain, Mapping):
            stated = ("steps", "keep", "file", "tree")
            beside = {key: value for key, value in before.items() if key not in stated}
            changed: Any = {**domain, **beside}
        else:
            changed = domain
        rest = {key: value for key, value in rule.items() if key not in DOMAINS and key != "role"}
        return change_rules(text, {path: {"role": "quasi", kind: changed, **rest}})

    change_policy(ask, say("hierarchies.did", path=path), edit)
    return Done("hierarchies", "coarsened", urlencode({"field": path}))


def _read_domain(ask: Ask, kind: str) -> Any:
    """Return the domain as a policy states it. Raises InputError for what is no list of numbers."""
    if kind == DOMAIN_OF_FILES:
        return f"hierarchies/{_keep_file(ask)}"
    if kind == DOMAIN_OF_PERIODS:
        chosen = [step for step in _STEPS if step in ask.texts("step")]
        if not chosen:
            raise InputError(say("hierarchies.tick_step"))
        return {"steps": chosen}
    if not any(info in DOMAINS[kind].model_fields for info in ("steps", "keep")):
        return True
    numbers = fragment(f"[{ask.text('numbers', 500)}]", say("hierarchies.numbers"))
    if not numbers or any(isinstance(number, bool | str | list | dict | None) for number in numbers):
        raise InputError(say("hierarchies.write_numbers"))
    key = "keep" if "keep" in DOMAINS[kind].model_fields else "steps"
    return {key: sorted(numbers, reverse=key == "keep")}


DOMAIN_OF_FILES, DOMAIN_OF_PERIODS = "taxonomy", "date"


def _keep_file(ask: Ask) -> str:
    """Copy an uploaded file into the study, checked; or return the name of one that is there."""
    upload = ask.form.get("upload")
    folder = ask.study.folder / "hierarchies"
    if not isinstance(upload, UploadFile) or not upload.filename:
        name = ask.text("file", 100)
        if name not in {file.name for file in folder.iterdir()}:
            raise InputError(say("hierarchies.choose_file"))
        return name
    name = Path(upload.filename).name
    if not _FILE.fullmatch(name):
        raise InputError(say("hierarchies.file_name"))
    content = upload.file.read(TAXONOMY.size + 1)
    if len(content) > TAXONOMY.size:
        raise InputError(say("hierarchies.file_size", most=f"{TAXONOMY.size:,}"))
    target = folder / name
    if target.exists() and target.read_bytes() != content:
        raise InputError(say("hierarchies.file_there"))
    target.write_bytes(content)
    target.chmod(0o600)
    try:
        read_tree(target, None, name)
    except HierdataError:
        target.unlink()
        raise
    return name


PAGE = Page("hierarchies", view, actions={"set": _set}, shows_data=True)

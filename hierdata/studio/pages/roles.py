"""Roles: the draft's questions one at a time, and a table of all fields with a filter and bulk answers."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from hierdata.drafting.draft import flow, percent
from hierdata.ground.errors import InputError, PolicyError
from hierdata.policy.spec.fields import FieldRule
from hierdata.studio.page import Ask, Done, Page
from hierdata.studio.policy_view import (
    change_policy,
    change_rules,
    fit_models,
    is_draft,
    rules_of,
    state_domain,
    without_draft,
)
from hierdata.studio.study import StudyFolder
from hierdata.studio.texts import say
from hierdata.studio.yaml_edit import set_entry

PERSONS, TABLES, MODEL, NOTHING_SENSITIVE = "persons", "tables", "model", "sensitive"
"""Questions that are not of one field."""
ROLES = ("quasi", "sensitive", "identifier", "drop", "as_is")
"""The answers for a field, as the page offers them."""
_ANY_ROLE = {"missing", "optional", "vertex", "weight", "label"}
"""Keys of a rule that stay whatever the role is; so do keys that nobody here knows."""
_KNOWN = {info.alias or name for name, info in FieldRule.model_fields.items()}


def view(ask: Ask) -> dict[str, Any]:
    """Return the open questions, the one to answer now, and the fields that the filter lets through."""
    study = ask.study
    survey = study.figures("survey")
    if not study.has_policy or survey is None:
        return {"found": None}
    text = study.policy_text()
    questions = list_questions(study, survey, text)
    chosen = ask.query.get("question", "")
    number = int(chosen) if chosen.isdigit() and int(chosen) < len(questions) else 0
    rows = list(_list_rows(survey, text, {question["id"] for question in questions}))
    below, role = ask.query.get("below", ""), ask.query.get("role", "")
    shown = [row for row in rows if row["path"].startswith(below) and role in ("", row["role"])]
    return {
        "found": survey,
        "questions": questions,
        "number": number,
        "question": questions[number] if questions else None,
        "rows": shown,
        "all": len(rows),
        "below": below,
        "role": role,
        "roles": ROLES,
        "types": [kind["path"] for kind in survey["vertices"]],
        "is_draft": is_draft(text),
    }


def list_questions(study: StudyFolder, survey: Mapping[str, Any], text: str) -> list[dict[str, Any]]:
    """Return the draft's questions that have no answer yet, in the order of the draft."""
    rules, answered = rules_of(text), study.list_answers()
    asked: list[dict[str, Any]] = []
    if survey["persons"] is not None:
        asked.append({"id": PERSONS, "text": survey["persons"]})
    if survey["tables"]:
        asked.append({"id": TABLES, "text": say("roles.ask_tables")})
    asked += [
        {"id": f"question-{number}", "text": question}
        for number, question in enumerate(survey["questions"], 1)
    ]
    asked += [
        {"id": MODEL, "text": promise["why"].removeprefix("CONFIRM: ")}
        for promise in survey["promises"]
        if promise["open"]
    ]
    if all(rule.get("role") != "sensitive" for rule in rules.values()):
        asked.append({"id": NOTHING_SENSITIVE, "text": say("roles.ask_sensitive")})
    for field in survey["fields"]:
        path = field["path"]
        if field["confirm"] and path in rules:
            asked.append({"id": path, "text": field["confirm"], "field": _describe(field, rules[path])})
    return [{"field": None, **question} for question in asked if question["id"] not in answered]


def _list_rows(survey: Mapping[str, Any], text: str, open_questions: set[str]) -> Iterable[dict[str, Any]]:
    """Yield a row for each field of the policy; those of the survey have figures."""
    known = {field["path"]: field for field in survey["fields"]}
    for path, rule in rules_of(text).items():
        figures = known.get(path, {"path": path, "reason": say("roles.not_surveyed"), "unique": None})
        yield {**_describe(figures, rule), "open": path in open_questions}


def _describe(field: Mapping[str, Any], rule: Mapping[str, Any]) -> dict[str, Any]:
    return {
        **field,
        "role": _role_of(rule),
        "written": flow(dict(rule)),
        "risk": "" if field["unique"] is None else percent(field["unique"]),
    }


def _role_of(rule: Mapping[str, Any]) -> str:
    """Return which of the page's answers a rule is, empty for what only the policy's text can say."""
    role, action = rule.get("role"), rule.get("action")
    if action == "drop":
        return "identifier" if role == "identifier" else "drop"
    if action is not None or "derived" in rule or "map" in rule:
        return ""
    if role == "insensitive":
        return "as_is" if "exempt" in rule else ""
    return "drop" if role == "free_text" else str(role or "")


def write_rule(rule: Mapping[str, Any], role: str, domain: Mapping[str, Any], reason: str) -> dict[str, Any]:
    """Return a rule with another of the ``ROLES``; what is not about the role stays.

    Raises InputError for a field that is to be published as it is without a reason.
    """
    kept = {key: value for key, value in rule.items() if key not in _KNOWN or key in _ANY_ROLE}
    if role == "quasi":
        return {"role": "quasi", **(state_domain(rule) or domain), **kept}
    if role == "as_is":
        if not reason:
            raise InputError(say("roles.reason_needed"))
        return {"role": "insensitive", "exempt": reason, **kept}
    if role == "drop":
        kept.pop("weight", None)
        kept.pop("missing", None)
        return {"action": "drop", **kept}
    if role == "identifier":
        kept.pop("weight", None)
    return {"role": role, **kept}


def _answer(ask: Ask) -> Done:
    """Answer one question: keep what the draft says, or change the role of the field."""
    question, answer = ask.text("question"), ask.text("answer", 40)
    of_field = answer != "keep" and question in rules_of(ask.study.policy_text())
    if not answer or (of_field and answer not in ROLES):
        raise InputError(say("roles.choose"))
    if not of_field:
        change_policy(
            ask, say("roles.did_keep", what=question), _answer_records(question, answer, ask), [question]
        )
    else:
        _set_roles(ask, [question], answer, [question])
    return Done("roles", "answered")


def _answer_records(question: str, answer: str, ask: Ask) -> Any:
    """Return the edit for an answer to a question that is not of one field."""
    if question == PERSONS and answer == "apart":
        reason = ask.text("reason", 500)
        if not reason:
            raise InputError(say("roles.reason_needed"))
        return lambda text: set_entry(text, ("individual",), {"none": reason})
    return lambda text: text


def _set_roles(ask: Ask, paths: list[str], role: str, answers: list[str]) -> None:
    survey = ask.study.figures("survey") or {"fields": []}
    domains = {field["path"]: field["domain"] for field in survey["fields"]}
    reason = ask.text("reason", 500)

    def edit(text: str) -> str:
        rules = rules_of(text)
        changed = {
            path: write_rule(rules[path], role, domains.get(path, {"flat": True}), reason)
            for path in paths
            if path in rules and _role_of(rules[path]) != role
        }
        return fit_models(change_rules(text, changed))

    named = paths[0] if len(paths) == 1 else f"{len(paths)} fields"
    description = say("roles.did_set", what=named, role=say(f"roles.role_{role}"))
    change_policy(ask, description, edit, answers)


def _bulk(ask: Ask) -> Done:
    """Give all ticked fields one role."""
    paths, role = ask.texts("field"), ask.text("role", 40)
    if not paths or role not in ROLES:
        raise InputError(say("roles.tick"))
    _set_roles(ask, paths, role, paths)
    return Done("roles", "changed")


def _confirm(ask: Ask) -> Done:
    """Take all roles as they are: the policy is no draft any more."""
    study = ask.study
    if list_questions(study, study.figures("survey"), study.policy_text()):
        raise PolicyError(say("roles.still_open"))
    change_policy(ask, say("roles.did_confirm"), without_draft)
    return Done("hierarchies", "confirmed")


PAGE = Page("roles", view, actions={"answer": _answer, "bulk": _bulk, "confirm": _confirm})

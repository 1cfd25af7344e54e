"""The promise: chosen in words, translated into models, and said back in the package's own sentences."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from fractions import Fraction
from typing import Any

from hierdata.drafting.draft import flow
from hierdata.ground.errors import HierdataError, InputError
from hierdata.privacy import BoundedKnowledge, KAnonymity
from hierdata.studio.page import Ask, Done, Page
from hierdata.studio.policy_view import build_policy, change_policy, read_plain, rules_of
from hierdata.studio.texts import say
from hierdata.studio.yaml_edit import set_items

WHOM = {"named": 5, "many": 10, "anyone": 20}
"""Who gets the data, with the number of people that each person then is one of."""
_TREES = str(KAnonymity.model_fields["kind"].default)
_FACTS = str(BoundedKnowledge.model_fields["kind"].default)
_SHARES: dict[str, dict[str, Any]] = {
    "half": {"kind": "frequency-l-diversity", "l": 2},
    "third": {"kind": "frequency-l-diversity", "l": 3},
    "quarter": {"kind": "frequency-l-diversity", "l": 4},
    "three_quarters": {"kind": "frequency-l-diversity", "l": "4/3"},
    "most": {"kind": "frequency-l-diversity", "l": "10/9"},
}
"""The largest share that one value may have in a group."""
_NEAR: dict[str, dict[str, Any]] = {
    "near": {"kind": "t-closeness", "t": "0.2"},
    "nearer": {"kind": "t-closeness", "t": "0.1"},
}
"""For tables: how far the values of a group may be from those of all."""
_LIMITS = _SHARES | _NEAR
_MOST_FACTS = 3


def view(ask: Ask) -> dict[str, Any]:
    """Return the choices as the policy has them, and the sentences of its models."""
    study = ask.study
    if not study.has_policy:
        return {"found": None}
    text = study.policy_text()
    models = _models(text)
    basic = next((one for one in models if one.get("kind") in (_TREES, _FACTS)), {"kind": _TREES, "k": 5})
    sensitive = [path for path, rule in rules_of(text).items() if rule.get("role") == "sensitive"]
    survey = study.figures("survey") or {"vertices": []}
    facts = basic.get("facts", "quasi")
    return {
        "found": models,
        "k": basic.get("k", 5),
        "whom": next((name for name, k in WHOM.items() if k == basic.get("k")), "other"),
        "who_gets": WHOM,
        "knows": "facts" if basic["kind"] == _FACTS else "everything",
        "m": basic.get("m", 2),
        "most_facts": _MOST_FACTS,
        "fields_known": facts if isinstance(facts, str) else "listed",
        "listed": [] if isinstance(facts, str) else facts,
        "sensitive": [{"path": path, "limit": _limit_of(path, models)} for path in sensitive],
        "limits": [*_SHARES, *(() if survey["vertices"] else _NEAR), "none"],
        "others": [flow(one) for one in models if _is_other(one)],
        "is_tree": bool(survey["vertices"]),
        **_say_promises(ask, text),
    }


def _say_promises(ask: Ask, text: str) -> dict[str, Any]:
    try:
        policy = build_policy(ask.study, text)
    except HierdataError as error:
        return {"sentences": [], "problems": str(error).split("\n"), "exact": False}
    preview = ask.study.figures("preview")
    if preview is not None and preview["version"] == ask.study.version() and preview["refused"] is None:
        return {"sentences": [(one, "") for one in preview["promises"]], "problems": [], "exact": True}
    of_rows = not (ask.study.figures("survey") or {"vertices": []})["vertices"]
    return {"sentences": list(say_models(policy.models, of_rows=of_rows)), "problems": [], "exact": False}


def say_models(models: Any, *, of_rows: bool) -> Iterator[tuple[str, str]]:
    """Yield the sentence of each model, and the fields that it is about, empty for all."""
    for model in models:
        said = model.of_rows() if of_rows and model.bounds_knowledge else model
        yield said.promise(), ", ".join(getattr(model, "on", None) or ())


def _models(text: str) -> list[dict[str, Any]]:
    stated = read_plain(text).get("models")
    return [dict(one) for one in stated if isinstance(one, Mapping)] if isinstance(stated, list) else []


def _choice_of(model: Mapping[str, Any]) -> str | None:
    """Return the choice of the page that a model of one field is; None if it is none."""
    own = {key: _number(value) for key, value in model.items() if key != "on"}
    found = ({key: _number(value) for key, value in limit.items()} for limit in _LIMITS.values())
    return next((name for name, limit in zip(_LIMITS, found, strict=True) if limit == own), None)


def _number(value: object) -> object:
    """Return a number of a policy, however it is written; what is none stays."""
    try:
        return value if isinstance(value, bool | list | dict) else Fraction(str(value))
    except (ValueError, ZeroDivisionError):
        return value


def _is_other(model: Mapping[str, Any]) -> bool:
    """Return whether the page has no choice for a model, which then stays as it is."""
    return model.get("kind") not in (_TREES, _FACTS) and (_choice_of(model) is None or "on" not in model)


def _limit_of(path: str, models: list[dict[str, Any]]) -> str:
    for model in models:
        if path in model.get("on", ()) and (choice := _choice_of(model)) is not None:
            return choice
    return "none"


def _choose(ask: Ask) -> Done:
    """Translate the choices into models."""
    k = WHOM.get(ask.text("whom", 20)) or _whole(ask, "k", 2, 1_000_000)
    models = [_write_basic(ask, k)]
    by_choice: dict[str, list[str]] = {}
    for path, choice in zip(ask.texts("path"), ask.texts("limit"), strict=False):
        if choice in _LIMITS:
            by_choice.setdefault(choice, []).append(path)
    models += [{**_LIMITS[choice], "on": paths} for choice, paths in by_choice.items()]

    def edit(text: str) -> str:
        stated = _models(text)
        kept = [one for one in stated if _is_other(one)]
        # Keys that the page has no choice for stay in the model of what a reader knows.
        before = next((one for one in stated if one.get("kind") == models[0]["kind"]), {})
        beside = {key: own for key, own in before.items() if key not in ("kind", "k", "m", "facts")}
        return set_items(text, "models", [{**models[0], **beside}, *models[1:], *kept])

    change_policy(ask, say("promise.did"), edit, ["model"])
    return Done("promise", "promised")


def _write_basic(ask: Ask, k: int) -> dict[str, Any]:
    """Return the model of what a reader may know of a person."""
    if ask.text("knows", 20) != "facts":
        return {"kind": _TREES, "k": k}
    model: dict[str, Any] = {"kind": _FACTS, "k": k, "m": _whole(ask, "m", 1, _MOST_FACTS)}
    known = ask.text("fields_known", 20)
    if known == "all":
        model["facts"] = "all"
    elif known == "listed":
        if not ask.texts("listed"):
            raise InputError(say("promise.list_fields"))
        model["facts"] = ask.texts("listed")
    return model


def _whole(ask: Ask, name: str, least: int, most: int) -> int:
    text = ask.text(name, 10)
    if not text.isdecimal() or not least <= int(text) <= most:
        raise InputError(f"{name}: write a whole number from {least:,} to {most:,}")
    return int(text)


PAGE = Page("promise", view, actions={"choose": _choose})

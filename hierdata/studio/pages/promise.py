"""The promise: chosen in words, translated into models, and said back in the package's own sentences."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from fractions import Fraction
from itertools import zip_longest
from typing import Any

from hierdata.domains.number import plain
from hierdata.drafting.draft import flow
from hierdata.ground.errors import HierdataError, InputError
from hierdata.studio.page import Ask, Done, Page
from hierdata.studio.policy_view import build_policy, change_policy, read_plain, rules_of
from hierdata.studio.texts import say
from hierdata.studio.yaml_edit import set_items

WHOM = {"named": 5, "many": 10, "anyone": 20}
"""Who gets the data, with the number of people that each person then is one of."""
_TREES = "k-anonymity"
_FACTS = "bounded-knowledge"
_NEAR_NUMBERS = "delta-l-diversity"
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
_APART: dict[str, dict[str, Any]] = {
    "apart": {"kind": "l-e-diversity", "l": 2, "e": 1},
    "apart_three": {"kind": "l-e-diversity", "l": 3, "e": 1},
}
"""For values with a taxonomy: how many that are not similar each group has."""
_WITHIN = {"within_half": 2, "within_third": 3}
"""For numbers: one of how many may be near another, at the distance that the page asks for."""
_LIMITS = _SHARES | _NEAR | _APART
_MOST_FACTS = 3
_LONGEST_DISTANCE = 20


def view(ask: Ask) -> dict[str, Any]:
    """Return the choices as the policy has them, and the sentences of its models."""
    study = ask.study
    if not study.has_policy:
        return {"found": None}
    text = study.policy_text()
    models = _models(text)
    chosen = (model for model in models if model.get("kind") in (_TREES, _FACTS))
    basic = next(chosen, {"kind": _TREES, "k": 5})
    survey = study.figures("survey") or {"vertices": [], "fields": []}
    is_tree = bool(survey["vertices"])
    numbers = {field["path"] for field in survey["fields"] if "interval" in field["domain"]}
    sensitive = [
        _describe_limit(path, rule, models, is_tree=is_tree, is_number=path in numbers)
        for path, rule in rules_of(text).items()
        if rule.get("role") == "sensitive"
    ]
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
        "sensitive": sensitive,
        "others": [flow(model) for model in _keep_others(models)],
        "is_tree": is_tree,
        **_say_promises(ask, text),
    }


def _say_promises(ask: Ask, text: str) -> dict[str, Any]:
    try:
        policy = build_policy(ask.study, text)
    except HierdataError as error:
        return {"sentences": [], "problems": str(error).split("\n"), "exact": False}
    preview = ask.study.figures("preview")
    if preview is not None and preview["version"] == ask.study.version() and preview["refused"] is None:
        sentences = [(sentence, "") for sentence in preview["promises"]]
        return {"sentences": sentences, "problems": [], "exact": True}
    of_rows = not (ask.study.figures("survey") or {"vertices": []})["vertices"]
    return {"sentences": list(say_models(policy.models, of_rows=of_rows)), "problems": [], "exact": False}


def say_models(models: Any, *, of_rows: bool) -> Iterator[tuple[str, str]]:
    """Yield the sentence of each model, and the fields that it is about, empty for all."""
    for model in models:
        said = model.of_rows() if of_rows and model.bounds_knowledge else model
        yield said.promise(), ", ".join(getattr(model, "on", None) or ())


def _models(text: str) -> list[dict[str, Any]]:
    stated = read_plain(text).get("models")
    return [dict(model) for model in stated if isinstance(model, Mapping)] if isinstance(stated, list) else []


def _choice_of(model: Mapping[str, Any]) -> str | None:
    """Return the choice of the page that a model of one field is; None if it is none."""
    settings = {key: _number(value) for key, value in model.items() if key != "on"}
    if settings.get("kind") == _NEAR_NUMBERS and settings.keys() == {"kind", "l", "delta"}:
        return next((name for name, most in _WITHIN.items() if most == settings["l"]), None)
    choices = ({key: _number(value) for key, value in limit.items()} for limit in _LIMITS.values())
    return next((name for name, limit in zip(_LIMITS, choices, strict=True) if limit == settings), None)


def _number(value: object) -> object:
    """Return a number of a policy, however it is written; what is none stays."""
    try:
        return value if isinstance(value, bool | list | dict) else Fraction(str(value))
    except (ValueError, ZeroDivisionError):
        return value


def _keep_others(models: list[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    """Yield the models that the page leaves as they are: of a field with several it has a choice for one."""
    chosen: set[str] = set()
    for model in models:
        if _is_other(model):
            yield model
        elif again := [path for path in model.get("on", ()) if path in chosen]:
            yield {**model, "on": again}
        if not _is_other(model):
            chosen.update(model.get("on", ()))


def _is_other(model: Mapping[str, Any]) -> bool:
    """Return whether the page has no choice for a model, which then stays as it is."""
    return model.get("kind") not in (_TREES, _FACTS) and (_choice_of(model) is None or "on" not in model)


def _describe_limit(
    path: str, rule: Mapping[str, Any], models: list[dict[str, Any]], *, is_tree: bool, is_number: bool
) -> dict[str, Any]:
    """Return the limits that suit a field, the one it has, and the distance at which its numbers are near."""
    model = next((model for model in models if path in model.get("on", ()) and not _is_other(model)), {})
    choice = _choice_of(model) or "none"
    numeric = is_number or "number" in rule or choice in _WITHIN
    suit = [*_SHARES, *(() if is_tree else _NEAR), *(_APART if "taxonomy" in rule else ())]
    limits = [*suit, *(_WITHIN if numeric else ()), "none"]
    distance = plain(2 * Fraction(str(model["delta"]))) if choice in _WITHIN else ""
    return {
        "path": path,
        "limit": choice,
        "limits": limits if choice in limits else [choice, *limits],
        "is_number": numeric,
        "distance": distance,
    }


def _choose(ask: Ask) -> Done:
    k = WHOM.get(ask.text("whom", 20)) or _whole(ask, "k", 2, 1_000_000)
    models = [_write_basic(ask, k)]
    columns = (ask.texts(name) for name in ("path", "limit", "distance"))
    for path, choice, distance in zip_longest(*columns, fillvalue=""):
        model = _write_limit(path, choice, distance)
        same = next((other for other in models if {**other, "on": None} == {**model, "on": None}), None)
        if same is not None:
            same["on"].append(path)
        elif model:
            models.append({**model, "on": [path]})

    def edit(text: str) -> str:
        stated = _models(text)
        kept = list(_keep_others(stated))
        # Keys that the page has no choice for stay in the model of what a reader knows.
        before = next((model for model in stated if model.get("kind") == models[0]["kind"]), {})
        beside = {key: value for key, value in before.items() if key not in ("kind", "k", "m", "facts")}
        return set_items(text, "models", [{**models[0], **beside}, *models[1:], *kept])

    change_policy(ask, say("promise.did"), edit, ["model"])
    return Done("promise", "promised")


def _write_limit(path: str, choice: str, distance: str) -> dict[str, Any]:
    """Return the model of a field's limit, empty for none. Raises InputError for a distance that is none."""
    if choice not in _WITHIN:
        return _LIMITS.get(choice, {})
    try:
        far = Fraction(distance)
    except (ValueError, ZeroDivisionError):
        far = Fraction(-1)
    if far < 0 or len(distance) > _LONGEST_DISTANCE:
        raise InputError(say("promise.distance_needed", path=path))
    return {"kind": _NEAR_NUMBERS, "delta": plain(far / 2), "l": _WITHIN[choice]}


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

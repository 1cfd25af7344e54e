"""The policy of a study as pages need it: as plain data, with its problems, edited as text."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from hierdata.domains import DOMAINS
from hierdata.ground.errors import HierdataError, PolicyError
from hierdata.policy.checks.models import judges_values
from hierdata.policy.load import from_data
from hierdata.policy.load.yaml import fragment
from hierdata.policy.policy import Policy
from hierdata.studio.page import Ask
from hierdata.studio.study import POLICY, StudyFolder
from hierdata.studio.yaml_edit import remove_entry, set_entry, set_items

DRAFT = "draft"


def read_plain(text: str) -> dict[str, Any]:
    """Return the policy as plain data, whether or not it is one. Raises PolicyError for what is no YAML."""
    plain = fragment(text, POLICY)
    if not isinstance(plain, dict):
        raise PolicyError("policy.yaml has no keys: undo the last change")
    return plain


def is_draft(text: str) -> bool:
    """Return whether the policy still is a draft."""
    return DRAFT in read_plain(text)


def without_draft(text: str) -> str:
    """Return the text of a policy that is confirmed."""
    return remove_entry(text, DRAFT)


def build_policy(study: StudyFolder, text: str) -> Policy:
    """Build the policy of a text, taken as confirmed. Raises PolicyError."""
    plain = read_plain(text)
    plain.pop(DRAFT, None)
    return from_data(plain, study.folder, study.folder)


def check_policy(study: StudyFolder, text: str) -> list[str]:
    """Return what is wrong with a policy, one sentence a problem."""
    try:
        build_policy(study, text)
    except HierdataError as error:
        return str(error).split("\n")
    return []


def rules_of(text: str) -> dict[str, dict[str, Any]]:
    """Return the rules of the fields by their paths."""
    stated = read_plain(text).get("fields")
    if not isinstance(stated, Mapping):
        return {}
    return {path: dict(rule) for path, rule in stated.items() if isinstance(rule, Mapping)}


def state_domain(rule: Mapping[str, Any]) -> dict[str, Any]:
    """Return the keys of a rule that say how the field is made coarser."""
    return {key: value for key, value in rule.items() if key in DOMAINS or key == "domain"}


def change_rules(text: str, rules: Mapping[str, Mapping[str, Any]]) -> str:
    """Return the text with other rules for some fields; what stands beside them stays."""
    for path, rule in rules.items():
        text = set_entry(text, ("fields", path), dict(rule))
    return text


def change_policy(ask: Ask, reason: str, edit: Callable[[str], str], answers: Sequence[str] = ()) -> None:
    """Change the policy of a study by an edit of its text; the history states the ``reason``.

    Raises PolicyError, and changes nothing, if it would have problems that it did not have before.
    """
    study = ask.study
    with study.edit(ask.version):
        text = study.policy_text()
        edited = edit(text)
        before = check_policy(study, text)
        if problems := [problem for problem in check_policy(study, edited) if problem not in before]:
            raise PolicyError(problems)
        study.change(ask.version, edited, reason, answers)


def fit_models(text: str) -> str:
    """Return the text with models that name the sensitive fields as they are now.

    A path that is not sensitive any more is taken out of a model; a sensitive field for which no model is
    stated gets the one that a draft proposes at least.
    """
    plain = read_plain(text)
    sensitive = [path for path, rule in rules_of(text).items() if rule.get("role") == "sensitive"]
    stated = plain.get("models")
    models: list[dict[str, Any]] = [dict(model) for model in stated] if isinstance(stated, list) else []
    fitted = []
    for model in models:
        if "on" in model:
            model["on"] = [path for path in model["on"] if path in sensitive]
        if model.get("on") != []:
            fitted.append(model)
    named = {path for model in fitted for path in model.get("on", ())}
    general = any("on" not in model and judges_values(model["kind"]) for model in fitted)
    if missing := [path for path in sensitive if path not in named and not general]:
        same = next((model for model in fitted if model == {**_LEAST_SHARE, "on": model.get("on")}), None)
        if same is None:
            fitted.append({**_LEAST_SHARE, "on": missing})
        else:
            same["on"] = [*same["on"], *missing]
    return text if fitted == stated else set_items(text, "models", fitted)


_LEAST_SHARE = {"kind": "frequency-l-diversity", "l": 2}
"""No value has more than half of a class."""

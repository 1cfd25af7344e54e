"""The policy of a study as pages need it: as plain data, with its problems, edited as text."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from hierdata.ground.errors import HierdataError, PolicyError
from hierdata.policy.load import from_data
from hierdata.policy.load.yaml import fragment
from hierdata.policy.policy import Policy
from hierdata.studio.study import POLICY, StudyFolder
from hierdata.studio.yaml_edit import remove_entry, set_entry

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
    found = read_plain(text).get("fields")
    if not isinstance(found, Mapping):
        return {}
    return {path: dict(rule) for path, rule in found.items() if isinstance(rule, Mapping)}


def change_rules(text: str, rules: Mapping[str, Mapping[str, Any]]) -> str:
    """Return the text with other rules for some fields; what stands beside them stays."""
    for path, rule in rules.items():
        text = set_entry(text, ("fields", path), dict(rule))
    return text

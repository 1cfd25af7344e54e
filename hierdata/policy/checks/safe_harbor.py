"""Whether a policy removes the 18 identifiers of HIPAA's Safe Harbor, by what it says of where they are."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

from hierdata.domains.base import OLDEST
from hierdata.policy.problems import Problem
from hierdata.policy.spec.safe_harbor import IDENTIFIERS
from hierdata.policy.spec.values import Keep

if TYPE_CHECKING:
    from hierdata.policy.policy import Policy
    from hierdata.policy.spec.fields import FieldRule
    from hierdata.records.path import Path

_LAW = "45 CFR 164.514(b)(2)(i)"
_CODED = (
    "the safe harbor allows no code that is made from information on the person, and no moved dates: drop "
    "the field"
)
_DROP = "the safe harbor leaves nothing of them: drop the field, or take it out of safe_harbor"
_REMEDIES = {
    "places": "only three digits of ZIP codes remain: drop the field, or take taxonomy: "
    "{file: builtin/zip-3, finest: 1}",
    "dates": f"only years remain, and ages up to {OLDEST}: drop the field; or take, with the year 90 "
    "years ago, date: {steps: [year], earliest: YEAR}, or for ages taxonomy: {file: builtin/ages, finest: 1}",
}


class RemovedIdentifier(NamedTuple):
    """What a policy does with one of the identifiers: the paths that hold it, with what remains of each."""

    letter: str
    what: str
    treated: tuple[tuple[str, str], ...]


def check_safe_harbor(policy: Policy) -> Iterator[Problem]:
    """Yield what of a policy with ``safe_harbor`` the regulation does not allow."""
    if policy.safe_harbor is None:
        return
    for name, identifier in IDENTIFIERS.items():
        if name not in policy.safe_harbor:
            yield (
                ("safe_harbor",),
                f"say for {name} ({identifier.meaning}) which fields hold them, or [] if there are none",
            )
    if isinstance(policy.unlisted, Keep):
        yield ("unlisted",), "with safe_harbor a field that no rule names cannot be kept: take error or drop"
    held = [
        (name, path, rule)
        for name, texts in policy.safe_harbor.items()
        for text in texts
        for path, rule in _list_published(policy, text)
    ]
    dated = {path for name, path, _ in held if name == "dates"}
    others = [
        (path, _explain_unnamed(rule))
        for path, rule in policy.rules_by_keys.values()
        if path not in dated and rule.is_published
    ]
    reasons: dict[str, str] = {}
    for path, reason in [(path, _explain(name, rule)) for name, path, rule in held] + others:
        if reason is not None:
            reasons.setdefault(str(path), reason)
    yield from ((("fields", path), reason) for path, reason in reasons.items())


def list_removed(policy: Policy) -> Iterator[RemovedIdentifier]:
    """Yield what the policy does with each identifier, in the order of the regulation."""
    for name, texts in (policy.safe_harbor or {}).items():
        identifier = IDENTIFIERS[name]
        treated: dict[str, str] = {}
        for text in texts:
            published = {str(path): _describe(rule) for path, rule in _list_published(policy, text)}
            treated |= published or {text: "left out"}
        yield RemovedIdentifier(identifier.letter, identifier.meaning, tuple(treated.items()))


def _list_published(policy: Policy, text: str) -> Iterator[tuple[Path, FieldRule]]:
    """Yield the published fields at a path and below it, whatever the filters of its lists."""
    above = tuple(step.document_key for step in policy.path(text).steps)
    for path, rule in policy.rules_by_keys.values():
        keys = tuple(step.document_key for step in path.steps)
        if rule.is_published and keys[: len(above)] == above:
            yield path, rule


def _explain(name: str, rule: FieldRule) -> str | None:
    """Say why a field that holds an identifier cannot be published as its rule says; None if it can."""
    if _is_constant(rule):
        return None
    if rule.stated_action is not None:
        return _CODED
    remainder = None if rule.domain is None else rule.domain.remainder
    if remainder is not None and remainder.of == name:
        return None
    letter, meaning = IDENTIFIERS[name]
    return f"{meaning} ({_LAW}({letter})): {_REMEDIES.get(name, _DROP)}"


def _explain_unnamed(rule: FieldRule) -> str | None:
    """Say what a field must be that no identifier names but that its rule shows to be one."""
    if rule.stated_action is not None and not _is_constant(rule):
        return _CODED
    if rule.domain is not None and rule.domain.labels_are == "periods":
        return "name this date in safe_harbor at dates, of which only years remain"
    return None


def _is_constant(rule: FieldRule) -> bool:
    return rule.stated_action is not None and rule.stated_action.makes_constant


def _describe(rule: FieldRule) -> str:
    """Say what is published of a field that holds an identifier."""
    if _is_constant(rule):
        return "replaced by one text"
    remainder = None if rule.domain is None else rule.domain.remainder
    assert remainder is not None, "the checks of a policy refuse what the regulation does not allow"
    return remainder.words

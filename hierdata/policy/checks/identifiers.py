"""Contradictions between rules on identifiers and maps, or with the rest of the policy."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from typing import TYPE_CHECKING

from hierdata.errors import PolicyError
from hierdata.policy.problems import Problem
from hierdata.records.maps import KEY

if TYPE_CHECKING:
    from hierdata.policy.policy import Policy


def problems(policy: Policy) -> Iterator[Problem]:
    """Yield the contradictions between rules on identifiers and maps, or with the rest of the policy."""
    for keys, text in policy.maps.items():
        if (*keys, KEY) not in policy.rules_by_keys:
            yield ("fields", text), f"the keys of a map are values too: give them a rule, {text}[*]~"
    yield from _check_domains(policy)
    yield from _check_shifts(policy)
    if policy.key is not None and not policy.needs_key:
        yield ("key",), "no field has the action pseudonym or shift: leave `key` out"
    if policy.recoding_traits.publishes_classes and policy.pseudonyms:
        yield (
            ("recoding",),
            f"{policy.recoding} publishes classes, which have no pseudonyms: drop those fields",
        )


def _check_domains(policy: Policy) -> Iterator[Problem]:
    lengths: defaultdict[str, set[int]] = defaultdict(set)
    found = {
        text: tokens
        for text, rule in policy.fields.items()
        if rule.stated_action is not None and (tokens := rule.stated_action.tokens(text)) is not None
    }
    for tokens in found.values():
        lengths[tokens.domain].add(tokens.length)
    for text, tokens in found.items():
        if len(lengths[tokens.domain]) > 1:
            yield ("fields", text, "action"), "all pseudonyms of a domain must have the same length"


def _check_shifts(policy: Policy) -> Iterator[Problem]:
    shifts = {
        text: shift
        for text, rule in policy.fields.items()
        if rule.stated_action is not None and (shift := rule.stated_action.date_shift()) is not None
    }
    if len({(shift.days, shift.step, shift.by) for shift in shifts.values()}) > 1:
        yield (
            ("fields", list(shifts)[-1], "action"),
            "all dates of a record are shifted alike: state the same `days`, `unit` and `by` in every shift",
        )
    for text, shift in shifts.items():
        where = ("fields", text, "action", "shift", "by")
        try:
            by = None if shift.by is None else policy.path(shift.by)
        except PolicyError as error:
            yield where, str(error)
            continue
        if by is not None and (
            by.place != policy.paths[0].place
            or any(by.keys[:end] in policy.vertices for end in range(1, len(by.keys) + 1))
        ):
            yield where, f"{shift.by} is not a single value of the record"

"""Contradictions between rules on identifiers and maps, or with the rest of the policy."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from typing import TYPE_CHECKING

from hierdata.ground.errors import PolicyError
from hierdata.policy.problems import Problem
from hierdata.records.maps import KEY

if TYPE_CHECKING:
    from hierdata.policy.policy import Policy
    from hierdata.records.identifiers import PseudonymSpec


def needs_key(policy: Policy) -> bool:
    """Return whether any field is replaced by means of a key."""
    actions = [rule.stated_action for rule in policy.fields.values()]
    return any(action is not None and action.keyed for action in actions)


def problems(policy: Policy) -> Iterator[Problem]:
    """Yield the contradictions between rules on identifiers and maps, or with the rest of the policy."""
    for keys, text in policy.maps.items():
        if (*keys, KEY) not in policy.rules_by_keys:
            yield ("fields", text), f"the keys of a map are values too: give them a rule, {text}[*]~"
    yield from _check_domains(policy)
    yield from _check_shifts(policy)
    if policy.key is not None and not needs_key(policy):
        yield ("key",), "no field has the action pseudonym or shift: leave `key` out"
    if policy.recoding_traits.publishes_classes and policy.pseudonyms:
        yield (
            ("recoding",),
            f"{policy.recoding} publishes classes, which have no pseudonyms: drop those fields",
        )


def _check_domains(policy: Policy) -> Iterator[Problem]:
    fields: defaultdict[str, dict[str, PseudonymSpec]] = defaultdict(dict)
    for text, rule in policy.fields.items():
        if rule.stated_action is not None and (tokens := rule.stated_action.tokens(text)) is not None:
            fields[tokens.domain][text] = tokens
    for own in fields.values():
        for text in own if len({tokens.length for tokens in own.values()}) > 1 else ():
            yield ("fields", text, "action"), "all pseudonyms of a domain must have the same length"
        yield from _check_references(policy, own)


def _check_references(policy: Policy, fields: dict[str, PseudonymSpec]) -> Iterator[Problem]:
    """Yield what is wrong with the references of the fields of one domain."""
    identified = any(tokens.is_identity for tokens in fields.values())
    for text, tokens in fields.items():
        where = ("fields", text, "action", "pseudonym")
        if tokens.is_identity and tokens.keeps_references:
            yield where, "an identity refers to nothing: leave `references` out"
        if len(fields) == 1 or tokens.is_identity or tokens.keeps_references:
            continue
        if not identified:
            yield (
                where,
                f"several fields have the pseudonyms of the domain {tokens.domain}: say `identity: true` for "
                "the one that identifies its vertex, so that references to what is not published can be "
                "dropped, or `references: keep`",
            )
        elif policy.recoding_traits.partitions_each_type:
            yield (
                where,
                f"with recoding {policy.recoding} records have no classes in which a reference to what is "
                "not published could be dropped: say `references: keep`, or drop the field",
            )


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

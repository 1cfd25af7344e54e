"""What rules on identifiers and maps say against each other, or against the rest of the policy."""

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
    """What rules on identifiers and maps say against each other, or against the rest of the policy."""
    for keys, text in policy.maps.items():
        if (*keys, KEY) not in policy.by_keys:
            yield ("fields", text), f"the keys of a map are values too: give them a rule, {text}[*]~"
    yield from _of_domains(policy)
    yield from _of_shifts(policy)
    if policy.key is not None and not policy.keyed:
        yield ("key",), "nothing is replaced by a key: no field has the action pseudonym or shift"
    if policy.recoding_traits.publishes_classes and policy.pseudonyms:
        yield ("recoding",), f"{policy.recoding} publishes classes, and a class has no pseudonym: drop it"


def _of_domains(policy: Policy) -> Iterator[Problem]:
    lengths: defaultdict[str, set[int]] = defaultdict(set)
    found = {
        text: tokens
        for text, rule in policy.fields.items()
        if rule.acting is not None and (tokens := rule.acting.tokens(text)) is not None
    }
    for tokens in found.values():
        lengths[tokens.domain].add(tokens.length)
    for text, tokens in found.items():
        if len(lengths[tokens.domain]) > 1:
            yield ("fields", text, "action"), "the pseudonyms of one domain have one length"


def _of_shifts(policy: Policy) -> Iterator[Problem]:
    shifts = {
        text: shift
        for text, rule in policy.fields.items()
        if rule.acting is not None and (shift := rule.acting.date_shift()) is not None
    }
    if len(set(shifts.values())) > 1:
        yield (
            ("fields", list(shifts)[-1], "action"),
            "all dates of a record are moved alike: days and by are the same wherever they stand",
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
            yield where, f"{shift.by} is no single value of the record"

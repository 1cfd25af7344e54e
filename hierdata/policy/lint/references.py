"""Identifiers as references: which fields name the same things, and whether the release keeps that."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from itertools import combinations
from typing import TYPE_CHECKING

from hierdata.records.identifiers.base import text_of
from hierdata.records.survey import Keys, Survey

if TYPE_CHECKING:
    from hierdata.policy.policy import Policy

_FEW = 3
"""Below this many values it is chance that two fields have them both."""


def references(policy: Policy, survey: Survey) -> Iterator[tuple[Keys, str]]:
    """What is doubtful about fields that name the same things, and about text that stays.

    The survey must have counted the values of identifiers as they are.
    """
    values = {
        keys: {text_of(value) for value in survey.values.get(keys, ()) if value is not None}
        for keys, (_, rule) in policy.by_keys.items()
        if rule.role == "identifier"
    }
    yield from _broken(policy, values)
    yield from _without_partner(policy, values)
    for keys, (_, rule) in policy.by_keys.items():
        if rule.role == "free_text" and rule.exempt is not None:
            yield keys, "free text is published as it stands: names and places may be written in it"


def _broken(policy: Policy, values: dict[Keys, set[str]]) -> Iterator[tuple[Keys, str]]:
    """References that lead somewhere in the input, and nowhere in the release."""
    for pair in combinations(values, 2):
        other, keys = sorted(pair, key=lambda keys: -len(values[keys]))
        shared = len(values[keys] & values[other])
        apart = _domain(policy, keys) != _domain(policy, other)
        if shared >= _FEW and 2 * shared >= len(values[keys]) and apart:
            where = policy.by_keys[other][0]
            yield keys, f"most of its values stand at {where} too: one domain for both keeps what they link"


def _without_partner(policy: Policy, values: dict[Keys, set[str]]) -> Iterator[tuple[Keys, str]]:
    """Fields that share a domain with others, and no value."""
    together: defaultdict[str | None, list[Keys]] = defaultdict(list)
    for keys in values:
        together[_domain(policy, keys)].append(keys)
    for domain, own in together.items():
        for keys in own if domain is not None and len(own) > 1 else ():
            rest = set[str]().union(*(values[other] for other in own if other != keys))
            if values[keys] and values[keys].isdisjoint(rest):
                yield (
                    keys,
                    f"no value of it stands at another field of the domain {domain}: nothing is linked",
                )


def _domain(policy: Policy, keys: Keys) -> str | None:
    tokens = policy.pseudonyms.get(keys)
    return None if tokens is None else tokens.domain

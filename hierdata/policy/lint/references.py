"""Identifiers as references: which fields name the same things, and whether the release keeps the links."""

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
"""With fewer shared values than this, the overlap of two fields may be chance."""


def references(policy: Policy, survey: Survey) -> Iterator[tuple[Keys, str]]:
    """Yield what is doubtful about fields that name the same things, and about published free text.

    The survey must have counted the raw values of identifiers.
    """
    values = {
        keys: {text_of(value) for value in survey.values.get(keys, ()) if value is not None}
        for keys, (_, rule) in policy.rules_by_keys.items()
        if rule.role == "identifier"
    }
    for keys, tokens in policy.pseudonyms.items():
        if tokens.keeps_references:
            yield keys, "references are kept where they lead to nothing published: they tell who was left out"
    yield from _find_broken(policy, values)
    yield from _find_unmatched(policy, values)
    for keys, (_, rule) in policy.rules_by_keys.items():
        if rule.role == "free_text" and rule.exempt is not None:
            yield keys, "free text is published unchanged: it may contain names and places"


def _find_broken(policy: Policy, values: dict[Keys, set[str]]) -> Iterator[tuple[Keys, str]]:
    """Find references that resolve in the input but not in the release."""
    for pair in combinations(values, 2):
        other, keys = sorted(pair, key=lambda keys: -len(values[keys]))
        shared = len(values[keys] & values[other])
        apart = _domain(policy, keys) != _domain(policy, other)
        if shared >= _FEW and 2 * shared >= len(values[keys]) and apart:
            where = policy.rules_by_keys[other][0]
            yield (
                keys,
                f"most of its values also occur at {where}: one domain for both keeps the links, and "
                "`identity: true` says which of them the other refers to",
            )


def _find_unmatched(policy: Policy, values: dict[Keys, set[str]]) -> Iterator[tuple[Keys, str]]:
    """Find fields that share a domain with others, but no value."""
    together: defaultdict[str | None, list[Keys]] = defaultdict(list)
    for keys in values:
        together[_domain(policy, keys)].append(keys)
    for domain, own in together.items():
        for keys in own if domain is not None and len(own) > 1 else ():
            rest = set[str]().union(*(values[other] for other in own if other != keys))
            if values[keys] and values[keys].isdisjoint(rest):
                yield (
                    keys,
                    f"none of its values occurs at another field of the domain {domain}: nothing is linked",
                )


def _domain(policy: Policy, keys: Keys) -> str | None:
    tokens = policy.pseudonyms.get(keys)
    return None if tokens is None else tokens.domain

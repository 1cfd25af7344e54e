"""Doubtful fields of a policy: what each may reveal although its author did not mean it to.

Texts that count as several values and mean one, identifiers as references, moved dates, quasi-identifiers of
which nothing is published, lists of sensitive values, and vertex types that hardly any record has; fields
that tell each other. A quasi-identifier is published with the record, so one that determines a sensitive
value publishes it. Only values that as many records share as the smallest class has are counted there, since
a unique one determines all.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from functools import cache
from itertools import combinations, islice, product
from typing import TypeAlias

from hierdata.documents.document import Document
from hierdata.domains.base import Observed, Uncovered
from hierdata.domains.sensitive import ALL_DIFFER, Sameness
from hierdata.ground.errors import HierdataError
from hierdata.policy.checks.sensitive import class_size, is_limited, resolve_readings
from hierdata.policy.policy import Policy
from hierdata.records.dependence import Dependence, count_pairs
from hierdata.records.derived import DerivedField
from hierdata.records.identifiers.base import text_of
from hierdata.records.survey import Keys, Survey

EVERY_STEP = Sameness(frozenset({"trim", "nfkc", "fold"}))

_TWINS = str.maketrans("i1|0", "lllo")
"""Pairs within ASCII that many fonts draw alike, after case folding."""


def find_variants(texts: Iterable[str], same: Sameness = ALL_DIFFER) -> tuple[list[str], list[str]]:
    """Return the texts that ``same`` could make one with others, and those that look like others.

    Texts that are already the same are not returned; nor are those of the first list in the second.

    >>> find_variants(["HIV", "hiv", "flu", "asthma"])
    (['HIV', 'hiv'], [])
    >>> find_variants(["HIV", "H\\u0406V", "flu"]) == ([], ["HIV", "H\\u0406V"])
    True
    """
    texts = [*{same.text_of(text): text for text in texts}.values()]
    alike = _find_shared(texts, EVERY_STEP.text_of)
    others = {EVERY_STEP.text_of(text): text for text in texts}
    return alike, _find_shared([*others.values()], fold_confusables)


def variants(policy: Policy, survey: Survey) -> Iterator[tuple[Keys, str, tuple[str, ...]]]:
    """Yield the sensitive attributes with such texts: path, what is wrong in numbers, and the texts."""
    for keys, rule in policy.sensitive.items():
        texts = [str(value) for value in survey.values.get(keys, {}) if isinstance(value, str)]
        alike, look_alike = find_variants(texts, rule.sameness)
        if alike:
            message = "by white space, case, form or characters that are not seen"
            remedy = "`same: [trim, nfkc, fold]` makes them one value for every model and in the release"
            yield keys, f"{len(alike)} texts differ from others only {message}: {remedy}", tuple(alike)
        if look_alike:
            message = "only by characters that look alike"
            remedy = "where they mean one value, correct the input, since models count them apart"
            yield keys, f"{len(look_alike)} texts differ from others {message}: {remedy}", tuple(look_alike)


def _find_shared(texts: Iterable[str], key_of: Callable[[str], str]) -> list[str]:
    groups: defaultdict[str, list[str]] = defaultdict(list)
    for text in texts:
        groups[key_of(text)].append(text)
    return sorted(text for alike in groups.values() if len(alike) > 1 for text in alike)


def fold_confusables(text: str) -> str:
    """Return a key that texts share which look alike (Unicode Technical Standard 39), whatever their case.

    >>> fold_confusables("H\\u0406V") == fold_confusables("hiv")
    True
    """
    plain = EVERY_STEP.text_of("".join(map(_ascii_of(), text)))
    return plain.translate(_TWINS)


@cache
def _ascii_of() -> Callable[[str], str]:
    """Return the function from a character to the ASCII character that it looks like, else to itself."""
    from confusable_homoglyphs.confusables import confusables_data

    data: Mapping[str, list[dict[str, str]]] = confusables_data
    known = {
        character: min(alike)
        for character, entries in data.items()
        if not character.isascii() and (alike := [entry["c"] for entry in entries if entry["c"].isascii()])
    }
    return lambda character: known.get(character, character)


_FEW_SHARED = 3
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
        if shared >= _FEW_SHARED and 2 * shared >= len(values[keys]) and apart:
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
    for domain, fields in together.items():
        for keys in fields if domain is not None and len(fields) > 1 else ():
            rest = set[str]().union(*(values[other] for other in fields if other != keys))
            if values[keys] and values[keys].isdisjoint(rest):
                yield (
                    keys,
                    f"none of its values occurs at another field of the domain {domain}: nothing is linked",
                )


def _domain(policy: Policy, keys: Keys) -> str | None:
    tokens = policy.pseudonyms.get(keys)
    return None if tokens is None else tokens.domain


_FEW_MOVES = 9
"""With fewer moves than this, the true date is guessed too easily."""


def moved_dates(policy: Policy) -> Iterator[tuple[Keys, str]]:
    """Yield what is doubtful about each field with moved dates."""
    for keys, shift in policy.date_shifts.items():
        if shift.weekdays is not None:
            yield keys, "dates move by days: the weekdays of a record with many dates tell the move modulo 7"
        elif shift.moves < _FEW_MOVES:
            yield (
                keys,
                f"only {shift.moves} moves are possible, and not to move is one of them: state more days",
            )
        if shift.time is not None:
            yield keys, "the time of day is published as it is written: it identifies almost like a name"


def nothing_published(policy: Policy, survey: Survey) -> Iterator[tuple[Keys, str]]:
    """Yield each quasi-identifier whose floor is the root of its domain for every value observed."""
    for keys, domain in policy.quasi.items():
        observed: Observed = survey.values.get(keys, {})
        with suppress(HierdataError, Uncovered):
            hierarchy = domain.compile(observed, policy.folder)
            nodes = {hierarchy.node_of(value) for value in observed if value is not None}
            if nodes == {0}:
                yield (
                    keys,
                    "the finest form is the root of the domain, so that every value is published as `*`: "
                    "state a lower `finest`, or drop the field",
                )


def judged_apart(policy: Policy) -> Iterator[tuple[Keys, str]]:
    """Yield each attribute that is read by presence at places, of which a record may have several."""
    if policy.recoding_traits.separates_values:
        return
    for keys, reading in resolve_readings(policy).items():
        at_places = reading.asks == "presence" and policy.sensitive[keys].within is None
        several = [step.many for step in policy.rules_by_keys[keys][0].steps].count(True) > 1
        if at_places and several and is_limited(policy, keys):
            yield (
                keys,
                "a record may have several of these lists, and each is judged by itself: state "
                "`within: record` to limit what all of them show, or `within: place`",
            )


def find_rare_types(policy: Policy, survey: Survey) -> Iterator[tuple[str, str]]:
    """Yield the path of each vertex type that occurs so rarely that its presence could identify a record."""
    size = class_size(policy)
    places: dict[Keys, str] = {}
    for path, rule in policy.rules_by_keys.values():
        if rule.published_as is not None:
            for depth in range(1, len(path.keys) + 1):
                places.setdefault(path.keys[:depth], path.prefix(depth))
    for keys, text in places.items():
        shape = survey.shape.find(keys)
        if shape is None or not (keys in policy.vertices or shape.arrays or shape.longest > 1):
            continue
        present = shape.occurrences - shape.nulls
        if 0 < present < size:
            plural = "s" if present > 1 else ""
            yield (
                text,
                f"occurs in {present} place{plural} only, fewer than the {size} records of a class: "
                "its presence could identify a record, so it will be suppressed",
            )


Dependences: TypeAlias = "dict[tuple[Keys, Keys], Dependence]"
"""By quasi-identifier and sensitive attribute of one object, which of their values occur together."""
_MOST = 200
"""The most pairs of fields that are compared."""


def count_dependences(
    documents: Iterable[Document], policy: Policy, dependences: Dependences
) -> Iterator[Document]:
    """Yield the documents; count in ``dependences`` which values of fields of one object occur together."""
    k = max(class_size(policy), 2)
    for quasi, sensitive in islice(_pairs(policy), _MOST):
        missing = (frozenset(policy.rules_by_keys[keys][1].missing) for keys in (quasi, sensitive))
        dependence = dependences[quasi, sensitive] = Dependence(k, tolerated=0.1)
        documents = count_pairs(documents, DerivedField(quasi, sensitive, *missing), dependence)
    yield from documents


def _pairs(policy: Policy) -> Iterator[tuple[Keys, Keys]]:
    """Yield each quasi-identifier with each sensitive attribute next to it."""
    for quasi, sensitive in product(policy.quasi, policy.sensitive):
        if quasi[:-1] == sensitive[:-1] or quasi[:-2] == sensitive[:-2]:
            yield quasi, sensitive


def find_telling(policy: Policy, survey: Survey) -> Iterator[tuple[Keys, str]]:
    """Yield each quasi-identifier that determines a sensitive attribute, by values that k records share."""
    k = max(class_size(policy), 2)
    for (quasi, sensitive), dependence in survey.dependences.items():
        if count := dependence.count_told(k):
            yield (
                quasi,
                f"this tells {policy.spell_path(sensitive)}, which is sensitive: {count} values that at "
                f"least {k} records share each go with one value there. Give it the role sensitive, "
                "or derive one from the other",
            )


def find_no_labels(policy: Policy, survey: Survey) -> Iterator[tuple[Keys, str]]:
    """Yield each derived field that does not follow from its source."""
    for keys, labels in survey.labels.items():
        if keys in policy.derived_fields and (faults := labels.faults):
            source = policy.rules_by_keys[policy.derived_fields[keys].source][0]
            yield keys, f"this is not derived from {source}: {faults}"

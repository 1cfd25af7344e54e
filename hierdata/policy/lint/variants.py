"""Sensitive texts that a reader takes for one value, and that count as several: ``HIV``, ``hiv``."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cache

from hierdata.domains.sameness import ALL_DIFFER, Sameness
from hierdata.policy.policy import Policy
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
    return sorted(text for own in groups.values() if len(own) > 1 for text in own)


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
        character: min(found)
        for character, entries in data.items()
        if not character.isascii() and (found := [own["c"] for own in entries if own["c"].isascii()])
    }
    return lambda character: known.get(character, character)

"""Lists that mix items of several types, and values that are single in some records and objects in others.

A list is mixed where a field such as ``resourceType`` has few texts, each in several records, and items with
different texts have different fields. A draft gives each text a filter: these texts are the only values of
the data that a draft has.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Collection, Iterator, Sequence

from hierdata.documents.document import Document, Value
from hierdata.records.filters import Conditions, write_filter
from hierdata.records.mixed import ItemKind, Mixed, MixedKey
from hierdata.records.path import OBJECTS, Path, Step, jsonpath
from hierdata.records.survey import Keys

_NAMES = ("resourceType", "system", "type", "kind", "use")
"""The fields that say of which type an item is, the first that does."""
_MOST_TYPES = 12
_FEWEST = 5
"""Records that show each type: a text of fewer could tell whose it is."""
_MOST_ITEMS = 20_000
"""Items of a list that are looked at."""
_STRUCTURE = re.compile(r"[\w.:/#+-]{1,100}")
"""What a name of a type looks like: one word, a code or a URL."""

_Owned = list[tuple[int, Document]]
"""Objects, each with the number of its record."""


def find_mixed(documents: Sequence[Document], maps: Collection[Keys]) -> tuple[Mixed, dict[Keys, Step]]:
    """Return the mixed keys of some records, and the last steps of the paths to each of their kinds."""
    mixed_keys: list[MixedKey] = []
    steps: dict[Keys, Step] = {}
    for mixed, ends in _look(list(enumerate(documents)), (), maps):
        mixed_keys.append(mixed)
        steps |= {(*mixed.holder, step.key): step for step in ends}
    return Mixed(tuple(mixed_keys)), steps


def stated_mixed(paths: Sequence[Path]) -> tuple[Mixed, dict[Keys, Step]]:
    """Return the mixed keys that a policy's paths state, and the last steps of the paths to each kind."""
    steps = {
        path.keys[:number]: step
        for path in paths
        for number, step in enumerate(path.steps, 1)
        if step.conditions or step.apart
    }
    return Mixed.of(paths), steps


def _look(
    objects: _Owned, above: tuple[Step, ...], maps: Collection[Keys]
) -> Iterator[tuple[MixedKey, list[Step]]]:
    """Yield what is mixed in some objects and below them, with the steps of the kinds."""
    holder = tuple(step.key for step in above)
    by_key: defaultdict[str, list[tuple[int, Value]]] = defaultdict(list)
    for record, document in objects:
        for key, value in document.items():
            by_key[key].append((record, value))
    for key, values in by_key.items():
        if (*holder, key) in maps:
            continue
        listed = [(record, item) for record, value in values if isinstance(value, list) for item in value]
        bare = [(record, value) for record, value in values if not isinstance(value, list)]
        inner: _Owned = [(record, item) for record, item in (*listed, *bare) if isinstance(item, dict)]
        single = sum(not isinstance(item, dict | list) and item is not None for _, item in (*listed, *bare))
        groups: list[tuple[Step, _Owned]] = [(Step(key, bool(listed)), inner)]
        if inner and len(inner) == len(listed):
            groups = _group_items(key, inner[:_MOST_ITEMS]) or groups
        elif single and any(item for _, item in inner) and _is_plain(values):
            both = Step(key, bool(listed), apart=True)
            groups = [(both, []), (Step(key + OBJECTS, bool(listed), name=key, apart=True), inner)]
        ends = [step for step, _ in groups]
        if ends[0].conditions or ends[0].apart:
            kinds = (
                ItemKind(step.key, jsonpath((*above, step)), step.conditions, step.is_object) for step in ends
            )
            yield MixedKey(holder, key, jsonpath((*above, Step(key, False))), tuple(kinds)), ends
        for step, items in groups:
            yield from _look(items, (*above, step), maps)


def _is_plain(values: Sequence[tuple[int, Value]]) -> bool:
    """Return whether a key holds either lists without lists inside or no list at all."""
    lists = [value for _, value in values if isinstance(value, list)]
    if not lists:
        return True
    return all(value is None or isinstance(value, list) for _, value in values) and not any(
        isinstance(item, list) for value in lists for item in value
    )


def _group_items(key: str, items: _Owned) -> list[tuple[Step, _Owned]]:
    """Return the items by what a field says of their type, with the step to each; empty if none does."""
    for field in _candidates(items):
        texts = [_text_at(item, field) for _, item in items]
        records = Counter({(text, record) for text, (record, _) in zip(texts, items, strict=True)})
        shown = Counter(text for text, _ in records)
        if None in shown or not 2 <= len(shown) <= _MOST_TYPES or min(shown.values()) < _FEWEST:
            continue
        if not all(_STRUCTURE.fullmatch(text or "") for text in shown):
            continue
        groups: dict[str, _Owned] = {}
        for text, owned in zip(texts, items, strict=True):
            groups.setdefault(text or "", []).append(owned)
        if _differ(groups.values(), field):
            return [(_step_to(key, ((field, text),)), groups[text]) for text in groups]
    return []


def _step_to(key: str, conditions: Conditions) -> Step:
    return Step(key + write_filter(conditions), True, name=key, conditions=conditions)


def _candidates(items: _Owned) -> Iterator[Keys]:
    """Yield the fields of the first item that may say of which type it is, its own before those below."""
    _, first = items[0]
    for name in _NAMES:
        if name in first:
            yield (name,)
    for name in _NAMES:
        for key, value in first.items():
            if isinstance(value, dict) and name in value:
                yield (key, name)


def _text_at(item: Value, keys: Keys) -> str | None:
    for key in keys:
        item = item.get(key) if isinstance(item, dict) else None
    return item if type(item) is str else None


def _differ(groups: Collection[_Owned], field: Keys) -> bool:
    """Return whether most items of one group have a field that no item of another has."""
    counted = [Counter(keys for _, item in group for keys in _fields_of(item)) for group in groups]
    usual = [
        {keys for keys, count in counts.items() if 2 * count >= len(group) and keys != field}
        for counts, group in zip(counted, groups, strict=True)
    ]
    return any(group - counts.keys() for group in usual for counts in counted)


def _fields_of(item: Document) -> Iterator[Keys]:
    """Yield the fields of an item, and those of objects in it."""
    for key, value in item.items():
        yield (key,)
        if isinstance(value, dict):
            yield from ((key, below) for below in value)

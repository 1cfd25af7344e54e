"""Lists with items of several vertex types in published documents, told apart as the policy's filters say.

Each filter is evaluated at each item here, without the code that made the release. What a filter compares
stays in its item and belongs to the form. An item that no filter or that two select, and items in another
order than that of the policy's types, must not be published: they would tell records of a class apart.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from typing import TypeVar

from hierdata.documents.document import Document, Value
from hierdata.judge.rules import ItemFilter, JudgeRules, Keys, MixedRule

_Counted = TypeVar("_Counted")

_NO_FILTER = "an item that no filter selects"
_SEVERAL = "an item that two filters select"
_ORDER = "items in another order than that of the policy"
_NO_LIST = "no list, although filters select from it"
_NAME = "a field with the name of a filter"


class MixedReader:
    """Tells the vertex types of a key apart; ``findings`` counts by path what must not be published."""

    def __init__(self, rules: JudgeRules) -> None:
        self.findings: Counter[str] = Counter()
        base = ("representative",) if rules.recoding == "representatives" else ()
        # An outer list first: the keys of an inner one begin with the key of a filter.
        outer_first = sorted(rules.mixed, key=lambda rule: len(rule.holder))
        self._mixed = [((*base, *rule.holder), rule) for rule in outer_first]

    def open_counted(
        self, documents: Iterable[tuple[Document, _Counted]]
    ) -> Iterator[tuple[Document, _Counted]]:
        """Yield documents, each with what it is given with, with a key for each vertex type."""
        for document, count in documents:
            for holder, mixed in self._mixed:
                opened = self._open(document, holder, mixed)
                assert isinstance(opened, dict)
                document = opened
            yield document, count

    def _open(self, value: Value, keys: Keys, mixed: MixedRule) -> Value:
        """Return a value with the types apart in the objects at ``keys``; the rest may be shared."""
        if isinstance(value, list):
            return [self._open(item, keys, mixed) for item in value]
        if not isinstance(value, dict):
            return value
        if not keys:
            return self._split(value, mixed)
        if keys[0] not in value:
            return value
        return {**value, keys[0]: self._open(value[keys[0]], keys[1:], mixed)}

    def _split(self, holder: Document, mixed: MixedRule) -> Document:
        made = {kind.key for kind in mixed.kinds} - {mixed.name}
        if made & holder.keys():
            self._count(mixed, _NAME)
        if holder.get(mixed.name) is None:
            return holder
        others = {key: value for key, value in holder.items() if key != mixed.name}
        value = holder[mixed.name]
        if not isinstance(value, list):
            kind = self._kind_of(value, mixed)
            if kind is None or kind.conditions:
                self._count(mixed, _NO_LIST)
                return others
            return {**others, kind.key: value}
        by_kind: dict[str, Value] = {}
        last = 0
        for item in value:
            kind = self._kind_of(item, mixed)
            if kind is None:
                continue
            number = mixed.kinds.index(kind)
            if number < last:
                self._count(mixed, _ORDER)
            last = max(last, number)
            items = by_kind.setdefault(kind.key, [])
            assert isinstance(items, list)
            items.append(item)
        return {**others, **by_kind} if by_kind or not mixed.is_by_form else {**others, mixed.name: []}

    def _kind_of(self, item: Value, mixed: MixedRule) -> ItemFilter | None:
        """Return the type of an item; count it and return None if it is of none or of two."""
        if mixed.is_by_form:
            return next(kind for kind in mixed.kinds if kind.is_object is isinstance(item, dict))
        selecting = [
            kind for kind in mixed.kinds if all(_find(item, keys) == text for keys, text in kind.conditions)
        ]
        if len(selecting) != 1:
            self._count(mixed, _SEVERAL if selecting else _NO_FILTER)
            return None
        return selecting[0]

    def _count(self, mixed: MixedRule, problem: str) -> None:
        self.findings[f"{mixed.path}: {problem}"] += 1


def _find(item: Value, keys: Keys) -> Value:
    """Return the value at some keys of an item, None if there is none."""
    for key in keys:
        item = item.get(key) if isinstance(item, dict) else None
    return item

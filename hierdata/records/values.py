"""Values as a survey counts them and as a binding cleans them, and objects by column."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from decimal import Decimal
from itertools import chain, islice
from operator import itemgetter
from typing import cast

from hierdata.documents.document import Document, Numeral, Scalar, Siblings, Value
from hierdata.documents.scalars import KEPT, TYPED, TYPED_TEXTS, Decimal128, Double
from hierdata.domains.number import spell_once, spell_text_once, spelling

SCALARS: frozenset[type] = frozenset({str, int, Decimal, Numeral, bool, type(None), *TYPED})
"""Types of the single values of a document."""
_SPELLED_ONCE = SCALARS - {Decimal, Numeral, Double, Decimal128}
_TEXTS = frozenset({str, type(None), *TYPED_TEXTS})
_NUMBER = re.compile(r"-?[0-9]+(\.[0-9]+)?([eE][+-]?[0-9]+)?")
VALUES = 1024
"""Approximate number of values per batch."""
_WEIGHED = 8
"""One record in this many is weighed, which is cheap and enough, since records of a collection are alike."""
_CONTAINERS = (dict, list, Siblings)


class Missing:
    """Spellings of a missing value, as a container: text matches by its text, numbers by value.

    >>> missing = Missing(["?", "-9", "false"])
    >>> "?" in missing, -9 in missing, Decimal("-9.0") in missing, False in missing, 0 in missing
    (True, True, True, True, False)
    """

    __slots__ = ("_numbers", "_texts")

    def __init__(self, spellings: Collection[str]) -> None:
        self._texts = frozenset(spellings)
        self._numbers = frozenset(Decimal(text) for text in spellings if _NUMBER.fullmatch(text))

    def __contains__(self, value: Scalar) -> bool:
        if isinstance(value, str):
            return value in self._texts
        if type(value) is bool:
            return ("true" if value else "false") in self._texts
        return value is None or value in self._numbers

    def clean_values(self, values: Sequence[Scalar]) -> Sequence[Scalar]:
        """Return the values, with None for those that are spellings of a missing value.

        >>> Missing(["?"]).clean_values(("a", "?"))
        ['a', None]
        """
        if _TEXTS.issuperset(
            map(type, values)
        ):  # only the text matters, and most columns have no missing value
            if self._texts.isdisjoint(values):
                return values
            return [None if value in self._texts else value for value in values]
        return [None if value in self else value for value in values]


class SpellOnce:
    """Gives equal numbers one spelling, with ``texts`` also numbers in texts; each is decided once.

    >>> SpellOnce(texts=False).spell_values((Decimal("1.0"), Numeral("1e0"), "1.0"))
    [1, 1, '1.0']
    """

    __slots__ = ("_known", "_plain", "_spell")

    def __init__(self, *, texts: bool) -> None:
        self._plain = _SPELLED_ONCE - {str} if texts else _SPELLED_ONCE
        self._spell = spell_text_once if texts else spell_once
        self._known: dict[tuple[type, str], Scalar] = {}

    def spell_values(self, values: Sequence[Scalar]) -> Sequence[Scalar]:
        """Return the values, each in the one spelling of its type."""
        return values if self._plain.issuperset(map(type, values)) else list(map(self._spell_value, values))

    def _spell_value(self, value: Scalar) -> Scalar:
        if type(value) in self._plain:
            return value
        key = spelling(value)
        if key not in self._known:
            if len(self._known) >= KEPT:
                return self._spell(value)
            self._known[key] = self._spell(value)
        return self._known[key]


class Values(Mapping[Scalar, int]):
    """Distinct values, each with its number of occurrences; None is missing.

    Unlike in a dict, values of different types are different keys: True, 1, "1" and Decimal("1") are four
    keys. Equal decimals are one key whatever their spelling.

    >>> values = Values([True, 1, "1", Decimal("1"), Numeral("1e0")])
    >>> list(values.items())
    [(True, 1), (1, 1), ('1', 1), (Decimal('1'), 2)]
    """

    def __init__(self, values: Sequence[Scalar] = ()) -> None:
        self._counts: dict[type, Counter[Scalar]] = {}
        self.add(values)

    def add(self, values: Sequence[Scalar]) -> None:
        """Count more values."""
        kinds = dict.fromkeys(map(type, values))
        for kind in kinds:
            part = values if len(kinds) == 1 else [value for value in values if type(value) is kind]
            if kind is Numeral:
                # Use a plain decimal as the key, so that no input's spelling represents all equal numbers.
                part = [Decimal(value) for value in part if isinstance(value, Decimal)]
                kind = Decimal
            self._counts.setdefault(kind, Counter()).update(part)

    def merge(self, other: Values) -> None:
        """Add the counts of another part of the collection."""
        for kind, counts in other._counts.items():
            self._counts.setdefault(kind, Counter()).update(counts)

    def fold(self, missing: Missing) -> None:
        """Count the spellings of a missing value as None."""
        for kind, counts in list(self._counts.items()):
            folded = [value for value in counts if value in missing]
            total = sum(counts.pop(value) for value in folded)
            if not counts:
                del self._counts[kind]
            if total:
                self._counts.setdefault(type(None), Counter())[None] += total

    def __getitem__(self, value: Scalar) -> int:
        kind = Decimal if type(value) is Numeral else type(value)
        count = self._counts.get(kind, Counter())[value]
        if not count:
            raise KeyError
        return count

    def __iter__(self) -> Iterator[Scalar]:
        for counts in self._counts.values():
            yield from counts

    def __len__(self) -> int:
        return sum(map(len, self._counts.values()))

    def __repr__(self) -> str:
        return f"Values({len(self)} distinct)"


def batches(documents: Iterable[Document]) -> Iterator[list[Document]]:
    """Yield lists of records with about ``VALUES`` values each, and at least one record.

    >>> [len(batch) for batch in batches([{"a": [0] * 1000}] * 2 + [{"a": 0}] * 500)]
    [1, 1, 500]
    """
    stream = iter(documents)
    batch: list[Document] = []
    weight = 0
    for document in stream:
        batch.append(document)
        size = _weight(document)
        alike = min(_WEIGHED - 1, max(0, VALUES - weight - size) // size)
        batch += islice(stream, alike)
        weight += (1 + alike) * size
        if weight + size > VALUES:
            yield batch
            batch, weight = [], 0
    if batch:
        yield batch


def _weight(record: Document) -> int:
    """Return the number of values and containers in a record."""
    weight = 1
    waiting: list[Value] = [record]
    for whole in waiting:
        parts = whole.values() if isinstance(whole, dict) else cast("list[Value]", whole)
        weight += len(parts)
        waiting += [part for part in parts if part.__class__ in _CONTAINERS]
    return weight


def columns(objects: Sequence[Document]) -> Iterator[tuple[str, Sequence[Value], Sequence[int]]]:
    """Yield each key in order of first appearance, with its values and the positions of objects that have it.

    >>> list(columns([{"a": 1, "b": 2}, {"b": 3}]))
    [('a', [1], [0]), ('b', [2, 3], range(0, 2))]
    """
    keys = list(objects[0]) if objects else []
    places = range(len(objects))
    if len(keys) > 1 and set(map(len, objects)) == {len(keys)}:
        try:
            rows = list(map(itemgetter(*keys), objects))
        except KeyError:
            pass  # the same number of keys, but different ones
        else:
            for key, column in zip(keys, zip(*rows, strict=True), strict=True):
                yield key, column, places
            return
    for key in dict.fromkeys(chain.from_iterable(objects)):
        try:
            whole = list(map(itemgetter(key), objects))
        except KeyError:
            pass  # some objects do not have it
        else:
            yield key, whole, places
            continue
        there = [place for place in places if key in objects[place]]
        yield key, [objects[place][key] for place in there], there

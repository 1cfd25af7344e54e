"""Values as a survey counts them and as a binding cleans them."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from decimal import Decimal

from hierdata.documents.document import Numeral, Scalar
from hierdata.documents.scalars import KEPT, TYPED, TYPED_TEXTS, Decimal128, Double
from hierdata.domains.number import spell_once, spell_text_once, spelling

SCALARS: frozenset[type] = frozenset({str, int, Decimal, Numeral, bool, type(None), *TYPED})
"""Types of the single values of a document."""

_SPELLED_ONCE = SCALARS - {Decimal, Numeral, Double, Decimal128}
_TEXTS = frozenset({str, type(None), *TYPED_TEXTS})
_NUMBER = re.compile(r"-?[0-9]+(\.[0-9]+)?([eE][+-]?[0-9]+)?")


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

"""Counts of the parts of a release that can be added exactly, in any order."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields
from fractions import Fraction
from typing import Any, Generic, NamedTuple, Self, TypeVar

import numpy as np
from numpy.typing import NDArray

Key = TypeVar("Key")
Value = TypeVar("Value")


class Sums(dict[Key, Value]):
    """Values by key, added key by key; keys of only one side keep their values.

    >>> Sums({"a": 1, "b": -1}) + Sums({"b": 1, "c": 2})
    {'a': 1, 'b': 0, 'c': 2}
    """

    def __add__(self, other: Mapping[Key, Value]) -> Self:
        both = self.keys() & other.keys()
        added: dict[Key, Any] = {key: self[key] + other[key] for key in both}  # type: ignore[operator]
        return type(self)({**self, **other, **added})

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (dict(self),)


@dataclass(frozen=True)
class Added:
    """Base of dataclasses that are added field by field."""

    def __add__(self, other: Self) -> Self:
        return type(self)(*(getattr(self, own.name) + getattr(other, own.name) for own in fields(self)))


@dataclass(frozen=True)
class Same(Generic[Value]):
    """A value that all parts of a release have in common."""

    value: Value

    def __add__(self, other: Same[Value]) -> Same[Value]:
        """Return itself. Raises ValueError for a different value: the parts are of different releases."""
        if self.value != other.value:
            raise ValueError("the parts are of different releases")
        return self


class Site(NamedTuple):
    """An attribute by vertex type, position in the type, and path; sites sort in this order."""

    kind: int
    position: int
    path: str


def sum_by_divisor(tops: NDArray[np.int64], bottoms: NDArray[np.int64]) -> Sums[int, int]:
    """Sum quotients by divisor, as integers.

    >>> sum_by_divisor(np.array([1, 2, 5]), np.array([3, 4, 3]))
    {3: 6, 4: 2}
    """
    found, at = np.unique(bottoms, return_inverse=True)
    sums = np.zeros(len(found), np.int64)
    np.add.at(sums, at.reshape(-1), tops)
    return Sums(zip(found.tolist(), sums.tolist(), strict=True))


def quotients(tops: Mapping[int, int]) -> Fraction:
    """Return the sum of quotients whose dividends are given by divisor.

    >>> quotients({3: 6, 4: 2})
    Fraction(5, 2)
    """
    return sum((Fraction(top, bottom) for bottom, top in tops.items()), Fraction(0))


def collect_sums(pairs: Iterable[tuple[int, int]]) -> Sums[int, int]:
    """Sum quotients, given as (divisor, dividend), by divisor.

    >>> collect_sums([(3, 1), (4, 2), (3, 5)])
    {3: 6, 4: 2}
    """
    sums: Sums[int, int] = Sums()
    for bottom, top in pairs:
        sums[bottom] = sums.get(bottom, 0) + top
    return sums

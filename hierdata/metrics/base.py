"""The base of metrics, and what they count with.

A metric is a measure of a release with unit, range and better direction (``Metric``, ``Figure``). It asks
each part of a release questions, whose answers add up exactly in any order (``Tallies``, ``Sums``, ``Added``,
``Same``). Below are sums of quotients by divisor, and sensitive attributes as columns.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, fields
from fractions import Fraction
from typing import Any, ClassVar, Generic, Literal, NamedTuple, Self, TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray

from hierdata.forest.forest import Forest
from hierdata.forest.partition import SUPPRESSED
from hierdata.forest.publication import Publication

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
        names = [field.name for field in fields(self)]
        return type(self)(*(getattr(self, name) + getattr(other, name) for name in names))


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


Question: TypeAlias = Callable[[Publication, Forest], Any]
"""Something to count in a part of a release: a picklable function; equal questions are asked once.

The answers for all parts add up to the answer for the whole, exactly and in any order. Parts have different
records, and records that look alike once they are published are in one part. All parts have the same schema,
hierarchies, domains and scale.
"""


class Tallies(Sums[Question, Any]):
    """Answers by question; ``+`` adds the answers for two parts of a release."""

    @classmethod
    def of(cls, questions: Iterable[Question], publication: Publication, forest: Forest) -> Tallies:
        """Answer the questions for one part; repeated questions are answered once."""
        return cls({question: question(publication, forest) for question in dict.fromkeys(questions)})


@dataclass(frozen=True)
class Figure:
    """One figure of a metric.

    ``value`` is a Fraction where it is exact, a float where the figure is irrational or a mean of shares;
    ``high`` is None without an upper bound.
    """

    name: str
    value: Fraction | float
    unit: str
    low: int
    high: int | None
    better: Literal["lower", "higher"]

    @property
    def exact(self) -> str | None:
        """The exact fraction as text; None where the value is a float."""
        return str(self.value) if isinstance(self.value, Fraction) else None

    def as_dict(self) -> dict[str, Any]:
        """Return plain data, with the float and the exact fraction as text."""
        return {
            "value": float(self.value),
            "exact": self.exact,
            "unit": self.unit,
            "low": self.low,
            "high": self.high,
            "better": self.better,
        }


class Metric(ABC):
    """A measure of what was lost or disclosed; independent of engines and of the policy's decisions.

    It asks questions of each part of a release, and computes its figures from the sums of the answers: they
    equal those of the whole to the bit, for any division into parts and any order of addition.
    """

    symbol: ClassVar[str]
    better: ClassVar[Literal["lower", "higher"]]
    gated: ClassVar[tuple[str, ...]] = ()
    """The figures that a gate may limit; empty if there is one for each sensitive attribute (see Risk)."""
    explanation: ClassVar[str]
    """One line for readers of the report who did not write the policy."""
    ties: ClassVar[bool] = False
    """Whether it depends on which sensitive values belong to one vertex."""
    aligned: ClassVar[tuple[str, ...]] = ()
    """The figures that depend on which vertices of a class are aligned, which published files do not tell."""
    linked: ClassVar[bool] = False
    """Whether it depends on the original of each published vertex."""
    takes_place: ClassVar[bool] = False
    """Whether a gate may limit it at one field or vertex type, which the metric is built for."""
    counts_exempt: ClassVar[bool] = False
    """Whether it counts vertices that have only an exempt value."""

    @classmethod
    def under(cls, diversity: Fraction | None) -> Metric:
        """Build the metric for models that ask for a diversity l; None if no model asks for one."""
        return cls()

    @abstractmethod
    def questions(self, forest: Forest) -> tuple[Question, ...]:
        """Return the questions that are asked of each part of a release, the same for all parts."""

    @abstractmethod
    def figures(self, tallies: Tallies) -> tuple[Figure, ...]:
        """Compute all figures of a release from its tallies; empty where the metric does not apply."""

    def tally(self, publication: Publication, forest: Forest) -> Tallies:
        """Answer the metric's questions for a part of a release."""
        return Tallies.of(self.questions(forest), publication, forest)

    def of(self, publication: Publication, forest: Forest) -> tuple[Figure, ...]:
        """Compute all figures of a publication of the original forest, as a release of one part."""
        return self.figures(self.tally(publication, forest))


@dataclass(frozen=True)
class PublishedColumn:
    """The present values of one attribute; ``places`` are equivalence positions, -1 if not published."""

    site: Site
    places: NDArray[np.int64]
    codes: NDArray[np.int32]

    def count_places(self) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
        """Count the values of each published position; then each value at each: positions and counts."""
        there = self.places >= 0
        _, number, sizes = np.unique(self.places[there], return_inverse=True, return_counts=True)
        base = int(self.codes.max(initial=0)) + 1
        entries, counts = np.unique(number.ravel() * base + self.codes[there], return_counts=True)
        return sizes, entries // base, counts.astype(np.int64)


def sum_by_divisor(tops: NDArray[np.int64], bottoms: NDArray[np.int64]) -> Sums[int, int]:
    """Sum quotients by divisor, as integers.

    >>> sum_by_divisor(np.array([1, 2, 5]), np.array([3, 4, 3]))
    {3: 6, 4: 2}
    """
    divisors, number = np.unique(bottoms, return_inverse=True)
    sums = np.zeros(len(divisors), np.int64)
    np.add.at(sums, number.reshape(-1), tops)
    return Sums(zip(divisors.tolist(), sums.tolist(), strict=True))


def count_numbers(numbers: NDArray[np.integer]) -> list[tuple[int, int]]:
    """Count each number that occurs, from 0 on.

    >>> count_numbers(np.array([3, 0, 3]))
    [(0, 1), (3, 2)]
    """
    counts = np.bincount(numbers)
    occurring = np.flatnonzero(counts)
    return list(zip(occurring.tolist(), counts[occurring].tolist(), strict=True))


def quotients(tops: Mapping[int, int]) -> Fraction:
    """Return the sum of quotients whose dividends are given by divisor.

    >>> quotients({3: 6, 4: 2})
    Fraction(5, 2)
    """
    common = math.lcm(*tops)
    return Fraction(sum(top * (common // bottom) for bottom, top in tops.items()), common)


def collect_sums(pairs: Iterable[tuple[int, int]]) -> Sums[int, int]:
    """Sum quotients, given as (divisor, dividend), by divisor.

    >>> collect_sums([(3, 1), (4, 2), (3, 5)])
    {3: 6, 4: 2}
    """
    sums: Sums[int, int] = Sums()
    for bottom, top in pairs:
        sums[bottom] = sums.get(bottom, 0) + top
    return sums


def columns(publication: Publication, forest: Forest) -> Iterator[PublishedColumn]:
    """Yield every sensitive attribute that has values."""
    for kind, position, domain in forest.list_domains():
        vertices = np.flatnonzero(forest.type == kind)
        entries = forest.first_sensitive[vertices] + position
        codes = forest.input_values[entries]
        there = codes >= 0
        if there.any():
            shown = publication.positions_of(domain.path)[vertices]
            shown = np.where(forest.sensitive[entries] < 0, SUPPRESSED, shown)
            yield PublishedColumn(Site(kind, position, domain.path), shown[there], codes[there])

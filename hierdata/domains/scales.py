"""From a sensitive value to its sensitivity level, 1 (least) .. ``count`` (most sensitive); ML section 3.3.

A scale is all that the judge needs to know about levels: ``facts()`` is plain data, frozen at publication,
and ``scale_from_facts`` rebuilds the scale from it.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, ClassVar

from hierdata.documents.document import Scalar
from hierdata.domains.base import Uncovered
from hierdata.domains.membership import MIDDLE_LEVEL, Trapezoid, breakpoints, value_level, value_sets
from hierdata.domains.number import Number, exact, identity, parameter, plain

VALUE_LEVELS = 5

_DEGENERATE = (
    "{cause}: every value has value level 3 (erratum ML-3), so every value has the same sensitivity level, "
    "and no class can satisfy a share below 1"
)


class LevelScale(ABC):
    """The sensitivity levels of one attribute's values. Immutable."""

    kind: ClassVar[str]

    @property
    @abstractmethod
    def count(self) -> int:
        """The number of levels."""

    @property
    def warnings(self) -> tuple[str, ...]:
        """Warnings for the steward before the scale is used."""
        return ()

    @property
    def reads_numbers(self) -> bool:
        """Whether text is read as a number, since XML has only text."""
        return True

    def canonical(self, value: Scalar) -> str | Number:
        """Return the key that equal values share: numbers by value, text by itself. Raises Uncovered."""
        return identity(value, self.reads_numbers)

    @abstractmethod
    def level(self, value: Scalar) -> int:
        """Return the sensitivity level, decided exactly. Raises Uncovered for a value without one."""

    def covers(self, value: Scalar) -> bool:
        """Return whether the policy accepts this value; ``level`` may answer for values beyond it too."""
        try:
            self.level(value)
        except Uncovered:
            return False
        return True

    def sets(self, value: Scalar) -> tuple[Number, tuple[tuple[Trapezoid, ...], ...]] | None:
        """Return the number to fuzzify and the fuzzy sets of each level; None if levels are not fuzzy."""
        return None

    def memberships(self, value: Scalar) -> tuple[float, ...]:
        """Return the degree in each fuzzy set, by scikit-fuzzy: A1..A5, or one per level of the policy.

        Empty if levels do not come from fuzzy sets. For display only. Raises Uncovered.
        """
        fuzzy = self.sets(value)
        if fuzzy is None:
            return ()
        number, sets = fuzzy
        return tuple(max((shape.fuzzy_degree(number) for shape in level), default=0.0) for level in sets)

    @abstractmethod
    def facts(self) -> dict[str, Any]:
        """Return JSON-compatible data from which ``scale_from_facts`` rebuilds this scale."""


@dataclass(frozen=True)
class DomainScale(LevelScale):
    """Numbers over a domain ``low``..``high`` by the five membership functions.

    ``falling``: low values are sensitive, level = 6 - value level; else level = value level. ``level`` moves
    values beyond the domain to its ends (erratum ML-3); ``covers`` accepts them only with ``clamp``.
    """

    low: Fraction
    high: Fraction
    falling: bool
    clamp: bool = False
    kind: ClassVar[str] = "domain"

    @property
    def count(self) -> int:  # noqa: D102
        return VALUE_LEVELS

    @property
    def warnings(self) -> tuple[str, ...]:  # noqa: D102
        return (_DEGENERATE.format(cause="the domain has one value"),) if self.low == self.high else ()

    def level(self, value: Scalar) -> int:  # noqa: D102
        return self._level_of(exact(value))

    def level_at(self, number: Number) -> int | None:
        """Return the level of a number that the policy accepts, None for another one."""
        return self._level_of(number) if self.clamp or self.low <= number <= self.high else None

    @property
    def turns(self) -> tuple[Fraction, ...]:
        """The numbers at which levels may change."""
        return (self.low, self.high, *breakpoints(self.low, self.high))

    def _level_of(self, number: Number) -> int:
        return _direct_level(value_level(number, self.low, self.high), self.falling)

    def covers(self, value: Scalar) -> bool:  # noqa: D102
        try:
            return self.low <= exact(value) <= self.high or self.clamp
        except Uncovered:
            return False

    def sets(self, value: Scalar) -> tuple[Number, tuple[tuple[Trapezoid, ...], ...]]:  # noqa: D102
        return min(max(exact(value), self.low), self.high), _five(self.low, self.high)

    def facts(self) -> dict[str, Any]:  # noqa: D102
        return {
            "kind": self.kind,
            "domain": [plain(self.low), plain(self.high)],
            "sensitive": "low" if self.falling else "high",
            "outside": "clamp" if self.clamp else "refuse",
        }


@dataclass(frozen=True)
class MapScale(LevelScale):
    """An explicit level for each value. Numbers match by value; so does text if all keys are numbers."""

    by: Mapping[str, int]
    kind: ClassVar[str] = "map"

    @cached_property
    def numbers(self) -> Mapping[Number, int]:
        """The levels by the numbers that keys spell."""
        return {number: level for key, level in self.by.items() if (number := _number(key)) is not None}

    @property
    def count(self) -> int:  # noqa: D102
        return max(self.by.values())

    @cached_property
    def reads_numbers(self) -> bool:
        """Whether all keys are numbers."""
        return all(_number(key) is not None for key in self.by)

    def level(self, value: Scalar) -> int:  # noqa: D102
        key = self.canonical(value)
        level = self.by.get(key) if isinstance(key, str) else self.numbers.get(key)
        if level is None:
            raise Uncovered
        return level

    def facts(self) -> dict[str, Any]:  # noqa: D102
        return {"kind": self.kind, "by": dict(sorted(self.by.items()))}


@dataclass(frozen=True)
class FrequencyScale(LevelScale):
    """Categories by their number of occurrences: the value level of the count among all counts.

    ML section 3.3. ``rare``: the rarer, the more sensitive. ``counts`` is keyed by ``canonical`` value; with
    ``number`` text is read as a number.
    """

    counts: Mapping[str | Number, int]
    rare: bool
    number: bool = False
    kind: ClassVar[str] = "frequency"

    @property
    def _ends(self) -> tuple[int, int]:
        return min(self.counts.values(), default=0), max(self.counts.values(), default=0)

    @property
    def count(self) -> int:  # noqa: D102
        return VALUE_LEVELS

    @property
    def warnings(self) -> tuple[str, ...]:  # noqa: D102
        low, high = self._ends
        return (_DEGENERATE.format(cause="all values occur equally often"),) if low == high else ()

    @property
    def reads_numbers(self) -> bool:  # noqa: D102
        return self.number

    def level(self, value: Scalar) -> int:  # noqa: D102
        return _direct_level(value_level(self._count(value), *self._ends), self.rare)

    def sets(self, value: Scalar) -> tuple[Number, tuple[tuple[Trapezoid, ...], ...]]:  # noqa: D102
        return self._count(value), _five(*self._ends)

    def _count(self, value: Scalar) -> int:
        count = self.counts.get(self.canonical(value))
        if count is None:
            raise Uncovered
        return count

    def facts(self) -> dict[str, Any]:  # noqa: D102
        texts = {key: count for key, count in self.counts.items() if isinstance(key, str)}
        numbers = {plain(key): count for key, count in self.counts.items() if not isinstance(key, str)}
        return {
            "kind": self.kind,
            "sensitive": "rare" if self.rare else "common",
            "number": self.number,
            "texts": dict(sorted(texts.items())),
            "numbers": dict(sorted(numbers.items())),
        }


@dataclass(frozen=True)
class SetScale(LevelScale):
    """Fuzzy sets of the policy, each with a level: the set with the highest degree decides.

    A value in no set has no level, or with ``clamp`` that of the nearest set. Ties go to the later set.
    """

    shapes: tuple[tuple[int, Trapezoid], ...]
    clamp: bool = False
    kind: ClassVar[str] = "sets"

    @property
    def count(self) -> int:  # noqa: D102
        return max(level for level, _ in self.shapes)

    def level(self, value: Scalar) -> int:  # noqa: D102
        level = self.level_at(exact(value))
        if level is None:
            raise Uncovered
        return level

    def level_at(self, number: Number) -> int | None:
        """Return the level of a number, None if it has none."""
        ranked = [
            (shape.degree(number), -shape.distance(number), position)
            for position, (_, shape) in enumerate(self.shapes)
        ]
        degree, _, position = max(ranked)
        return self.shapes[position][0] if degree or self.clamp else None

    @property
    def turns(self) -> tuple[Fraction, ...]:
        """The numbers at which levels may change: corners, middles between sets, and where slopes cross."""
        shapes = [shape for _, shape in self.shapes]
        slopes = [
            (Fraction(1) / (end - start), start)
            for shape in shapes
            for start, end in ((shape.a, shape.b), (shape.d, shape.c))
            if start != end
        ]
        corners = {corner for shape in shapes for corner in shape.corners}
        crossings = {
            (rise * start - other * begin) / (rise - other)
            for rise, start in slopes
            for other, begin in slopes
            if rise != other
        }
        middles = {(shape.d + other.a) / 2 for shape in shapes for other in shapes}
        return tuple(sorted(corners | crossings | middles))

    def sets(self, value: Scalar) -> tuple[Number, tuple[tuple[Trapezoid, ...], ...]]:  # noqa: D102
        levels = range(1, self.count + 1)
        sets = (tuple(shape for stated, shape in self.shapes if stated == level) for level in levels)
        return exact(value), tuple(sets)

    def facts(self) -> dict[str, Any]:  # noqa: D102
        shapes = [{"level": level, "shape": [*map(plain, shape.corners)]} for level, shape in self.shapes]
        return {"kind": self.kind, "sets": shapes, "outside": "clamp" if self.clamp else "refuse"}


def scale_from_facts(facts: Mapping[str, Any]) -> LevelScale:
    """Rebuild a scale from its ``facts()``. Raises KeyError, TypeError or ValueError for anything else."""
    kind = facts["kind"]
    if kind == DomainScale.kind:
        low, high = (parameter(end) for end in facts["domain"])
        return DomainScale(low, high, facts["sensitive"] == "low", facts["outside"] == "clamp")
    if kind == MapScale.kind:
        return MapScale({str(key): int(level) for key, level in facts["by"].items()})
    if kind == FrequencyScale.kind:
        counts: dict[str | Number, int] = {str(key): int(count) for key, count in facts["texts"].items()}
        counts |= {exact(key): int(count) for key, count in facts["numbers"].items()}
        return FrequencyScale(counts, facts["sensitive"] == "rare", bool(facts["number"]))
    if kind == SetScale.kind:
        stated = [(int(entry["level"]), entry["shape"]) for entry in facts["sets"]]
        shapes = tuple((level, Trapezoid(*map(parameter, corners))) for level, corners in stated)
        return SetScale(shapes, facts["outside"] == "clamp")
    raise ValueError("the facts are of no known kind")


def _number(key: str) -> Number | None:
    try:
        return exact(key)
    except Uncovered:
        return None


def _direct_level(level: int, falling: bool) -> int:
    return VALUE_LEVELS + 1 - level if falling else level


def _five(low: Number, high: Number) -> tuple[tuple[Trapezoid, ...], ...]:
    """Return A1..A5, one set per level; for a domain of one value only the middle set, which holds it."""
    if low == high:
        point = Fraction(low)
        return tuple(
            (Trapezoid(point, point, point, point),) if i == MIDDLE_LEVEL else () for i in range(1, 6)
        )
    return tuple((shape,) for shape in value_sets(low, high))

"""Classes as they come out of a walk: what is counted at each vertex of a class."""

from __future__ import annotations

from collections.abc import Iterator

from hierdata.document import Document, Scalar, Value
from hierdata.judge.rules import JudgeRules, Keys
from hierdata.judge.spelled import single
from hierdata.judge.walk import Children


class Place:
    """A vertex of a class: how often each sensitive value occurs there, and the vertices below.

    Identical siblings are one place, for nobody can tell them apart.
    """

    __slots__ = ("below", "tally")

    def __init__(self) -> None:
        self.tally: dict[int, int] = {}
        self.below: dict[tuple[str, str], Place] = {}

    def add(self, codes: list[int], children: Children, times: int) -> None:
        """Pool the values of a record's vertex, and those below it, as often as the record occurs."""
        tally = self.tally
        for code in codes:
            tally[code] = tally.get(code, 0) + times
        below = self.below
        for mark, held, inner in children:
            place = below.get(mark)
            if place is None:
                place = below[mark] = Place()
            place.add(held, inner, times)

    def tallies(self) -> Iterator[dict[int, int]]:
        """What is counted at each vertex of the class."""
        if self.tally:
            yield self.tally
        for place in self.below.values():
            yield from place.tallies()


class Class(Place):
    """A class: the root of its representative, how many records it has, how many of a population fit it."""

    __slots__ = ("population", "records")

    def __init__(self, population: int | None) -> None:
        super().__init__()
        self.records = 0
        self.population = population


def population_of(record: Document, rules: JudgeRules) -> int | None:
    """How many rows of the population table fit what is published of a record itself."""
    if rules.population is None:
        return None
    return rules.population.count([_shown(record, column.keys) for column in rules.population.columns])


def _shown(record: Document, keys: Keys) -> Scalar:
    """The single value under the keys, None where there is none."""
    value: Value = record
    for key in keys:
        value = single(value.get(key)) if isinstance(value, dict) else None
    return None if isinstance(value, list | dict) else value

"""Classes as a walk finds them: the counts at each vertex of a class."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from typing import TypeAlias

from hierdata.judge.attribute import SensitiveValues
from hierdata.judge.bench import ModelChecks
from hierdata.judge.reading import Seen
from hierdata.judge.rules import JudgeRules, Verdict
from hierdata.judge.walk import Children

Codes: TypeAlias = "Callable[[int], int]"
"""Maps a sensitive value's code in the walk to our code."""


class JudgedVertex:
    """A vertex of a class: how often each sensitive value occurs there, and the vertices below.

    Identical siblings are one vertex here, since they cannot be distinguished.
    """

    __slots__ = ("below", "tally")

    def __init__(self) -> None:
        self.tally: dict[int, int] = {}
        self.below: dict[tuple[str, str], JudgedVertex] = {}

    def add(self, codes: list[int], children: Children, times: int, own: Codes | None = None) -> None:
        """Add the values of a record's vertex, and those below it, ``times`` times.

        ``own`` translates the codes; without it they are ours.
        """
        tally = self.tally
        for code in codes if own is None else map(own, codes):
            tally[code] = tally.get(code, 0) + times
        below = self.below
        for mark, held, inner in children:
            place = below.get(mark)
            if place is None:
                place = below[mark] = JudgedVertex()
            place.add(held, inner, times, own)

    def tallies(self) -> Iterator[dict[int, int]]:
        """Yield the counts at each vertex of the class."""
        if self.tally:
            yield self.tally
        for place in self.below.values():
            yield from place.tallies()


class Class(JudgedVertex):
    """A class: the root of its representative, its number of records, and how many of a population fit it."""

    __slots__ = ("population", "records")

    def __init__(self, population: int | None) -> None:
        super().__init__()
        self.records = 0
        self.population = population


class JudgedClasses:
    """The classes of some records, which must include all records of each class and all sensitive values."""

    def __init__(self, rules: JudgeRules, attributes: tuple[SensitiveValues, ...]) -> None:
        self._rules = rules
        self._attributes = attributes
        self._classes: dict[bytes, Class] = {}
        # Records that are written alike, or alike with exempt fields compared, are always in one class.
        self._written: Counter[bytes] = Counter()
        self._bare: Counter[bytes] = Counter()

    def add(self, records: Iterable[Seen], own: Codes | None = None) -> None:
        """Put records into their classes (see JudgedVertex.add)."""
        classes, written, bare = self._classes, self._written, self._bare
        for key, raw, unpardoned, members, times, population, codes, children in records:
            known = classes.get(key)
            if known is None:
                known = classes[key] = Class(population)
            known.records += members
            known.add(codes, children, times, own)
            written[raw] += members
            if unpardoned is not None:
                bare[unpardoned] += members

    def verdict(self, found: Mapping[str, int], malformed: int) -> Verdict:
        """Return the verdict on these classes; ``found`` counts forbidden content."""
        panel = ModelChecks(self._rules, self._attributes)
        for ordinal, known in enumerate(self._classes.values()):
            panel.check_class(ordinal, known.records, known.tallies(), known.population)
        verdict = panel.verdict([known.records for known in self._classes.values()], found, malformed)
        return replace(
            verdict,
            k_raw=min(self._written.values(), default=0),
            k_exempt=min(self._bare.values(), default=0) if self._rules.pardoned_paths else None,
        )

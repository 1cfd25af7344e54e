"""Classes as a walk finds them: the values at each vertex of a class, and those of each record."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TypeAlias

from hierdata.judge.attribute import PlaceContent, RecordContent, SensitiveValues, Sets, add_sets
from hierdata.judge.knowledge.judged import JudgedKnowledge
from hierdata.judge.model_checks import ModelChecks
from hierdata.judge.reading import JudgedRecord
from hierdata.judge.rules import JudgeRules, Verdict
from hierdata.judge.walk import Children

Codes: TypeAlias = "Mapping[int, int]"
"""Our code of each sensitive value by its code in the walk."""
Shown: TypeAlias = "dict[JudgedVertex, set[int]]"
"""The codes that one record shows at each place."""


class JudgedVertex:
    """A vertex of a class: how often each sensitive value occurs there, and the vertices below.

    Identical siblings are one vertex here, since they cannot be distinguished. ``sets`` has, by attribute,
    the sets of values that records show here, where presence is asked for. ``vertices`` counts those of all
    documents, whether they have a value or not.
    """

    __slots__ = ("below", "sets", "tally", "vertices")

    def __init__(self) -> None:
        self.vertices = 0
        self.tally: dict[int, int] = {}
        self.sets: dict[int, Sets] = {}
        self.below: dict[tuple[str, str], JudgedVertex] = {}

    def add(
        self,
        codes: list[int],
        children: Children,
        times: int,
        our_codes: Codes | None = None,
        anywhere: set[int] | None = None,
        by_place: Shown | None = None,
    ) -> None:
        """Add the values of a record's vertex, and those below it, ``times`` times.

        ``our_codes`` translates the codes; without it they are ours. ``anywhere`` collects our codes,
        ``by_place`` does so by place.
        """
        self.vertices += times
        if codes:
            tally = self.tally
            if our_codes is not None:
                codes = [our_codes[code] for code in codes]
            for code in codes:
                tally[code] = tally.get(code, 0) + times
            if anywhere is not None:
                anywhere.update(codes)
                if by_place is not None:
                    by_place.setdefault(self, set()).update(codes)
        below = self.below
        for mark, held, inner in children:
            vertex = below.get(mark)
            if vertex is None:
                vertex = below[mark] = JudgedVertex()
            if len(held) != 1 or inner or by_place is not None:
                vertex.add(held, inner, times, our_codes, anywhere, by_place)
                continue
            # Most vertices have one value and nothing below: a call for each would take most of the time.
            code = held[0] if our_codes is None else our_codes[held[0]]
            vertex.vertices += times
            vertex.tally[code] = vertex.tally.get(code, 0) + times
            if anywhere is not None:
                anywhere.add(code)

    def places(self, documents: int) -> Iterator[PlaceContent]:
        """Yield the values at each vertex of the class that has any; the class has so many documents."""
        if self.tally:
            yield PlaceContent(self.tally, self.sets, -(-self.vertices // documents))
        for vertex in self.below.values():
            yield from vertex.places(documents)


class Class(JudgedVertex):
    """A class: the root of its representative, its number of records, and how many of a population fit it.

    ``anywhere`` and ``of_records`` are those of ``RecordContent``.
    """

    __slots__ = ("anywhere", "of_records", "population", "records")

    def __init__(self, population: int | None) -> None:
        super().__init__()
        self.records = 0
        self.population = population
        self.anywhere: dict[int, int] = {}
        self.of_records: dict[int, Sets] = {}

    def add_record(
        self, codes: list[int], children: Children, times: int, our_codes: Codes | None, reading: Readings
    ) -> None:
        """Add a record that occurs ``times`` times (see ``add``), with what it shows at each place."""
        shown: set[int] = set()
        by_place: Shown = {}
        self.add(codes, children, times, our_codes, shown, by_place if reading.at_places else None)
        anywhere = self.anywhere
        for code in shown:
            anywhere[code] = anywhere.get(code, 0) + times
        for vertex, shown_there in by_place.items():
            if kept := reading.select(shown_there, reading.at_places):
                add_sets(vertex.sets, kept, reading.attributes, times)
        if reading.in_records and (kept := reading.select(shown, reading.in_records)):
            add_sets(self.of_records, kept, reading.attributes, times)

    def content(self) -> RecordContent:
        """Return the values of the records at all their places together."""
        return RecordContent(self.anywhere, self.of_records)

    def contents(self) -> Iterator[PlaceContent]:
        """Yield the values at each place of the class that has any."""
        return self.places(self.vertices)

    def occurrences(self, attributes: int) -> RecordContent:
        """Return how often each value occurs at all places, for a file that does not tie it to records."""
        counted, siblings = Counter[int](), Counter[int]()
        for place in self.contents():
            counted.update(place.tally)
            siblings.update(dict.fromkeys({joint % attributes for joint in place.tally}, place.siblings))
        return RecordContent(counted, siblings=siblings)


class Readings:
    """Which of the attributes, by their index, are asked for presence at a place or in a whole record."""

    def __init__(self, rules: JudgeRules) -> None:
        readings = [rule.reading for rule in rules.sensitive]
        presence = [index for index, reading in enumerate(readings) if reading.asks == "presence"]
        self.attributes = len(readings)
        self.in_records = frozenset(index for index in presence if readings[index].of_record)
        self.at_places = frozenset(presence) - self.in_records

    def select(self, codes: Collection[int], indices: frozenset[int]) -> set[int]:
        """Return the joint codes of some attributes."""
        return {code for code in codes if code % self.attributes in indices}


class JudgedClasses:
    """The classes of some records, which must include all records of each class and all sensitive values."""

    def __init__(self, rules: JudgeRules, attributes: tuple[SensitiveValues, ...]) -> None:
        self._rules = rules
        self._attributes = attributes
        self._classes: dict[bytes, Class] = {}
        self._readings = Readings(rules)
        # Records that are written alike, or alike with exempt fields compared, are always in one class.
        self._written: Counter[bytes] = Counter()
        self._bare: Counter[bytes] = Counter()
        model = rules.knowledge
        self.knowledge = None if model is None else JudgedKnowledge(rules, model, attributes)

    def add(
        self,
        records: Iterable[JudgedRecord],
        our_codes: Codes | None = None,
        shown: Sequence[int] | None = None,
    ) -> None:
        """Put records into their classes (see JudgedVertex.add); ``shown`` is that of JudgedKnowledge.add."""
        classes, written, bare = self._classes, self._written, self._bare
        readings, tied = self._readings, self._rules.ties_values
        knowledge = self.knowledge
        for key, raw, unpardoned, members, times, population, codes, facts_of_record, children in records:
            class_ = classes.get(key)
            if class_ is None:
                class_ = classes[key] = Class(population)
            class_.records += members
            if tied:
                class_.add_record(codes, children, times, our_codes, readings)
            else:
                class_.add(codes, children, times, our_codes)
            if knowledge is not None and facts_of_record is not None:
                knowledge.add(key, facts_of_record, members, shown or (), our_codes)
                continue
            written[raw] += members
            if unpardoned is not None:
                bare[unpardoned] += members

    def verdict(self, forbidden: Mapping[str, int], malformed: int) -> Verdict:
        """Return the verdict on these classes; ``forbidden`` counts what must not be published.

        Raises PolicyError where knowledge is bounded and to judge it would take too long.
        """
        knowledge, judged = self.knowledge, None
        if knowledge is not None:
            forbidden = {**forbidden, **knowledge.findings()}
            judged = knowledge.judgement()
        checks = ModelChecks(self._rules, self._attributes, judged)
        classes = self._classes.values()
        for ordinal, class_ in enumerate(classes):
            tied, attributes = self._rules.ties_values, len(self._attributes)
            whole = class_.content() if tied else class_.occurrences(attributes)
            checks.check_class(ordinal, class_.records, class_.contents(), whole, class_.population)
        verdict = checks.verdict([class_.records for class_ in classes], forbidden, malformed)
        if knowledge is not None:  # whole records are not compared, nor with exempt fields
            return replace(verdict, told_apart=knowledge.tell_apart())
        return replace(
            verdict,
            k_raw=min(self._written.values(), default=0),
            k_exempt=min(self._bare.values(), default=0) if self._rules.pardoned_paths else None,
        )

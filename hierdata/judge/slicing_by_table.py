"""The judge of slicing by table: generalized records, and sensitive tables that have groups of their own.

A class is the records that agree in their quasi-identifiers; k counts these, whatever their ids. Models on
values judge each group of each table. They judge each class too, as the mixture of its records' groups: to
somebody who knows a person's quasi-identifiers, she is each record of the class with the same probability, so
a value has the mean of its shares in their groups. What ids tell beyond that is stated, not promised.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from itertools import product
from math import gcd, lcm
from typing import TypeAlias

from hierdata.documents.document import Document, group_key, sensitive_part
from hierdata.judge.attribute import PlaceContent, SensitiveValues
from hierdata.judge.groups import GroupWalk, Kind, SensitiveTable, kinds_of, paths_by_part, read_tables
from hierdata.judge.model_checks import ModelChecks
from hierdata.judge.reading import population_of
from hierdata.judge.rules import GroupIdRisk, JudgeRules, Verdict
from hierdata.judge.slicing import build_id_readers, count_repeated_attributes, divide_attributes

Row: TypeAlias = tuple[int, ...]
"""The codes of the values of a row, -1 for a missing one."""
Ids: TypeAlias = tuple[int, ...]
"""The group ids of a record, one for each table."""
Pair: TypeAlias = tuple[int, int]
"""Two groups, or two values, of a known attribute and of one that is guessed."""


@dataclass
class RowsOfTable:
    """The rows of one table: its attributes by index, and by group how often each row occurs."""

    attributes: tuple[int, ...]
    groups: defaultdict[int, Counter[Row]] = field(default_factory=lambda: defaultdict(Counter))

    def counts(self, group: int, attribute: int) -> Counter[int]:
        """Count the values of an attribute in a group, missing ones as -1."""
        column = self.attributes.index(attribute)
        counted: Counter[int] = Counter()
        for row, count in self.groups[group].items():
            counted[row[column]] += count
        return counted


class KnownValue:
    """Finds, for each attribute, the largest share of a value to somebody who knows one of another.

    The adversary knows the quasi-identifiers of a person, and so the class, and one sensitive value of this
    person, or that it is missing. Of the assignments of values to persons that fit the files, all are equally
    likely. So a record of the class counts with the share that the known value has in its group, and the
    guess is the mean of the other table's shares with these weights. Values of one table are in one row.

    ``table_of`` is, by the index of each attribute with values, the number of its table.
    """

    def __init__(self, tables: Sequence[RowsOfTable], table_of: Mapping[int, int]) -> None:
        self._tables = tables
        self._table_of = table_of
        self._counted: dict[Pair, Counter[int]] = {}
        self._most: dict[Pair, Fraction] = {}
        self.best = {attribute: Fraction(0) for attribute in table_of}

    def add(self, records: Mapping[Ids, int]) -> None:
        """Add a class: how many of its records have each combination of ids."""
        for guessed in self._table_of:
            for known in self._table_of:
                if known != guessed and self._may_be_worse(guessed, known, records):
                    self._compare(guessed, known, records)

    def _may_be_worse(self, guessed: int, known: int, records: Iterable[Ids]) -> bool:
        """Whether the class can raise the largest share: no mean is above the largest share of a group."""
        table = self._table_of[guessed]
        if table == self._table_of[known]:
            return self.best[guessed] < 1
        return any(self._largest(ids[table], guessed) > self.best[guessed] for ids in records)

    def _largest(self, group: int, attribute: int) -> Fraction:
        share = self._most.get((group, attribute))
        if share is None:
            counts = self._counts(group, attribute)
            most = max((count for code, count in counts.items() if code >= 0), default=0)
            share = self._most[group, attribute] = Fraction(most, max(1, counts.total()))
        return share

    def _counts(self, group: int, attribute: int) -> Counter[int]:
        counts = self._counted.get((group, attribute))
        if counts is None:
            table = self._tables[self._table_of[attribute]]
            counts = self._counted[group, attribute] = table.counts(group, attribute)
        return counts

    def _compare(self, guessed: int, known: int, records: Mapping[Ids, int]) -> None:
        """Raise the largest share of ``guessed`` by what a class shows to somebody who knows ``known``."""
        pairs, weight = Counter[Pair](), Counter[int]()
        for (known_value, value), count in self._joint(guessed, known, records).items():
            weight[known_value] += count
            if value >= 0:
                pairs[known_value, value] = count
        for (known_value, _), count in pairs.items():
            self.best[guessed] = max(self.best[guessed], Fraction(count, weight[known_value]))

    def _joint(self, guessed: int, known: int, records: Mapping[Ids, int]) -> Counter[Pair]:
        """Weigh each pair of a known and a guessed value over the records of a class, in integers."""
        inner, outer = self._table_of[guessed], self._table_of[known]
        members: Counter[Pair] = Counter()
        for ids, times in records.items():
            members[ids[outer], ids[inner]] += times
        shown = {
            groups: self._rows(groups[0], known, guessed)
            if inner == outer
            else self._all_pairs(groups, known, guessed)
            for groups in members
        }
        common = lcm(*(max(1, pairs.total()) for pairs in shown.values()))
        joint: Counter[Pair] = Counter()
        for groups, pairs in shown.items():
            weight = members[groups] * (common // max(1, pairs.total()))
            for pair, count in pairs.items():
                joint[pair] += weight * count
        return joint

    def _rows(self, group: int, known: int, guessed: int) -> Counter[Pair]:
        """Count the pairs of values in the rows of a group."""
        table = self._tables[self._table_of[guessed]]
        first, second = table.attributes.index(known), table.attributes.index(guessed)
        pairs: Counter[Pair] = Counter()
        for row, count in table.groups[group].items():
            pairs[row[first], row[second]] += count
        return pairs

    def _all_pairs(self, groups: Pair, known: int, guessed: int) -> Counter[Pair]:
        """Count the pairs of a value of one group and one of another: any of them may be of one person."""
        pairs = product(self._counts(groups[0], known).items(), self._counts(groups[1], guessed).items())
        return Counter({(value, other): count * times for (value, count), (other, times) in pairs})


def judge_tables(
    documents: Iterable[tuple[Document, int]], beside: Mapping[str, Iterable[Document]], rules: JudgeRules
) -> Verdict:
    """Judge records with one group id for each table, each with its number of occurrences, and the tables.

    ``beside`` holds the rows of the tables by the name of their part.

    >>> from hierdata.judge import SensitiveRule
    >>> from hierdata.privacy import DistinctLDiversity, KAnonymity
    >>> models = (KAnonymity(k=2), None), (DistinctLDiversity(l=2), None)
    >>> rules = JudgeRules((SensitiveRule(("ill",), "$.ill"),), models, recoding="slicing_by_table")
    >>> records = [{"zip": zip, "group_1": group} for zip in ("1*", "2*") for group in (1, 2)]
    >>> values = [{"group": group, "ill": ill, "count": 1} for group in (1, 2) for ill in ("flu", "cold")]
    >>> verdict = judge_tables([(record, 1) for record in records], {"sensitive-1": values}, rules)
    >>> verdict.passed, verdict.classes, verdict.k, verdict.group_ids.k
    (True, 2, 2, 1)
    """
    attributes = tuple(SensitiveValues(rule) for rule in rules.sensitive)
    kinds = kinds_of(rules)
    whole = kinds.pop((), Kind(()))
    tables = {
        sensitive_part((), number): RowTable(Kind((), places, group_key(number)), places)
        for number, places in enumerate(divide_attributes(rules, whole, beside), 1)
    }
    walk = GroupWalk(rules, [table.kind for table in tables.values()])
    forms = _FormsWithoutIds(rules, tuple(tables.values()))
    for document, times in documents:
        walk.record(document, times)
        forms.add(document, times)
    walk.close()
    malformed = walk.malformed + read_tables(beside, tables, attributes, walk.findings)
    malformed += count_repeated_attributes(tables.values())
    malformed += len(kinds)  # values below the records have no table
    checks = ModelChecks(rules, attributes)
    table_of = {index: number for number, table in enumerate(tables.values()) for index in table.shown}
    known = KnownValue([table.rows for table in tables.values()], table_of)
    classes = forms.classes.values()
    for ordinal, class_ in enumerate(classes):
        mixture = PlaceContent(_mix_groups(class_.ids, tuple(tables.values())))
        checks.check_class(ordinal, class_.records, [mixture], None, class_.population)
        known.add(class_.ids)
    groups = [(table, group) for table in tables.values() for group in table.kind.groups.values()]
    for ordinal, (table, group) in enumerate(groups, len(classes)):
        checks.check_group(ordinal, group.persons, group.tally, table.places.values())
    verdict = checks.verdict([class_.records for class_ in classes], walk.findings, malformed)
    best = known.best if len(known.best) > 1 else {}
    return replace(
        verdict,
        k_raw=min(forms.written.values(), default=0),
        k_exempt=min(forms.bare.values(), default=0) if rules.pardoned_paths else None,
        tables=paths_by_part(tables, rules),
        group_ids=GroupIdRisk(
            min((min(class_.ids.values()) for class_ in classes), default=0),
            {rule.path: best[index] for index, rule in enumerate(rules.sensitive) if index in best},
        ),
    )


class RowTable(SensitiveTable):
    """A table whose whole rows are kept: a known value of one attribute leads to those of the others."""

    def __init__(self, kind: Kind, places: Mapping[tuple[str, ...], int]) -> None:
        super().__init__(kind, places)
        self.rows = RowsOfTable(tuple(places.values()))

    def hold(self, number: int, codes: tuple[int, ...], count: int) -> None:
        """See SensitiveTable.hold."""
        self.rows.groups[number][codes] += count


@dataclass
class _ClassWithIds:
    """Records that agree in their quasi-identifiers; ``ids`` counts each combination of their group ids."""

    population: int | None
    records: int = 0
    ids: Counter[Ids] = field(default_factory=Counter)


class _FormsWithoutIds:
    """Records grouped by what is published of them without their ids.

    ``written`` counts records by their bytes, ``bare`` with exempt fields compared, both without ids.
    """

    def __init__(self, rules: JudgeRules, tables: tuple[RowTable, ...]) -> None:
        self._count = len(tables)
        self._rules = rules
        self._reader, self._unpardoned = build_id_readers(rules, [(table.kind.name,) for table in tables])
        self.classes: dict[bytes, _ClassWithIds] = {}
        self.written: Counter[bytes] = Counter()
        self.bare: Counter[bytes] = Counter()

    def add(self, record: Document, times: int) -> None:
        """Count a record that occurs ``times`` times."""
        form, raw, codes, _ = self._reader.read(record)
        class_ = self.classes.get(form)
        if class_ is None:
            class_ = self.classes[form] = _ClassWithIds(population_of(record, self._rules))
        class_.records += times
        ids = [-1] * self._count  # a record without an id is malformed
        for code in codes:
            ids[code % self._count] = code // self._count
        class_.ids[tuple(ids)] += times
        self.written[raw] += times
        if self._unpardoned is not None:
            self.bare[self._unpardoned.read(record)[0]] += times


def _mix_groups(records: Mapping[Ids, int], tables: tuple[RowTable, ...]) -> dict[int, int]:
    """Return the mixture of the groups of a class's records: each record counts with its group's shares.

    The counts are integers: a group of s persons is multiplied by the least common multiple of all sizes,
    over s. They are divided by their greatest common divisor, attribute tables one by one.
    """
    mixture: dict[int, int] = {}
    for position, table in enumerate(tables):
        members: Counter[int] = Counter()
        for ids, times in records.items():
            members[ids[position]] += times
        groups = table.kind.groups
        shared = {number: groups[number] for number in members if number in groups and groups[number].persons}
        common = lcm(*(group.persons for group in shared.values()))
        mixed: Counter[int] = Counter()
        for number, group in shared.items():
            for joint, count in group.tally.items():
                mixed[joint] += members[number] * count * (common // group.persons)
        divisor = gcd(*mixed.values()) or 1
        mixture |= {joint: count // divisor for joint, count in mixed.items()}
    return mixture

"""The judge of slicing by table: generalized records, and sensitive tables that have groups of their own.

A class is the records that agree in their quasi-identifiers; k counts these, whatever their ids. Models on
values judge each group of each table. They judge each class too, as the mixture of its records' groups: to
somebody who knows a person's quasi-identifiers, she is each record of the class with the same probability, so
a value has the mean of its shares in their groups. What ids tell beyond that is stated, not promised.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from math import gcd, lcm

from hierdata.documents.document import Document, group_key, sensitive_part
from hierdata.judge.attribute import SensitiveValues
from hierdata.judge.bench import ModelChecks
from hierdata.judge.contents import PlaceContent
from hierdata.judge.groups import GroupWalk, Kind, SensitiveTable, kinds_of, paths_by_part, read_tables
from hierdata.judge.known_value import Ids, KnownValue, RowsOfTable
from hierdata.judge.reading import population_of
from hierdata.judge.rules import GroupIdRisk, JudgeRules, Verdict
from hierdata.judge.slicing import build_id_readers, count_repeated_attributes, divide_attributes


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
    malformed = walk.malformed + read_tables(beside, tables, attributes, walk.found)
    malformed += count_repeated_attributes(tables.values())
    malformed += len(kinds)  # values below the records have no table
    panel = ModelChecks(rules, attributes)
    table_of = {index: number for number, table in enumerate(tables.values()) for index in table.shown}
    known = KnownValue([table.rows for table in tables.values()], table_of)
    classes = forms.classes.values()
    for ordinal, own in enumerate(classes):
        mixture = PlaceContent(_mix_groups(own, tuple(tables.values())))
        panel.check_class(ordinal, own.records, [mixture], None, own.population)
        known.add(own.ids)
    groups = [(table, group) for table in tables.values() for group in table.kind.groups.values()]
    for ordinal, (table, group) in enumerate(groups, len(classes)):
        panel.check_group(ordinal, group.persons, group.tally, table.places.values())
    verdict = panel.verdict([own.records for own in classes], walk.found, malformed)
    paths = [rule.path for rule in rules.sensitive]
    return replace(
        verdict,
        k_raw=min(forms.written.values(), default=0),
        k_exempt=min(forms.bare.values(), default=0) if rules.pardoned_paths else None,
        tables=paths_by_part(tables, rules),
        group_ids=GroupIdRisk(
            min((min(own.ids.values()) for own in classes), default=0),
            {
                path: known.best[index]
                for index, path in enumerate(paths)
                if index in known.best and len(known.best) > 1
            },
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
        own = self.classes.get(form)
        if own is None:
            own = self.classes[form] = _ClassWithIds(population_of(record, self._rules))
        own.records += times
        ids = [-1] * self._count  # a record without an id is malformed
        for code in codes:
            ids[code % self._count] = code // self._count
        own.ids[tuple(ids)] += times
        self.written[raw] += times
        if self._unpardoned is not None:
            self.bare[self._unpardoned.read(record)[0]] += times


def _mix_groups(own: _ClassWithIds, tables: tuple[RowTable, ...]) -> dict[int, int]:
    """Return the mixture of the groups of a class's records: each record counts with its group's shares.

    The counts are integers: a group of s persons is multiplied by the least common multiple of all sizes,
    over s. They are divided by their greatest common divisor, attribute tables one by one.
    """
    mixture: dict[int, int] = {}
    for at, table in enumerate(tables):
        members: Counter[int] = Counter()
        for ids, times in own.ids.items():
            members[ids[at]] += times
        groups = {number: table.kind.groups.get(number) for number in members}
        sizes = {number: group.persons for number, group in groups.items() if group and group.persons}
        common = lcm(*sizes.values())
        mixed: Counter[int] = Counter()
        for number, size in sizes.items():
            group = groups[number]
            assert group is not None
            for joint, count in group.tally.items():
                mixed[joint] += members[number] * count * (common // size)
        divisor = gcd(*mixed.values()) or 1
        mixture |= {joint: count // divisor for joint, count in mixed.items()}
    return mixture

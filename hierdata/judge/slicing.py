"""The judge of slicing: generalized records with groups, sensitive values in tables, all joined by group.

A class is the records that agree on everything that is published of them: all quasi-identifiers and all
group ids, so that no combination of ids singles out a record. A group is one vertex of each record of one
class, and every table states as many values for it as it has vertices. Models judge the values of each group.
Records that differ only in their ids look alike to an adversary who knows quasi-identifiers, and so do
siblings. For these, models judge once more all values that such a vertex may have.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, TypeAlias

from hierdata.documents.document import GROUP, Document, Scalar, sensitive_part, whole
from hierdata.judge.attribute import PlaceContent, RecordContent, SensitiveValues
from hierdata.judge.classes import Class
from hierdata.judge.groups import Group, GroupWalk, Kind, SensitiveTable, kinds_of, paths_by_part, read_tables
from hierdata.judge.model_checks import ModelChecks
from hierdata.judge.reading import RecordReader, population_of
from hierdata.judge.rules import JudgeRules, Keys, SensitiveRule, Verdict
from hierdata.judge.walk import Children, Walk

Ids: TypeAlias = tuple[Any, ...]
"""The group ids of a record's vertices, at the root and, nested, below; sorted, as order does not matter."""
Tally: TypeAlias = dict[int, int]


def judge_slices(
    documents: Iterable[tuple[Document, int]], beside: Mapping[str, Iterable[Document]], rules: JudgeRules
) -> Verdict:
    """Judge records with groups, each with its number of occurrences, and their tables.

    ``beside`` holds the rows of the tables by the name of their part.

    >>> from hierdata.judge import SensitiveRule
    >>> from hierdata.privacy import KAnonymity
    >>> rules = JudgeRules((SensitiveRule(("ill",), "$.ill"),), ((KAnonymity(k=2), None),))
    >>> records = [{"zip": "1*", "group": 1}, {"zip": "1*", "group": 1}]
    >>> values = [{"group": 1, "ill": "flu", "count": 1}, {"group": 1, "ill": "cold", "count": 1}]
    >>> verdict = judge_slices([(record, 1) for record in records], {"sensitive-1": values}, rules)
    >>> verdict.passed, verdict.classes, verdict.k
    (True, 1, 2)
    """
    attributes = tuple(SensitiveValues(rule) for rule in rules.sensitive)
    kinds = kinds_of(rules)
    walk = GroupWalk(rules, kinds.values())
    forms = _Forms(rules, tuple(kinds))
    for document, times in documents:
        walk.record(document, times)
        forms.add(document, times)
    tables = dict(tables_of(rules, kinds, beside))
    walk.close()
    malformed = walk.malformed + read_tables(beside, tables, attributes, walk.findings)
    malformed += count_repeated_attributes(tables.values())
    groups = _Groups(tuple(kinds.values()))
    classes = forms.classes.values()
    malformed += sum(groups.count_torn(class_) for class_ in classes)
    checks = ModelChecks(rules, attributes)
    for ordinal, class_ in enumerate(classes):
        tallies = [*groups.tallies(class_.ids)]
        whole = RecordContent(_add_up(tallies))
        places = map(PlaceContent, tallies)
        checks.check_class(ordinal, class_.records, places, whole, class_.union.population)
    for ordinal, union in enumerate(forms.unions.values(), len(classes)):
        if pools := groups.pools(union):
            checks.check_class(ordinal, union.records, pools, None, union.population)
    verdict = checks.verdict([class_.records for class_ in classes], walk.findings, malformed)
    return replace(
        verdict,
        k_raw=min(forms.written.values(), default=0),
        k_exempt=min(forms.bare.values(), default=0) if rules.pardoned_paths else None,
        tables=paths_by_part(tables, rules),
    )


class GroupId(SensitiveValues):
    """The group ids of one vertex type: the code of an id is its number."""

    def code(self, value: Scalar) -> int:
        """Return the number, -1 if the value names no group."""
        number = whole(value)
        return -1 if number is None else number


def build_id_readers(rules: JudgeRules, places: Iterable[Keys]) -> tuple[RecordReader, RecordReader | None]:
    """Return a reader of records that has their group ids as values, and one that compares exempt fields.

    The second is None if no field is exempt.
    """
    ids = tuple(GroupId(SensitiveRule(keys, "")) for keys in places)
    # Forbidden content and links have been counted by GroupWalk.
    sensitive = tuple(values.rule for values in ids)
    plain = replace(rules.without_links, sensitive=sensitive, forbidden=frozenset(), listed=None)
    unpardoned = plain.without_pardons
    return RecordReader(Walk(plain, ids)), None if unpardoned is None else RecordReader(Walk(unpardoned, ids))


@dataclass
class _Sliced:
    """A class: its records, the ids of its vertices, and all records that look alike without ids."""

    union: Class
    ids: list[int] = field(default_factory=list)
    records: int = 0


class _Forms:
    """Records grouped by what is published of them, with ids (``classes``) and without (``unions``).

    Ids are coded as ``number * types + index of the vertex type``. ``written`` counts records by their bytes,
    ``bare`` with exempt fields compared, both including ids.
    """

    def __init__(self, rules: JudgeRules, kinds: tuple[Keys, ...]) -> None:
        self._rules = rules
        self._reader, self._unpardoned = build_id_readers(rules, [(*keys, GROUP) for keys in kinds])
        self.classes: dict[tuple[bytes, Ids], _Sliced] = {}
        self.unions: dict[bytes, Class] = {}
        self.written: Counter[tuple[bytes, str]] = Counter()
        self.bare: Counter[tuple[bytes, Ids]] = Counter()

    def add(self, record: Document, times: int) -> None:
        """Count a record that occurs ``times`` times."""
        form, raw, codes, children = self._reader.read(record)
        union = self.unions.get(form)
        if union is None:
            union = self.unions[form] = Class(population_of(record, self._rules))
        union.records += times
        union.add(codes, children, times)
        ids = _ids(codes, children)
        class_ = self.classes.get((form, ids))
        if class_ is None:
            class_ = self.classes[form, ids] = _Sliced(union, list(_every(codes, children)))
        class_.records += times
        self.written[raw, repr((codes, children)) if children else repr(codes)] += times
        if self._unpardoned is not None:
            form, _, codes, children = self._unpardoned.read(record)
            self.bare[form, _ids(codes, children)] += times


def _ids(codes: list[int], children: Children) -> Ids:
    """Return the ids in an order that is independent of that of the siblings."""
    return (*sorted(codes),), (*sorted((mark, _ids(held, below)) for mark, held, below in children),)


def _every(codes: list[int], children: Children) -> Iterator[int]:
    yield from codes
    for _, held, below in children:
        yield from _every(held, below)


class _Groups:
    """The groups of all vertex types, by their ids as coded in _Forms."""

    def __init__(self, kinds: tuple[Kind, ...]) -> None:
        self._kinds = kinds

    def count_torn(self, class_: _Sliced) -> int:
        """Return how many groups of a class do not have exactly one vertex of each of its records."""
        groups = map(self._group, class_.ids)
        return sum(group is None or group.vertices != class_.records for group in groups)

    def tallies(self, ids: Iterable[int]) -> Iterator[Tally]:
        """Yield the values that are stated for each of these groups."""
        yield from (group.tally for group in map(self._group, ids) if group is not None)

    def pools(self, union: Class) -> list[PlaceContent]:
        """Return, for each vertex that may be in several groups, the values of all these groups together."""
        pooled = []
        for place in union.contents():
            by_kind: defaultdict[int, list[int]] = defaultdict(list)
            for code in place.tally:
                by_kind[code % len(self._kinds)].append(code)
            for codes in by_kind.values():
                if len(codes) > 1:
                    pooled.append(PlaceContent(_add_up(self.tallies(codes)), siblings=place.siblings))
        return pooled

    def _group(self, code: int) -> Group | None:
        number, index = divmod(code, len(self._kinds))
        return self._kinds[index].groups.get(number)


def tables_of(
    rules: JudgeRules, kinds: Mapping[Keys, Kind], parts: Collection[str]
) -> Iterator[tuple[str, SensitiveTable]]:
    """Yield the tables that must exist, with the names of their parts; ``parts`` are those that do.

    If the policy leaves the division to the data, each may have any attribute of its vertex type.
    """
    for keys, kind in kinds.items():
        for number, places in enumerate(divide_attributes(rules, kind, parts), 1):
            yield sensitive_part(keys, number), SensitiveTable(kind, places)


def divide_attributes(rules: JudgeRules, kind: Kind, parts: Collection[str]) -> list[dict[Keys, int]]:
    """Return the attributes that each table of a vertex type may have, by their keys in a row.

    ``parts`` are the names of the parts of the release beside the records.
    """
    stated, places = rules.tables, kind.places
    if stated == "correlated":
        there = (sensitive_part(kind.keys, number) in parts for number in range(1, len(places) + 1))
        stated = max(1, sum(there))
    if isinstance(stated, tuple):
        parted = [
            {keys: index for keys, index in places.items() if rules.sensitive[index].keys in table}
            for table in stated
        ]
        return [table for table in parted if table]
    if stated is None or stated >= len(places):
        return [{keys: index} for keys, index in places.items()]
    return [places] * stated


def _add_up(tallies: Iterable[Tally]) -> Tally:
    """Return the counts of all tallies together."""
    pool: Counter[int] = Counter()
    for tally in tallies:
        pool.update(tally)
    return dict(pool)


def count_repeated_attributes(tables: Iterable[SensitiveTable]) -> int:
    """Return how many attributes occur in more than one table."""
    counted = Counter(index for table in tables for index in table.shown)
    return sum(times > 1 for times in counted.values())

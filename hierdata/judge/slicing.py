"""The judge of slicing: generalized records with groups, sensitive values in tables, all joined by group.

A class is the records that agree on everything that is published of them: all quasi-identifiers and all
group ids, so that no combination of ids picks anybody out. A group is one vertex of each record of one class,
and every table states as many values of it as it has vertices. Models are asked about the values of each
group. Records that differ in their ids alone look alike to who knows quasi-identifiers, and so do siblings:
there models are asked once more, about all values that such a vertex may have.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, TypeAlias

from hierdata.documents.document import GROUP, Document, Scalar, sensitive_part
from hierdata.judge.attribute import Attribute
from hierdata.judge.bench import Panel
from hierdata.judge.flat import Reader
from hierdata.judge.groups import GroupWalk, Kind, Table, kinds_of, read_tables, shown
from hierdata.judge.places import Class
from hierdata.judge.reading import population_of
from hierdata.judge.rules import JudgeRules, Keys, SensitiveRule, Verdict
from hierdata.judge.tokens import whole
from hierdata.judge.walk import Children, Walk

Ids: TypeAlias = tuple[Any, ...]
"""The group ids of a record's vertices, at the root and, nested, below; sorted where order says nothing."""
Tally: TypeAlias = dict[int, int]


def judge_slices(
    documents: Iterable[tuple[Document, int]], beside: Mapping[str, Iterable[Document]], rules: JudgeRules
) -> Verdict:
    """Judge records with groups, each with the number of times it occurs, and the tables beside them.

    These come by the names of their parts.

    >>> from hierdata.judge import SensitiveRule
    >>> from hierdata.privacy import KAnonymity
    >>> rules = JudgeRules((SensitiveRule(("ill",), "$.ill"),), ((KAnonymity(k=2), None),))
    >>> records = [{"zip": "1*", "group": 1}, {"zip": "1*", "group": 1}]
    >>> values = [{"group": 1, "ill": "flu", "count": 1}, {"group": 1, "ill": "cold", "count": 1}]
    >>> verdict = judge_slices([(record, 1) for record in records], {"sensitive-1": values}, rules)
    >>> verdict.passed, verdict.classes, verdict.k
    (True, 1, 2)
    """
    attributes = tuple(Attribute(rule) for rule in rules.sensitive)
    kinds = kinds_of(rules)
    walk = GroupWalk(rules, kinds.values())
    forms = _Forms(rules, tuple(kinds))
    for document, times in documents:
        walk.record(document, times)
        forms.add(document, times)
    tables = dict(_tables(rules, kinds))
    walk.close()
    malformed = walk.malformed + read_tables(beside, tables, attributes, walk.found)
    malformed += _repeated(tables.values())
    groups = _Groups(tuple(kinds.values()))
    malformed += sum(groups.torn(own) for own in forms.classes.values())
    panel = Panel(rules, attributes)
    classes = forms.classes.values()
    for ordinal, own in enumerate(classes):
        panel.hear(ordinal, own.records, groups.tallies(own.ids), own.union.population)
    for ordinal, union in enumerate(forms.unions.values(), len(classes)):
        if pools := groups.pools(union):
            panel.hear(ordinal, union.records, pools, union.population)
    verdict = panel.verdict([own.records for own in classes], walk.found, malformed)
    return replace(
        verdict,
        k_raw=min(forms.written.values(), default=0),
        k_exempt=min(forms.bare.values(), default=0) if rules.pardoned else None,
        tables=shown(tables, rules),
    )


class _Id(Attribute):
    """The group ids of one vertex type: the code of an id is its number."""

    def code(self, value: Scalar) -> int:
        """The number, -1 where the value names no group."""
        number = whole(value)
        return -1 if number is None else number


@dataclass
class _Sliced:
    """A class: its records, the ids of its vertices, the records that look like them but for the ids."""

    union: Class
    ids: list[int] = field(default_factory=list)
    records: int = 0


class _Forms:
    """Records by what is published of them, with ids (``classes``) and without (``unions``).

    Ids are counted as ``number * types + index of the vertex type``. ``written`` and ``bare`` count records
    by their bytes and with exempt fields compared, ids included.
    """

    def __init__(self, rules: JudgeRules, kinds: tuple[Keys, ...]) -> None:
        ids = tuple(_Id(SensitiveRule((*keys, GROUP), "")) for keys in kinds)
        # What must not be there has been counted with the members of groups.
        plain = replace(rules, sensitive=tuple(one.rule for one in ids), forbidden=frozenset(), listed=None)
        self._rules = rules
        self._reader = Reader(Walk(plain, ids))
        unpardoned = replace(plain, exempt=frozenset(rules.tokens))
        self._unpardoned = Reader(Walk(unpardoned, ids)) if rules.pardoned else None
        self.classes: dict[tuple[bytes, Ids], _Sliced] = {}
        self.unions: dict[bytes, Class] = {}
        self.written: Counter[tuple[bytes, str]] = Counter()
        self.bare: Counter[tuple[bytes, Ids]] = Counter()

    def add(self, record: Document, times: int) -> None:
        """Count a record that occurs so often."""
        form, raw, codes, children = self._reader.read(record)
        union = self.unions.get(form)
        if union is None:
            union = self.unions[form] = Class(population_of(record, self._rules))
        union.records += times
        union.add(codes, children, times)
        ids = _ids(codes, children)
        own = self.classes.get((form, ids))
        if own is None:
            own = self.classes[form, ids] = _Sliced(union, list(_every(codes, children)))
        own.records += times
        self.written[raw, repr((codes, children)) if children else repr(codes)] += times
        if self._unpardoned is not None:
            form, _, codes, children = self._unpardoned.read(record)
            self.bare[form, _ids(codes, children)] += times


def _ids(codes: list[int], children: Children) -> Ids:
    """The ids in one order, whatever that of the siblings."""
    return (*sorted(codes),), (*sorted((mark, _ids(held, below)) for mark, held, below in children),)


def _every(codes: list[int], children: Children) -> Iterator[int]:
    yield from codes
    for _, held, below in children:
        yield from _every(held, below)


class _Groups:
    """The groups of all vertex types, by their ids as _Forms counts them."""

    def __init__(self, kinds: tuple[Kind, ...]) -> None:
        self._kinds = kinds

    def torn(self, own: _Sliced) -> int:
        """How many groups of a class have other vertices than one of each of its records."""
        return sum(self._vertices(code) != own.records for code in own.ids)

    def tallies(self, ids: Iterable[int]) -> Iterator[Tally]:
        """The values that are stated for each of these groups."""
        for code in ids:
            number, index = divmod(code, len(self._kinds))
            group = self._kinds[index].groups.get(number)
            if group is not None:
                yield group.tally

    def pools(self, union: Class) -> list[Tally]:
        """The values at each vertex that may be of more than one group, all of these groups together."""
        pooled = []
        for ids in union.tallies():
            by_kind: defaultdict[int, list[int]] = defaultdict(list)
            for code in ids:
                by_kind[code % len(self._kinds)].append(code)
            for codes in by_kind.values():
                if len(codes) > 1:
                    pool: Counter[int] = Counter()
                    for tally in self.tallies(codes):
                        pool.update(tally)
                    pooled.append(dict(pool))
        return pooled

    def _vertices(self, code: int) -> int:
        number, index = divmod(code, len(self._kinds))
        group = self._kinds[index].groups.get(number)
        return 0 if group is None else group.vertices


def _tables(rules: JudgeRules, kinds: Mapping[Keys, Kind]) -> Iterator[tuple[str, Table]]:
    """The tables that must be there, by the names of their parts.

    Where the policy leaves the clusters to the data, each may have any attribute of its vertex type.
    """
    for keys, kind in kinds.items():
        for number, places in enumerate(_divided(rules, kind), 1):
            yield sensitive_part(keys, number), Table(kind, places)


def _divided(rules: JudgeRules, kind: Kind) -> list[dict[Keys, int]]:
    stated, places = rules.tables, kind.places
    if isinstance(stated, tuple):
        parted = [
            {own: index for own, index in places.items() if rules.sensitive[index].keys in table}
            for table in stated
        ]
        return [table for table in parted if table]
    if stated is None or stated >= len(places):
        return [{own: index} for own, index in places.items()]
    return [places] * stated


def _repeated(tables: Iterable[Table]) -> int:
    """How many attributes stand in more than one table."""
    counted = Counter(index for table in tables for index in table.shown)
    return sum(times > 1 for times in counted.values())

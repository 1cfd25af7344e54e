"""Records with groups, and tables that state the values of each group, joined as a reader would; anatomy.

With anatomy quasi-identifiers are in their finest form and sensitive values apart, joined by group. A class
is a group of one vertex type. Its members are the persons with a vertex in this group; their values are those
that the group's rows state. The quasi-identifiers do not matter: an adversary who finds the vertex of a
person learns its group and no more.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace

from hierdata.documents.document import (
    COUNT,
    GROUP,
    LIST_IN_ITEM,
    TEXT,
    Document,
    Scalar,
    Value,
    sensitive_part,
    single,
    whole,
)
from hierdata.judge.attribute import PlaceContent, RecordContent, SensitiveValues
from hierdata.judge.checks import Pseudonyms, count_wrong_pseudonyms
from hierdata.judge.model_checks import ModelChecks
from hierdata.judge.rule_tree import UNLISTED, RuleNode, RuleTree
from hierdata.judge.rules import JudgeRules, Keys, Verdict


@dataclass
class Group:
    """A group: the number of its vertices and of their persons, and the values stated for it.

    ``tally`` counts the values by ``code * attributes + index of the attribute``.
    """

    vertices: int = 0
    persons: int = 0
    tally: dict[int, int] = field(default_factory=dict)


class GroupSpelling:
    """The spelling of the groups in one file: all as numbers, or all as text.

    For a reader who joins by type, 1 and "1" are two groups and would distinguish members.
    """

    def __init__(self) -> None:
        self._type: type | None = None

    def number(self, value: Value) -> int | None:
        """Return the group that a value names; None if it names none or its type is not that of the first."""
        inner = single(value)
        number = whole(inner)
        if number is None:
            return None
        if self._type is None:
            self._type = type(inner)
        return number if type(inner) is self._type else None


@dataclass
class Kind:
    """A vertex type with sensitive attributes: its path, and its groups by number.

    ``places`` gives, by the keys in a row, the index of the attribute that has its values there. ``name`` is
    the key of the group in a vertex.
    """

    keys: Keys
    places: dict[Keys, int] = field(default_factory=dict)
    name: str = GROUP
    groups: dict[int, Group] = field(default_factory=dict)
    spelling: GroupSpelling = field(default_factory=GroupSpelling)

    def group(self, number: int) -> Group:
        """Return the group of this number; create it if needed."""
        group = self.groups.get(number)
        if group is None:
            group = self.groups[number] = Group()
        return group


def kinds_of(rules: JudgeRules) -> dict[Keys, Kind]:
    """Return the vertex types with sensitive attributes, by their path."""
    kinds: dict[Keys, Kind] = {}
    for index, rule in enumerate(rules.sensitive):
        above = [rule.keys[:length] for length in range(1, len(rule.keys) + 1)]
        keys = next((keys for keys in reversed(above) if keys in rules.vertices), ())
        kind = kinds.setdefault(keys, Kind(keys))
        kind.places[rule.keys[len(keys) :] or (LIST_IN_ITEM,)] = index
    return kinds


class SensitiveTable:
    """A separate part: rows that state how often the groups of one vertex type have some values.

    ``places`` are the attributes that its rows may have, ``held`` how many values are stated for each group,
    ``shown`` the attributes with a column or a value.
    """

    def __init__(self, kind: Kind, places: Mapping[Keys, int]) -> None:
        self.kind = kind
        self.places = places
        self.held: Counter[int] = Counter()
        self.shown: set[int] = set()
        self._spelling = GroupSpelling()

    def add_row(self, row: Document, attributes: tuple[SensitiveValues, ...], findings: Counter[str]) -> bool:
        """Add the values of one row to its group; return False if the row is malformed.

        ``findings`` counts fields that no row may have.
        """
        values = dict(_scalars(row, (), self.places))
        number = self._spelling.number(values.pop((GROUP,), None))
        count = whole(values.pop((COUNT,), None))
        if unlisted := values.keys() - self.places.keys():
            findings[UNLISTED] += len(unlisted)
        if number is None or not count:
            return False
        self.held[number] += count
        self.shown.update(index for keys, index in self.places.items() if keys in values)
        codes = tuple(attributes[index].code(values.get(keys)) for keys, index in self.places.items())
        tally = self.kind.group(number).tally
        for index, code in zip(self.places.values(), codes, strict=True):
            if code >= 0:
                joint = code * len(attributes) + index
                tally[joint] = tally.get(joint, 0) + count
        self.hold(number, codes, count)
        return True

    def hold(self, number: int, codes: tuple[int, ...], count: int) -> None:
        """Do nothing with a row of a group that occurs ``count`` times; ``RowTable`` keeps it."""

    def count_wrong_groups(self) -> int:
        """Return for how many groups the number of values differs from the number of vertices."""
        return sum(self.held[number] != group.vertices for number, group in self.kind.groups.items())


def read_tables(
    beside: Mapping[str, Iterable[Document]],
    tables: Mapping[str, SensitiveTable],
    attributes: tuple[SensitiveValues, ...],
    findings: Counter[str],
) -> int:
    """Read all separate parts; return the number of misfits: unknown parts, rows, groups in a table."""
    malformed = 0
    for part, rows in beside.items():
        table = tables.get(part)
        if table is None:  # a part that belongs to no vertices
            malformed += 1
            continue
        for row in rows:
            malformed += not table.add_row(row, attributes, findings)
    return malformed + sum(table.count_wrong_groups() for table in tables.values())


def paths_by_part(tables: Mapping[str, SensitiveTable], rules: JudgeRules) -> dict[str, tuple[str, ...]]:
    """Return, by part, the paths of the attributes that have values there."""
    return {
        part: tuple(rules.sensitive[index].path for index in sorted(table.shown))
        for part, table in tables.items()
        if table.held
    }


class GroupWalk:
    """Walks records: counts the members of groups, malformed vertices, and fields that must not occur."""

    def __init__(self, rules: JudgeRules, kinds: Iterable[Kind]) -> None:
        self.malformed = 0
        self._tree = RuleTree(rules)
        self.findings = self._tree.findings
        self._kinds: dict[RuleNode, list[Kind]] = {}
        self._met: set[tuple[Keys, str, int]] = set()
        self._pseudonyms = Pseudonyms()
        for rule in rules.sensitive:
            self._tree.node_at(rule.keys).forbidden = ".".join(rule.keys)
        for kind in kinds:
            node = self._tree.node_at(kind.keys)
            self._kinds.setdefault(node, []).append(kind)
            node.forbidden = None  # an array item that was only a sensitive value
        self._tree.root.settle()

    def record(self, document: Document, times: int) -> None:
        """Walk a record that occurs ``times`` times."""
        tree = self._tree
        self._met.clear()
        tree.times = times
        tree.tokens.clear()
        tree.links.clear()
        self._item(document, tree.root)
        self._pseudonyms.add(tree.tokens, tree.links, times)

    def close(self) -> None:
        """Count what depends on all records together."""
        self.findings.update(count_wrong_pseudonyms(self._pseudonyms.take_buckets(1)))

    def _item(self, item: Value, node: RuleNode) -> None:
        if isinstance(item, list):
            for inner in item:
                self._item(inner, node)
            return
        text = node.below.get(TEXT)
        shown_at = text if text is not None and isinstance(item, str) and item else node
        if shown_at.checked:
            self._tree.check(item, shown_at)
        kinds = self._kinds.get(node)
        if isinstance(item, dict):
            if kinds is not None:
                item = self._join_groups(item, kinds)
            for key, value in item.items():
                self._field(key, value, node)
        elif kinds is not None:  # a vertex without a group
            self.malformed += self._tree.times

    def _field(self, key: str, value: Value, node: RuleNode) -> None:
        below = node.below.get(key)
        if below is None:
            self._tree.meet_unlisted()
        elif below.forbidden is not None:
            self._tree.meet(below)
        else:
            self._item(value, below)

    def _join_groups(self, vertex: Document, kinds: Iterable[Kind]) -> Document:
        """Add a vertex to its groups; return its other fields."""
        rest = dict(vertex)
        for kind in kinds:
            self._join_group(kind, kind.spelling.number(rest.pop(kind.name, None)))
        return rest

    def _join_group(self, kind: Kind, number: int | None) -> None:
        if number is None:
            self.malformed += self._tree.times
            return
        group = kind.group(number)
        group.vertices += self._tree.times
        met = kind.keys, kind.name, number
        if met in self._met:  # the promise counts persons, and this one is counted already
            self.malformed += self._tree.times
        else:
            self._met.add(met)
            group.persons += self._tree.times


def _scalars(content: Document, above: Keys, places: Mapping[Keys, int]) -> Iterator[tuple[Keys, Scalar]]:
    """Yield every single value of a row with its keys; an array is reported as an unlisted field."""
    for key, value in content.items():
        keys = (*above, key)
        inner = single(value)
        if isinstance(inner, dict):
            yield from _scalars(inner, keys, places)
        elif isinstance(inner, list):
            yield (*keys, UNLISTED), None
        elif inner and keys not in places and (*keys, TEXT) in places:
            yield (*keys, TEXT), inner  # an element that has only its text
        else:
            yield keys, inner


def judge_groups(
    documents: Iterable[tuple[Document, int]], beside: Mapping[str, Iterable[Document]], rules: JudgeRules
) -> Verdict:
    """Judge anatomy: records with groups, each with its number of occurrences, and the values of the groups.

    ``beside`` holds the rows of values by the name of their part.

    >>> from hierdata.judge import SensitiveRule
    >>> from hierdata.privacy import DistinctLDiversity
    >>> rules = JudgeRules((SensitiveRule(("ill",), "$.ill"),), ((DistinctLDiversity(l=2), None),))
    >>> records = [{"zip": 1, "group": 1}, {"zip": 2, "group": 1}]
    >>> values = [{"group": 1, "ill": "flu", "count": 1}, {"group": 1, "ill": "cold", "count": 1}]
    >>> verdict = judge_groups([(record, 1) for record in records], {"sensitive": values}, rules)
    >>> verdict.passed, verdict.classes, verdict.k
    (True, 1, 2)
    """
    attributes = tuple(SensitiveValues(rule) for rule in rules.sensitive)
    kinds = kinds_of(rules)
    walk = GroupWalk(rules, kinds.values())
    records = 0
    for document, times in documents:
        records += times
        walk.record(document, times)
    tables = {sensitive_part(keys): SensitiveTable(kind, kind.places) for keys, kind in kinds.items()}
    walk.close()
    malformed = walk.malformed + read_tables(beside, tables, attributes, walk.findings)
    checks = ModelChecks(rules, attributes)
    groups = [(kind, group) for kind in kinds.values() for group in kind.groups.values()]
    for ordinal, (kind, group) in enumerate(groups):
        place, whole = PlaceContent(group.tally), RecordContent(group.tally)
        checks.check_class(ordinal, group.persons, [place], whole, attributes=tuple(kind.places.values()))
    verdict = checks.verdict([group.persons for _, group in groups], walk.findings, malformed)
    return replace(verdict, records=records, tables=paths_by_part(tables, rules))

"""The judge of sensitive values that are published apart: all parts joined again by group, as a reader would.

A class is a group of one vertex type. Its members are the persons with a vertex of this group; their values
are those that the group's rows state. What the quasi-identifiers are does not matter: an adversary who finds
the vertex of a person learns its group and no more.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace

from hierdata.document import (
    COUNT,
    GROUP,
    LIST_IN_ITEM,
    TEXT,
    Document,
    Scalar,
    Value,
    sensitive_part,
)
from hierdata.judge.attribute import Attribute
from hierdata.judge.bench import Panel
from hierdata.judge.rules import JudgeRules, Keys, Verdict
from hierdata.judge.spelled import single, whole
from hierdata.judge.walk import UNLISTED


def judge_groups(
    documents: Iterable[tuple[Document, int]], beside: Mapping[str, Iterable[Document]], rules: JudgeRules
) -> Verdict:
    """Judge records with groups, each with the number of times it occurs, and the values of the groups.

    These come by the names of their parts.

    >>> from hierdata.judge import SensitiveRule
    >>> from hierdata.privacy import DistinctLDiversity
    >>> rules = JudgeRules((SensitiveRule(("ill",), "$.ill"),), ((DistinctLDiversity(l=2), None),))
    >>> records = [{"zip": 1, "group": 1}, {"zip": 2, "group": 1}]
    >>> values = [{"group": 1, "ill": "flu", "count": 1}, {"group": 1, "ill": "cold", "count": 1}]
    >>> verdict = judge_groups([(record, 1) for record in records], {"sensitive": values}, rules)
    >>> verdict.passed, verdict.classes, verdict.k
    (True, 1, 2)
    """
    attributes = tuple(Attribute(rule) for rule in rules.sensitive)
    kinds = _kinds(rules)
    walk = _Walk(rules, kinds)
    records = 0
    for document, times in documents:
        records += times
        walk.record(document, times)
    malformed = walk.malformed
    for part, rows in beside.items():
        kind = kinds.get(part)
        if kind is None:  # a part that belongs to no vertices
            malformed += 1
            continue
        for row in rows:
            malformed += not _tell(kind, row, attributes, walk.found)
    panel = Panel(rules, attributes)
    groups = [(kind, group) for kind in kinds.values() for group in kind.groups.values()]
    for ordinal, (kind, group) in enumerate(groups):
        malformed += group.vertices != group.values
        panel.hear(ordinal, group.persons, [group.tally], own=tuple(kind.places.values()))
    verdict = panel.verdict([group.persons for _, group in groups], walk.found, malformed)
    return replace(verdict, records=records)


@dataclass
class _Group:
    """A group: its vertices in the records and how many persons they are of; the values stated for it."""

    vertices: int = 0
    persons: int = 0
    values: int = 0
    tally: dict[int, int] = field(default_factory=dict)


@dataclass
class _Kind:
    """A vertex type with sensitive attributes: where it lies, and its groups by number.

    ``places`` gives the index of the attribute whose values stand under these keys of a row.
    """

    keys: Keys
    places: dict[Keys, int] = field(default_factory=dict)
    groups: dict[int, _Group] = field(default_factory=dict)

    def group(self, number: int) -> _Group:
        """The group of this number."""
        found = self.groups.get(number)
        if found is None:
            found = self.groups[number] = _Group()
        return found


def _kinds(rules: JudgeRules) -> dict[str, _Kind]:
    """The vertex types with sensitive attributes, by the part that holds their values."""
    kinds: dict[str, _Kind] = {}
    for index, rule in enumerate(rules.sensitive):
        above = [rule.keys[:length] for length in range(1, len(rule.keys) + 1)]
        keys = next((keys for keys in reversed(above) if keys in rules.vertices), ())
        kind = kinds.setdefault(sensitive_part(keys), _Kind(keys))
        kind.places[rule.keys[len(keys) :] or (LIST_IN_ITEM,)] = index
    return kinds


class _Node:
    """What the rules say of one path, and the paths below it."""

    __slots__ = ("below", "forbidden", "kind")

    def __init__(self) -> None:
        self.below: dict[str, _Node] = {}
        self.kind: _Kind | None = None
        self.forbidden: str | None = None

    def at(self, keys: Keys) -> _Node:
        """The node at these keys, made when it is not there."""
        node = self
        for key in keys:
            node = node.below.setdefault(key, _Node())
        return node


class _Walk:
    """Walks records: counts the members of groups, what is malformed, and fields that must not be there."""

    def __init__(self, rules: JudgeRules, kinds: Mapping[str, _Kind]) -> None:
        self.found: Counter[str] = Counter()
        self.malformed = 0
        self._times = 1
        self._listed = rules.listed is not None
        self._root = _Node()
        self._met: set[tuple[Keys, int]] = set()
        for keys in (*(rules.listed or ()), *rules.exempt):
            self._root.at(keys)
        for keys in rules.forbidden:
            self._root.at(keys).forbidden = ".".join(keys)
        for rule in rules.sensitive:
            self._root.at(rule.keys).forbidden = ".".join(rule.keys)
        for kind in kinds.values():
            node = self._root.at(kind.keys)
            node.kind = kind
            node.forbidden = None  # an item of an array that was nothing but a sensitive value

    def record(self, document: Document, times: int) -> None:
        """Walk a record that occurs so often."""
        self._met.clear()
        self._times = times
        self._item(document, self._root)

    def _item(self, item: Value, node: _Node) -> None:
        if isinstance(item, list):
            for inner in item:
                self._item(inner, node)
        elif isinstance(item, dict):
            if node.kind is not None:
                item = self._joined(item, node.kind)
            for key, value in item.items():
                self._field(key, value, node)
        elif node.kind is not None:  # a vertex without a group
            self.malformed += self._times

    def _field(self, key: str, value: Value, node: _Node) -> None:
        below = node.below.get(key)
        if below is None:
            if self._listed:
                self.found[UNLISTED] += self._times
        elif below.forbidden is not None:
            self.found[below.forbidden] += self._times
        else:
            self._item(value, below)

    def _joined(self, vertex: Document, kind: _Kind) -> Document:
        """Count a vertex to its group; the rest of it."""
        rest = dict(vertex)
        number = whole(single(rest.pop(GROUP, None)))
        if number is None:
            self.malformed += self._times
            return rest
        group = kind.group(number)
        group.vertices += self._times
        if (kind.keys, number) in self._met:  # the promise is for persons, and this is one
            self.malformed += self._times
        else:
            self._met.add((kind.keys, number))
            group.persons += self._times
        return rest


def _tell(kind: _Kind, row: Document, attributes: tuple[Attribute, ...], found: Counter[str]) -> bool:
    """Count the values of one row to its group; False where it is no such row."""
    held = dict(_scalars(row, (), kind))
    number = whole(held.pop((GROUP,), None))
    count = whole(held.pop((COUNT,), None))
    if strangers := held.keys() - kind.places.keys():
        found[UNLISTED] += len(strangers)
    if number is None or not count:
        return False
    group = kind.group(number)
    group.values += count
    for keys, index in kind.places.items():
        code = attributes[index].code(held.get(keys))
        if code >= 0:
            joint = code * len(attributes) + index
            group.tally[joint] = group.tally.get(joint, 0) + count
    return True


def _scalars(content: Document, above: Keys, kind: _Kind) -> Iterator[tuple[Keys, Scalar]]:
    """Every single value of a row, by its keys; an array stands for what is not listed."""
    for key, value in content.items():
        keys = (*above, key)
        inner = single(value)
        if isinstance(inner, dict):
            yield from _scalars(inner, keys, kind)
        elif isinstance(inner, list):
            yield (*keys, UNLISTED), None
        elif inner and keys not in kind.places and (*keys, TEXT) in kind.places:
            yield (*keys, TEXT), inner  # an element that has nothing but its text
        else:
            yield keys, inner

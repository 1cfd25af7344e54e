"""Documents as the judge sees them, one by one: everything that determines their classes.

``MixedReader`` tells the items of a list with several vertex types apart, as the policy's filters say. Each
filter is evaluated at each item here, without the code that made the release. What a filter compares stays in
its item and belongs to the form. An item that no filter or that two select, and items in another order than
that of the policy's types, must not be published: they would tell records of a class apart.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from hashlib import blake2b
from operator import itemgetter
from typing import Any, TypeAlias, TypeVar

from hierdata.documents.document import TEXT, Document, Scalar, Siblings, Value, single, whole
from hierdata.documents.scalars import TYPED_TEXTS, Int64
from hierdata.judge.attribute import SensitiveValues
from hierdata.judge.checks import REMEMBERED, Pseudonyms
from hierdata.judge.knowledge.facts import FactReader, ReadFacts, VertexTypes
from hierdata.judge.rule_tree import RuleNode
from hierdata.judge.rules import ItemFilter, JudgeRules, Keys, MixedRule
from hierdata.judge.walk import Children, Walk, digest

ReadRecord: TypeAlias = tuple[bytes, bytes, list[int], Children]
"""Digests of a record's form and of its text as written, its sensitive value codes, its children."""

_PLAIN = frozenset({str, int, bool, type(None), Int64, *TYPED_TEXTS})
"""Types with one spelling for equal values, unlike decimals."""

_Counted = TypeVar("_Counted")

_NO_FILTER = "an item that no filter selects"
_SEVERAL = "an item that two filters select"
_ORDER = "items in another order than that of the policy"
_NO_LIST = "no list, although filters select from it"
_NAME = "a field with the name of a filter"


@dataclass
class _Columns:
    """Records with the same keys and types: their sensitive fields, and cached digests of the rest.

    ``noted`` are fields with pseudonyms, which are checked in each record.
    """

    shown: Callable[[Document], object]
    sensitive: tuple[tuple[str, SensitiveValues, int], ...]
    noted: tuple[tuple[str, RuleNode], ...]
    known: dict[object, tuple[bytes, bytes]] = field(default_factory=dict)


class RecordReader:
    """Reads records one after the other."""

    def __init__(self, walk: Walk) -> None:
        self._walk = walk
        self._tree = walk.tree
        self._columns: dict[tuple[tuple[str, ...], tuple[type, ...]], _Columns | None] = {}
        self._room = REMEMBERED

    def read(self, record: Document) -> ReadRecord:
        """Return what the judge uses of a record.

        The walk's tree counts findings and holds the record's tokens and links.
        """
        self._tree.tokens.clear()
        self._tree.links.clear()
        header = tuple(record), tuple(map(type, record.values()))
        try:
            columns = self._columns[header]
        except KeyError:
            columns = self._flat(record)
            if len(self._columns) < REMEMBERED:
                self._columns[header] = columns
        if columns is None:
            return self._walk_record(record)
        shown = columns.shown(record)
        known = columns.known.get(shown)
        if known is None:
            return self._first(record, columns, shown)
        for key, node in columns.noted:
            self._tree.check(record[key], node)
        step = self._walk.step
        codes = [
            code * step + index
            for key, attribute, index in columns.sensitive
            if (code := attribute.code(record[key])) >= 0  # type: ignore[arg-type]  # all are single values
        ]
        return *known, codes, []

    def _walk_record(self, record: Document) -> ReadRecord:
        form, raw, codes, children = self._walk.vertex(record, self._tree.root.below)
        return digest(form), digest(raw), codes, children

    def _first(self, record: Document, columns: _Columns, shown: object) -> ReadRecord:
        """Walk a record and cache its digests, unless the walk found something that must be counted again."""
        before = self._tree.findings.total()
        read = self._walk_record(record)
        if self._room and self._tree.findings.total() == before:
            self._room -= 1
            columns.known[shown] = read[:2]
        return read

    def _flat(self, record: Document) -> _Columns | None:
        """Return the columns of a record; None if it must be walked."""
        rules = self._tree.root.below
        sensitive: list[tuple[str, SensitiveValues, int]] = []
        noted: list[tuple[str, RuleNode]] = []
        shown: list[str] = []
        value: Any
        for key, value in record.items():
            rule = rules.get(key)
            if isinstance(value, list | dict) or (rule is not None and rule.counted):
                return None
            if rule is not None and (rule.link is not None or rule.token is not None):
                noted.append((key, rule))
            if rule is not None and rule.attribute is not None:
                sensitive.append((key, rule.attribute, rule.index))
            elif rule is not None and rule.token is not None and rule.pattern is not None:
                continue  # not compared, and not remembered: each record has its own
            elif type(value) in _PLAIN:
                shown.append(key)
            else:
                return None
        if not shown:
            return None
        return _Columns(itemgetter(*shown), tuple(sensitive), tuple(noted))


JudgedRecord: TypeAlias = (
    "tuple[bytes, bytes, bytes | None, int, int, int | None, list[int], ReadFacts | None, Children]"
)
"""What the judge sees of a document.

The digests of its class, of its text as written, and of its class with exempt fields counted as form (None
if there are none); how many records it represents and how often it occurs; how many of a population fit it;
the codes of its sensitive values, what it tells where knowledge is bounded, and its children. There the class
is that of its root vector, with all vertices of a type in one place.
"""


class Reading:
    """Reads documents one after the other; ``findings`` and ``malformed`` count what must not occur.

    ``pseudonyms`` are those that two records must not share, identities and references.
    """

    def __init__(self, rules: JudgeRules, attributes: tuple[SensitiveValues, ...]) -> None:
        self._rules = rules
        self._walk = Walk(rules, attributes)
        self._reader = RecordReader(self._walk)
        unpardoned = rules.without_pardons
        self._unpardoned = None if unpardoned is None else RecordReader(Walk(unpardoned, attributes))
        self._fitting: dict[bytes, int | None] = {}
        self.findings = self._walk.tree.findings
        self.pseudonyms = Pseudonyms()
        self.malformed = 0
        model = rules.knowledge
        copies = None if model is None or model.alpha is not None else model.m + 2
        types = VertexTypes.of(rules)
        self.facts = None if model is None else FactReader(self._walk.tree, rules, attributes, types, copies)

    def read_documents(self, documents: Iterable[tuple[Document, int]]) -> Iterator[JudgedRecord]:
        """Yield what the judge sees of each document; each is given with its number of occurrences."""
        walk, read, unpardoned, facts = self._walk, self._reader.read, self._unpardoned, self.facts
        tree = walk.tree
        representatives = self._rules.recoding == "representatives"
        bare = fitting = None
        for document, times in documents:
            members, record = open_document(document) if representatives else (1, document)
            if not members:
                self.malformed += times
                continue
            walk.members, tree.times = members, times
            walk.overfull = False
            key, raw, codes, children = read(record)
            self.malformed += walk.overfull * times
            if tree.tokens or tree.links:
                self.pseudonyms.add(tree.tokens, tree.links, times)
            if unpardoned is not None:
                bare = unpardoned.read(record)[0]
            if self._rules.population is not None:
                fitting = self._count_matches(key, record)
            facts_of_record = None
            if facts is not None:
                root, vertices, values, counts = facts.read(record)
                if facts.content:  # sensitive values are no part of the class
                    key = blake2b(key + facts.content, digest_size=len(key)).digest()
                facts_of_record = key, vertices, values, counts
                key, children = root, pool_types(children)
            yield key, raw, bare, members * times, times, fitting, codes, facts_of_record, children

    def _count_matches(self, key: bytes, record: Document) -> int | None:
        """Return how many rows of the population table fit the class, which is the same for its records."""
        if key in self._fitting:
            return self._fitting[key]
        fitting = population_of(record, self._rules)
        if len(self._fitting) < REMEMBERED:
            self._fitting[key] = fitting
        return fitting


def pool_types(children: Children) -> Children:
    """Return the children with all vertices of a type in one place, whatever they look like."""
    return [((key, ""), codes, pool_types(below)) for (key, _), codes, below in children]


def open_document(document: Document) -> tuple[int, Document]:
    """Return the number of records and the representative; 0 and the document if it is not a class."""
    content = dict(document)
    count = whole(single(content.pop("@records" if "@records" in content else "records", None)))
    stated = content.pop("representative", None)
    inner = single(stated)
    if isinstance(stated, Siblings) and isinstance(inner, str):  # an element without attributes and children
        inner = {TEXT: inner} if inner else {}
    if not count or not isinstance(inner, dict) or content:
        return 0, document
    return count, inner


def population_of(record: Document, rules: JudgeRules) -> int | None:
    """Return how many rows of the population table fit what is published of a record's root."""
    if rules.population is None:
        return None
    return rules.population.count([_single_value(record, column.keys) for column in rules.population.columns])


def _single_value(record: Document, keys: Keys) -> Scalar:
    """Return the single value under the keys, None if there is none."""
    value: Value = record
    for key in keys:
        value = single(value.get(key)) if isinstance(value, dict) else None
    return None if isinstance(value, list | dict) else value


class MixedReader:
    """Tells the vertex types of a key apart; ``findings`` counts by path what must not be published."""

    def __init__(self, rules: JudgeRules) -> None:
        self.findings: Counter[str] = Counter()
        base = ("representative",) if rules.recoding == "representatives" else ()
        # An outer list first: the keys of an inner one begin with the key of a filter.
        outer_first = sorted(rules.mixed, key=lambda rule: len(rule.holder))
        self._mixed = [((*base, *rule.holder), rule) for rule in outer_first]

    def open_counted(
        self, documents: Iterable[tuple[Document, _Counted]]
    ) -> Iterator[tuple[Document, _Counted]]:
        """Yield documents, each with what it is given with, with a key for each vertex type."""
        for document, count in documents:
            for holder, mixed in self._mixed:
                opened = self._open(document, holder, mixed)
                assert isinstance(opened, dict)
                document = opened
            yield document, count

    def _open(self, value: Value, keys: Keys, mixed: MixedRule) -> Value:
        """Return a value with the types apart in the objects at ``keys``; the rest may be shared."""
        if isinstance(value, list):
            return [self._open(item, keys, mixed) for item in value]
        if not isinstance(value, dict):
            return value
        if not keys:
            return self._split(value, mixed)
        if keys[0] not in value:
            return value
        return {**value, keys[0]: self._open(value[keys[0]], keys[1:], mixed)}

    def _split(self, holder: Document, mixed: MixedRule) -> Document:
        made = {kind.key for kind in mixed.kinds} - {mixed.name}
        if made & holder.keys():
            self._count(mixed, _NAME)
        if holder.get(mixed.name) is None:
            return holder
        others = {key: value for key, value in holder.items() if key != mixed.name}
        value = holder[mixed.name]
        if not isinstance(value, list):
            kind = self._kind_of(value, mixed)
            if kind is None or kind.conditions:
                self._count(mixed, _NO_LIST)
                return others
            return {**others, kind.key: value}
        by_kind: dict[str, Value] = {}
        last = 0
        for item in value:
            kind = self._kind_of(item, mixed)
            if kind is None:
                continue
            number = mixed.kinds.index(kind)
            if number < last:
                self._count(mixed, _ORDER)
            last = max(last, number)
            items = by_kind.setdefault(kind.key, [])
            assert isinstance(items, list)
            items.append(item)
        return {**others, **by_kind} if by_kind or not mixed.is_by_form else {**others, mixed.name: []}

    def _kind_of(self, item: Value, mixed: MixedRule) -> ItemFilter | None:
        """Return the type of an item; count it and return None if it is of none or of two."""
        if mixed.is_by_form:
            return next(kind for kind in mixed.kinds if kind.is_object is isinstance(item, dict))
        selecting = [
            kind for kind in mixed.kinds if all(_find(item, keys) == text for keys, text in kind.conditions)
        ]
        if len(selecting) != 1:
            self._count(mixed, _SEVERAL if selecting else _NO_FILTER)
            return None
        return selecting[0]

    def _count(self, mixed: MixedRule, problem: str) -> None:
        self.findings[f"{mixed.path}: {problem}"] += 1


def _find(item: Value, keys: Keys) -> Value:
    """Return the value at some keys of an item, None if there is none."""
    for key in keys:
        item = item.get(key) if isinstance(item, dict) else None
    return item

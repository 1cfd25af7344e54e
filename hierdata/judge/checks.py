"""Checks of published values: patterns, labels, pseudonyms, references, and labels of derived fields.

The label of a derived field says nothing that the published form of its source does not say, if it is a
function of that form, and if this function is right for each value that the form may stand for.
``DerivedCheck`` checks both, from the frozen pairs and the policy's domains alone, and takes the labels out;
what is left of the documents is then judged.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import suppress
from hashlib import blake2b
from itertools import pairwise
from struct import iter_unpack
from typing import TypeAlias, TypeVar

from hierdata.documents.document import TEXT, Document, Scalar, Siblings, Value, sensitive_part, single
from hierdata.domains.base import ROOT_LABEL, Uncovered
from hierdata.domains.derived import LabelMap
from hierdata.domains.number import identity
from hierdata.domains.published import MISSING, Member, split_set
from hierdata.judge.rules import DerivedRule, JudgeRules, Keys, QuasiRule

_Counted = TypeVar("_Counted")

REMEMBERED = 100_000
"""Limit on cached spellings, so that memory grows with the classes and not with the values."""


class Pattern:
    """A regular expression, and the path at which it is required."""

    __slots__ = ("_expression", "path")

    def __init__(self, keys: Keys, expression: str) -> None:
        self.path = ".".join(keys)
        self._expression = re.compile(expression)

    def matches(self, value: Value) -> bool:
        """Return whether a value matches; a missing one does.

        >>> token = Pattern(("id",), "[0-9a-f]{4}")
        >>> token.matches("00ff"), token.matches(None), token.matches("00FF"), token.matches(1234)
        (True, True, False, False)
        """
        return value is None or (isinstance(value, str) and self._expression.fullmatch(value) is not None)


SHARED = "a pseudonym in several records"
"""The name under which shared pseudonyms are counted as forbidden."""
DANGLING = "a reference to what is not published"
"""The name under which references without target are counted as forbidden."""
Marks: TypeAlias = tuple[bytes, ...]
"""The hashes of pseudonyms that no two records may share, of identities, and of references."""

_SIZE = 16
_MARK = f"{_SIZE}s"


class Pseudonyms:
    """The pseudonyms of documents, each by its hash, once for each record that it occurs in.

    >>> pseudonyms = Pseudonyms()
    >>> for record in ({("people", "00ff"), ("people", "01ff")}, {("people", "00ff")}, {("wards", "01ff")}):
    ...     pseudonyms.add(record, ())
    >>> pseudonyms.add((), {("people", True, "00ff"), ("people", False, "00ff"), ("people", False, "01ff")})
    >>> sorted(count_wrong_pseudonyms(pseudonyms.take_buckets(1)).items())
    [('a pseudonym in several records', 1), ('a reference to what is not published', 1)]
    """

    def __init__(self) -> None:
        self._marks = _make_room()

    def add(
        self, tokens: Collection[tuple[str, str]], links: Collection[tuple[str, bool, str]], times: int = 1
    ) -> None:
        """Add the pseudonyms of a record that occurs ``times`` times, each with its domain.

        ``links`` say of each whether it identifies a vertex or refers to one.
        """
        shared, identities, references = self._marks
        for domain, token in tokens:
            shared.extend(_hash(domain, token) * min(times, 2))
        for domain, identifies, token in links:
            (identities if identifies else references).extend(_hash(domain, token))

    def take_buckets(self, buckets: int) -> list[Marks]:
        """Return the hashes added since the last call; equal ones are in one bucket."""
        added, self._marks = self._marks, _make_room()
        if buckets == 1:
            return [tuple(map(bytes, added))]
        parted = [_make_room() for _ in range(buckets)]
        for role, hashes in enumerate(added):
            for (mark,) in iter_unpack(_MARK, hashes):
                parted[int.from_bytes(mark[:8]) % buckets][role].extend(mark)
        return [tuple(map(bytes, bucket)) for bucket in parted]


def _make_room() -> tuple[bytearray, bytearray, bytearray]:
    return bytearray(), bytearray(), bytearray()


def _hash(domain: str, token: str) -> bytes:
    return blake2b(f"{domain}\0{token}".encode("utf-8", "surrogatepass"), digest_size=_SIZE).digest()


def count_wrong_pseudonyms(marks: Iterable[Marks]) -> Counter[str]:
    """Count the pseudonyms of a bucket that several records share, and references that lead to no identity.

    A reference counts once for each record.
    """
    tokens, identities, references = (
        [mark for (mark,) in iter_unpack(_MARK, b"".join(hashes))]
        for hashes in zip((b"", b"", b""), *marks, strict=True)
    )
    tokens.sort()
    shared = {mark for mark, following in pairwise(tokens) if mark == following}
    targets = set(identities)
    dangling = sum(mark not in targets for mark in references)
    return +Counter({SHARED: len(shared), DANGLING: dangling})


class LabelCheck:
    """The labels of one quasi-identifier; each distinct one is looked up once.

    A label is the root, a missing value, or that of a node at the policy's finest form or above. With
    ``sets`` it may also be a set of finest ones, or a range between two of them.
    """

    __slots__ = ("_known", "_rule", "_sets", "path")

    def __init__(self, rule: QuasiRule, sets: bool) -> None:
        self.path = f"{rule.path} (finer than the policy allows, or no label of its domain)"
        self._rule = rule
        self._sets = sets
        self._known: dict[tuple[type, Scalar], bool] = {}

    def matches(self, value: Value) -> bool:
        """Return whether a value may be published; an object or array may not."""
        if isinstance(value, list | dict):
            return False
        key = value.__class__, value
        known = self._known.get(key)
        if known is None:
            known = self._matches(value)
            if len(self._known) < REMEMBERED:
                self._known[key] = known
        return known

    def _matches(self, label: Scalar) -> bool:
        labels = self._rule.labels
        if label is None or label in ("", ROOT_LABEL) or label in self._rule.missing:
            return True
        if labels.is_finest(label) or labels.is_coarser(label):
            return True
        if not self._sets or not isinstance(label, str):
            return False
        if label[:1] != "{" or label[-1:] != "}":
            return labels.is_range(label)
        try:
            return all(map(self._is_member, split_set(label)))
        except Uncovered:
            return False

    def _is_member(self, member: Member) -> bool:
        labels, text = self._rule.labels, member.text
        return labels.is_finest(text) or (not member.quoted and (text == MISSING or labels.is_range(text)))


class DerivedCheck:
    """Checks the labels of documents; ``findings`` counts by path those that do not follow from a source."""

    def __init__(self, rules: JudgeRules) -> None:
        self.findings: Counter[str] = Counter()
        base = ("representative",) if rules.recoding == "representatives" else ()
        self._within = [_LabelCheck(rule, base, self.findings) for rule in rules.derived if not rule.apart]
        self._apart = [(rule, _LabelCheck(rule, None, self.findings)) for rule in rules.derived if rule.apart]

    def strip_counted(
        self, documents: Iterable[tuple[Document, _Counted]]
    ) -> Iterator[tuple[Document, _Counted]]:
        """Yield documents, each with what it is given with, without their labels."""
        for document, count in documents:
            yield self._strip(document, self._within), count

    def strip_parts(self, parts: Mapping[str, Iterable[Document]]) -> dict[str, Iterable[Document]]:
        """Return the other parts of a release without labels."""
        return {name: self._strip_part(name, documents) for name, documents in parts.items()}

    def _strip_part(self, name: str, documents: Iterable[Document]) -> Iterator[Document]:
        checks = [labels for rule, labels in self._apart if _is_table_of(name, rule.vertex)]
        for document in documents:
            yield self._strip(document, checks)

    @staticmethod
    def _strip(document: Document, checks: Iterable[_LabelCheck]) -> Document:
        for labels in checks:
            stripped = labels.strip(document, labels.shared)
            assert isinstance(stripped, dict)
            document = stripped
        return document


def _is_table_of(part: str, vertex: Keys) -> bool:
    """Return whether a part holds sensitive values of the vertices at some keys."""
    whole = sensitive_part(vertex)
    return part == whole or (part.startswith(f"{whole}-") and part.removeprefix(f"{whole}-").isdecimal())


class _LabelCheck:
    """The labels of one field; ``base`` leads to the record in a document, None if documents are rows."""

    def __init__(self, rule: DerivedRule, base: Keys | None, findings: Counter[str]) -> None:
        self._path = rule.path
        self._findings = findings
        self._map = None if rule.pairs is None else LabelMap(rule.labels, rule.pairs, sets=rule.sets)
        if base is None:
            self.shared: Keys = ()
            self._source, self._label = rule.source[len(rule.vertex) :], rule.keys[len(rule.vertex) :]
            return
        count = 0
        while rule.source[count] == rule.keys[count] and count < min(len(rule.source), len(rule.keys)) - 1:
            count += 1
        self.shared = base + rule.source[:count]
        self._source, self._label = rule.source[count:], rule.keys[count:]

    def strip(self, value: Value, keys: Keys) -> Value:
        """Return a value without the labels below ``keys``; what is not changed may be shared."""
        if isinstance(value, list):
            items = [self.strip(item, keys) for item in value]
            return Siblings(items) if isinstance(value, Siblings) else items
        if isinstance(value, dict):
            if not keys:
                return self._check(value)
            if keys[0] in value:
                return {**value, keys[0]: self.strip(value[keys[0]], keys[1:])}
        elif isinstance(value, str) and not keys and self._label == (TEXT,) and value:
            self._findings[self._path] += 1  # an element with its label alone
            return ""
        return value

    def _check(self, item: Document) -> Document:
        """Check the label of one object, and return the object without it."""
        label = _find(item, self._label)
        if self._map is not None:
            source = _find(item, self._source)
            expected = None if isinstance(source, dict | list) else self._map.find(source)
            if isinstance(label, dict | list) or not _are_equal(label, expected):
                self._findings[self._path] += 1
        return item if label is None else _without(item, self._label)


def _find(item: Document, steps: Keys) -> Value:
    """Return what is at some keys of an object, None if nothing is."""
    value: Value = item
    for step in steps:
        if isinstance(value, str):  # an element without attributes and children
            value = value if step == TEXT else None
        else:
            value = single(value.get(step)) if isinstance(value, dict) else None
    return value


def _are_equal(label: Scalar, expected: Scalar) -> bool:
    if label is None or expected is None:
        return label is expected
    with suppress(Uncovered):
        return identity(label) == identity(expected)
    return str(label) == str(expected)


def _without(item: Document, steps: Keys) -> Document:
    """Return an object without the value at some keys, and without objects that hold nothing else."""
    first, *below = steps
    others = {key: value for key, value in item.items() if key != first}
    if not below:
        return others
    inner = single(item.get(first))
    if isinstance(inner, str):
        inner = {TEXT: inner}
    if not isinstance(inner, dict):
        return item
    rest = _without(inner, tuple(below))
    return {**others, first: rest} if rest else others

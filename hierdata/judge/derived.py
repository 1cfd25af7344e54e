"""Derived fields in published documents: check every label, and take it out before anything else is judged.

A label says nothing that the published form of its source does not say, if it is a function of that form, and
if this function is right for each value that the form may stand for. Both are checked here, from the frozen
pairs and the policy's domains alone. What is left of the documents is then judged without labels.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from typing import TypeVar

from hierdata.documents.document import TEXT, Document, Scalar, Siblings, Value, sensitive_part, single
from hierdata.domains.base import Uncovered
from hierdata.domains.derived import LabelMap
from hierdata.domains.number import identity
from hierdata.judge.rules import DerivedRule, JudgeRules, Keys

_Counted = TypeVar("_Counted")


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

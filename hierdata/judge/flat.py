"""Records without objects and arrays, as in tables: content that many of them share is walked once."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from operator import itemgetter
from typing import Any, TypeAlias

from hierdata.documents.document import Document
from hierdata.documents.scalars import TYPED_TEXTS, Int64
from hierdata.judge.attribute import REMEMBERED, SensitiveValues
from hierdata.judge.rule_tree import RuleNode
from hierdata.judge.walk import Children, Walk, digest

Seen: TypeAlias = tuple[bytes, bytes, list[int], Children]
"""Digests of a record's form and of its text as written, its sensitive value codes, its children."""

_PLAIN = frozenset({str, int, bool, type(None), Int64, *TYPED_TEXTS})
"""Types with one spelling for equal values, unlike decimals."""


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

    def read(self, record: Document) -> Seen:
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

    def _walk_record(self, record: Document) -> Seen:
        form, raw, codes, children = self._walk.vertex(record, self._tree.root.below)
        return digest(form), digest(raw), codes, children

    def _first(self, record: Document, columns: _Columns, shown: object) -> Seen:
        """Walk a record and cache its digests, unless the walk found something that must be counted again."""
        found = self._tree.found.total()
        seen = self._walk_record(record)
        if self._room and self._tree.found.total() == found:
            self._room -= 1
            columns.known[shown] = seen[:2]
        return seen

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

"""Records without objects and arrays, as tables have: what is equal in many of them is walked once."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from operator import itemgetter
from typing import Any, TypeAlias

from hierdata.documents.document import Document
from hierdata.documents.scalars import TYPED_TEXTS, Int64
from hierdata.judge.attribute import REMEMBERED, Attribute
from hierdata.judge.tokens import Pattern
from hierdata.judge.walk import Children, Walk, digest

Seen: TypeAlias = tuple[bytes, bytes, list[int], Children]
"""Digests of a record's form and of its text as written, its codes of sensitive values, its children."""

_PLAIN = frozenset({str, int, bool, type(None), Int64, *TYPED_TEXTS})
"""Types whose equal values are written alike; decimals are not among them."""


@dataclass
class _Columns:
    """Records with the same keys and types: their sensitive fields, and what the rest of them came to.

    ``tokens`` are fields that no two records share, and that nobody compares: only their form is looked at.
    """

    shown: Callable[[Document], object]
    sensitive: tuple[tuple[str, Attribute, int], ...]
    tokens: tuple[tuple[str, Pattern, str], ...]
    known: dict[object, tuple[bytes, bytes]] = field(default_factory=dict)


class Reader:
    """Walks records one after the other."""

    def __init__(self, walk: Walk) -> None:
        self._walk = walk
        self._columns: dict[tuple[tuple[str, ...], tuple[type, ...]], _Columns | None] = {}
        self._room = REMEMBERED

    def read(self, record: Document) -> Seen:
        """What the judge sees of a record; the walk counts what it finds, and holds the record's tokens."""
        self._walk.tokens.clear()
        header = tuple(record), tuple(map(type, record.values()))
        try:
            columns = self._columns[header]
        except KeyError:
            columns = self._flat(record)
            if len(self._columns) < REMEMBERED:
                self._columns[header] = columns
        if columns is None:
            return self._walked(record)
        shown = columns.shown(record)
        known = columns.known.get(shown)
        if known is None:
            return self._first(record, columns, shown)
        for key, pattern, domain in columns.tokens:
            value = record[key]
            if not pattern.matches(value):
                self._walk.found[pattern.path] += self._walk.times
            if isinstance(value, str):
                self._walk.tokens.add((domain, value))
        step = self._walk.step
        codes = [
            code * step + index
            for key, attribute, index in columns.sensitive
            if (code := attribute.code(record[key])) >= 0  # type: ignore[arg-type]  # single values all
        ]
        return *known, codes, []

    def _walked(self, record: Document) -> Seen:
        form, raw, codes, children = self._walk.vertex(record, self._walk.root.below)
        return digest(form), digest(raw), codes, children

    def _first(self, record: Document, columns: _Columns, shown: object) -> Seen:
        """Walk a record; what was found in it must be found again in the next one like it."""
        found = self._walk.found.total()
        seen = self._walked(record)
        if self._room and self._walk.found.total() == found:
            self._room -= 1
            columns.known[shown] = seen[:2]
        return seen

    def _flat(self, record: Document) -> _Columns | None:
        """The columns of a record; None where it must be walked."""
        rules = self._walk.root.below
        sensitive: list[tuple[str, Attribute, int]] = []
        tokens: list[tuple[str, Pattern, str]] = []
        shown: list[str] = []
        value: Any
        for key, value in record.items():
            rule = rules.get(key)
            if isinstance(value, list | dict) or (rule is not None and rule.counted):
                return None
            if rule is not None and rule.attribute is not None:
                sensitive.append((key, rule.attribute, rule.index))
            elif rule is not None and rule.token is not None and rule.pattern is not None:
                tokens.append((key, rule.pattern, rule.token))
            elif type(value) in _PLAIN:
                shown.append(key)
            else:
                return None
        return _Columns(itemgetter(*shown), tuple(sensitive), tuple(tokens)) if shown else None

"""One walk over a document: its canonical form, its text as written, its sensitive values by vertex."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from hashlib import blake2b
from marshal import dumps
from typing import TypeAlias

from hierdata.documents.document import TEXT, Numeral, Scalar, Siblings, Value
from hierdata.documents.scalars import TypedDecimal
from hierdata.judge.attribute import SensitiveValues
from hierdata.judge.checks import REMEMBERED
from hierdata.judge.rule_tree import RuleNode, RuleTree
from hierdata.judge.rules import JudgeRules

Children: TypeAlias = "list[tuple[tuple[str, str], list[int], Children]]"
"""The children that hold sensitive values: (key and form, codes, children of their own)."""
Walked: TypeAlias = tuple[str, str, list[int], Children]
"""Form, text as written, codes of sensitive values, children."""

_LONG = 96
"""Forms longer than this are replaced by their hash."""
_SMALL = 256
_ALIKE = 1 << 14
"""The most bytes of a cached object, and the most cached objects of one path before the cache is cleared."""
_ITEM = "-"
"""Form of an item that holds only sensitive values."""


def digest(text: str) -> bytes:
    """Return the hash of a form."""
    return blake2b(text.encode(), digest_size=20).digest()


def _form(value: Scalar) -> str:
    """Return the form of a scalar, by value and type: 1, 1.0, "1" and true differ, 1.0 and 1.00 do not."""
    if isinstance(value, Decimal):
        sign, digits, exponent = value.as_tuple()
        text = "".join(map(str, digits)).lstrip("0")
        short = text.rstrip("0")
        kind = _kind(value)
        if not isinstance(exponent, int):
            return f"{kind}{value}"
        return f"{kind}{'-' * sign}{short}e{exponent + len(text) - len(short)}" if short else f"{kind}0"
    return repr(value)


def _kind(value: Decimal) -> str:
    """Return the prefix that distinguishes decimal numbers of different types."""
    return type(value).__name__ if isinstance(value, TypedDecimal) else "d"


class Walk:
    """Walks documents one after the other; ``members`` is how many records the next one represents.

    ``tree`` is asked about each path, and counts what must not be published. ``overfull`` says that some
    vertex showed more values than members.
    """

    def __init__(self, rules: JudgeRules, attributes: tuple[SensitiveValues, ...]) -> None:
        self.tree = RuleTree(rules, attributes)
        self.members = 1
        self.overfull = False
        self._multisets = rules.recoding == "representatives"
        self.step = len(attributes)
        self._parts: dict[tuple[str, str], str] = {}

    def vertex(self, content: dict[str, Value], below: Mapping[str, RuleNode]) -> Walked:
        """Walk an object: its fields in canonical and in document order."""
        parts: list[str] = []
        written: list[str] = []
        codes: list[int] = []
        children: Children = []
        known = self._parts
        for key, value in content.items():
            rule = below.get(key)
            if rule is None:
                rule = self.tree.meet_unlisted()
            if type(value) is str and rule.publishes(value):
                part = known.get((key, value)) or self._part(key, value)
                parts.append(part)
                written.append(part)
            elif rule.attribute is None or rule.counted or isinstance(value, list | dict):
                self._add_nested(key, value, rule, parts, written, codes, children)
            elif (code := rule.attribute.code(value)) >= 0:
                codes.append(code * self.step + rule.index)
        parts.sort()
        form = "{" + ",".join(parts) + "}"
        if len(form) > _LONG:
            form = "#" + digest(form).hex()
        return form, "{" + ",".join(written) + "}", codes, children

    def _part(self, key: str, value: str) -> str:
        part = f"{key!r}:{value!r}"
        if len(self._parts) < REMEMBERED:
            self._parts[key, value] = part
        return part

    def _add_nested(
        self,
        key: str,
        value: Value,
        rule: RuleNode,
        parts: list[str],
        written: list[str],
        codes: list[int],
        children: Children,
    ) -> None:
        """Add the content of a key to its vertex, except plain texts and single sensitive values."""
        if rule.forbidden is not None:
            self.tree.meet(rule)
        form, raw, held, below = self._content(key, value, rule)
        if raw and rule.token is None:
            written.append(f"{key!r}:{raw}")
        if form and not rule.exempt:
            parts.append(f"{key!r}:{form}")
        elif rule.steady and isinstance(value, str):
            parts.append(f"{key!r}:")
        codes += held
        children += below

    def _content(self, key: str, value: Value, rule: RuleNode) -> Walked:
        """Walk the content of a key. An empty form means that it is not structure.

        This is the case for an object with only sensitive values: like its values, it may be missing.
        """
        if isinstance(value, list):
            return self._items(key, value, rule)
        form, raw, codes, children = self._item(key, value, rule)
        if rule.within and not rule.counted:
            return form.removeprefix("{}"), raw.removeprefix("{}"), codes, children
        return form, raw, codes, children

    def _item(self, key: str, value: Value, rule: RuleNode) -> Walked:
        """Walk one value, which is a vertex of its own if it is an object (or an array in an array)."""
        if rule.checked:
            self.tree.check(value, rule)
        if isinstance(value, dict | list):
            return self._walk_vertex(key, value, rule)
        if rule.attribute is not None:
            code = rule.attribute.code(value)
            return _ITEM, _ITEM, [code * self.step + rule.index] if code >= 0 else [], []
        return _form(value), _write_scalar(value), [], []

    def _walk_vertex(self, key: str, value: dict[str, Value] | list[Value], rule: RuleNode) -> Walked:
        """Walk a vertex of its own; small equal vertices are walked once."""
        try:
            # In version 2 equal values give equal bytes, different types different ones.
            mark = key, dumps(value, 2)
        except ValueError:  # exact numbers, elements
            return self._walk_content(key, value, rule)
        known: Walked | None = rule.walked.get(mark)
        if known is not None:
            return known
        events = self.tree.events
        walked = self._walk_content(key, value, rule)
        # Findings must be counted again for each vertex, and the limit on values depends on the members.
        again = self.tree.events > events
        if len(mark[1]) <= _SMALL and not self._multisets and not again:
            if len(rule.walked) == _ALIKE:
                rule.walked.clear()
            rule.walked[mark] = walked
        return walked

    def _walk_content(self, key: str, value: dict[str, Value] | list[Value], rule: RuleNode) -> Walked:
        inner = self._items(key, value, rule) if isinstance(value, list) else self.vertex(value, rule.below)
        form, raw, codes, children = inner
        vertex: Children = [((key, form), codes, children)] if codes or children else []
        return form or _ITEM, raw or _ITEM, [], vertex

    def _items(self, key: str, values: list[Value], rule: RuleNode) -> Walked:
        """Walk the items of an array, or elements of one name: in canonical and in document order."""
        forms: list[str] = []
        written: list[str] = []
        codes: list[int] = []
        children: Children = []
        elements = isinstance(values, Siblings)
        with_attributes = elements and rule.attribute is None and rule.within
        for value in values:
            if with_attributes and isinstance(value, str):  # an element that lacks all its attributes
                value = {TEXT: value} if value else {}
            walk = self._item if rule.checked_as_object or value.__class__ is not dict else self._walk_vertex
            form, raw, held, below = walk(key, value, rule)  # type: ignore[arg-type]
            forms.append(form)
            written.append(raw)
            codes += held
            children += below
        sensitive = rule.attribute is not None
        if self._multisets and sensitive and not any(isinstance(value, list | dict) for value in values):
            self.overfull |= len(values) > self.members
            return "", "", codes, children
        # One element may be a single attribute, which may be missing: only a rule or a second one decides.
        unsure = elements and len(values) == 1 and not rule.counted
        bare = unsure and (sensitive or rule.within)
        return _list_texts(sorted(forms), bare), _list_texts(written, bare), codes, children


def _list_texts(texts: list[str], bare: bool) -> str:
    return "" if bare and texts[0] in (_ITEM, "{}") else "[" + ",".join(texts) + "]"


def _write_scalar(value: Scalar) -> str:
    """Return a scalar as it is written; equal texts have the same type."""
    if isinstance(value, Decimal):
        return f"{_kind(value)}{value.text if isinstance(value, Numeral) else value}"
    return repr(value)

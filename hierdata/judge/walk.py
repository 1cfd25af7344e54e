"""One walk over a document: its canonical form, its text as written, its sensitive values by vertex."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from decimal import Decimal
from hashlib import blake2b
from marshal import dumps
from typing import TypeAlias

from hierdata.documents.document import LIST_IN_ITEM, TEXT, Numeral, Scalar, Siblings, Value, list_key
from hierdata.documents.scalars import TypedDecimal
from hierdata.judge.attribute import REMEMBERED, SensitiveValues
from hierdata.judge.labels import LabelCheck
from hierdata.judge.links import Link
from hierdata.judge.rules import JudgeRules, Keys
from hierdata.judge.tokens import Pattern

Children: TypeAlias = "list[tuple[tuple[str, str], list[int], Children]]"
"""The children that hold sensitive values: (key and form, codes, children of their own)."""
Walked: TypeAlias = tuple[str, str, list[int], Children]
"""Form, text as written, codes of sensitive values, children."""

_LONG = 96
"""Forms longer than this are replaced by their hash."""
_SMALL = 256
_ALIKE = 1 << 14
"""The most bytes of a cached object, and the most cached objects of one path before the cache is cleared."""
UNLISTED = "<key>"
"""Replaces the name of an unlisted field, since the name itself may be data."""
_ITEM = "-"
"""Form of an item that holds only sensitive values."""


def digest(text: str) -> bytes:
    """Return the hash of a form."""
    return blake2b(text.encode(), digest_size=20).digest()


class _Rule:
    """What the rules say about one path, and the paths below it."""

    __slots__ = (
        *("attribute", "below", "counted", "exempt", "forbidden", "index", "known", "labels", "link"),
        *("pattern", "plain", "steady", "token", "within"),
    )

    def __init__(self) -> None:
        self.below: dict[str, _Rule] = {}
        self.attribute: SensitiveValues | None = None
        self.index = 0
        self.counted = False
        self.exempt = False
        self.forbidden: str | None = None
        self.labels: LabelCheck | None = None
        self.pattern: Pattern | None = None
        self.token: str | None = None  # the domain of a pseudonym
        self.link: Link | None = None
        self.steady = False
        self.plain = False  # a listed field without any other rule
        self.within = False  # something below has another rule
        self.known: dict[tuple[str, bytes], Walked] = {}  # cached results for objects at this path

    def publishes(self, text: str) -> bool:
        """Return whether a text needs no other check: the path is plain, or it is an allowed label."""
        return self.plain or (self.labels is not None and self.pattern is None and self.labels.matches(text))

    def hold(self, attribute: SensitiveValues, index: int) -> None:
        """Mark this path as that of an attribute's values."""
        self.attribute, self.index = attribute, index

    def at(self, keys: Keys) -> _Rule:
        """Return the rule at these keys; create it if needed."""
        rule = self
        for key in keys:
            rule.within = True
            rule = rule.below.setdefault(key, _Rule())
        rule.plain = False
        return rule

    def allow_field(self, keys: Keys) -> None:
        """Allow a field to occur, even without any other rule."""
        rule = self
        for key in keys:
            known = key in rule.below
            rule = rule.below.setdefault(key, _Rule())
        rule.plain = not known


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

    ``times`` is how often the next one occurs. ``found`` counts forbidden paths. ``tokens`` collects
    pseudonyms with their domains until the caller empties it, ``links`` those that identify vertices or refer
    to them. ``overfull`` says that some vertex showed more
    values than members.
    """

    def __init__(self, rules: JudgeRules, attributes: tuple[SensitiveValues, ...]) -> None:
        self.root = _Rule()
        self._nothing = _Rule()
        self.found: Counter[str] = Counter()
        self.tokens: set[tuple[str, str]] = set()
        self.links: set[tuple[str, bool, str]] = set()
        self._met = 0
        self.members = 1
        self.times = 1
        self.overfull = False
        self._multisets = rules.recoding == "representatives"
        self.step = len(attributes)
        self._parts: dict[tuple[str, str], str] = {}
        for index, attribute in enumerate(attributes):
            keys = attribute.rule.keys
            self.root.at(keys).hold(attribute, index)
            if self._multisets:
                # An attribute's list has another key; an array keeps its own, and its items become lists.
                self.root.at((*keys[:-1], list_key(keys[-1]))).hold(attribute, index)
                self.root.at((*keys, LIST_IN_ITEM)).hold(attribute, index)
        self._listed = rules.listed is not None
        self._add(rules)

    def _add(self, rules: JudgeRules) -> None:
        """Note what the rules say about each path but the sensitive ones."""
        for keys in rules.listed or ():
            self.root.allow_field(keys)
        for keys in rules.exempt:
            self.root.at(keys).exempt = True
        for keys in rules.vertices:
            self.root.at(keys).counted = True
        for keys in rules.forbidden:
            self.root.at(keys).forbidden = ".".join(keys)
        for keys, pattern in rules.patterns.items():
            self.root.at(keys).pattern = Pattern(keys, pattern)
        for keys, domain in rules.tokens.items():
            self.root.at(keys).token = domain
        for keys, link in rules.links.items():
            self.root.at(keys).link = link
        for keys in rules.steady:
            self.root.at(keys).steady = True
        for quasi in rules.quasi:
            self.root.at(quasi.keys).labels = LabelCheck(quasi, rules.recoding == "sets_and_ranges")

    def vertex(self, content: dict[str, Value], below: Mapping[str, _Rule]) -> Walked:
        """Walk an object: its fields in canonical and in document order."""
        parts: list[str] = []
        written: list[str] = []
        codes: list[int] = []
        children: Children = []
        known = self._parts
        for key, value in content.items():
            rule = below.get(key)
            if rule is None and self._listed:
                self.found[UNLISTED] += self.times
            if type(value) is str and (rule is None or rule.publishes(value)):
                part = known.get((key, value)) or self._part(key, value)
                parts.append(part)
                written.append(part)
            elif rule is None or rule.attribute is None or rule.counted or isinstance(value, list | dict):
                self._add_nested(key, value, rule or self._nothing, parts, written, codes, children)
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
        rule: _Rule,
        parts: list[str],
        written: list[str],
        codes: list[int],
        children: Children,
    ) -> None:
        """Add the content of a key to its vertex, except plain texts and single sensitive values."""
        if rule.forbidden is not None:
            self.found[rule.forbidden] += self.times
        form, raw, held, below = self._content(key, value, rule)
        if raw and rule.token is None:
            written.append(f"{key!r}:{raw}")
        if form and not rule.exempt:
            parts.append(f"{key!r}:{form}")
        elif rule.steady and isinstance(value, str):
            parts.append(f"{key!r}:")
        codes += held
        children += below

    def _content(self, key: str, value: Value, rule: _Rule) -> Walked:
        """Walk the content of a key. An empty form means that it is not structure.

        This is the case for an object with only sensitive values: like its values, it may be missing.
        """
        if isinstance(value, list):
            return self._items(key, value, rule)
        form, raw, codes, children = self._item(key, value, rule)
        if rule.within and not rule.counted:
            return form.removeprefix("{}"), raw.removeprefix("{}"), codes, children
        return form, raw, codes, children

    def _item(self, key: str, value: Value, rule: _Rule) -> Walked:
        """Walk one value, which is a vertex of its own if it is an object (or an array in an array)."""
        if rule.pattern is not None and not rule.pattern.matches(value):
            self.found[rule.pattern.path] += self.times
        labels = None if rule.within and isinstance(value, dict) else rule.labels
        if labels is not None and not labels.matches(value):
            self.found[labels.path] += self.times
        if rule.token is not None and isinstance(value, str):
            self.tokens.add((rule.token, value))
            self._met += 1
        if rule.link is not None and isinstance(value, str):
            self.links.add((*rule.link, value))
            self._met += 1
        if isinstance(value, dict | list):
            return self._walk_vertex(key, value, rule)
        if rule.attribute is not None:
            code = rule.attribute.code(value)
            return _ITEM, _ITEM, [code * self.step + rule.index] if code >= 0 else [], []
        return _form(value), _write_scalar(value), [], []

    def _walk_vertex(self, key: str, value: dict[str, Value] | list[Value], rule: _Rule) -> Walked:
        """Walk a vertex of its own; small equal vertices are walked once."""
        try:
            # In version 2 equal values give equal bytes, different types different ones.
            mark = key, dumps(value, 2)
        except ValueError:  # exact numbers, elements
            return self._own(key, value, rule)
        known = rule.known.get(mark)
        if known is not None:
            return known
        found = self.found.total() + self._met
        walked = self._own(key, value, rule)
        # Findings must be counted again for each vertex, and the limit on values depends on the members.
        again = self.found.total() + self._met > found
        if len(mark[1]) <= _SMALL and not self._multisets and not again:
            if len(rule.known) == _ALIKE:
                rule.known.clear()
            rule.known[mark] = walked
        return walked

    def _own(self, key: str, value: dict[str, Value] | list[Value], rule: _Rule) -> Walked:
        inner = self._items(key, value, rule) if isinstance(value, list) else self.vertex(value, rule.below)
        form, raw, codes, children = inner
        own: Children = [((key, form), codes, children)] if codes or children else []
        return form or _ITEM, raw or _ITEM, [], own

    def _items(self, key: str, values: list[Value], rule: _Rule) -> Walked:
        """Walk the items of an array, or elements of one name: in canonical and in document order."""
        forms: list[str] = []
        written: list[str] = []
        codes: list[int] = []
        children: Children = []
        elements = isinstance(values, Siblings)
        with_attributes = elements and rule.attribute is None and rule.within
        # Nothing is asked of such objects themselves, only of what they hold.
        unasked = rule.pattern is None and (rule.labels is None or rule.within)
        for value in values:
            if with_attributes and isinstance(value, str):  # an element that lacks all its attributes
                value = {TEXT: value} if value else {}
            walk = self._walk_vertex if unasked and value.__class__ is dict else self._item
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

"""Bounded knowledge reads a document: its vertex types, what each vertex shows, what must not occur."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from hashlib import blake2b
from typing import Any, TypeAlias

from hierdata.documents.document import LIST_IN_ITEM, TEXT, Document, Scalar, Siblings, Value
from hierdata.domains.base import ROOT_LABEL
from hierdata.domains.bins import label_count
from hierdata.judge.attribute import SensitiveValues
from hierdata.judge.rule_tree import RuleNode, RuleTree
from hierdata.judge.rules import JudgeRules, Keys


@dataclass(frozen=True)
class VertexTypes:
    """The vertex types of records, the root first, parents before children.

    ``types`` are their paths, ``parents`` the number of the type above (-1 for the root). ``quasi`` are by
    type the fields that make facts: quasi-identifiers, as numbers in ``JudgeRules.quasi``, then the sensitive
    attributes ``known``, with the numbers that follow. ``sensitive`` are the sensitive attributes, as numbers
    in ``JudgeRules.sensitive``. ``root_width`` is how many of the first type's fields make its root vector.
    """

    types: tuple[Keys, ...]
    parents: tuple[int, ...]
    quasi: tuple[tuple[int, ...], ...]
    sensitive: tuple[tuple[int, ...], ...]
    known: tuple[int, ...] = ()
    root_width: int = 0

    @classmethod
    def of(cls, rules: JudgeRules) -> VertexTypes:
        """Return the types that the rules' vertices make."""
        types = ((), *sorted(rules.vertices - {()}, key=lambda keys: (len(keys), keys)))
        number_of = {keys: number for number, keys in enumerate(types)}

        def innermost(keys: Keys) -> int:
            return next(number_of[keys[:end]] for end in range(len(keys), -1, -1) if keys[:end] in number_of)

        def list_by_type(fields: Iterable[Keys]) -> tuple[tuple[int, ...], ...]:
            by_type: list[list[int]] = [[] for _ in types]
            for index, keys in enumerate(fields):
                by_type[innermost(keys)].append(index)
            return tuple(map(tuple, by_type))

        known = tuple(index for index, rule in enumerate(rules.sensitive) if rule.keys in rules.known_values)
        quasi = [rule.keys for rule in rules.quasi]
        return cls(
            types,
            (-1, *(innermost(keys[:-1]) for keys in types[1:])),
            list_by_type([*quasi, *(rules.sensitive[index].keys for index in known)]),
            list_by_type(rule.keys for rule in rules.sensitive),
            known,
            sum(innermost(keys) == 0 for keys in quasi),
        )

    def root_facts(self, counted: bool) -> int:
        """Return from which field of the record itself on values are facts; ``counted``: all are."""
        return 0 if counted else self.root_width

    def is_above(self, upper: int, kind: int) -> bool:
        """Return whether a type is another one, or an ancestor of it."""
        while kind > upper:
            kind = self.parents[kind]
        return upper == kind

    def depth(self, kind: int) -> int:
        """Return how many types are above one."""
        return 0 if kind == 0 else 1 + self.depth(self.parents[kind])


Form: TypeAlias = "tuple[int, tuple[int, ...], tuple[Form, ...]]"
"""A vertex: what it shows, its sensitive values, and the forms of its children, sorted."""
Label: TypeAlias = "tuple[int, Scalar]"
"""A quasi-identifier's number and a published value; None for absent. -1 - t: a vertex of type t is there."""

ReadFacts: TypeAlias = tuple[bytes, list[int], list[int], list[int]]
"""The class of a record as whole records are compared, and what FactReader.read returns of it."""

_NO_KEY, _NULL, _EMPTY = "no key", "null", "empty"
"""How what is absent may be spelled; or as a text of its own."""
ROOT_DIGEST = 20
"""The bytes of the digest of a root vector."""
_NOT_THERE: Any = object()
SPELLED_APART = " (what is absent is spelled in more than one way)"
MISCOUNTED = " (not the bin of the number of vertices)"
MISPLACED = " (a list, where the policy has a single value: mark it with [*] or vertex: true)"


class FactReader:
    """Reads what the vertices of records show.

    ``labels`` are the labels met so far, by code; ``shown`` is by code what a vertex shows: its type and its
    labels. ``content`` is a digest of what the last record shows, where sensitive values are facts, else
    empty. ``findings`` counts lists where there is a single value. Of equal siblings at most ``copies`` are
    kept, since nobody is asked about more facts; None keeps all, with their sensitive values.
    """

    def __init__(
        self,
        tree: RuleTree,
        rules: JudgeRules,
        attributes: tuple[SensitiveValues, ...],
        types: VertexTypes,
        copies: int | None,
    ) -> None:
        self.labels: list[Label] = []
        self.shown: list[tuple[int, tuple[int, ...]]] = []
        self.findings: Counter[str] = Counter()
        self._types = types
        self._attributes = attributes
        self._copies = copies
        self._step = len(attributes)
        self._shown_codes: dict[tuple[int, tuple[int, ...]], int] = {}
        self._taken = 0, 0
        self._counts: list[int] = []
        self._root = tree.root
        self._names: dict[RuleNode, str] = {}
        self._plan(rules, types)
        fields = len(rules.quasi) + len(types.known)
        self._absent = [self._code((index, None)) for index in range(fields)]
        self._words: dict[int, str] = {}
        self.content = b""
        self._nothing = [[self._absent[index] for index in quasi] for quasi in types.quasi]
        self._present = [
            () if quasi or not kind else (self._code((-1 - kind, None)),)
            for kind, quasi in enumerate(types.quasi)
        ]
        self._bins = [*self._plan_bins(rules)]

    def _plan(self, rules: JudgeRules, types: VertexTypes) -> None:
        """Note at each path of the tree what is read there, in the order of reading."""
        for vertex_type, keys in enumerate(types.types):
            self._node_at(keys).vertex_type = vertex_type
        for index, rule in enumerate(rules.quasi):
            node = self._node_at(rule.keys)
            node.quasi, node.missing = index, rule.missing
            self._names[node] = rule.path
        for index, sensitive in enumerate(rules.sensitive):
            self._node_at(sensitive.keys).sensitive = index
        fields = [rule.keys for rule in rules.quasi]
        for number in types.known:
            node = self._node_at(rules.sensitive[number].keys)
            node.quasi = len(fields)
            self._names[node] = rules.sensitive[number].path
            fields.append(rules.sensitive[number].keys)
        for quasi_of_type in types.quasi:
            for slot, index in enumerate(quasi_of_type):
                self._node_at(fields[index]).slot = slot

    def _node_at(self, keys: Keys) -> RuleNode:
        """Return the node of a path, and have it read."""
        node = self._root
        self._names.setdefault(node, "")
        for key in keys:
            below = node.below[key]
            node.facts[key] = below
            node = below
            self._names.setdefault(node, node.path)
        return node

    def _plan_bins(self, rules: JudgeRules) -> Iterator[tuple[int, int, tuple[int, ...], str]]:
        """Yield each vertex type that is counted, where the root shows the bin, where bins begin, a path."""
        numbers = {rule.keys: number for number, rule in enumerate(rules.quasi)}
        for keys, (field, edges) in rules.counts.items():
            number = numbers[field]
            slot = self._types.quasi[0].index(number)
            yield self._types.types.index(keys), slot, edges, rules.quasi[number].path

    def read(self, record: Document) -> tuple[bytes, list[int], list[int], list[int]]:
        """Return the digest of the root vector, the vertices in pre-order, and the sensitive values.

        A vertex is two numbers: the place of its parent, -1 for the root, and what it shows. A sensitive
        value is the place of its vertex and its joint code. Last is the number of vertices of each type.
        """
        self._counts = [0] * len(self._types.types)
        form = self._vertex(0, self._root, record)
        labels = self.shown[form[0]][1]
        root = _digest(self._spell_labels(labels[: self._types.root_width]))
        if self._types.known:
            self.content = _digest(self._spell(form))
        for kind, slot, edges, path in self._bins:
            if self.labels[labels[slot]][1] != label_count(self._counts[kind], edges):
                self.findings[f"{path}{MISCOUNTED}"] += 1
        vertices: list[int] = []
        values: list[int] = []
        _flatten(form, -1, vertices, values)
        return root, vertices, values, self._counts

    def _spell_labels(self, codes: Iterable[int]) -> str:
        """Return some labels as one text."""
        labels = (self.labels[code] for code in codes)
        return "\0".join(f"{index}\1{type(value).__name__}\1{value}" for index, value in labels)

    def _spell(self, form: Form) -> str:
        """Return what a vertex and all below it show as one text, whatever the order of siblings."""
        code, _, children = form
        if code not in self._words:
            kind, labels = self.shown[code]
            self._words[code] = f"{kind}\2{self._spell_labels(labels)}"
        return f"{self._words[code]}\3{''.join(sorted(map(self._spell, children)))}\4"

    def take(self) -> tuple[list[Label], list[tuple[int, tuple[int, ...]]]]:
        """Return the labels, and what vertices show, that are new since the last call."""
        labels, shown = self._taken
        self._taken = len(self.labels), len(self.shown)
        return self.labels[labels:], self.shown[shown:]

    def spellings(self) -> dict[str, list[str]]:
        """Return by path how what is absent there was spelled so far."""
        lists = {node: name.removesuffix("[*]") for node, name in self._names.items()}
        spelled = {name: sorted(node.spelled) for node, name in lists.items()}
        # A list that is absent and an item that shows nothing are two things.
        spelled |= {f"{name}[*]": sorted(node.spelled_items) for node, name in lists.items()}
        return {name: texts for name, texts in spelled.items() if texts}

    def _vertex(self, kind: int, node: RuleNode, value: Value) -> Form:
        """Return the form of one vertex; ``node`` is that of its type."""
        self._counts[kind] += 1
        labels = self._nothing[kind].copy()
        codes: list[int] = []
        children: list[Form] = []
        if isinstance(value, dict):
            if not value:
                node.spelled_items.add(_EMPTY)
            self._fill(value, node, labels, codes, children)
        elif isinstance(value, list):  # a list in a list
            self._fill({LIST_IN_ITEM: value}, node, labels, codes, children)
        elif node.facts and isinstance(value, str) and not isinstance(value, bool):  # an XML element
            self._fill({TEXT: value} if value else {}, node, labels, codes, children)
        elif node.facts and value is None:
            node.spelled_items.add(_NULL)
            self._fill({}, node, labels, codes, children)
        else:
            self._scalar(value, node, labels, codes, node.spelled_items)
        mark = kind, (*labels, *self._present[kind])
        code = self._shown_codes.get(mark)
        if code is None:
            code = self._shown_codes[mark] = len(self.shown)
            self.shown.append(mark)
        if self._copies is None:
            return code, tuple(sorted(codes)), tuple(sorted(children))
        return code, (), tuple(_at_most(sorted(children), self._copies))

    def _fill(
        self,
        content: dict[str, Value],
        node: RuleNode,
        labels: list[int],
        codes: list[int],
        children: list[Form],
    ) -> None:
        """Read the fields of a vertex, through the objects that are no vertices of their own."""
        for key, below in node.facts.items():
            value: Any = content.get(key, _NOT_THERE)
            if below.vertex_type >= 0:
                items = value if isinstance(value, list) else [value]
                if value is _NOT_THERE or value is None or not items:
                    below.spelled.add(_spell_nothing(value))
                    continue
                children.extend(self._vertex(below.vertex_type, below, item) for item in items)
                continue
            if isinstance(value, list):
                if len(value) != 1 or not isinstance(value, Siblings):
                    self.findings[f"{self._names[below]}{MISPLACED}"] += 1
                    continue
                value = value[0]
            if below.facts:
                self._container(value, below, labels, codes, children)
            else:
                self._scalar(value, below, labels, codes, below.spelled)

    def _container(
        self, value: Any, node: RuleNode, labels: list[int], codes: list[int], children: list[Form]
    ) -> None:
        if isinstance(value, dict):
            if not value:
                node.spelled.add(_EMPTY)
        elif value is _NOT_THERE or value is None or value == "":
            node.spelled.add(_spell_nothing(value))
            value = {}
        elif node.quasi >= 0 or node.sensitive >= 0:
            self._scalar(value, node, labels, codes, node.spelled)
            value = {}
        else:  # the text of an element without attributes
            value = {TEXT: value}
        self._fill(value, node, labels, codes, children)

    def _scalar(
        self, value: Any, node: RuleNode, labels: list[int], codes: list[int], spelled: set[str]
    ) -> None:
        """Read a value at the place of a quasi-identifier or sensitive attribute.

        ``spelled`` takes the spelling of an absent one.
        """
        if node.sensitive >= 0:
            self._value(value, node, labels, codes, spelled)
        elif node.quasi >= 0:
            code = node.codes.get(value) if value.__class__ is str else None
            if code is None:
                code = self._label(value, node, spelled)
            labels[node.slot] = code

    def _value(
        self, value: Any, node: RuleNode, labels: list[int], codes: list[int], spelled: set[str]
    ) -> None:
        """Read a sensitive value; it makes a label too where it may be known."""
        if self._copies is not None and node.quasi < 0:
            return
        code = -1 if value is _NOT_THERE else self._attributes[node.sensitive].code(value)
        if code >= 0 and self._copies is None:
            codes.append(code * self._step + node.sensitive)
        if node.quasi < 0:
            return
        if code < 0:
            nothing = value is _NOT_THERE or value is None
            spelled.add(_spell_nothing(value) if nothing else f"{type(value).__name__} {value}")
            return
        label = node.codes.get(code)
        if label is None:
            published = self._attributes[node.sensitive].label_of(code)
            label = node.codes[code] = self._code((node.quasi, published))
        labels[node.slot] = label

    def _label(self, value: Any, node: RuleNode, spelled: set[str]) -> int:
        """Return the code of a published value; absent ones have one code, and their spelling is noted."""
        if value is _NOT_THERE or value is None:
            spelled.add(_spell_nothing(value))
            return self._absent[node.quasi]
        if isinstance(value, dict | list):  # forbidden there, as the walk finds
            return self._absent[node.quasi]
        text = str(value)
        if text in node.missing or value in ("", ROOT_LABEL):
            spelled.add(f"{type(value).__name__} {text}")
            return self._absent[node.quasi]
        # Numbers that are equal but spelled differently are two labels, which then stand for one value.
        key = value if value.__class__ is str else (value.__class__, text)
        code = node.codes.get(key)
        if code is None:
            code = node.codes[key] = self._code((node.quasi, value))
        return code

    def _code(self, label: Label) -> int:
        self.labels.append(label)
        return len(self.labels) - 1


def _digest(text: str) -> bytes:
    return blake2b(text.encode("utf-8", "surrogatepass"), digest_size=ROOT_DIGEST).digest()


def _at_most(forms: list[Form], copies: int) -> Iterator[Form]:
    """Yield sorted forms, each at most so many times."""
    for position, form in enumerate(forms):
        if position < copies or forms[position - copies] != form:
            yield form


def _spell_nothing(value: object) -> str:
    """Return how a value is spelled that is no value: a missing key, null, or an empty object or list."""
    return _NO_KEY if value is _NOT_THERE else _NULL if value is None else _EMPTY


def _flatten(form: Form, parent: int, vertices: list[int], values: list[int]) -> None:
    """Append a vertex and all below it, and their sensitive values."""
    code, values_there, children = form
    vertex = len(vertices) // 2
    vertices += (parent, code)
    for value in values_there:
        values += (vertex, value)
    for child in children:
        _flatten(child, vertex, vertices, values)

"""Documents to records and back, by a schema that rules and survey fix once for the whole collection."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain, groupby
from operator import attrgetter
from typing import TypeAlias, cast

from hierdata.document import Document, Scalar, Siblings, Value
from hierdata.errors import InputError, PolicyError
from hierdata.records.path import TEXT
from hierdata.records.record import Vertex
from hierdata.records.rules import Node, Problem, Unlisted, misfits, plant, problems
from hierdata.records.schema import Attribute, Role, Rule, Schema, VertexType
from hierdata.records.survey import Keys, Shape
from hierdata.records.values import SCALARS, Missing

__all__ = ["Binding", "Problem", "bind", "problems", "resolve", "unbind"]

_ROLES = tuple(Role)
_Lists: TypeAlias = tuple[list[Scalar], list[Scalar], list[Scalar]]

# What becomes of a key; plain numbers, because binding asks once a value.
_VALUE, _DROPPED, _INLINE, _CHILD = range(4)


@dataclass(slots=True)
class _Slot:
    """What becomes of one key of an object.

    ``index`` is the position among the vertex's values of the role or, for a child, among its child types.
    """

    kind: int
    path: str
    many: bool = False
    role: int = 0
    index: int = 0
    missing: Missing | None = None
    plan: _Plan | None = None


@dataclass(slots=True)
class _Plan:
    """How to read a vertex (``item`` where it is a scalar) or an object inlined into its parent.

    ``sizes`` are the numbers of values by role, ``groups`` that of child types.
    """

    below: str
    strict: bool
    type: int = 0
    sizes: tuple[int, int, int] = (0, 0, 0)
    groups: int = 0
    item: _Slot | None = None
    slots: dict[str, _Slot] = field(default_factory=dict)


@dataclass(frozen=True)
class Binding:
    """The schema of a collection, with what ``bind`` needs to follow it."""

    schema: Schema
    plan: _Plan = field(repr=False)


class _MisfitError(Exception):
    """A record does not fit; ``bind`` knows its number."""

    def __init__(self, path: str, message: str) -> None:
        super().__init__(message)
        self.path = path


def resolve(
    rules: Sequence[Rule],
    shape: Shape,
    *,
    unlisted: Unlisted = "error",
    many_hints: Collection[Keys] = (),
) -> Binding:
    """Fix the schema: vertex types in pre-order by first appearance in the rules, attributes in rule order.

    A path is many where the rules write ``[*]``, one where JSONPath does without; where the notation does not
    say, many if it is among ``many_hints`` (an XSD's) or many in any record. An object whose fields are all
    dropped is not published at all. Raises PolicyError with every problem, one a line, except clashes among
    the records, which ``bind`` refuses with the record's number.
    """
    root, found = plant(rules, shape, many_hints)
    found += misfits(root, rules, shape, unlisted)
    refused = [problem for problem in found if problem.kind != "clash"]
    if refused:
        names = tuple(name for problem in refused for name in problem.revealed)
        raise PolicyError("\n".join(map(str, refused)), revealed=names)
    types: list[VertexType] = []
    plan = _plan_vertex(root, (), None, types, unlisted == "error")
    return Binding(Schema(tuple(types)), plan)


@dataclass
class _Parts:
    """Attributes and child vertices of a vertex, each with the keys from the vertex down to it."""

    attributes: list[tuple[Keys, Node, _Slot]] = field(default_factory=list)
    children: list[tuple[Keys, Node, _Slot]] = field(default_factory=list)


def _plan_vertex(node: Node, steps: Keys, parent: int | None, types: list[VertexType], strict: bool) -> _Plan:
    """Plan the vertex at a node; its type and those below it are appended to ``types``."""
    index = len(types)
    plan = _Plan(node.below, strict, type=index)
    parts = _Parts()
    if node.role is not None:
        plan.item = _Slot(_VALUE, node.text)
        parts.attributes.append(((), node, plan.item))
    else:
        _collect(node, (), plan, parts)
    parts.attributes.sort(key=lambda part: part[1].first)
    parts.children.sort(key=lambda part: part[1].first)
    counts = [0, 0, 0]
    attributes = tuple(_attribute(*part, counts) for part in parts.attributes)
    plan.sizes = (counts[0], counts[1], counts[2])
    plan.groups = len(parts.children)
    vertex_type = VertexType(index, node.text, steps, node.many or parent is None, parent, (), attributes)
    types.append(vertex_type)
    children = []
    for position, (keys, child, slot) in enumerate(parts.children):
        children.append(len(types))
        slot.index = position
        slot.plan = _plan_vertex(child, keys, index, types, strict)
    types[index] = replace(vertex_type, children=tuple(children))
    return plan


def _collect(node: Node, steps: Keys, plan: _Plan, parts: _Parts) -> None:
    for key, child in node.children.items():
        keys = (*steps, key)
        slot = _Slot(_DROPPED, child.text, many=child.many)
        plan.slots[key] = slot
        if not child.publishes:
            continue
        if child.is_vertex:
            slot.kind = _CHILD
            parts.children.append((keys, child, slot))
        elif child.role is not None:
            slot.kind = _VALUE
            parts.attributes.append((keys, child, slot))
        else:
            slot.kind = _INLINE
            slot.plan = _Plan(child.below, plan.strict)
            _collect(child, keys, slot.plan, parts)


def _attribute(steps: Keys, node: Node, slot: _Slot, counts: list[int]) -> Attribute:
    """The attribute of a node; its slot learns where in the vertex its values go."""
    rule = node.rule
    assert rule is not None
    assert rule.role is not None
    slot.role = _ROLES.index(rule.role)
    slot.index = counts[slot.role]
    slot.missing = Missing(rule.missing) if rule.missing else None
    counts[slot.role] += 1
    return Attribute(str(rule.path), steps, rule.role, rule.missing)


def bind(documents: Iterable[Document], binding: Binding) -> Iterator[Vertex]:
    """Bind records to the schema, one at a time. Missing spellings become None.

    Raises InputError with the record's number (from 1) and the path, never a value, where a field is not
    listed or something stands where another kind of thing is due.
    """
    plan = binding.plan
    path = binding.schema.root.path
    for number, document in enumerate(documents, 1):
        try:
            vertex = _vertex(plan, _object(path, document, False))
        except _MisfitError as misfit:
            raise InputError(str(misfit), record=number, path=misfit.path) from None
        yield vertex


def _vertex(plan: _Plan, document: Document) -> Vertex:
    quasi, sensitive, carried = plan.sizes
    values: _Lists = ([None] * quasi, [None] * sensitive, [None] * carried)
    groups: list[list[Vertex]] = [[] for _ in range(plan.groups)]
    _fill(plan, document, values, groups)
    children = groups[0] if plan.groups == 1 else list(chain.from_iterable(groups))
    return Vertex(plan.type, *values, children)


def _fill(plan: _Plan, document: Document, values: _Lists, groups: list[list[Vertex]]) -> None:
    """Put what an object holds where it belongs."""
    slots = plan.slots
    for key, value in document.items():
        slot = slots.get(key)
        if slot is None:
            if plan.strict:
                raise _MisfitError(plan.below, "the field is not listed in the policy")
        elif slot.kind == _VALUE:
            # Nearly every value takes the short way: a call each would double the time of binding.
            if slot.missing is not None or type(value) not in SCALARS:
                value = _scalar(slot, value)
            values[slot.role][slot.index] = value  # type: ignore[assignment]
        elif slot.kind == _CHILD:
            groups[slot.index] = _children(slot, value)
        elif slot.kind == _INLINE:
            assert slot.plan is not None
            for item in _items(slot, value):
                _fill(slot.plan, _object(slot.path, item, type(value) is Siblings), values, groups)


def _children(slot: _Slot, value: Value) -> list[Vertex]:
    plan = slot.plan
    assert plan is not None
    items = _items(slot, value)
    if plan.item is not None:
        # A single value that is missing is like one that is absent; in an array it keeps its place.
        scalars = [_scalar(plan.item, item) for item in items]
        return [_scalar_vertex(plan, scalar) for scalar in scalars if slot.many or scalar is not None]
    elements = type(value) is Siblings
    return [_vertex(plan, _object(slot.path, item, elements)) for item in items]


def _scalar_vertex(plan: _Plan, scalar: Scalar) -> Vertex:
    quasi, sensitive, carried = plan.sizes
    return Vertex(plan.type, [scalar] * quasi, [scalar] * sensitive, [scalar] * carried, [])


def _items(slot: _Slot, value: Value) -> Sequence[Value]:
    """The items at a path of children; one at most where one is due."""
    if type(value) is Siblings:
        if not slot.many and len(value) > 1:
            raise _MisfitError(slot.path, f"the element stands {len(value)} times where one is due")
        return value
    if value is None:
        return ()
    if slot.many:
        if type(value) is not list:
            raise _MisfitError(slot.path, f"{_kind(value)} stands where an array is due")
        return value
    return (value,)


def _scalar(slot: _Slot, value: Value) -> Scalar:
    if type(value) not in SCALARS:
        if type(value) is not Siblings:
            raise _MisfitError(slot.path, f"{_kind(value)} stands where a single value is due")
        items = _items(slot, value)
        return _scalar(slot, items[0] if items else None)
    scalar = cast("Scalar", value)
    return None if slot.missing is not None and scalar in slot.missing else scalar


def _object(path: str, value: Value, element: bool) -> Document:
    """An object; an element without attributes and children is one with its text alone."""
    if type(value) is dict:
        return value
    if element and type(value) is str:
        return {TEXT: value} if value else {}
    raise _MisfitError(path, f"{_kind(value)} stands where an object is due")


def _kind(value: Value) -> str:
    if isinstance(value, dict):
        return "an object"
    if isinstance(value, list):
        return "an array"
    return "null" if value is None else "a single value"


def unbind(vertex: Vertex, schema: Schema) -> Document:
    """The document of a record, keys in schema order: the inverse of ``bind`` up to what it leaves out.

    Missing values, objects of missing values only and empty arrays are absent; an item of an array keeps
    its place whatever it holds. What is many is a list, whether it was an array or repeated elements.
    """
    types = schema.types
    vertex_type = types[vertex.type]
    values = (vertex.quasi, vertex.sensitive, vertex.carried)
    document: Document = {}
    for steps, role, index in vertex_type.places:
        value = values[role][index]
        if value is not None:
            _put(document, steps, value)
    for index, group in groupby(vertex.children, key=_type_of):
        child = types[index]
        if child.attributes and not child.attributes[0].steps:
            items: list[Value] = [(*one.quasi, *one.sensitive, *one.carried)[0] for one in group]
        else:
            items = [unbind(one, schema) for one in group]
        _put(document, child.steps, items if child.many else items[0])
    return document


_type_of = attrgetter("type")


def _put(document: Document, steps: Keys, value: Value) -> None:
    for step in steps[:-1]:
        document = cast("Document", document.setdefault(step, {}))
    document[steps[-1]] = value

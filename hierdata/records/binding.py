"""Documents to records and back, by a schema that rules and survey fix once for the whole collection."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, groupby
from operator import attrgetter
from typing import TypeAlias, cast

from hierdata.document import Document, Scalar, Siblings, Value
from hierdata.errors import InputError
from hierdata.records.path import TEXT
from hierdata.records.plan import CHILD, INLINE, VALUE, Binding, Plan, Slot, resolve
from hierdata.records.record import Vertex
from hierdata.records.rules import Problem, problems
from hierdata.records.schema import Schema
from hierdata.records.survey import Keys
from hierdata.records.values import SCALARS

__all__ = ["Binding", "Problem", "bind", "problems", "put", "resolve", "unbind"]

_Lists: TypeAlias = tuple[list[Scalar], list[Scalar], list[Scalar]]


class _MisfitError(Exception):
    """A record does not fit; ``bind`` knows its number."""

    def __init__(self, path: str, message: str) -> None:
        super().__init__(message)
        self.path = path


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


def _vertex(plan: Plan, document: Document) -> Vertex:
    quasi, sensitive, carried = plan.sizes
    values: _Lists = ([None] * quasi, [None] * sensitive, [None] * carried)
    groups: list[list[Vertex]] = [[] for _ in range(plan.groups)]
    _fill(plan, document, values, groups)
    children = groups[0] if plan.groups == 1 else list(chain.from_iterable(groups))
    return Vertex(plan.type, *values, children)


def _fill(plan: Plan, document: Document, values: _Lists, groups: list[list[Vertex]]) -> None:
    """Put what an object holds where it belongs."""
    slots = plan.slots
    for key, value in document.items():
        slot = slots.get(key)
        if slot is None:
            if plan.strict:
                raise _MisfitError(plan.below, "the field is not listed in the policy")
        elif slot.kind == VALUE:
            # Nearly every value takes the short way: a call each would double the time of binding.
            if slot.missing is not None or type(value) not in SCALARS:
                value = _scalar(slot, value)
            values[slot.role][slot.index] = value  # type: ignore[assignment]
        elif slot.kind == CHILD:
            groups[slot.index] = _children(slot, value)
        elif slot.kind == INLINE:
            assert slot.plan is not None
            for item in _items(slot, value):
                _fill(slot.plan, _object(slot.path, item, type(value) is Siblings), values, groups)


def _children(slot: Slot, value: Value) -> list[Vertex]:
    plan = slot.plan
    assert plan is not None
    items = _items(slot, value)
    if plan.item is not None:
        # A single value that is missing is like one that is absent; in an array it keeps its place.
        scalars = [_scalar(plan.item, item) for item in items]
        return [_scalar_vertex(plan, scalar) for scalar in scalars if slot.many or scalar is not None]
    elements = type(value) is Siblings
    return [_vertex(plan, _object(slot.path, item, elements)) for item in items]


def _scalar_vertex(plan: Plan, scalar: Scalar) -> Vertex:
    quasi, sensitive, carried = plan.sizes
    return Vertex(plan.type, [scalar] * quasi, [scalar] * sensitive, [scalar] * carried, [])


def _items(slot: Slot, value: Value) -> Sequence[Value]:
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


def _scalar(slot: Slot, value: Value) -> Scalar:
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
    its place whatever it holds, in XML a missing one by a spelling. What is many is a list, whether
    it was an array or repeated elements.
    """
    types = schema.types
    vertex_type = types[vertex.type]
    values = (vertex.quasi, vertex.sensitive, vertex.carried)
    document: Document = {}
    for steps, role, index in vertex_type.places:
        value = values[role][index]
        if value is not None:
            put(document, steps, value)
    for index, group in groupby(vertex.children, key=_type_of):
        child = types[index]
        if child.attributes and not child.attributes[0].steps:
            absent = child.attributes[0].absent
            scalars = ((*one.quasi, *one.sensitive, *one.carried)[0] for one in group)
            items: list[Value] = [absent if scalar is None else scalar for scalar in scalars]
        else:
            items = [unbind(one, schema) for one in group]
        put(document, child.steps, items if child.many else items[0])
    return document


_type_of = attrgetter("type")


def put(document: Document, steps: Keys, value: Value) -> None:
    """Put a value where the keys lead."""
    if len(steps) > 1:
        for step in steps[:-1]:
            document = cast("Document", document.setdefault(step, {}))
    document[steps[-1]] = value

"""Documents to records and back, by a schema that rules and survey fix once for the whole collection."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, groupby, islice, repeat
from operator import attrgetter
from typing import TypeAlias, cast

from hierdata.document import Document, Scalar, Siblings, Value
from hierdata.errors import InputError
from hierdata.records.batches import batches
from hierdata.records.columns import columns
from hierdata.records.path import TEXT
from hierdata.records.plan import CHILD, INLINE, VALUE, Binding, Plan, Slot, resolve
from hierdata.records.record import Vertex
from hierdata.records.rules import Problem, problems
from hierdata.records.schema import Schema, VertexType
from hierdata.records.survey import Keys
from hierdata.records.values import SCALARS

__all__ = ["Binding", "Problem", "bind", "hang", "items_of", "objects", "problems", "resolve", "unbind"]

Columns: TypeAlias = "Sequence[Sequence[Value]]"
"""The values of one attribute after the other, each with an entry a vertex; None is missing."""


class _MisfitError(Exception):
    """A record does not fit; ``bind`` knows its number."""

    def __init__(self, path: str, message: str) -> None:
        super().__init__(message)
        self.path = path


def bind(documents: Iterable[Document], binding: Binding, before: int = 0) -> Iterator[Vertex]:
    """Bind records to the schema, of which ``before`` came before these. Missing spellings become None.

    Raises InputError with the record's number (from 1) and the path, never a value, where a field is not
    listed or something stands where another kind of thing is due; all records before it have come then.
    """
    for batch in batches(documents):
        try:
            roots: Iterable[Vertex] = _roots(batch, binding)
        except _MisfitError:
            roots = _one_by_one(batch, binding, before)
        for root in roots:
            if binding.sparse:
                _thin(root)
            yield root
        before += len(batch)


def _thin(vertex: Vertex) -> bool:
    """Take out the empty vertices below one, the lowest first; whether anything is left of it."""
    if vertex.children:
        vertex.children = tuple(filter(_thin, vertex.children))
    values = chain(vertex.quasi, vertex.sensitive, vertex.carried)
    return bool(vertex.children) or any(value is not None for value in values)


def _one_by_one(batch: Sequence[Document], binding: Binding, before: int) -> Iterator[Vertex]:
    """Records of which one does not fit, up to that one."""
    for number, document in enumerate(batch, before + 1):
        try:
            (vertex,) = _roots([document], binding)
        except _MisfitError as misfit:
            raise InputError(str(misfit), record=number, path=misfit.path) from None
        yield vertex


def _roots(batch: Sequence[Document], binding: Binding) -> list[Vertex]:
    path = binding.schema.root.path
    return _vertices(binding.plan, [_object(path, document, False) for document in batch])


class _Columns:
    """Vertices of one type in the making: their values by role and attribute, and their children by group."""

    def __init__(self, plan: Plan, size: int) -> None:
        self.size = size
        self.values: list[list[Sequence[Scalar]]] = [[[None] * size] * count for count in plan.sizes]
        self.children: list[list[Sequence[Vertex]]] = [[()] * size for _ in range(plan.groups)]

    def put(self, slot: Slot, places: Sequence[int], values: Sequence[Scalar]) -> None:
        """The values of an attribute, at these vertices."""
        own = self.values[slot.role]
        if len(places) == self.size:
            own[slot.index] = values
            return
        spread: list[Scalar] = [None] * self.size
        for place, value in zip(places, values, strict=True):
            spread[place] = value
        own[slot.index] = spread

    def vertices(self, kind: int) -> list[Vertex]:
        """The vertices, in order."""
        rows = [self._rows(own) for own in self.values]
        groups = self.children
        children = groups[0] if len(groups) == 1 else [()] * self.size
        if len(groups) > 1:
            children = [tuple(chain.from_iterable(own)) for own in zip(*groups, strict=True)]
        return list(map(Vertex, repeat(kind), *rows, children))

    def _rows(self, columns: Sequence[Sequence[Scalar]]) -> Iterable[Sequence[Scalar]]:
        return zip(*columns, strict=True) if columns else repeat((), self.size)


def _vertices(plan: Plan, objects: Sequence[Document]) -> list[Vertex]:
    """Vertices of one type: column by column, since a call for each value would take most of the time."""
    found = _Columns(plan, len(objects))
    _fill(plan, objects, range(len(objects)), found)
    return found.vertices(plan.type)


def _fill(plan: Plan, objects: Sequence[Document], vertices: Sequence[int], found: _Columns) -> None:
    """Put what objects hold where it belongs: each into the vertex of its place."""
    for key, column, there in columns(objects):
        slot = plan.slots.get(key)
        if slot is None:
            if plan.strict:
                raise _MisfitError(plan.below, "the field is not listed in the policy")
            continue
        places = vertices if len(there) == len(vertices) else [vertices[place] for place in there]
        if slot.kind == VALUE:
            found.put(slot, places, _scalars(slot, column))
        elif slot.kind == CHILD:
            for place, children in zip(places, _children(slot, column), strict=True):
                found.children[slot.index][place] = children
        elif slot.kind == INLINE:
            assert slot.plan is not None
            inner = [
                (place, _object(slot.path, item, type(value) is Siblings))
                for place, value in zip(places, column, strict=True)
                for item in _items(slot, value)
            ]
            _fill(slot.plan, [item for _, item in inner], [place for place, _ in inner], found)


def _children(slot: Slot, column: Sequence[Value]) -> Iterator[Sequence[Vertex]]:
    """The children under a path, of each vertex."""
    plan = slot.plan
    assert plan is not None
    items = [_items(slot, value) for value in column]
    every = list(chain.from_iterable(items))
    if plan.item is not None:
        scalars = iter(_scalars(plan.item, every))
        return (_items_of(plan, slot.many, islice(scalars, len(own))) for own in items)
    elements = [type(value) is Siblings for value, own in zip(column, items, strict=True) for _ in own]
    vertices = iter(_vertices(plan, list(map(_object, repeat(slot.path), every, elements))))
    return (tuple(islice(vertices, len(own))) for own in items)


def _items_of(plan: Plan, many: bool, scalars: Iterable[Scalar]) -> list[Vertex]:
    """Vertices of a single value each."""
    quasi, sensitive, carried = plan.sizes
    return [
        Vertex(plan.type, (scalar,) * quasi, (scalar,) * sensitive, (scalar,) * carried, ())
        for scalar in scalars
        if many or scalar is not None  # one that is missing is like one that is absent; in an array it stays
    ]


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


def _scalars(slot: Slot, column: Sequence[Value]) -> Sequence[Scalar]:
    """Single values, None where they mean that there is none."""
    if not SCALARS.issuperset(map(type, column)):
        column = [_single(slot, value) for value in column]
    scalars = cast("Sequence[Scalar]", column)
    return scalars if slot.missing is None else slot.missing.cleaned(scalars)


def _single(slot: Slot, value: Value) -> Value:
    """The one value that stands alone or in an element."""
    if type(value) is Siblings:
        items = _items(slot, value)
        return _single(slot, items[0] if items else None)
    if type(value) not in SCALARS:
        raise _MisfitError(slot.path, f"{_kind(value)} stands where a single value is due")
    return value


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
    return cast("Document", _unbound(vertex, schema))


def _unbound(vertex: Vertex, schema: Schema) -> Value:
    own = (vertex.quasi, vertex.sensitive, vertex.carried)
    (item,) = items_of(schema.types[vertex.type], [[[value] for value in values] for values in own], 1)
    for index, group in groupby(vertex.children, key=_type_of):
        hang(item, schema.types[index], [_unbound(one, schema) for one in group])
    return item


_type_of = attrgetter("type")


def items_of(kind: VertexType, values: Sequence[Columns], size: int) -> list[Value]:
    """What stands for so many vertices of a type, without their children.

    ``values`` are columns of their quasi-identifiers, sensitive and carried values.
    """
    columns = [values[role][index] for _, role, index in kind.places]
    if kind.attributes and not kind.attributes[0].steps:
        absent = kind.attributes[0].absent
        return [absent if scalar is None else scalar for scalar in columns[0]]
    return [*objects([steps for steps, _, _ in kind.places], columns, size)]


def objects(places: Sequence[Keys], columns: Columns, size: int) -> list[Document]:
    """So many objects that hold the values of each column where its keys lead; missing ones are absent."""
    if columns and all(len(steps) == 1 for steps in places):
        keys = [step for (step,) in places]
        rows = zip(*columns, strict=True)
        return [
            {key: value for key, value in zip(keys, row, strict=True) if value is not None} for row in rows
        ]
    documents: list[Document] = [{} for _ in range(size)]
    for steps, column in zip(places, columns, strict=True):
        for document, value in zip(documents, column, strict=True):
            if value is not None:
                put(document, steps, value)
    return documents


def hang(item: Value, kind: VertexType, children: list[Value]) -> None:
    """Put an object's children of one type where they belong."""
    put(cast("Document", item), kind.steps, children if kind.many else children[0])


def put(document: Document, steps: Keys, value: Value) -> None:
    """Put a value where the keys lead."""
    if len(steps) > 1:
        for step in steps[:-1]:
            document = cast("Document", document.setdefault(step, {}))
    document[steps[-1]] = value

"""Documents to records and back, by a schema that rules and survey fix once for the whole collection."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, groupby, repeat
from operator import attrgetter
from typing import TypeAlias, TypeVar, cast

from hierdata.documents.document import TEXT, Document, Scalar, Siblings, Value
from hierdata.errors import InputError
from hierdata.records.bound import Bound, Rows, together, vertices
from hierdata.records.by_column import batches, columns
from hierdata.records.plan import CHILD, INLINE, VALUE, Binding, Plan, Slot, resolve
from hierdata.records.record import Vertex
from hierdata.records.rules import Problem, problems
from hierdata.records.schema import Schema, VertexType
from hierdata.records.survey import Keys
from hierdata.records.values import SCALARS

__all__ = [
    "Binding",
    "Problem",
    "bind",
    "bound",
    "hang",
    "items_of",
    "objects",
    "problems",
    "resolve",
    "unbind",
]

Columns: TypeAlias = "Sequence[Sequence[Value]]"
"""The values of one attribute after the other, each with an entry a vertex; None is missing."""


class _MisfitError(Exception):
    """A record does not fit; ``bind`` knows its number."""

    def __init__(self, path: str, message: str) -> None:
        super().__init__(message)
        self.path = path


def bind(documents: Iterable[Document], binding: Binding, before: int = 0) -> Iterator[Vertex]:
    """Bind records to the schema, of which ``before`` came before these: ``bound`` as trees."""
    for batch in bound(documents, binding, before):
        yield from vertices(batch, binding.schema)


def bound(documents: Iterable[Document], binding: Binding, before: int = 0) -> Iterator[Bound]:
    """Bind records to the schema, of which ``before`` came before these. Missing spellings become None.

    Raises InputError with the record's number (from 1) and the path, never a value, where a field is not
    listed or something stands where another kind of thing is due; all records before it have come then.
    """
    for batch in batches(documents):
        try:
            found: Iterable[Bound] = (_roots(batch, binding),)
        except _MisfitError:
            found = _one_by_one(batch, binding, before)
        yield from (_thinned(own, binding.schema) for own in found) if binding.sparse else found
        before += len(batch)


def _thinned(own: Bound, schema: Schema) -> Bound:
    """The records without their empty vertices."""
    roots = vertices(own, schema)
    for root in roots:
        _thin(root)
    return together(roots, schema)


def _thin(vertex: Vertex) -> bool:
    """Take out the empty vertices below one, the lowest first; whether anything is left of it."""
    if vertex.children:
        vertex.children = tuple(filter(_thin, vertex.children))
    values = chain(vertex.quasi, vertex.sensitive, vertex.carried)
    return bool(vertex.children) or any(value is not None for value in values)


def _one_by_one(batch: Sequence[Document], binding: Binding, before: int) -> Iterator[Bound]:
    """Records of which one does not fit, up to that one."""
    for number, document in enumerate(batch, before + 1):
        try:
            found = _roots([document], binding)
        except _MisfitError as misfit:
            raise InputError(str(misfit), record=number, path=misfit.path) from None
        yield found


def _roots(batch: Sequence[Document], binding: Binding) -> Bound:
    made = _Batch(binding.schema)
    documents = batch
    if not _OBJECTS.issuperset(map(type, batch)):
        documents = [_object(binding.schema.root.path, document, False) for document in batch]
    made.objects(binding.plan, documents, [1] * len(batch))
    return Bound(made.rows)


class _Batch:
    """Records in the making: rows of each vertex type, since a call for each value would take most of the
    time.
    """

    def __init__(self, schema: Schema) -> None:
        self.rows: list[Rows | None] = [None] * len(schema.types)

    def objects(self, plan: Plan, objects: Sequence[Document], counts: Sequence[int]) -> None:
        """Vertices of one type, of which each parent has so many."""
        size = len(objects)
        values: list[list[Sequence[Scalar]]] = [[(None,) * size] * count for count in plan.sizes]
        if objects:
            self.rows[plan.type] = Rows(size, counts, values)
            self._fill(plan, objects, range(size), values, size)

    def _fill(
        self,
        plan: Plan,
        objects: Sequence[Document],
        places: Sequence[int],
        values: list[list[Sequence[Scalar]]],
        size: int,
    ) -> None:
        """Put what objects hold where it belongs: each into the vertex of its place, of so many."""
        for key, column, there in columns(objects):
            slot = plan.slots.get(key)
            if slot is None:
                if plan.strict:
                    raise _MisfitError(plan.below, "the field is not listed in the policy")
                continue
            own = places if len(there) == len(places) else [places[place] for place in there]
            if slot.kind == VALUE:
                values[slot.role][slot.index] = _spread(_scalars(slot, column), own, size, None)
            elif slot.kind == CHILD:
                self._children(slot, column, own, size)
            elif slot.kind == INLINE:
                assert slot.plan is not None
                inner = [
                    (place, _object(slot.path, item, type(value) is Siblings))
                    for place, value in zip(own, column, strict=True)
                    for item in _items(slot, value)
                ]
                self._fill(
                    slot.plan, [item for _, item in inner], [place for place, _ in inner], values, size
                )

    def _children(self, slot: Slot, column: Sequence[Value], places: Sequence[int], size: int) -> None:
        """The children under a path, of each vertex."""
        plan = slot.plan
        assert plan is not None
        kinds = set(map(type, column))
        items = cast("Sequence[Sequence[Value]]", column)
        if not (slot.many and kinds == _ARRAYS):
            items = [_items(slot, value) for value in column]
        every = list(chain.from_iterable(items))
        counts = list(map(len, items))
        if plan.item is not None:
            scalars = _scalars(plan.item, every)
            if not slot.many:  # one that is missing is like one that is absent; in an array it stays
                lasting = iter(scalars)
                counts = [int(count and next(lasting) is not None) for count in counts]
                scalars = [scalar for scalar in scalars if scalar is not None]
            if scalars:
                values = [[scalars] * count for count in plan.sizes]
                self.rows[plan.type] = Rows(len(scalars), _spread(counts, places, size, 0), values)
            return
        if not _OBJECTS.issuperset(map(type, every)):
            elements = [
                type(value) is Siblings for value, own in zip(column, items, strict=True) for _ in own
            ]
            every = list(map(_object, repeat(slot.path), every, elements))
        self.objects(plan, cast("Sequence[Document]", every), _spread(counts, places, size, 0))


_ARRAYS = {list}
_OBJECTS = frozenset({dict})
_Entry = TypeVar("_Entry")


def _spread(
    entries: Sequence[_Entry], places: Sequence[int], size: int, otherwise: _Entry
) -> Sequence[_Entry]:
    """Entries at their places, of so many."""
    if len(places) == size:
        return entries
    spread = [otherwise] * size
    for place, entry in zip(places, entries, strict=True):
        spread[place] = entry
    return spread


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

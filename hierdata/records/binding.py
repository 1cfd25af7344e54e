"""Documents to records and back, by a schema fixed once for the whole collection from rules and survey."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, groupby, repeat
from operator import attrgetter
from typing import TypeAlias, TypeVar, cast

from hierdata.documents.document import TEXT, Document, Scalar, Siblings, Value, put_value
from hierdata.ground.errors import InputError
from hierdata.records.plan import CHILD, INLINE, VALUE, Binding, Plan, Slot, resolve
from hierdata.records.record import BoundRecords, MisfitError, Vertex, VertexRows, together, vertices
from hierdata.records.rules import Problem, problems
from hierdata.records.schema import Schema, VertexType
from hierdata.records.survey import Keys
from hierdata.records.values import SCALARS, batches, columns

__all__ = [
    "Binding",
    "Problem",
    "bind",
    "bind_batch",
    "bind_records",
    "hang",
    "items_of",
    "objects",
    "problems",
    "resolve",
    "unbind",
]

Columns: TypeAlias = "Sequence[Sequence[Value]]"
"""The values of each attribute in turn, with one entry per vertex; None is missing."""


def bind(documents: Iterable[Document], binding: Binding) -> Iterator[Vertex]:
    """Bind records to the schema as trees (see ``bind_records``)."""
    for batch in bind_records(documents, binding):
        yield from vertices(batch, binding.schema)


def bind_records(documents: Iterable[Document], binding: Binding, before: int = 0) -> Iterator[BoundRecords]:
    """Bind records to the schema; ``before`` records came before these. Missing spellings become None.

    Raises InputError with the record's number (from 1) and the path, never a value, if a field is not listed
    or a value is of the wrong kind; all records before it have been yielded by then.
    """
    for batch in batches(documents):
        yield from bind_batch(batch, binding, before)
        before += len(batch)


def bind_batch(batch: Sequence[Document], binding: Binding, before: int) -> Iterator[BoundRecords]:
    """Bind some records together (see ``bind_records``)."""
    try:
        parts: Iterable[BoundRecords] = (_roots(batch, binding),)
    except MisfitError:
        parts = _one_by_one(batch, binding, before)
    yield from (
        (_drop_empty_vertices(records, binding.schema) for records in parts) if binding.sparse else parts
    )


def _drop_empty_vertices(records: BoundRecords, schema: Schema) -> BoundRecords:
    """Return the records without their empty vertices."""
    roots = vertices(records, schema)
    for root in roots:
        _thin(root)
    return together(roots, schema)


def _thin(vertex: Vertex) -> bool:
    """Remove the empty vertices below one, the lowest first; return whether anything is left of it."""
    if vertex.children:
        vertex.children = tuple(filter(_thin, vertex.children))
    values = chain(vertex.quasi, vertex.sensitive, vertex.carried)
    return bool(vertex.children) or any(value is not None for value in values)


def _one_by_one(batch: Sequence[Document], binding: Binding, before: int) -> Iterator[BoundRecords]:
    """Bind records one at a time, up to the one that does not fit."""
    for number, document in enumerate(batch, before + 1):
        try:
            records = _roots([document], binding)
        except MisfitError as misfit:
            raise InputError(str(misfit), record=number, path=misfit.path) from None
        yield records


def _roots(batch: Sequence[Document], binding: Binding) -> BoundRecords:
    bound = _Batch(binding.schema)
    documents = batch
    if not _OBJECTS.issuperset(map(type, batch)):
        documents = [_object(binding.schema.root.path, document, False) for document in batch]
    bound.objects(binding.plan, documents, [1] * len(batch))
    return BoundRecords(bound.rows)


class _Batch:
    """Records being bound: rows of each vertex type, since a call per value would take most of the time."""

    def __init__(self, schema: Schema) -> None:
        self.rows: list[VertexRows | None] = [None] * len(schema.types)

    def objects(self, plan: Plan, objects: Sequence[Document], counts: Sequence[int]) -> None:
        """Bind the vertices of one type; each parent has as many as ``counts`` says."""
        size = len(objects)
        values: list[list[Sequence[Scalar]]] = [[(None,) * size] * count for count in plan.sizes]
        if objects:
            self.rows[plan.type] = VertexRows(size, counts, values)
            self._fill(plan, objects, range(size), values, size)

    def _fill(
        self,
        plan: Plan,
        objects: Sequence[Document],
        places: Sequence[int],
        values: list[list[Sequence[Scalar]]],
        size: int,
    ) -> None:
        """Distribute the fields of objects; each belongs to the vertex at its position among ``size``."""
        for key, column, there in columns(objects):
            slot = plan.slots.get(key)
            if slot is None:
                if plan.strict:
                    raise MisfitError(plan.below, "the field is not listed in the policy")
                continue
            positions = places if len(there) == len(places) else [places[number] for number in there]
            if slot.kind == VALUE:
                values[slot.role][slot.index] = _scatter_entries(
                    _scalars(slot, column), positions, size, None
                )
            elif slot.kind == CHILD:
                self._children(slot, column, positions, size)
            elif slot.kind == INLINE:
                assert slot.plan is not None
                inner = [
                    (place, _object(slot.path, item, type(value) is Siblings))
                    for place, value in zip(positions, column, strict=True)
                    for item in _items(slot, value)
                ]
                self._fill(
                    slot.plan, [item for _, item in inner], [place for place, _ in inner], values, size
                )

    def _children(self, slot: Slot, column: Sequence[Value], places: Sequence[int], size: int) -> None:
        """Bind the children of each vertex under a path."""
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
            if not slot.many:  # a missing one counts as absent; in an array it stays
                lasting = iter(scalars)
                counts = [int(count and next(lasting) is not None) for count in counts]
                scalars = [scalar for scalar in scalars if scalar is not None]
            if scalars:
                values = [[scalars] * count for count in plan.sizes]
                self.rows[plan.type] = VertexRows(
                    len(scalars), _scatter_entries(counts, places, size, 0), values
                )
            return
        if not _OBJECTS.issuperset(map(type, every)):
            elements = [
                type(value) is Siblings for value, inner in zip(column, items, strict=True) for _ in inner
            ]
            every = list(map(_object, repeat(slot.path), every, elements))
        self.objects(plan, cast("Sequence[Document]", every), _scatter_entries(counts, places, size, 0))


_ARRAYS = {list}
_OBJECTS = frozenset({dict})
_Entry = TypeVar("_Entry")


def _scatter_entries(
    entries: Sequence[_Entry], places: Sequence[int], size: int, otherwise: _Entry
) -> Sequence[_Entry]:
    """Return a sequence of length ``size`` with the entries at their places, ``otherwise`` elsewhere."""
    if len(places) == size:
        return entries
    spread = [otherwise] * size
    for place, entry in zip(places, entries, strict=True):
        spread[place] = entry
    return spread


_LISTED = "; if it is a list in some records only, state `shape: [{{listed: {path}}}]`"


def _items(slot: Slot, value: Value) -> Sequence[Value]:
    """Return the items at a path of children, at most one unless the path is many."""
    if type(value) is Siblings:
        if not slot.many and len(value) > 1:
            raise MisfitError(slot.path, f"the element occurs {len(value)} times instead of once")
        return value
    if value is None:
        return ()
    if slot.many:
        if type(value) is not list:
            due = "" if isinstance(value, dict) else _LISTED.format(path=slot.path.removesuffix("[*]"))
            raise MisfitError(slot.path, f"expected an array, found {_kind(value)}{due}")
        return value
    return (value,)


def _scalars(slot: Slot, column: Sequence[Value]) -> Sequence[Scalar]:
    """Return single values, each in its one spelling, with None for spellings of a missing value."""
    if not SCALARS.issuperset(map(type, column)):
        column = [_single(slot, value) for value in column]
    scalars = cast("Sequence[Scalar]", column)
    if slot.missing is not None:
        scalars = slot.missing.clean_values(scalars)
    return scalars if slot.spell is None else slot.spell.spell_values(scalars)


def _single(slot: Slot, value: Value) -> Value:
    """Return the single value, given alone or in an element."""
    if type(value) is Siblings:
        items = _items(slot, value)
        return _single(slot, items[0] if items else None)
    if type(value) not in SCALARS:
        due = (
            _LISTED.format(path=slot.path)
            if isinstance(value, list) and not slot.path.endswith("[*]")
            else ""
        )
        raise MisfitError(slot.path, f"expected a single value, found {_kind(value)}{due}")
    return value


def _object(path: str, value: Value, element: bool) -> Document:
    """Return an object; an element without attributes and children becomes one with only its text."""
    if type(value) is dict:
        return value
    if element and type(value) is str:
        return {TEXT: value} if value else {}
    raise MisfitError(path, f"expected an object, found {_kind(value)}")


def _kind(value: Value) -> str:
    if isinstance(value, dict):
        return "an object"
    if isinstance(value, list):
        return "an array"
    return "null" if value is None else "a single value"


def unbind(vertex: Vertex, schema: Schema) -> Document:
    """Return the document of a record, keys in schema order: the inverse of ``bind`` except for omissions.

    Missing values, objects with only missing values and empty arrays are absent. An array item keeps its
    place even if it is missing; in XML a spelling of a missing value marks it. What is many becomes a list,
    whether it was an array or repeated elements.
    """
    return cast("Document", _unbind_vertex(vertex, schema))


def _unbind_vertex(vertex: Vertex, schema: Schema) -> Value:
    by_role = (vertex.quasi, vertex.sensitive, vertex.carried)
    (item,) = items_of(schema.types[vertex.type], [[[value] for value in values] for values in by_role], 1)
    for index, group in groupby(vertex.children, key=_type_of):
        hang(item, schema.types[index], [_unbind_vertex(child, schema) for child in group])
    return item


_type_of = attrgetter("type")


def items_of(kind: VertexType, values: Sequence[Columns], size: int) -> list[Value]:
    """Build the values or objects for ``size`` vertices of a type, without their children.

    ``values`` are columns of their quasi-identifiers, sensitive and carried values.
    """
    columns = [values[role][index] for _, role, index in kind.places]
    if kind.attributes and not kind.attributes[0].steps:
        absent = kind.attributes[0].absent
        return [absent if scalar is None else scalar for scalar in columns[0]]
    return [*objects([steps for steps, _, _ in kind.places], columns, size)]


def objects(places: Sequence[Keys], columns: Columns, size: int) -> list[Document]:
    """Build ``size`` objects with the values of each column at its keys; missing values are absent."""
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
                put_value(document, steps, value)
    return documents


def hang(item: Value, kind: VertexType, children: list[Value]) -> None:
    """Put an object's children of one type at their keys."""
    put_value(cast("Document", item), kind.steps, children if kind.many else children[0])

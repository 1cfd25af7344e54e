"""Trees to tables: split documents into the rows of keyed tables, or of one table."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from functools import partial

from hierdata.documents.document import Document, Value
from hierdata.ground.errors import InputError
from hierdata.records.keyed import Table, put_at, refuse

ITEM = "value"
"""The column of a table with rows that were single values in an array."""


def split(
    tables: Sequence[Table], documents: Iterable[Document], nested: Collection[str] = ()
) -> Iterator[tuple[str, Document]]:
    """Split documents into the rows of keyed tables, each with its table's name: the inverse of ``nest``.

    Keys are numbers from 1, in order. A row comes before those below it, and refers to all rows above it that
    its table has a column for. The rows of the tables ``nested`` keep their objects, and arrays that are no
    tables. In other tables a single object becomes columns with dotted names; single values in an array
    become rows with the column ``value``. Missing values are absent.

    Raises InputError for arrays without a table, and for names that collide.

    >>> tables = [Table("people", key="id"), Table("visits", parent="people", on="person")]
    >>> list(split(tables, [{"age": 7, "visits": [{"day": 1}]}]))
    [('people', {'id': 1, 'age': 7}), ('visits', {'person': 1, 'day': 1})]
    """
    numbers = dict.fromkeys((table.name for table in tables), 0)
    below: dict[str, dict[str, Table]] = {table.name: {} for table in tables}
    for table in tables[1:]:
        assert table.parent is not None, "only the first table is the root"
        for parent, _ in table.links:
            below[parent][table.name] = table

    def cut(table: Table, item: Value, above: dict[str, int]) -> Iterator[tuple[str, Document]]:
        numbers[table.name] = number = numbers[table.name] + 1
        row: Document = {}
        if table.name in nested:
            _put_keys(table, number, above, partial(put_at, row))
            arrays = _keep_objects(row, item, below[table.name])
        else:
            _put_keys(table, number, above, row.__setitem__)
            arrays = _fill(row, item)
        yield table.name, row
        for name, items in arrays:
            if name not in below[table.name]:
                refuse(table.name, "a record has an array that belongs to none of the tables")
            for inner in items:
                yield from cut(below[table.name][name], inner, {**above, table.name: number})

    for document in documents:
        yield from cut(tables[0], document, {})


def _put_keys(
    table: Table, number: int, above: dict[str, int], put: Callable[[str, int | str], object]
) -> None:
    """Put the key of a row, and its references to the rows above it."""
    if table.key is not None:
        put(table.key, table.spell_key(number))
    for parent, on in table.links:
        if parent in above:
            put(on, table.spell_reference(parent, above[parent]))


def _keep_objects(row: Document, item: Value, tables: Collection[str]) -> list[tuple[str, list[Value]]]:
    """Put an object into a row, with objects of keys; return its arrays that are tables, in their order."""
    if not isinstance(item, dict):
        raise InputError("a row of a table must be an object")
    arrays = []
    for key in tables:
        value = item.get(key, [])
        if not isinstance(value, list):
            raise InputError("a record has something else than an array where a table has its rows")
        arrays.append((key, value))
    for key, value in item.items():
        if key in tables:
            continue
        if key not in row:
            row[key] = value
        else:
            _unite(row, key, value)
    return arrays


def _unite(row: Document, key: str, value: Value) -> None:
    """Put an object beside the keys that a row has in an object of that name."""
    inside = row[key]
    if not isinstance(inside, dict) or not isinstance(value, dict):
        raise InputError("two fields of a record, or a field and a key, would share one column")
    row[key] = inside = dict(inside)
    for inner, below in value.items():
        if inner in inside:
            _unite(inside, inner, below)
        else:
            inside[inner] = below


def joined(documents: Iterable[Document]) -> Iterator[Document]:
    """Yield the rows of one table: a row for every path from a root to a leaf, with ancestors repeated.

    Columns have dotted names. Two sibling arrays give separate rows, each with only the columns of its own
    array, so that no pair of values arises that did not exist.

    >>> list(joined([{"id": 1, "a": [{"b": 2}, {"b": 3}], "c": [4]}, {"id": 5}]))
    [{'id': 1, 'a.b': 2}, {'id': 1, 'a.b': 3}, {'id': 1, 'c': 4}, {'id': 5}]
    """
    for document in documents:
        yield from _paths({}, document, "")


def tables_of(documents: Iterable[Document], root: str) -> tuple[Table, ...]:
    """Return the tables that ``split`` needs: one for the records and one for each array in them.

    The key of a table with children is called ``<name>_key``, in the table itself and in its children.

    >>> tables_of([{"id": 1, "a": [{"b": [2]}]}], "top")[1]
    Table(name='a', key='a_key', parent='top', on='top_key')
    """
    parents: dict[str, str | None] = {root: None}

    def look(name: str, item: Value) -> None:
        for key, items in _fill({}, item):
            if parents.setdefault(key, name) != name:
                refuse(key, "two arrays have this name: their tables could not be distinguished")
            for inner in items:
                look(key, inner)

    for document in documents:
        look(root, document)
    with_children = set(parents.values())
    return tuple(
        Table(
            name,
            key=f"{name}_key" if name in with_children else None,
            parent=parent,
            on=None if parent is None else f"{parent}_key",
        )
        for name, parent in parents.items()
    )


def _fill(row: Document, item: Value, prefix: str = "") -> list[tuple[str, list[Value]]]:
    """Put the single values of an object into a row; return its arrays."""
    if isinstance(item, list):
        raise InputError("an array is directly inside an array, which no table can hold")
    fields = item.items() if isinstance(item, dict) else ((ITEM, item),)
    arrays = []
    for key, value in fields:
        name = prefix + key
        if isinstance(value, dict):
            arrays += _fill(row, value, f"{name}.")
        elif isinstance(value, list):
            arrays.append((name, value))
        elif name in row:
            raise InputError("two fields of a record, or a field and a key, would share one column")
        elif value is not None:
            row[name] = value
    return arrays


def _paths(above: Document, item: Value, prefix: str) -> Iterator[Document]:
    row = dict(above)
    arrays = [(name, items) for name, items in _fill(row, item, prefix) if items]
    if not arrays:
        yield row
    for name, items in arrays:
        for inner in items:
            if isinstance(inner, dict | list):
                yield from _paths(row, inner, f"{name}.")
            else:
                yield from _paths(row, {name: inner}, "")

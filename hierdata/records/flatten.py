"""Tables to trees and back: join keyed tables into documents, split documents into keyed tables or one.

Pure functions on rows, which are documents without nested objects and arrays; no files are involved.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NoReturn

from hierdata.documents.document import Document, Scalar, Value
from hierdata.ground.errors import InputError

_WHOLE = re.compile(r"0|[1-9][0-9]*")
_LONGEST_NUMBER = 18

ITEM = "value"
"""The column of a table with rows that were single values in an array."""


@dataclass(frozen=True)
class Table:
    """One of several tables that make up trees. Its name is the key of its rows' array in their parent.

    ``key`` is the column that identifies its rows; a table without children needs none. ``on`` is the column
    that holds the key of a row of ``parent``. The root has neither ``parent`` nor ``on``.
    """

    name: str
    key: str | None = None
    parent: str | None = None
    on: str | None = None

    @property
    def joins(self) -> tuple[str, ...]:
        """The columns that join tables; no document holds them."""
        return tuple(column for column in (self.key, self.on) if column is not None)


def places(tables: Sequence[Table]) -> dict[str, tuple[str, ...]]:
    """Return the keys from a record down to the rows of each table.

    >>> places([Table("people", key="id"), Table("visits", parent="people", on="person")])
    {'people': (), 'visits': ('visits',)}
    """
    found: dict[str, tuple[str, ...]] = {}
    for table in tables:
        found[table.name] = () if table.parent is None else (*found[table.parent], table.name)
    return found


def nest(tables: Sequence[Table], rows: Mapping[str, Iterable[Document]]) -> Iterator[Document]:
    """Join keyed tables into one document for each row of the root; other tables are held in memory.

    ``tables`` begin with the root, parents before their children. Rows keep their order within their parent.
    A row without children has no array of them.

    Raises InputError, with the table, row numbers and counts but no value, if a key is missing, occurs twice
    or has no parent row, and if a row has a column with the name of a child table.

    >>> tables = [Table("people", key="id"), Table("visits", parent="people", on="person")]
    >>> rows = {"people": [{"id": "a", "age": 7}], "visits": [{"person": "a", "day": 1}]}
    >>> list(nest(tables, rows))
    [{'age': 7, 'visits': [{'day': 1}]}]
    """
    below: dict[str, list[_Children]] = {table.name: [] for table in tables}
    for table in reversed(tables[1:]):
        assert table.parent is not None, "only the first table is the root"
        children = _Children(table)
        for number, on, document in _complete_rows(table, rows[table.name], below[table.name]):
            children.add(number, on, document)
        below[table.parent].insert(0, children)
    for _, _, document in _complete_rows(tables[0], rows[tables[0].name], below[tables[0].name]):
        yield document


def split(tables: Sequence[Table], documents: Iterable[Document]) -> Iterator[tuple[str, Document]]:
    """Split documents into the rows of keyed tables, each with its table's name: the inverse of ``nest``.

    Keys are numbers from 1, in order. A row comes before those below it. A single object becomes columns with
    dotted names; single values in an array become rows with the column ``value``. Missing values are absent.

    Raises InputError for arrays without a table, and for names that collide.

    >>> tables = [Table("people", key="id"), Table("visits", parent="people", on="person")]
    >>> list(split(tables, [{"age": 7, "visits": [{"day": 1}]}]))
    [('people', {'id': 1, 'age': 7}), ('visits', {'person': 1, 'day': 1})]
    """
    given = dict.fromkeys((table.name for table in tables), 0)
    below: dict[str, dict[str, Table]] = {table.name: {} for table in tables}
    for table in tables[1:]:
        assert table.parent is not None, "only the first table is the root"
        below[table.parent][table.name] = table

    def cut(table: Table, item: Value, above: int) -> Iterator[tuple[str, Document]]:
        given[table.name] = own = given[table.name] + 1
        row: Document = {}
        if table.key is not None:
            row[table.key] = own
        if table.on is not None:
            row[table.on] = above
        arrays = _fill(row, item)
        yield table.name, row
        for name, items in arrays:
            if name not in below[table.name]:
                _refuse(table.name, "a record has an array that belongs to none of the tables")
            for inner in items:
                yield from cut(below[table.name][name], inner, own)

    for document in documents:
        yield from cut(tables[0], document, 0)


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
                _refuse(key, "two arrays have this name: their tables could not be distinguished")
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


class _Children:
    """The documents of a child table, by the key of the row that they belong to."""

    def __init__(self, table: Table) -> None:
        self.table = table
        self._groups: dict[Scalar, list[Value]] = {}
        self._first: dict[Scalar, int] = {}
        self._rows = 0

    def add(self, number: int, on: Scalar, document: Document) -> None:
        group = self._groups.get(on)
        if group is None:
            group = self._groups[on] = []
            self._first[on] = number
        group.append(document)
        self._rows += 1

    def take(self, key: Scalar) -> list[Value] | None:
        return self._groups.pop(key, None)

    def check(self) -> None:
        """Refuse rows without a parent row."""
        if not self._groups:
            return
        table, orphans = self.table, sum(map(len, self._groups.values()))
        if orphans == self._rows:
            _refuse(
                table.name,
                f"no row matches a row of {table.parent}: check that `on` and `key` are the right columns, "
                f"with values of the same spelling and type, and that {table.parent} has rows",
            )
        first = min(self._first[on] for on in self._groups)
        rows = "1 row belongs" if orphans == 1 else f"{orphans} rows belong"
        _refuse(table.name, f"{rows} to no row of {table.parent}, the first is row {first}")


def _complete_rows(
    table: Table, rows: Iterable[Document], below: Sequence[_Children]
) -> Iterator[tuple[int, Scalar, Document]]:
    """Yield (number, ``on``, document) for each row of a table, without its keys and with its children."""
    seen: set[Value] = set()
    for number, row in enumerate(rows, 1):
        document = dict(row)
        on = None
        if table.on is not None:
            on = _key(document, table, table.on, number)
        if table.key is not None:
            key = _key(document, table, table.key, number)
            if key in seen:
                _refuse(
                    table.name, f"row {number} has the same key as an earlier row: `key` must identify rows"
                )
            seen.add(key)
            for children in below:
                name = children.table.name
                if name in document:
                    _refuse(
                        table.name,
                        f"row {number} has a column with the name of the table {name}: rename the table in "
                        "the policy and state its `file`",
                    )
                if items := children.take(key):
                    document[name] = items
        yield number, on, document
    for children in below:
        children.check()


def _key(document: Document, table: Table, column: str, number: int) -> Scalar:
    key = document.pop(column, None)
    if key is None:
        _refuse(table.name, f"row {number} has no value in the column {column}, which joins the tables")
    assert not isinstance(key, dict | list), "a row holds single values"
    # CSV has only text: its 17 equals the number 17 of another table, but 017 does not.
    if isinstance(key, str) and len(key) <= _LONGEST_NUMBER and _WHOLE.fullmatch(key):
        return int(key)
    return key


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


def _refuse(table: str, message: str) -> NoReturn:
    raise InputError(f"the table {table}: {message}")

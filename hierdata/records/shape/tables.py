"""Which tables hold records whose shape was changed: their names, keys and columns."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

from hierdata.ground.errors import PolicyError
from hierdata.records.keyed import Table, all_places
from hierdata.records.survey import Keys

INDIVIDUALS = "individuals"
"""The root table of records that were nested below individuals."""
_FILE_NAME = re.compile(r"\w[\w .-]*")


@dataclass(frozen=True)
class NewColumn:
    """A column that a shape adds to a table: one of another table of the input, or a number without one."""

    name: str
    table: str | None = None
    column: str = ""


@dataclass(frozen=True)
class ShapedTable:
    """A table as a shape leaves it: its rows are those of ``origin``, a table of the input."""

    table: Table
    origin: str
    added: tuple[NewColumn, ...] = ()


ShapedTables: TypeAlias = tuple[ShapedTable, ...]
"""All tables of a collection, the root first, parents before their children."""


def find_table(tables: ShapedTables, keys: Keys) -> ShapedTable | None:
    """Return the table whose rows have these keys, None if there is none."""
    keys_of = all_places([shaped.table for shaped in tables])
    return next((shaped for shaped in tables if keys in keys_of[shaped.table.name]), None)


def add_column(tables: ShapedTables, keys: Keys, column: str) -> ShapedTables:
    """Return the tables with a new column of numbers at a place; unchanged if no table is there."""
    table = find_table(tables, keys)
    return tuple(
        replace(shaped, added=(*shaped.added, NewColumn(column))) if shaped is table else shaped
        for shaped in tables
    )


def lift_table(
    tables: ShapedTables, source: Keys, target: Keys, carried: Sequence[tuple[str, str]]
) -> ShapedTables:
    """Return the tables after the one at ``source`` was made a child of one further up.

    Its rows refer to the new parent as those of the table between do, in a column of the same name.
    ``carried`` are (new name, column) of the tables between. Raises PolicyError if that is not possible.
    """
    lifted = find_table(tables, source)
    if lifted is None:
        raise PolicyError("no table has its rows here: name one of `tables`")
    name = check_name(target[-1])
    if any(shaped.table.name == name for shaped in tables if shaped is not lifted):
        raise PolicyError(f"there is a table {name} already: name a table that does not exist")
    between = [
        holder for end in range(len(target), len(source)) if (holder := find_table(tables, source[:end]))
    ]
    table = _move_table(lifted.table, name, tables, source, target, between[0].table)
    added = tuple(NewColumn(new, passed.origin, column) for new, column in carried for passed in between)
    moved = replace(lifted, table=table, added=(*lifted.added, *added))
    return _order_tables(
        [
            moved
            if shaped is lifted
            else replace(shaped, table=replace(shaped.table, parent=name))
            if shaped.table.parent == lifted.table.name
            else shaped
            for shaped in tables
        ]
    )


def _move_table(
    table: Table, name: str, tables: ShapedTables, source: Keys, target: Keys, between: Table
) -> Table:
    """Return a lifted table: it refers to its new parent as ``between`` does, and to others as before."""
    former, above = find_table(tables, source[:-1]), find_table(tables, target[:-1])
    assert former is not None, "a list that is a table lies in tables"
    assert above is not None, "a list that is a table lies in tables"
    links = dict(link for link in table.links if link[0] != former.table.name)
    if above.table.name not in links:
        links = {above.table.name: dict(between.links)[above.table.name]} | links
    (parent, on), *others = links.items()
    if table.typed and name != table.name:
        raise PolicyError(f"the list has the type {table.name}, which must stay its name")
    return replace(table, name=name, parent=parent, on=on, others=tuple(others))


def nest_tables(tables: ShapedTables, key: str, column: str) -> ShapedTables:
    """Return the tables with a new root: a row an individual, to which the former records belong.

    ``key`` is the name of the list of former records, ``column`` the one that says whose each is.
    """
    former = tables[0]
    if any(shaped.table.name == key for shaped in tables[1:]):
        raise PolicyError(f"there is a table {key} already: name a list that does not exist")
    if INDIVIDUALS in {key, *(shaped.table.name for shaped in tables[1:])}:
        raise PolicyError(f"the table of individuals is called {INDIVIDUALS}: choose another name")
    root = ShapedTable(Table(INDIVIDUALS, key=column), former.origin)
    table = replace(former.table, name=check_name(key), parent=INDIVIDUALS, on=column)
    below = [
        replace(shaped, table=replace(shaped.table, parent=key))
        if shaped.table.parent == former.table.name
        else shaped
        for shaped in tables[1:]
    ]
    return (root, replace(former, table=table), *below)


def check_name(name: str) -> str:
    """Return the name of a list that becomes a table. Raises PolicyError if no file can have it."""
    if not _FILE_NAME.fullmatch(name):
        raise PolicyError(f"the table {name} needs a name that a file can have")
    return name


def _order_tables(tables: Sequence[ShapedTable]) -> ShapedTables:
    """Return tables with parents before their children."""
    ordered: dict[str | None, ShapedTable] = {}
    while len(ordered) < len(tables):
        ordered |= {
            shaped.table.name: shaped
            for shaped in tables
            if shaped.table.parent is None or shaped.table.parent in ordered
        }
    return tuple(ordered.values())

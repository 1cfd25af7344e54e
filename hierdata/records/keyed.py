"""Keyed tables: how rows refer to each other, and rows without the columns that join them."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from typing import NamedTuple, NoReturn, TypeAlias

from hierdata.documents.document import Document, Scalar, Value, field_at, put_value
from hierdata.ground.errors import InputError

_WHOLE = re.compile(r"0|[1-9][0-9]*")
_LONGEST_NUMBER = 18
_URN = ("urn:uuid:", "urn:oid:")

Ref: TypeAlias = "tuple[str, Scalar]"
"""A row: the name of its table and its key."""


@dataclass(frozen=True)
class Table:
    """One of several tables that make up trees. Its name is the key of its rows' array in their parent.

    ``key`` is the column that identifies its rows; a table without children needs none. ``on`` is the column
    that holds the key of a row of ``parent``; ``others`` are further (parent, on), for rows that have no
    value in those before. The root has no parent. In rows with objects, a column may be a path such as
    ``subject.reference``. With ``typed``, keys are published as texts and references name the table, as in
    ``people/3``; a reference that names another table is then none to this one. Where a table ``keeps_key``,
    other rows refer to its rows, and documents hold the key.
    """

    name: str
    key: str | None = None
    parent: str | None = None
    on: str | None = None
    others: tuple[tuple[str, str], ...] = field(default=(), repr=False)
    typed: bool = field(default=False, repr=False)
    keeps_key: bool = field(default=False, repr=False)

    @property
    def links(self) -> tuple[tuple[str, str], ...]:
        """The possible parents, the preferred one first, each with the column that refers to it."""
        return () if self.parent is None or self.on is None else ((self.parent, self.on), *self.others)

    @property
    def joins(self) -> tuple[str, ...]:
        """The columns that join tables; no document holds them, but for a key that a table keeps."""
        key = () if self.key is None else (self.key,)
        return tuple(dict.fromkeys((*key, *(on for _, on in self.links))))

    def spell_key(self, number: int) -> int | str:
        """Return the key of a published row."""
        return str(number) if self.typed else number

    def spell_reference(self, parent: str, number: int) -> int | str:
        """Return the reference to a published row of a parent."""
        return f"{parent}/{number}" if self.typed else number


@dataclass(frozen=True)
class Lookup:
    """A table of rows that belong to nobody; what is copied from them to rows that refer to them.

    ``uses`` are (table, column with the reference, ((column here, column there), ...)).
    """

    name: str
    key: str
    uses: tuple[tuple[str, str, tuple[tuple[str, str], ...]], ...]


def places(tables: Sequence[Table]) -> dict[str, tuple[str, ...]]:
    """Return the keys from a record down to the rows of each table, by the preferred parents.

    >>> places([Table("people", key="id"), Table("visits", parent="people", on="person")])
    {'people': (), 'visits': ('visits',)}
    """
    keys: dict[str, tuple[str, ...]] = {}
    for table in tables:
        keys[table.name] = () if table.parent is None else (*keys[table.parent], table.name)
    return keys


def all_places(tables: Sequence[Table]) -> dict[str, tuple[tuple[str, ...], ...]]:
    """Return the keys from a record down to the rows of each table, below each of its possible parents.

    >>> visits = Table("visits", "id", "people", "person")
    >>> all_places([Table("people", "id"), visits, Table("drugs", None, "visits", "v", (("people", "p"),))])
    {'people': ((),), 'visits': (('visits',),), 'drugs': (('visits', 'drugs'), ('drugs',))}
    """
    keys: dict[str, tuple[tuple[str, ...], ...]] = {}
    for table in tables:
        above = [place for parent, _ in table.links for place in keys[parent]]
        keys[table.name] = tuple((*place, table.name) for place in above) if table.links else ((),)
    return keys


class KeyedRow(NamedTuple):
    """A row without the columns that join it.

    ``place`` orders the rows of a table. ``parent`` is the row that it belongs to, ``claims`` are the other
    rows that it refers to: where one of them is a row above it, it must be the row above it.
    """

    table: str
    place: tuple[int, int]
    key: Scalar
    parent: Ref | None
    claims: tuple[Ref, ...]
    document: Document


def read_row(table: Table, place: tuple[int, int], number: int, row: Document) -> KeyedRow:
    """Take the keys out of a row; ``number`` is what messages call it.

    Raises InputError, without a value, if a key is missing.
    """
    document = dict(row)
    refs: list[Ref] = []
    for parent, on in table.links:
        value = _take(document, on, table, number)
        key = None if value is None else read_key(value, parent, strict=table.typed)
        if key is not None:
            refs.append((parent, key))
    if table.links and not refs:
        columns = " or ".join(dict.fromkeys(on for _, on in table.links))
        refuse(table.name, f"row {number} has no value in the column {columns}, which joins the tables")
    row_key: Scalar = None
    if table.key is not None:
        value = _take(document, table.key, table, number)
        if value is None and not table.typed:
            refuse(table.name, f"row {number} has no value in the column {table.key}, which joins the tables")
        row_key = read_key(value, table.name)
        if table.keeps_key and value is not None:
            document[table.key] = value
    return KeyedRow(table.name, place, row_key, refs[0] if refs else None, tuple(refs[1:]), document)


def read_key(value: Scalar, table: str, *, strict: bool = False) -> Scalar:
    """Return the key in a value: a key itself, or a reference to a row of a table in any spelling.

    With ``strict`` None is returned for a reference that names another table, or a place in the same row.

    >>> read_key("Patient/7", "Patient"), read_key("https://example.org/fhir/Patient/a/_history/2", "Patient")
    (7, 'a')
    >>> read_key("urn:uuid:c1", "Patient"), read_key("Group/7", "Patient"), read_key("007", "Patient")
    ('c1', 'Group/7', '007')
    >>> read_key("Group/7", "Patient", strict=True) is None
    True
    """
    if isinstance(value, Decimal) and value == value.to_integral_value():
        return int(value)
    if not isinstance(value, str):
        return value
    if "/" in value:
        before, _, last = value.partition("/_history/")[0].rpartition("/")
        if before.rpartition("/")[2] == table:
            value = last
        elif strict:
            return None
    elif value.startswith(_URN):
        value = value.rpartition(":")[2]
    elif strict and value.startswith("#"):
        return None
    # CSV has only text: its 17 equals the number 17 of another table, but 017 does not.
    return int(value) if len(value) <= _LONGEST_NUMBER and _WHOLE.fullmatch(value) else value


def find_at(document: Document, column: str) -> Value:
    """Return the value of a column, which may be a path through objects; None if there is none."""
    if column in document:
        return document[column]
    return field_at(document, column.split("."))


def take_at(document: Document, column: str) -> Value:
    """Remove a column, with the objects on its path that are empty then, and return its value."""
    if column in document or "." not in column:
        return document.pop(column, None)
    head, _, rest = column.partition(".")
    inner = document.get(head)
    if not isinstance(inner, dict):
        return None
    changed = dict(inner)  # what was given stays as it is
    value = take_at(changed, rest)
    if changed:
        document[head] = changed
    else:
        del document[head]
    return value


def put_at(document: Document, column: str, value: Value) -> None:
    """Put a value at a column, which is a path through objects."""
    put_value(document, column.split("."), value)


def copy_looked_up(
    document: Document, lookup: Lookup, table: Table, number: int, rows: Mapping[Scalar, Document]
) -> None:
    """Copy what a lookup's rows have into a row that refers to one; the reference is taken out.

    Raises InputError, without a value, for a reference to no row, and where the row has such a value already.
    """
    for name, column, copies in lookup.uses:
        if name != table.name:
            continue
        value = _take(document, column, table, number)
        key = None if value is None else read_key(value, lookup.name, strict=table.typed)
        contained = _find_contained(document, lookup.name, value) if table.typed and key is None else None
        inside = isinstance(value, str) and value.startswith("#")
        if key is None and contained is None and not inside:
            continue
        source_row = contained if contained is not None else rows.get(key)
        if source_row is None:
            refuse(table.name, f"row {number} refers at {column} to a row that {lookup.name} does not have")
        for source, target in copies:
            if find_at(document, target) is not None:
                refuse(table.name, f"row {number} has both {column} and {target}, where a copy would go")
            if (copied := find_at(source_row, source)) is not None:
                put_at(document, target, copied)


def _find_contained(document: Document, name: str, reference: Scalar) -> Document | None:
    """Return the resource that a reference such as ``#m1`` names within its own row."""
    contained = document.get("contained")
    if not isinstance(reference, str) or not isinstance(contained, list):
        return None
    resources = (item for item in contained if isinstance(item, dict) and item.get("resourceType") == name)
    return next((resource for resource in resources if f"#{resource.get('id')}" == reference), None)


def refuse(table: str, message: str) -> NoReturn:
    """Raise InputError about a table."""
    raise InputError(f"the table {table}: {message}")


def _take(document: Document, column: str, table: Table, number: int) -> Scalar:
    value = take_at(document, column)
    if isinstance(value, dict | list):
        refuse(table.name, f"row {number} has more than one value in the column {column}, which joins tables")
    return value

"""What a policy says about tables: how CSV is written, keyed tables of records, the population table."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Annotated, Literal

from pydantic import AfterValidator, Field

from hierdata.domains.bounds import MOST_ENTRIES, MOST_PARTS, FileName, Name, PathName
from hierdata.policy.spec.values import PolicyPart
from hierdata.records.keyed import Lookup, Table

TableName = Annotated[str, Field(pattern=r"^\w[\w .-]*$", max_length=200)]
"""Also the name of a file."""


def _check_unique(columns: tuple[str, ...]) -> tuple[str, ...]:
    if len(set(columns)) < len(columns):
        raise ValueError("two of them have the same name")
    return columns


Columns = Annotated[
    tuple[Name, ...], Field(min_length=1, max_length=MOST_ENTRIES), AfterValidator(_check_unique)
]
"""Names of columns, each once."""
Parents = Annotated[
    tuple[TableName, ...], Field(min_length=1, max_length=MOST_PARTS), AfterValidator(_check_unique)
]
"""Names of tables, each once."""
Copies = Annotated[dict[Name, Name], Field(min_length=1, max_length=MOST_PARTS)]
"""Columns of a lookup, each with the column of the row that refers to it where it is copied."""
StandardName = Literal["fhir-r4"]
"""What a standard says of the rows of tables."""


class CsvOptions(PolicyPart):
    """How CSV is read and written."""

    delimiter: Annotated[str, Field(pattern=r'^[^"\r\n\x00]$', max_length=1)] | None = Field(
        default=None, description="what separates cells, by default found from the header"
    )
    columns: Columns | None = Field(
        default=None, description="names of the columns of a file without a header, in order"
    )
    comment: Annotated[str, Field(min_length=1, max_length=10)] | None = Field(
        default=None, description="lines above the header that begin with this are skipped"
    )
    decimal: Literal[".", ","] = Field(
        default=".", description="the decimal sign of numbers in the input; a release has a point"
    )
    for_people: bool = Field(
        default=False, description="put an apostrophe before text that spreadsheets take for a formula"
    )


class TableRule(PolicyPart):
    """One of several keyed tables: how its rows refer to those of its parent."""

    key: Name | None = Field(default=None, description="the column that identifies a row")
    parent: TableName | Parents | None = Field(
        default=None, description="the table that the rows belong to, or several in order of preference"
    )
    on: Name | Columns | None = Field(
        default=None, description="the column that holds the key of the parent's row, or one for each parent"
    )
    lookup: Annotated[dict[Name, Copies], Field(min_length=1, max_length=MOST_PARTS)] | None = Field(
        default=None,
        description="for rows that belong to nobody: what is copied to rows that refer to them, by reference",
    )
    columns: Columns | None = Field(
        default=None, description="names of the columns of a CSV file without a header, in order"
    )
    file: Annotated[str, Field(pattern=r"^[^/\\]+$", max_length=200)] | None = Field(
        default=None,
        description="name of the file in the folder, by default the table's name with a suffix",
    )

    @property
    def parents(self) -> tuple[str, ...]:
        """The tables that rows may belong to, the preferred one first."""
        return () if self.parent is None else as_tuple(self.parent)

    @property
    def columns_on(self) -> tuple[str, ...]:
        """The columns that hold the key of a parent's row."""
        return () if self.on is None else as_tuple(self.on)


def as_tuple(names: str | tuple[str, ...]) -> tuple[str, ...]:
    """Return names, of which one may be written without brackets."""
    return (names,) if isinstance(names, str) else names


def order_tables(
    rules: Mapping[str, TableRule], key: str | None = None, linked: Collection[str] = ()
) -> tuple[Table, ...]:
    """Return the tables with parents before their children, otherwise in the order stated; no lookups.

    ``key`` is the column that identifies the rows of all tables whose rules name none; with it, references
    name their table. Tables that no root leads to are left out; the checks of a policy refuse them. Rows of
    the tables ``linked`` keep their keys; the root is called "" there.
    """
    ordered: dict[str, Table] = {}
    for _ in rules:
        ordered |= {
            name: _table_of(name, rule, key, (name if rule.parents else "") in linked)
            for name, rule in rules.items()
            if rule.lookup is None and all(parent in ordered for parent in rule.parents)
        }
    return tuple(ordered.values())


def _table_of(name: str, rule: TableRule, key: str | None, keeps_key: bool) -> Table:
    links = tuple(zip(rule.parents, rule.columns_on, strict=False))
    parent, on = links[0] if links else (None, None)
    kept = keeps_key and rule.key in (None, key)
    return Table(name, rule.key or key, parent, on, links[1:], key is not None, kept)


def list_lookups(rules: Mapping[str, TableRule], key: str | None = None) -> tuple[Lookup, ...]:
    """Return the tables of rows that belong to nobody (see ``order_tables``)."""
    lookups = []
    for name, rule in rules.items():
        if rule.lookup is not None:
            uses = []
            for path, copies in rule.lookup.items():
                table, _, column = path.partition(".")
                uses.append((table, column, tuple(copies.items())))
            lookups.append(Lookup(name, rule.key or key or "", tuple(uses)))
    return tuple(lookups)


class PopulationTable(PolicyPart):
    """A CSV table of the people that an adversary may know, one per row.

    Without ``columns`` every quasi-identifier of the record itself must have a column of its name; for a
    nested one, the names are joined by dots. With ``columns`` only those listed are compared.
    """

    file: FileName = Field(description="the CSV file")
    delimiter: Annotated[str, Field(min_length=1, max_length=1)] | None = Field(
        default=None, description="delimiter of the file, by default found from its header"
    )
    columns: Annotated[dict[PathName, Name], Field(min_length=1, max_length=MOST_PARTS)] | None = Field(
        default=None, description="the quasi-identifiers that are compared, each with its column"
    )

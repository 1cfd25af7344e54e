"""What a policy says about tables: how CSV is written, keyed tables of records, the population table."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field

from hierdata.domains.bounds import MOST_ENTRIES, MOST_PARTS, FileName, Name, PathName
from hierdata.records.flatten import Table

TableName = Annotated[str, Field(pattern=r"^\w[\w .-]*$", max_length=200)]
"""Also the name of a file."""


def _check_unique(columns: tuple[str, ...]) -> tuple[str, ...]:
    if len(set(columns)) < len(columns):
        raise ValueError("two columns have the same name")
    return columns


Columns = Annotated[
    tuple[Name, ...], Field(min_length=1, max_length=MOST_ENTRIES), AfterValidator(_check_unique)
]
"""Names of columns, each once."""


class CsvOptions(BaseModel):
    """How CSV is read and written."""

    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)

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


class TableRule(BaseModel):
    """One of several keyed tables: how its rows refer to those of its parent."""

    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)

    key: Name | None = Field(default=None, description="the column that identifies a row")
    parent: TableName | None = Field(
        default=None, description="the table that the rows belong to; the root table has none"
    )
    on: Name | None = Field(default=None, description="the column that holds the key of the parent's row")
    columns: Columns | None = Field(
        default=None, description="names of the columns of a CSV file without a header, in order"
    )
    file: Annotated[str, Field(pattern=r"^[^/\\]+$", max_length=200)] | None = Field(
        default=None,
        description="name of the file in the folder, by default <table>.csv, .csv.gz or .parquet",
    )


def order_tables(rules: Mapping[str, TableRule]) -> tuple[Table, ...]:
    """Return the tables with parents before their children, otherwise in the order stated.

    Tables that no root leads to are left out; the checks of a policy refuse them.
    """
    ordered: dict[str, Table] = {}
    for _ in rules:
        ordered |= {
            name: Table(name, rule.key, rule.parent, rule.on)
            for name, rule in rules.items()
            if rule.parent is None or rule.parent in ordered
        }
    return tuple(ordered.values())


class PopulationTable(BaseModel):
    """A CSV table of the people that an adversary may know, one per row.

    Without ``columns`` every quasi-identifier of the record itself must have a column of its name; for a
    nested one, the names are joined by dots. With ``columns`` only those listed are compared.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)

    file: FileName = Field(description="the CSV file")
    delimiter: Annotated[str, Field(min_length=1, max_length=1)] | None = Field(
        default=None, description="delimiter of the file, by default found from its header"
    )
    columns: Annotated[dict[PathName, Name], Field(min_length=1, max_length=MOST_PARTS)] | None = Field(
        default=None, description="the quasi-identifiers that are compared, each with its column"
    )

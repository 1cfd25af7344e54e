"""What a policy says of tables: how CSV is spelled, and which keyed tables make up a record."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

from hierdata.records.flatten import Table

Column = Annotated[str, Field(min_length=1)]
TableName = Annotated[str, Field(pattern=r"^\w[\w .-]*$")]
"""It names a file too."""


class CsvOptions(BaseModel):
    """How CSV is spelled."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    delimiter: Annotated[str, Field(pattern=r'^[^"\r\n\x00]$')] | None = Field(
        default=None, description="what separates cells, else found in the header"
    )
    for_people: bool = Field(
        default=False, description="put an apostrophe before text that spreadsheets take for a formula"
    )


class TableRule(BaseModel):
    """One of several keyed tables: how its rows hang together with those of its parent."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    key: Column | None = Field(default=None, description="the column that tells rows apart")
    parent: str | None = Field(default=None, description="the table that the rows belong to; one has none")
    on: Column | None = Field(default=None, description="the column that holds the key of the parent's row")
    file: Annotated[str, Field(pattern=r"^[^/\\]+$")] | None = Field(
        default=None, description="name of the file in the folder, else <table>.csv, .csv.gz or .parquet"
    )


def in_order(rules: Mapping[str, TableRule]) -> tuple[Table, ...]:
    """The tables, the root first and parents before their children, else as they are stated."""
    ordered: dict[str, Table] = {}
    while len(ordered) < len(rules):
        ordered |= {
            name: Table(name, rule.key, rule.parent, rule.on)
            for name, rule in rules.items()
            if rule.parent is None or rule.parent in ordered
        }
    return tuple(ordered.values())

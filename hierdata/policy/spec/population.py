"""What a policy says of the population table of k-map and delta-presence."""

from __future__ import annotations

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

from hierdata.domains.bounds import MOST_PARTS, FileName, Name, PathName


class PopulationTable(BaseModel):
    """A CSV table of the people that an adversary may know, one per row.

    Without ``columns`` every quasi-identifier of the record itself must have a column of its name; for a
    nested one, the names are joined by dots. With ``columns`` only those listed are compared.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    file: FileName = Field(description="the CSV file")
    delimiter: Annotated[str, Field(min_length=1, max_length=1)] | None = Field(
        default=None, description="delimiter of the file, by default found from its header"
    )
    columns: Annotated[dict[PathName, Name], Field(min_length=1, max_length=MOST_PARTS)] | None = Field(
        default=None, description="the quasi-identifiers that are compared, each with its column"
    )

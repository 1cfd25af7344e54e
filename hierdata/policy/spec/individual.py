"""Whose record is it: documents of one person become one record."""

from __future__ import annotations

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, model_validator

from hierdata.domains.bounds import MOST_PARTS, PathName


class IndividualRule(BaseModel):
    """The value that says whose a document is, and which of the rest is the person's own."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    by: PathName = Field(description="the value that says whose a document is")
    nest: PathName | None = Field(
        default=None, description="a new list of the person, with an item for each document"
    )
    own: Annotated[tuple[PathName, ...], Field(max_length=MOST_PARTS)] = Field(
        default=(), description="with nest: fields of the person, which all of its documents agree in"
    )

    @model_validator(mode="after")
    def _complete(self) -> IndividualRule:
        if self.own and self.nest is None:
            raise ValueError("`own` has no meaning without `nest`: the name of the list for all else")
        return self


def read_individual(stated: str | IndividualRule | None) -> IndividualRule | None:
    """Return what a policy states as a rule; a path alone names the value that says whose a document is."""
    return IndividualRule(by=stated) if isinstance(stated, str) else stated

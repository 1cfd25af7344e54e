"""Parts of a policy that are checked by their own text."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationInfo

from hierdata.documents.formats.encodings import name_encoding
from hierdata.domains.bounds import LONGEST_NAME, MOST_PARTS, Count, PathName, Reason
from hierdata.ground.errors import PolicyError
from hierdata.records.path import depth_of, parse


def _readable(text: str, info: ValidationInfo) -> str:
    try:
        namespaces = info.data.get("namespaces")
        if info.field_name == "records":
            if any(step.conditions for step in parse(text, namespaces, 1).steps):
                raise ValueError("the records are all items of a list: filters belong to `fields`")
        else:
            parse(text, namespaces, depth_of(info.data.get("records"), namespaces))
    except PolicyError as error:
        raise ValueError(str(error)) from None
    return text


def _declarable(namespaces: dict[str, str]) -> dict[str, str]:
    if namespaces:
        from hierdata.documents.formats.xmltext import check_namespaces

        check_namespaces(namespaces)
    return namespaces


EncodingName = Annotated[str, Field(max_length=LONGEST_NAME), AfterValidator(name_encoding)]
"""The name of an encoding of text."""
Namespaces = Annotated[
    dict[Annotated[str, Field(max_length=LONGEST_NAME)], PathName],
    Field(max_length=MOST_PARTS),
    AfterValidator(_declarable),
]
"""XML prefixes and their URIs."""
PathText = Annotated[str, Field(max_length=2000), AfterValidator(_readable)]
ENTRIES = ".*"
"""The end of a path of records that are the values of an object."""


def _readable_place(text: str, info: ValidationInfo) -> str:
    _readable(text.removesuffix(ENTRIES) if text.startswith("$") else text, info)
    return text


PlaceText = Annotated[str, Field(max_length=2000), AfterValidator(_readable_place)]


SensitiveTables = (
    Count
    | Literal["correlated"]
    | Annotated[
        tuple[Annotated[tuple[PathText, ...], Field(min_length=1, max_length=MOST_PARTS)], ...],
        Field(min_length=1, max_length=MOST_PARTS),
    ]
)
"""The most tables for each vertex type, or as many as separate correlated attributes best, or all tables."""


class PolicyPart(BaseModel):
    """A part of a policy: it never changes, takes no unknown keys, and is compiled when it is first used."""

    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)


class Keep(PolicyPart):
    """Something is published that is not by default; the release states the reason.

    Unlisted fields become quasi-identifiers with a flat domain; values keep the spelling of the input.
    """

    keep: Reason


class AcceptedRisks(PolicyPart):
    """Risks that a policy accepts, each with the reason, which the release repeats."""

    model_config = ConfigDict(populate_by_name=True)

    group_ids: Reason | None = Field(
        default=None,
        alias="group-ids",
        description="with recoding slicing_by_table: why the group ids of a record may single it out",
    )
    unique: Annotated[dict[PathName, Reason], Field(max_length=MOST_PARTS)] = Field(
        default={}, description="by path: why values that lead to one person each are published all the same"
    )

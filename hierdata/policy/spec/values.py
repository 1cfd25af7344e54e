"""Parts of a policy that are checked by their own text."""

from __future__ import annotations

from typing import Annotated

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationInfo

from hierdata.errors import PolicyError
from hierdata.policy.spec.fields import Reason
from hierdata.records.path import depth_of, parse


def _readable(text: str, info: ValidationInfo) -> str:
    try:
        namespaces = info.data.get("namespaces")
        if info.field_name == "records":
            parse(text, namespaces, 1)
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


Namespaces = Annotated[dict[str, str], AfterValidator(_declarable)]
"""XML prefixes and their URIs."""
PathText = Annotated[str, Field(max_length=2000), AfterValidator(_readable)]


SensitiveTables = (
    Annotated[int, Field(strict=True, ge=1)]
    | Annotated[tuple[Annotated[tuple[PathText, ...], Field(min_length=1)], ...], Field(min_length=1)]
)
"""The most tables for each vertex type, or the sensitive attributes of each table."""


class Keep(BaseModel):
    """Unlisted fields are published as quasi-identifiers with a flat domain; the report states the reason."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    keep: Reason

"""Replace every value by a constant: ``action: {redact: "[removed]"}``."""

from __future__ import annotations

import json
import re
from typing import Any, ClassVar

from pydantic import Field, GetJsonSchemaHandler, field_validator, model_validator
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema

from hierdata.documents.document import Scalar
from hierdata.domains.base import ROOT_LABEL
from hierdata.records.identifiers.base import Action, Replace
from hierdata.records.identifiers.key import Key
from hierdata.records.schema import Role


class Redact(Action):
    """Every value becomes the same text.

    Whether there was a value at all may identify a person, so the field is a quasi-identifier with one value:
    in a class where only some records have it, it is generalized.
    """

    kind: ClassVar[str] = "redact"
    roles: ClassVar[tuple[str, ...]] = ("identifier", "free_text")
    makes_constant: ClassVar[bool] = True

    text: str = Field(default="[removed]", min_length=1, max_length=200)

    @model_validator(mode="before")
    @classmethod
    def _text(cls, spec: Any) -> Any:
        return {"text": spec} if isinstance(spec, str) else spec

    @field_validator("text")
    @classmethod
    def _constant(cls, text: str) -> str:
        if text == ROOT_LABEL or text != text.strip() or not text.isprintable() or text.startswith("{"):
            raise ValueError(
                f"a constant must be printable text without spaces around it, not {ROOT_LABEL} and not a set"
            )
        return text

    @classmethod
    def __get_pydantic_json_schema__(cls, core: CoreSchema, handler: GetJsonSchemaHandler) -> JsonSchemaValue:
        """Describe the constant alone, as a policy writes it."""
        return {
            "type": "string",
            "minLength": 1,
            "maxLength": 200,
            "description": "the text that replaces every value",
        }

    def published_as(self, role: str) -> Role | None:
        """Return QUASI: the field is a quasi-identifier with one value."""
        return Role.QUASI

    def replace(self, path: str, key: Key | None) -> Replace | None:
        """Return the function that replaces every value by the constant."""

        def replace_value(value: Scalar, days: int) -> Scalar:
            return self.text

        return replace_value

    def pattern(self, role: str) -> str | None:
        """Return the pattern of the constant: plain, generalized, or in a set (with a missing value)."""
        own, quoted = re.escape(self.text), re.escape(json.dumps(self.text, ensure_ascii=False))
        return rf"{own}|\*|\{{(?:{own}|{quoted})(?:, null)?\}}"

    def describe(self, role: str) -> str:
        """Return the description for the report."""
        return "replaced by a constant"

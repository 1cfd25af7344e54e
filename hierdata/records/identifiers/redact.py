"""Put a constant in the place of every value: ``action: {redact: "[removed]"}``."""

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

    Whether there was a value at all may tell who it is, so the field is a quasi-identifier of one value: in a
    class where some have it and some do not it is generalized.
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
                f"a constant is printable text without spaces around it, not {ROOT_LABEL}, and no set"
            )
        return text

    @classmethod
    def __get_pydantic_json_schema__(cls, core: CoreSchema, handler: GetJsonSchemaHandler) -> JsonSchemaValue:
        """In a policy the constant stands alone."""
        return {"type": "string", "minLength": 1, "description": "the text that stands for every value"}

    def published_as(self, role: str) -> Role | None:
        """A quasi-identifier of one value."""
        return Role.QUASI

    def replace(self, path: str, key: Key | None) -> Replace | None:
        """The constant."""

        def replaced(value: Scalar, days: int) -> Scalar:
            return self.text

        return replaced

    def pattern(self) -> str | None:
        """The constant, generalized or not, or in a set with nothing else but what is missing."""
        own, quoted = re.escape(self.text), re.escape(json.dumps(self.text, ensure_ascii=False))
        return rf"{own}|\*|\{{(?:{own}|{quoted})(?:, null)?\}}"

    def describe(self, role: str) -> str:
        """A constant."""
        return "replaced by a constant"

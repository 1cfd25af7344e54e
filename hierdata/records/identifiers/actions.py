"""Actions on a field: leave it out, replace it by a constant, or by a pseudonym.

Written ``action: drop``, ``action: {redact: "[removed]"}`` and ``action: {pseudonym: ...}``.
"""

from __future__ import annotations

import hmac
import json
import re
from typing import Annotated, Any, ClassVar, Literal

from pydantic import Field, GetJsonSchemaHandler, field_validator, model_validator
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema

from hierdata.documents.document import Scalar
from hierdata.domains.base import ROOT_LABEL
from hierdata.domains.bounds import Name, Reason
from hierdata.ground.secrets import Key
from hierdata.records.identifiers.base import Action, PseudonymSpec, Replace, text_of
from hierdata.records.identifiers.substitute import Substitution
from hierdata.records.schema import Role

_REMEMBERED = 1 << 14
"""Limit on cached pseudonyms: references repeat, identifiers do not."""


class Drop(Action):
    """The field is not published."""

    kind: ClassVar[str] = "drop"
    drops: ClassVar[bool] = True

    def published_as(self, role: str) -> Role | None:
        """Return None."""
        return None


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
        plain, quoted = re.escape(self.text), re.escape(json.dumps(self.text, ensure_ascii=False))
        return rf"{plain}|\*|\{{(?:{plain}|{quoted})(?:, null)?\}}"

    def describe(self, role: str) -> str:
        """Return the description for the report."""
        return "replaced by a constant"


class Pseudonym(Action):
    """A value becomes hexadecimal digits, by HMAC-SHA-256 under the key of its domain.

    Within a domain equal values have equal pseudonyms, so references stay intact; pseudonyms of different
    domains are unrelated. Without the key a value's pseudonym cannot be computed. A pseudonym is carried, not
    a quasi-identifier. So it must not occur in more than one record, or anyone who knows how records are
    linked could re-identify them; ``links`` is the reason why that is acceptable.

    In a domain of several fields ``identity`` marks those that identify the vertex they are in; the others
    are references. A reference to a vertex that is not published would tell that it exists, and who referred
    to it: it is dropped, for all records of the class, unless ``references`` says ``keep``.

    With ``form: keep`` a pseudonym looks like its value (see substitute): letters and digits are replaced
    where they are. Whoever has the key can undo that, and nobody can tell such a pseudonym from a value
    without the original and the key. Forms that only a few persons have, or with few texts, are refused.
    """

    kind: ClassVar[str] = "pseudonym"
    roles: ClassVar[tuple[str, ...]] = ("identifier",)
    keyed: ClassVar[bool] = True
    takes_exempt: ClassVar[bool] = True

    domain: Name | None = Field(
        default=None,
        description="fields of one domain share their pseudonyms; by default a field has its own",
    )
    length: Annotated[int, Field(strict=True, ge=16, le=64)] = Field(
        default=32, description="hexadecimal digits of a pseudonym"
    )
    form: Literal["hexadecimal", "keep"] = Field(
        default="hexadecimal",
        description="keep: letters and digits are replaced where they are; whoever has the key can undo that",
    )
    links: Reason | None = Field(
        default=None, description="why a pseudonym may occur in more than one record"
    )
    identity: bool = Field(
        default=False, description="the field identifies its vertex; other fields of the domain refer to it"
    )
    references: Literal["drop", "keep"] = Field(
        default="drop", description="what happens to references that lead to nothing published"
    )

    @model_validator(mode="after")
    def _has_one_length(self) -> Pseudonym:
        if self.form == "keep" and "length" in self.model_fields_set:
            raise ValueError("with form: keep a pseudonym is as long as its value: leave `length` out")
        return self

    def published_as(self, role: str) -> Role | None:
        """Return CARRIED: a pseudonym is not a quasi-identifier, and only its form is judged."""
        return Role.CARRIED

    def tokens(self, path: str) -> PseudonymSpec:
        """Return the pseudonyms of a field; their domain is its path if none is stated."""
        return PseudonymSpec(
            self.domain or path,
            self.length,
            self.links,
            self.identity,
            self.references == "keep",
            self.form == "keep",
        )

    def replace(self, path: str, key: Key | None) -> Replace | None:
        """Return the function from a value to its token."""
        assert key is not None
        domain, length = self.tokens(path).domain, self.length
        derived = key.derive_key("pseudonym" if self.form == "hexadecimal" else "substitute", domain)
        substitution = Substitution(derived) if self.form == "keep" else None
        known: dict[str, str] = {}

        def replace_value(value: Scalar, days: int) -> Scalar:
            text = text_of(value)
            token = known.get(text)
            if token is None:
                if substitution is not None:
                    token = substitution.substitute(text)
                else:
                    token = hmac.digest(derived, text.encode("utf-8", "surrogatepass"), "sha256").hex()[
                        :length
                    ]
                if len(known) < _REMEMBERED:
                    known[text] = token
            return token

        return replace_value

    def pattern(self, role: str) -> str | None:
        """Return the pattern of ``length`` hexadecimal digits; substitutes have none."""
        if self.form == "keep":
            return None
        return f"[0-9a-f]{{{self.length}}}"

    def describe(self, role: str) -> str:
        """Return the description for the report."""
        if self.form == "keep":
            return "replaced by substitutes of the same form, which the key can undo"
        return "replaced by pseudonyms"

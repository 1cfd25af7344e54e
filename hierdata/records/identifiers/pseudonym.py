"""Replace every value by a token: ``action: {pseudonym: {domain: students}}``."""

from __future__ import annotations

import hmac
from typing import Annotated, ClassVar, Literal

from pydantic import Field

from hierdata.documents.document import Scalar
from hierdata.domains.bounds import Name, Reason
from hierdata.records.identifiers.base import Action, PseudonymSpec, Replace, text_of
from hierdata.records.identifiers.key import Key
from hierdata.records.schema import Role

_REMEMBERED = 1 << 14
"""Limit on cached pseudonyms: references repeat, identifiers do not."""


class Pseudonym(Action):
    """A value becomes hexadecimal digits, by HMAC-SHA-256 under the key of its domain.

    Within a domain equal values have equal pseudonyms, so references stay intact; pseudonyms of different
    domains are unrelated. Without the key a value's pseudonym cannot be computed. A pseudonym is carried, not
    a quasi-identifier. So it must not occur in more than one record, or anyone who knows how records are
    linked could re-identify them; ``links`` is the reason why that is acceptable.

    In a domain of several fields ``identity`` marks those that identify the vertex they are in; the others
    are references. A reference to a vertex that is not published would tell that it exists, and who referred
    to it: it is dropped, for all records of the class, unless ``references`` says ``keep``.
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
    links: Reason | None = Field(
        default=None, description="why a pseudonym may occur in more than one record"
    )
    identity: bool = Field(
        default=False, description="the field identifies its vertex; other fields of the domain refer to it"
    )
    references: Literal["drop", "keep"] = Field(
        default="drop", description="what happens to references that lead to nothing published"
    )

    def published_as(self, role: str) -> Role | None:
        """Return CARRIED: a pseudonym is not a quasi-identifier, and only its form is judged."""
        return Role.CARRIED

    def tokens(self, path: str) -> PseudonymSpec:
        """Return the pseudonyms of a field; their domain is its path if none is stated."""
        return PseudonymSpec(
            self.domain or path, self.length, self.links, self.identity, self.references == "keep"
        )

    def replace(self, path: str, key: Key | None) -> Replace | None:
        """Return the function from a value to its token."""
        assert key is not None
        own, length = key.derive_key("pseudonym", self.tokens(path).domain), self.length
        known: dict[str, str] = {}

        def replace_value(value: Scalar, days: int) -> Scalar:
            text = text_of(value)
            token = known.get(text)
            if token is None:
                token = hmac.digest(own, text.encode("utf-8", "surrogatepass"), "sha256").hex()[:length]
                if len(known) < _REMEMBERED:
                    known[text] = token
            return token

        return replace_value

    def pattern(self, role: str) -> str | None:
        """Return the pattern of ``length`` hexadecimal digits."""
        return f"[0-9a-f]{{{self.length}}}"

    def describe(self, role: str) -> str:
        """Return the description for the report."""
        return "replaced by pseudonyms"

"""What a policy says of one field."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    create_model,
    model_validator,
)

from hierdata.domains import DOMAINS
from hierdata.domains.base import Hierarchy, Observed, QuasiDomain
from hierdata.domains.flat import Flat
from hierdata.domains.levels import Levels, LevelScale
from hierdata.records.schema import Role


def _spelling(value: object) -> object:
    """Missing values are told by their spelling, so numbers and booleans may stand as they are."""
    if isinstance(value, bool):
        return "true" if value else "false"
    return value if value is None or isinstance(value, str | list | dict) else str(value)


def _sorted(spellings: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(sorted(set(spellings)))


Reason = Annotated[str, Field(min_length=1)]


class _FieldRule(BaseModel):
    """One field: its role, and what the role needs.

    ``quasi`` needs a domain (one of the keys of ``DOMAINS``), ``sensitive`` takes ``levels``, ``insensitive``
    is a quasi-identifier with a flat domain unless ``exempt`` gives the reason why it cannot identify
    (DECISIONS 11). A sensitive attribute may have a ``taxonomy``: how near its values are to each other.
    ``identifier`` and ``free_text`` are dropped; ``action: drop`` drops a field of any role.
    A rule with ``vertex`` and no role publishes nothing: it makes a single object a vertex of its own.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    role: Literal["quasi", "sensitive", "insensitive", "identifier", "free_text"] | None = Field(
        default=None, description="what the field is for the promise"
    )
    action: Literal["drop"] | None = Field(default=None, description="leave the field out")
    levels: Levels | None = Field(default=None, description="sensitivity levels of a sensitive attribute")
    number: bool = Field(default=False, description="the sensitive values are numbers, in XML too")
    missing: Annotated[
        tuple[Annotated[str, BeforeValidator(_spelling, json_schema_input_type=str | float | bool)], ...],
        AfterValidator(_sorted),
    ] = Field(default=(), description="spellings that mean: no value")
    optional: bool = Field(default=False, description="the rule may match nothing")
    vertex: bool = Field(default=False, description="a single object here is a vertex of its own")
    exempt: Reason | None = Field(default=None, description="why an insensitive field cannot identify")

    @property
    def dropped(self) -> bool:
        """Whether the field is left out of the release."""
        return self.action == "drop"

    @property
    def domain(self) -> QuasiDomain | None:
        """The domain of a field that the promise treats as a quasi-identifier."""
        if self.published_as is not Role.QUASI:
            return None
        stated = next((getattr(self, key) for key in DOMAINS if getattr(self, key) is not None), None)
        return stated or Flat()

    @property
    def published_as(self) -> Role | None:
        """What the field is in the published records, None where it is not there."""
        if self.dropped or self.role is None:
            return None
        if self.role == "insensitive":
            return Role.QUASI if self.exempt is None else Role.CARRIED
        return Role(self.role)

    def files(self) -> Iterator[tuple[str, str]]:
        """Every file that the rule names, after the key of the domain that names it."""
        for key in DOMAINS:
            stated: QuasiDomain | None = getattr(self, key)
            if stated is not None and (file := stated.named_file) is not None:
                yield key, file

    def semantics(self, folder: Path) -> Hierarchy | None:
        """The taxonomy of a sensitive attribute's values, None where none is given."""
        stated: QuasiDomain | None = getattr(self, "taxonomy", None)
        if stated is None or self.published_as is not Role.SENSITIVE:
            return None
        return stated.compile({}, folder)

    def scale(self, observed: Observed) -> LevelScale | None:
        """The level scale for one collection, None where no levels are given."""
        return self.levels.compile(observed, self.number) if self.levels is not None else None

    @model_validator(mode="before")
    @classmethod
    def _drop(cls, data: Any) -> Any:
        """Identifiers and free text have no other action yet, so it need not be written."""
        if isinstance(data, dict) and data.get("role") in ("identifier", "free_text"):
            return {"action": "drop", **data}
        return data

    @model_validator(mode="after")
    def _consistent(self) -> _FieldRule:
        if problems := list(self._problems()):
            raise ValueError("; ".join(problems))
        return self

    def _problems(self) -> Iterator[str]:
        stated = self.model_fields_set - {"role", "action", "optional", "vertex"}
        if self.dropped:
            if beside := stated | (self.model_fields_set & {"vertex"}):
                yield f"a dropped field takes no {' or '.join(sorted(beside))}"
            return
        if self.role is None and not self.vertex:
            yield "a role is needed: quasi, sensitive, insensitive, identifier or free_text"
        domains = [key for key in DOMAINS if key in stated]
        if self.role == "quasi" and len(domains) != 1:
            found = (
                f"not {' and '.join(domains)}" if domains else "flat: true where nothing is to be generalized"
            )
            yield f"a quasi-identifier needs one of {', '.join(DOMAINS)}; {found}"
        for key in sorted(stated):
            if self.role not in _TAKEN_BY.get(key, ("quasi",)):
                where = f"role {self.role}" if self.role else "a rule without role"
                yield f"{key} does not belong to {where}"


_TAKEN_BY: dict[str, tuple[str, ...]] = {
    "levels": ("sensitive",),
    "taxonomy": ("quasi", "sensitive"),
    "number": ("sensitive",),
    "exempt": ("insensitive",),
    "missing": ("quasi", "sensitive", "insensitive"),
}
"""The roles that take a key; a domain's key belongs to quasi-identifiers."""

if TYPE_CHECKING:
    FieldRule = _FieldRule
else:
    # The keys of the domains are those of the family's dict, so that a new domain is one line there.
    FieldRule = create_model(
        "FieldRule",
        __base__=_FieldRule,
        __doc__=_FieldRule.__doc__,
        __module__=__name__,
        **{key: (domain | None, None) for key, domain in DOMAINS.items()},
    )

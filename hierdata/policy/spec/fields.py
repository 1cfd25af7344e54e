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
    GetJsonSchemaHandler,
    SerializerFunctionWrapHandler,
    create_model,
    model_serializer,
    model_validator,
)
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema

from hierdata.domains import DOMAINS
from hierdata.domains.base import Hierarchy, Observed, QuasiDomain
from hierdata.domains.flat import Flat
from hierdata.domains.levels import Levels, LevelScale
from hierdata.policy.spec.others import OnlyPlugin
from hierdata.records.identifiers import ACTIONS, Action
from hierdata.records.schema import Role


def _spelling(value: object) -> object:
    """Missing values are told by their spelling, so numbers and booleans may stand as they are."""
    if isinstance(value, bool):
        return "true" if value else "false"
    return value if value is None or isinstance(value, str | list | dict) else str(value)


def _sorted(spellings: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(sorted(set(spellings)))


Reason = Annotated[str, Field(min_length=1)]

if TYPE_CHECKING:
    OtherDomain = QuasiDomain
else:
    OtherDomain = Annotated[QuasiDomain, OnlyPlugin("domains", DOMAINS, QuasiDomain)]

_DOMAIN_KEYS = {key: key for key in DOMAINS} | {"other": "domain"}
"""The keys of a rule that state a domain, by the names of the fields that hold it."""


class _ActionSpec(BaseModel):
    """What becomes of the values of a field: one action, by its name alone or with what it needs."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    @property
    def stated(self) -> Action:
        """The action."""
        found: Action = next(action for kind in ACTIONS if (action := getattr(self, kind)) is not None)
        return found

    @model_validator(mode="before")
    @classmethod
    def _named(cls, spec: Any) -> Any:
        return {spec: {}} if isinstance(spec, str) else spec

    @model_validator(mode="after")
    def _one(self) -> _ActionSpec:
        if len(self.model_fields_set) != 1:
            raise ValueError(f"one of {', '.join(ACTIONS)} is due")
        return self

    @model_serializer(mode="wrap")
    def _spelled(self, handler: SerializerFunctionWrapHandler) -> Any:
        kind = self.stated.kind
        needs = handler(self)[kind]
        return {kind: needs} if needs else kind

    @classmethod
    def __get_pydantic_json_schema__(cls, core: CoreSchema, handler: GetJsonSchemaHandler) -> JsonSchemaValue:
        """An action that needs nothing may stand as its name."""
        alone = [
            kind
            for kind, action in ACTIONS.items()
            if not any(info.is_required() for info in action.model_fields.values())
        ]
        described = handler(core)
        return {"anyOf": [{"enum": alone}, described]}


if TYPE_CHECKING:
    ActionSpec = _ActionSpec
else:
    # As those of the domains below.
    ActionSpec = create_model(
        "ActionSpec",
        __base__=_ActionSpec,
        __doc__=_ActionSpec.__doc__,
        __module__=__name__,
        **{kind: (action | None, None) for kind, action in ACTIONS.items()},
    )


class _FieldRule(BaseModel):
    """One field: its role, and what the role needs.

    ``quasi`` needs a domain (one of the keys of ``DOMAINS``), ``sensitive`` takes ``levels``, ``insensitive``
    is a quasi-identifier with a flat domain unless ``exempt`` gives the reason why it cannot identify
    (DECISIONS 11). A sensitive attribute may have a ``taxonomy``: how near its values are to each other.
    ``identifier`` and ``free_text`` are dropped where no other ``action`` is stated; free text is carried
    where ``exempt`` says why that is no risk. ``action: drop`` drops a field of any role.
    A rule with ``vertex`` and no role publishes nothing: it makes a single object a vertex of its own; with
    ``map`` an object whose keys are data becomes the array of its entries.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    role: Literal["quasi", "sensitive", "insensitive", "identifier", "free_text"] | None = Field(
        default=None, description="what the field is for the promise"
    )
    action: ActionSpec | None = Field(default=None, description="what becomes of the values")
    levels: Levels | None = Field(default=None, description="sensitivity levels of a sensitive attribute")
    number: bool = Field(default=False, description="the sensitive values are numbers, in XML too")
    missing: Annotated[
        tuple[Annotated[str, BeforeValidator(_spelling, json_schema_input_type=str | float | bool)], ...],
        AfterValidator(_sorted),
    ] = Field(default=(), description="spellings that mean: no value")
    optional: bool = Field(default=False, description="the rule may match nothing")
    vertex: bool = Field(default=False, description="a single object here is a vertex of its own")
    map: bool = Field(default=False, description="an object here is a map: its keys are data")
    exempt: Reason | None = Field(
        default=None,
        description="why an insensitive field, a free text or the absence of a pseudonym cannot identify",
    )

    other: OtherDomain | None = Field(
        default=None, alias="domain", description="a value domain of another distribution, by its kind"
    )

    @property
    def acting(self) -> Action | None:
        """The action, if there is one."""
        return None if self.action is None else self.action.stated

    @property
    def dropped(self) -> bool:
        """Whether the field is left out of the release."""
        return self.acting is not None and self.acting.drops

    @property
    def domain(self) -> QuasiDomain | None:
        """The domain of a field that the promise treats as a quasi-identifier."""
        if self.published_as is not Role.QUASI:
            return None
        if self.acting is not None and self.acting.makes_constant:
            return Flat()
        stated = next((getattr(self, key) for key in _DOMAIN_KEYS if getattr(self, key) is not None), None)
        return stated or Flat()

    @property
    def published_as(self) -> Role | None:
        """What the field is in the published records, None where it is not there."""
        if self.role is None:
            return None
        if self.acting is not None:
            return self.acting.published_as(self.role)
        if self.role == "insensitive":
            return Role.QUASI if self.exempt is None else Role.CARRIED
        if self.role == "free_text":
            return Role.CARRIED
        return Role(self.role)

    def files(self) -> Iterator[tuple[str, str]]:
        """Every file that the rule names, after the key of the domain that names it."""
        for key in _DOMAIN_KEYS:
            stated: QuasiDomain | None = getattr(self, key)
            if stated is not None and (file := stated.named_file) is not None:
                yield _DOMAIN_KEYS[key], file

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
        """Identifiers are dropped where nothing else is said, and so is free text."""
        if not isinstance(data, dict) or data.get("action") is not None:
            return data
        if data.get("role") == "identifier" or (data.get("role") == "free_text" and not data.get("exempt")):
            return {**data, "action": "drop"}
        return data

    @model_validator(mode="after")
    def _consistent(self) -> _FieldRule:
        if problems := list(self._problems()):
            raise ValueError("; ".join(problems))
        return self

    def _problems(self) -> Iterator[str]:
        if self.dropped or self.map:
            yield from self._alone()
            return
        acting = self.acting
        if acting is not None and self.role not in acting.roles:
            yield f"the action {acting.kind} is for the role {' or '.join(acting.roles)}"
            return
        if self.role is None and not self.vertex:
            yield "a role is needed: quasi, sensitive, insensitive, identifier or free_text"
        stated = self.model_fields_set - {"role", "action", "optional", "vertex"}
        domains = [name for key, name in _DOMAIN_KEYS.items() if key in stated]
        if self.role == "quasi" and len(domains) != 1:
            found = (
                f"not {' and '.join(domains)}" if domains else "flat: true where nothing is to be generalized"
            )
            yield f"a quasi-identifier needs one of {', '.join(DOMAINS)}; {found}"
        for key in sorted(stated):
            if not self._takes(key):
                where = f"role {self.role}" if self.role else "a rule without role"
                yield f"{key} does not belong to {where}"

    def _alone(self) -> Iterator[str]:
        """What stands beside what takes nothing more."""
        if self.map and (beside := self.model_fields_set - {"map", "optional"}):
            what = " or ".join(sorted(beside))
            yield f"a map takes no {what}: its keys and its values have rules of their own"
        elif not self.map and (beside := self.model_fields_set - {"role", "action", "optional"}):
            yield f"a dropped field takes no {' or '.join(sorted(beside))}"

    def _takes(self, key: str) -> bool:
        """Whether a key belongs to the rule's role and action."""
        if key == "exempt" and self.acting is not None:
            return self.acting.takes_exempt
        return self.role in _TAKEN_BY.get(key, ("quasi",))


_TAKEN_BY: dict[str, tuple[str, ...]] = {
    "levels": ("sensitive",),
    "taxonomy": ("quasi", "sensitive"),
    "number": ("sensitive",),
    "exempt": ("insensitive", "free_text"),
    "missing": ("quasi", "sensitive", "insensitive", "identifier", "free_text"),
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

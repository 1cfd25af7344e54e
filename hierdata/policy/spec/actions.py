"""What a policy says of the action on a field."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pydantic import (
    BaseModel,
    ConfigDict,
    GetJsonSchemaHandler,
    SerializerFunctionWrapHandler,
    create_model,
    model_serializer,
    model_validator,
)
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema

from hierdata.records.identifiers import ACTIONS, Action


class _ActionSpec(BaseModel):
    """What happens to the values of a field: one action, as a name or with its parameters."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    @property
    def stated_action(self) -> Action:
        """The action."""
        found: Action = next(action for kind in ACTIONS if (action := getattr(self, kind)) is not None)
        return found

    @model_validator(mode="before")
    @classmethod
    def _name_kind(cls, spec: Any) -> Any:
        return {spec: {}} if isinstance(spec, str) else spec

    @model_validator(mode="after")
    def _one(self) -> _ActionSpec:
        if len(self.model_fields_set) != 1 or all(getattr(self, kind) is None for kind in ACTIONS):
            raise ValueError(f"state exactly one of {', '.join(ACTIONS)}")
        return self

    @model_serializer(mode="wrap")
    def _spell_action(self, handler: SerializerFunctionWrapHandler) -> Any:
        kind = self.stated_action.kind
        needs = handler(self)[kind]
        return {kind: needs} if needs else kind

    @classmethod
    def __get_pydantic_json_schema__(cls, core: CoreSchema, handler: GetJsonSchemaHandler) -> JsonSchemaValue:
        """Allow the name alone for an action without required parameters."""
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
    # Generated from the family's dict, as the keys of the domains below.
    ActionSpec = create_model(
        "ActionSpec",
        __base__=_ActionSpec,
        __doc__=_ActionSpec.__doc__,
        __module__=__name__,
        **{kind: (action | None, None) for kind, action in ACTIONS.items()},
    )

"""What a policy says about the shape of records: one step of ``shape`` is a mapping with one key."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pydantic import (
    BaseModel,
    ConfigDict,
    SerializerFunctionWrapHandler,
    create_model,
    model_serializer,
    model_validator,
)

from hierdata.records.shape import STEPS, ShapeStep


class _StepSpec(BaseModel):
    """A step of the shape: its key, and what it needs."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    @property
    def step(self) -> ShapeStep:
        """The step."""
        found: ShapeStep = next(step for kind in STEPS if (step := getattr(self, kind)) is not None)
        return found

    @model_validator(mode="after")
    def _one(self) -> _StepSpec:
        if len(self.model_fields_set) != 1 or all(getattr(self, kind) is None for kind in STEPS):
            raise ValueError(f"state exactly one of {', '.join(STEPS)}")
        return self

    @model_serializer(mode="wrap")
    def _spell_step(self, handler: SerializerFunctionWrapHandler) -> Any:
        kind = self.step.kind
        return {kind: handler(self)[kind]}


if TYPE_CHECKING:
    StepSpec = _StepSpec
else:
    # Generated from the family's dict.
    StepSpec = create_model(
        "StepSpec",
        __base__=_StepSpec,
        __doc__=_StepSpec.__doc__,
        __module__=__name__,
        **{kind: (step | None, None) for kind, step in STEPS.items()},
    )

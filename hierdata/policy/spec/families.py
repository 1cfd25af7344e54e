"""The parts of a policy that are members of a family: the types are made from the family's dict."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, Any, Literal, TypeAlias, Union

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, model_validator

from hierdata.documents.formats import FORMATS
from hierdata.engines import ENGINES
from hierdata.policy.presets import PRESETS
from hierdata.privacy import MODELS
from hierdata.recodings import TRAITS


def one_of(family: Mapping[str, type[BaseModel]]) -> Any:
    """One of a family's members, told apart by ``kind``."""

    def stated(data: Any) -> Any:
        if isinstance(data, dict) and "kind" not in data:
            raise ValueError(f"a kind is needed: {', '.join(family)}")
        return data

    members = tuple(family.values())
    if len(members) == 1:
        return Annotated[members[0], BeforeValidator(stated)]
    return Annotated[Union[members], Field(discriminator="kind")]  # noqa: UP007  (of a tuple)


if TYPE_CHECKING:
    from hierdata.engines import Engine
    from hierdata.privacy import PrivacyModel

    Model: TypeAlias = PrivacyModel
    Step: TypeAlias = Engine
    FormatName: TypeAlias = str
    PresetName: TypeAlias = str
    RecodingName: TypeAlias = str
else:
    Model = one_of(MODELS)
    Step = one_of(ENGINES)
    FormatName = Literal[tuple(FORMATS)]
    PresetName = Literal[tuple(PRESETS)]
    RecodingName = Literal[tuple(TRAITS)]


class EngineSpec(BaseModel):
    """How classes are searched: a preset by its name, or steps."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    preset: PresetName | None = None
    steps: Annotated[tuple[Step, ...], Field(min_length=1)] | None = None

    @model_validator(mode="after")
    def _one(self) -> EngineSpec:
        if (self.preset is None) == (self.steps is None):
            raise ValueError("an engine is given by preset or by steps")
        return self


def with_preset(data: Any) -> Any:
    """A policy's data with what its preset brings: the recoding, and models of kinds that it has none of."""
    if not isinstance(data, dict):
        return data
    engine = data.get("engine")
    name = engine.get("preset") if isinstance(engine, dict) else getattr(engine, "preset", None)
    preset = PRESETS.get(name) if isinstance(name, str) else None
    stated = data.get("models", [])
    if preset is None or not isinstance(stated, list | tuple):
        return data
    kinds = {
        model.get("kind") if isinstance(model, dict) else getattr(model, "kind", None) for model in stated
    }
    added = [dict(model) for model in preset.models if model["kind"] not in kinds]
    return {"recoding": preset.recoding, **data, "models": [*stated, *added]}

"""The parts of a policy that are members of a family; their types are built from the family's dict."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, Any, Literal, TypeAlias, Union

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, model_validator

from hierdata.documents.formats import FORMATS
from hierdata.engines import ENGINES, Engine
from hierdata.ground.recodings import TRAITS
from hierdata.policy.presets import PRESETS
from hierdata.policy.spec.others import NameOrPlugin, OrPlugin
from hierdata.privacy import MODELS, PrivacyModel


def one_of(family: str, members: Mapping[str, type[BaseModel]], base: type[BaseModel]) -> Any:
    """Build the type of a family's members, selected by ``kind``; plug-ins are included."""
    built_in: Any = Union[tuple(members.values())]  # noqa: UP007  (of a tuple)
    return Annotated[built_in, Field(discriminator="kind"), OrPlugin(family, members, base)]


if TYPE_CHECKING:
    Model: TypeAlias = PrivacyModel
    Step: TypeAlias = Engine
    FormatName: TypeAlias = str
    PresetName: TypeAlias = str
    RecodingName: TypeAlias = str
else:
    Model = one_of("models", MODELS, PrivacyModel)
    Step = one_of("engines", ENGINES, Engine)
    FormatName = Annotated[Literal[tuple(FORMATS)], NameOrPlugin("formats", FORMATS)]
    PresetName = Literal[tuple(PRESETS)]
    RecodingName = Annotated[Literal[tuple(TRAITS)], NameOrPlugin("recodings", TRAITS)]


class EngineSpec(BaseModel):
    """How classes are searched: a preset by its name, or steps."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    preset: PresetName | None = None
    steps: Annotated[tuple[Step, ...], Field(min_length=1, max_length=16)] | None = None
    sensitive_steps: Annotated[tuple[Step, ...], Field(min_length=1, max_length=16)] | None = Field(
        default=None, description="with recoding slicing_by_table: steps that group each sensitive table"
    )

    @model_validator(mode="after")
    def _one(self) -> EngineSpec:
        if (self.preset is None) == (self.steps is None and self.sensitive_steps is None):
            raise ValueError("state either `preset` or `steps`")
        return self

    def find_steps(self) -> tuple[Engine, ...]:
        """Return the steps, those of the preset if one is named; empty if none are stated."""
        if self.preset is not None:
            return _STEPS.validate_python(PRESETS[self.preset].steps)
        return self.steps or ()

    def find_sensitive_steps(self) -> tuple[Engine, ...]:
        """Return the steps that group each sensitive table; see ``find_steps``."""
        if self.preset is not None:
            return _STEPS.validate_python(PRESETS[self.preset].sensitive_steps)
        return self.sensitive_steps or ()


_STEPS: TypeAdapter[tuple[Engine, ...]] = TypeAdapter(tuple[Step, ...])


def with_preset(data: Any) -> Any:
    """Return a policy's data with what its preset adds: recoding, tables, models of kinds that it lacks."""
    if not isinstance(data, dict):
        return data
    engine = data.get("engine")
    name = engine.get("preset") if isinstance(engine, dict) else getattr(engine, "preset", None)
    preset = PRESETS.get(name) if isinstance(name, str) else None
    stated = data.get("models", [])
    if preset is None or not isinstance(stated, list | tuple):
        return data
    kinds = [
        model.get("kind") if isinstance(model, dict) else getattr(model, "kind", None) for model in stated
    ]
    added = [dict(model) for model in preset.models if model["kind"] not in kinds]
    tables = {}
    if preset.sensitive_tables is not None and data.get("recoding", preset.recoding) == preset.recoding:
        tables["sensitive_tables"] = preset.sensitive_tables
    return {"recoding": preset.recoding, **tables, **data, "models": [*stated, *added]}

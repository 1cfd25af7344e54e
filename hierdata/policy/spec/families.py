"""The parts of a policy that are members of a family; their types are built from the family's dict."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal, Self, TypeAlias, Union

from pydantic import (
    BaseModel,
    Field,
    GetCoreSchemaHandler,
    GetJsonSchemaHandler,
    SerializerFunctionWrapHandler,
    TypeAdapter,
    create_model,
    model_serializer,
    model_validator,
)
from pydantic_core import CoreSchema, PydanticCustomError, core_schema

from hierdata.documents.formats import FORMATS
from hierdata.domains.bounds import LONGEST_NAME
from hierdata.engines import ENGINES, Engine
from hierdata.ground import plugins
from hierdata.ground.recodings import TRAITS
from hierdata.policy.presets import PRESETS
from hierdata.policy.problems import MISSING_PLUGIN, nearest
from hierdata.policy.spec.values import PolicyPart
from hierdata.privacy import MODELS, PrivacyModel


def _plain(member: BaseModel, info: core_schema.SerializationInfo) -> Any:
    return member.model_dump(
        mode=info.mode,
        by_alias=info.by_alias,
        exclude_defaults=info.exclude_defaults,
        exclude_unset=info.exclude_unset,
        exclude_none=info.exclude_none,
    )


def _stated_kind(data: Any) -> str | None:
    """Return the stated kind, None if it is missing or not text."""
    kind = data.get("kind") if isinstance(data, Mapping) else getattr(data, "kind", None)
    return kind if isinstance(kind, str) else None


def refuse_missing(family: str, name: str, members: Collection[str]) -> None:
    """Raise for an unknown name, unless it is near a built-in one: then the family's validator reports it."""
    if len(name) > LONGEST_NAME:
        raise ValueError(f"a name has at most {LONGEST_NAME} characters, not {len(name)}")
    if nearest(name, members):
        return
    if hint := nearest(name, plugins.names(family)):
        raise ValueError(f"no installed distribution declares {name!r}{hint}")
    built_in = f"{name!r} is not one of {', '.join(map(repr, members))}, and " if members else ""
    raise PydanticCustomError(
        MISSING_PLUGIN,
        "{built_in}no installed distribution declares {declared}",
        {"built_in": built_in, "declared": "it" if members else repr(name)},
    )


class OrPlugin:
    """Annotates the union of a family's built-in members: other kinds are looked up as plug-ins."""

    def __init__(self, family: str, members: Collection[str], base: type[BaseModel]) -> None:
        self._family = family
        self._members = members
        self._base = base

    def _look_up(self, data: Any, handler: Callable[[Any], Any]) -> Any:
        kind = _stated_kind(data)
        if kind is None or kind in self._members:
            return handler(data)
        if plugins.find(self._family, kind) is None:
            refuse_missing(self._family, kind, self._members)
            return handler(data)
        member = plugins.load(self._family, kind, self._base)
        return data if isinstance(data, member) else member.model_validate(data)

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        # Serialize by the actual type: the union knows built-in members only.
        plain = core_schema.plain_serializer_function_ser_schema(_plain, info_arg=True)
        return core_schema.no_info_wrap_validator_function(
            self._look_up, handler(source), serialization=plain
        )

    def __get_pydantic_json_schema__(self, schema: CoreSchema, handler: GetJsonSchemaHandler) -> Any:
        return {"anyOf": [handler(schema["schema"]), _open_branch(self._members)]}


class OnlyPlugin(OrPlugin):
    """Annotates the base class of a family whose built-in members have keys of their own in a policy."""

    def _look_up(self, data: Any, handler: Callable[[Any], Any]) -> Any:
        kind = _stated_kind(data)
        if kind is None:
            raise ValueError("must be a mapping with the kind of a domain, such as {kind: name}")
        if kind in self._members:
            raise ValueError(f"{kind} is built in: write it as a key of its own, `{kind}: ...`")
        if plugins.find(self._family, kind) is None:
            refuse_missing(self._family, kind, ())
        return super()._look_up(data, handler)

    def __get_pydantic_json_schema__(self, schema: CoreSchema, handler: GetJsonSchemaHandler) -> Any:
        return _open_branch(self._members)


class NameOrPlugin:
    """Annotates the names of a family's built-in members: other names are looked up as plug-ins."""

    def __init__(self, family: str, members: Collection[str]) -> None:
        self._family = family
        self._members = members

    def _look_up(self, name: Any, handler: Callable[[Any], Any]) -> Any:
        if isinstance(name, str) and name not in self._members:
            if plugins.find(self._family, name):
                return name
            refuse_missing(self._family, name, self._members)
        return handler(name)

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        return core_schema.no_info_wrap_validator_function(
            self._look_up, handler(source), serialization=core_schema.to_string_ser_schema()
        )

    def __get_pydantic_json_schema__(self, schema: CoreSchema, handler: GetJsonSchemaHandler) -> Any:
        named = {"type": "string", "maxLength": LONGEST_NAME, "not": {"enum": [*self._members]}}
        return {"anyOf": [handler(schema["schema"]), named]}


def _open_branch(members: Collection[str]) -> dict[str, Any]:
    return {
        "type": "object",
        "description": "a member of another distribution",
        "properties": {"kind": {"type": "string", "maxLength": LONGEST_NAME, "not": {"enum": [*members]}}},
        "required": ["kind"],
    }


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


class EngineSpec(PolicyPart):
    """How classes are searched: a preset by its name, or steps."""

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
    rules = data.get("fields")
    sensitive = [
        path
        for path, rule in (rules.items() if isinstance(rules, dict) else ())
        if _entry(rule, "role") == "sensitive" and _keeps_value(_entry(rule, "action"))
    ]
    kinds = [(str(_entry(model, "kind")), _entry(model, "on")) for model in stated]
    added = [*preset.add_models(kinds, sensitive)]
    tables = {}
    if preset.sensitive_tables is not None and data.get("recoding", preset.recoding) == preset.recoding:
        tables["sensitive_tables"] = preset.sensitive_tables
    return {"recoding": preset.recoding, **tables, **data, "models": [*stated, *added]}


def _keeps_value(action: Any) -> bool:
    """Return whether an action, as it is stated, keeps a sensitive value: all but `shift` drop it."""
    return not action or (isinstance(action, Iterable) and "shift" in action)


class OneMember(PolicyPart):
    """A mapping with one key, which names a member of a family, and what the member needs as its value."""

    members: ClassVar[Mapping[str, type[BaseModel]]]

    @property
    def member(self) -> Any:
        """The member."""
        return next(member for kind in self.members if (member := getattr(self, kind)) is not None)

    @model_validator(mode="after")
    def _has_one(self) -> Self:
        if len(self.model_fields_set) != 1 or all(getattr(self, kind) is None for kind in self.members):
            raise ValueError(f"state exactly one of {', '.join(self.members)}")
        return self

    @model_serializer(mode="wrap")
    def _spell_member(self, handler: SerializerFunctionWrapHandler) -> Any:
        kind = self.member.kind
        return {kind: handler(self)[kind]}


def with_keys(base: type[BaseModel], members: Mapping[str, type[BaseModel]]) -> Any:
    """Build the model of a part that has a key for each member of a family, beside the keys of ``base``."""
    keys: dict[str, Any] = {kind: (member | None, None) for kind, member in members.items()}
    name, module = base.__name__.removeprefix("_"), base.__module__
    return create_model(name, __base__=base, __doc__=base.__doc__, __module__=module, **keys)


def _entry(part: Any, key: str) -> Any:
    return part.get(key) if isinstance(part, dict) else getattr(part, key, None)


def list_tabular_presets() -> list[str]:
    """Return the presets that partition the rows of a table, so that they take no nested records."""
    return [
        name
        for name, preset in PRESETS.items()
        if not any(ENGINES[step["kind"]].aligns for step in preset.steps or preset.sensitive_steps)
    ]

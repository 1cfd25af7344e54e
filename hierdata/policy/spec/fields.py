"""What a policy says of one field: its role, what the role needs, and the action on its values."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from functools import cached_property
from pathlib import Path as FilePath
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import (
    AfterValidator,
    BeforeValidator,
    Field,
    GetJsonSchemaHandler,
    SerializerFunctionWrapHandler,
    model_serializer,
    model_validator,
)
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema

from hierdata.domains import DOMAINS
from hierdata.domains.base import Hierarchy, Observed, QuasiDomain
from hierdata.domains.bounds import Reason, ShortText, Spelling, StatedDecimal, StatedWeight
from hierdata.domains.codes import Flat
from hierdata.domains.levels import Levels, LevelScale
from hierdata.domains.publish import Publish
from hierdata.domains.scales import FrequencyScale
from hierdata.domains.sensitive import Sameness, SameStep, unite_same
from hierdata.domains.sensitive_forms import DepthForm, PublishedScale, SensitiveForm
from hierdata.ground.errors import PolicyError
from hierdata.policy.spec.families import OneMember, OnlyPlugin, with_keys
from hierdata.policy.spec.values import PolicyPart
from hierdata.records.identifiers import ACTIONS, Action
from hierdata.records.maps import resolve_maps
from hierdata.records.path import Path, parse
from hierdata.records.schema import Role, Rule
from hierdata.records.survey import Keys


class _ActionSpec(OneMember):
    """What happens to the values of a field: one action, as a name or with its parameters."""

    members = ACTIONS

    @model_validator(mode="before")
    @classmethod
    def _name_kind(cls, spec: Any) -> Any:
        return {spec: {}} if isinstance(spec, str) else spec

    @model_serializer(mode="wrap")
    def _spell_member(self, handler: SerializerFunctionWrapHandler) -> Any:
        kind = self.member.kind
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
    ActionSpec = with_keys(_ActionSpec, ACTIONS)


def _spelling(value: object) -> object:
    """Return the spelling of a missing value, which may be a number or boolean without quotes."""
    if isinstance(value, bool):
        return "true" if value else "false"
    return value if value is None or isinstance(value, str | list | dict) else str(value)


def _sort_spellings(spellings: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(sorted(set(spellings)))


if TYPE_CHECKING:
    OtherDomain = QuasiDomain
else:
    OtherDomain = Annotated[QuasiDomain, OnlyPlugin("domains", DOMAINS, QuasiDomain)]

_DOMAIN_KEYS = {key: key for key in DOMAINS} | {"other": "domain"}
"""The keys of a rule that state a domain, by the field that holds it."""
_TAKEN_BY: dict[str, tuple[str, ...]] = {
    "levels": ("sensitive",),
    "taxonomy": ("quasi", "sensitive"),
    "number": ("sensitive",),
    "same": ("sensitive",),
    "publish": ("sensitive",),
    "asks": ("sensitive",),
    "within": ("sensitive",),
    "weight": ("quasi", "sensitive", "insensitive"),
    "exempt": ("insensitive", "free_text"),
    "missing": ("quasi", "sensitive", "insensitive", "identifier", "free_text"),
}
"""The roles that take a key; a domain's key belongs to quasi-identifiers."""


class _FieldRule(PolicyPart):
    """One field: its role, and what the role needs.

    ``quasi`` needs a domain (one of the keys of ``DOMAINS``), ``sensitive`` takes ``levels``, ``insensitive``
    is a quasi-identifier with a flat domain unless ``exempt`` gives the reason why it cannot identify.
    A sensitive attribute may have a ``taxonomy`` that says how near its values are to each
    other; ``asks`` and ``within`` say how it is read. ``identifier`` and ``free_text`` are
    dropped unless another ``action`` is stated; free text is carried if ``exempt`` says why that is no risk.
    ``action: drop`` drops a field of any role.
    ``same`` says which texts of a sensitive attribute are one value.
    ``kind`` is for a field that a filter compares: it is published as it is, with or without a rule.
    A rule with ``derived`` has no role: the field is a label of another one, such as the name of a code.
    A rule with ``vertex`` and no role publishes nothing: it makes a single object a vertex of its own. With
    ``map`` an object whose keys are data becomes the array of its entries.
    """

    role: Literal["quasi", "sensitive", "insensitive", "identifier", "free_text", "kind"] | None = Field(
        default=None, description="the part that the field plays in the promise"
    )
    action: ActionSpec | None = Field(default=None, description="what happens to the values")
    levels: Levels | None = Field(default=None, description="sensitivity levels of a sensitive attribute")
    number: bool = Field(default=False, description="the sensitive values are numbers, in XML too")
    asks: Literal["value", "presence"] | None = Field(
        default=None,
        description="what is asked of a sensitive attribute: the value at a vertex, or whether a value is "
        "among those of the person; by default presence where the items of a list cannot be told apart",
    )
    within: Literal["place", "record"] | None = Field(
        default=None,
        description="with asks: presence, over the values at one place, or at all places of the record",
    )
    missing: Annotated[
        tuple[
            Annotated[
                Spelling, BeforeValidator(_spelling, json_schema_input_type=Spelling | StatedDecimal | bool)
            ],
            ...,
        ],
        Field(max_length=10_000),
        AfterValidator(_sort_spellings),
    ] = Field(default=(), description="spellings of a missing value")
    same: Annotated[tuple[SameStep, ...], Field(min_length=1, max_length=3)] = Field(
        default=(), description="what does not distinguish sensitive texts: trim, nfkc, fold"
    )
    publish: Publish | None = Field(
        default=None, description="the form in which sensitive values are published: coarser than they are"
    )
    optional: bool = Field(default=False, description="the rule may match nothing")
    vertex: bool = Field(default=False, description="a single object here is a vertex of its own")
    weight: StatedWeight | None = Field(
        default=None,
        description="what the value, or with vertex: true the presence of the vertex, is worth: 0 to 100, by "
        "default 1 for a value and 0 for presence",
    )
    map: bool = Field(default=False, description="an object here is a map: its keys are data")
    derived: Annotated[str, Field(max_length=2000)] | None = Field(
        default=None,
        description="the field of the same object that determines this one; it is published where "
        "all that the published form may stand for has one label",
    )
    exempt: Reason | None = Field(
        default=None,
        description="why an insensitive field, free text or a missing pseudonym cannot identify anybody",
    )

    label: ShortText | None = Field(
        default=None, description="what people call the field: pages show it instead of the path"
    )

    other: OtherDomain | None = Field(
        default=None, alias="domain", description="a value domain of another distribution, by its kind"
    )

    @property
    def stated_action(self) -> Action | None:
        """The action, if there is one. A shift reads dates as the field's date domain does."""
        action: Action | None = None if self.action is None else self.action.member
        dates = getattr(self, "date", None)
        return action if action is None or dates is None else action.reading(dates.format, dates.missing)

    @property
    def hundredths(self) -> int:
        """The weight of the value, or without a role of the vertex's presence, in hundredths."""
        if self.weight is None:
            return 0 if self.role is None else 100
        return int(100 * self.weight)

    @property
    def pattern(self) -> str | None:
        """The regular expression that all published values match, None if any may occur."""
        action = self.stated_action
        return None if action is None or self.role is None else action.pattern(self.role)

    @property
    def is_dropped(self) -> bool:
        """Whether the field is left out of the release."""
        return self.stated_action is not None and self.stated_action.drops

    @property
    def domain(self) -> QuasiDomain | None:
        """The domain of a field that the promise treats as a quasi-identifier."""
        if self.published_as is not Role.QUASI:
            return None
        if self.stated_action is not None and self.stated_action.makes_constant:
            return Flat()
        stated = next((getattr(self, key) for key in _DOMAIN_KEYS if getattr(self, key) is not None), None)
        return stated or Flat()

    @property
    def published_as(self) -> Role | None:
        """The role of the field in the published records, None if it is not published."""
        if self.role is None or self.role == "kind":
            return None
        if self.stated_action is not None:
            return self.stated_action.published_as(self.role)
        if self.role == "insensitive":
            return Role.QUASI if self.exempt is None else Role.CARRIED
        if self.role == "free_text":
            return Role.CARRIED
        return Role(self.role)

    @property
    def is_published(self) -> bool:
        """Whether the published records have the field, as a part of the promise or derived from one."""
        return self.published_as is not None or self.derived is not None

    def files(self) -> Iterator[tuple[str, str]]:
        """Yield (key, file) for every file that the rule's domains name."""
        for key in _DOMAIN_KEYS:
            stated: QuasiDomain | None = getattr(self, key)
            if stated is not None and (file := stated.named_file) is not None:
                yield _DOMAIN_KEYS[key], file

    def semantics(self, folder: FilePath) -> Hierarchy | None:
        """Compile the taxonomy of a sensitive attribute's values; None if there is none."""
        form = self.form(folder)
        return form.pruned if isinstance(form, DepthForm) else self._tree(folder)

    def _tree(self, folder: FilePath) -> Hierarchy | None:
        """Compile the taxonomy of the values as they come in."""
        stated: QuasiDomain | None = getattr(self, "taxonomy", None)
        if stated is None or self.published_as is not Role.SENSITIVE:
            return None
        return unite_same(stated.compile({}, folder), self.sameness, stated.called)

    def form(self, folder: FilePath) -> SensitiveForm | None:
        """Compile the form in which values are published; None if they are published as they are."""
        if self.publish is None:
            return None
        stated = None if self.levels is None or self.levels.by == "frequency" else self.levels
        scale = None if stated is None else stated.compile({}, self.number, self.sameness)
        return self.publish.compile(scale, self._tree(folder))

    @property
    def reads_numbers(self) -> bool:
        """Whether published texts are numbers."""
        return self.number and (self.publish is None or self.publish.round is not None)

    @cached_property
    def sameness(self) -> Sameness:
        """Which texts are one value."""
        return Sameness(frozenset(self.same))

    def bound_to(self, path: Path, *, respelled: bool) -> Rule:
        """Return what binding needs; ``respelled``: values keep their spelling."""
        levels, texts = self.levels, self.number
        if not texts and levels is not None and levels.by != "frequency":
            texts = levels.compile({}, same=self.sameness).reads_numbers
        if self.publish is not None:
            texts = texts and self.publish.round is not None
        spelling: Literal["value", "number"] | None = None if respelled else "number" if texts else "value"
        vertex = self.vertex or self.map
        return Rule(path, self.published_as, frozenset(self.missing), vertex, self.optional, spelling)

    def scale(self, observed: Observed, folder: FilePath) -> LevelScale | None:
        """Compile the levels of the published values of a collection; None if the rule has none."""
        if self.levels is None:
            return None
        return self.scale_of(self.levels.compile(observed, self.reads_numbers, self.sameness), folder)

    def scale_of(self, scale: LevelScale | None, folder: FilePath) -> LevelScale | None:
        """Return the levels of published values; those by frequency are of these already."""
        form = self.form(folder)
        if scale is None or form is None or isinstance(scale, FrequencyScale):
            return scale
        return PublishedScale(scale, form)

    @model_validator(mode="before")
    @classmethod
    def _drop(cls, data: Any) -> Any:
        """Drop identifiers by default, and free text without ``exempt``."""
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
        if self.is_dropped or self.map or self.derived is not None:
            yield from self._alone()
            return
        if self.role == "kind":
            if beside := self.model_fields_set - {"role", "optional", "label"}:
                yield f"role kind takes no {' or '.join(sorted(beside))}: the filter says what is there"
            return
        acting = self.stated_action
        if acting is not None and self.role not in acting.roles:
            yield f"the action {acting.kind} is for the role {' or '.join(acting.roles)}"
            return
        if self.role is None and not self.vertex:
            yield "a role is needed: quasi, sensitive, insensitive, identifier or free_text"
        stated = self.model_fields_set - {"role", "action", "optional", "vertex", "label"}
        domains = [name for key, name in _DOMAIN_KEYS.items() if key in stated]
        if self.role == "quasi" and len(domains) != 1:
            hint = (
                f"not {' and '.join(domains)}" if domains else "flat: true where nothing is to be generalized"
            )
            yield f"a quasi-identifier needs one of {', '.join(DOMAINS)}; {hint}"
        taxonomy: Any = getattr(self, "taxonomy", None)
        if self.role == "sensitive" and taxonomy is not None and taxonomy.finest:
            yield "finest does not belong to role sensitive: state publish: {depth: ...} beside the taxonomy"
        yield from self._find_unusable_form()
        yield from self._misplaced_keys(sorted(stated), acting)

    def _find_unusable_form(self) -> Iterator[str]:
        """Yield what the published form of a sensitive field lacks."""
        if self.publish is None or self.role != "sensitive":
            return
        if self.publish.levels and (self.levels is None or self.levels.by == "frequency"):
            yield "publish: levels needs levels that the policy states: by value, domain or sets"
        if self.publish.depth and getattr(self, "taxonomy", None) is None:
            yield "publish: {depth: ...} needs the taxonomy of the values"

    def _misplaced_keys(self, stated: list[str], acting: Action | None) -> Iterator[str]:
        """Yield the stated keys that do not belong to the rule's role and action."""
        for key in stated:
            if key in ("same", "publish") and acting is not None:
                yield f"{key} is for values as they are, and the action {acting.kind} changes them"
            if key == "within" and self.asks == "value":
                yield "within belongs to asks: presence"
            if key == "weight" and self.published_as is Role.CARRIED:
                yield "weight changes nothing here: these values are published as they are, or not at all"
            elif not self._takes(key):
                where = f"role {self.role}" if self.role else "a rule without role"
                yield f"{key} does not belong to {where}"

    def _alone(self) -> Iterator[str]:
        """Yield the keys that a map, a derived or a dropped field does not take."""
        if self.derived is not None:
            if beside := self.model_fields_set - {"derived", "missing", "optional", "label"}:
                yield f"a derived field takes no {' or '.join(sorted(beside))}: it has those of its source"
        elif self.map and (beside := self.model_fields_set - {"map", "optional", "label"}):
            keys = " or ".join(sorted(beside))
            yield f"a map takes no {keys}: its keys and its values have rules of their own"
        elif not self.map and (beside := self.model_fields_set - {"role", "action", "optional", "label"}):
            yield f"a dropped field takes no {' or '.join(sorted(beside))}"

    def _takes(self, key: str) -> bool:
        """Return whether a key belongs to the rule's role and action."""
        if key == "exempt" and self.stated_action is not None:
            return self.stated_action.takes_exempt
        if key == "weight" and self.role is None:
            return self.vertex
        return self.role in _TAKEN_BY.get(key, ("quasi",))


if TYPE_CHECKING:
    FieldRule = _FieldRule
else:
    FieldRule = with_keys(_FieldRule, DOMAINS)


def maps_of(fields: Mapping[str, FieldRule], namespaces: Mapping[str, str]) -> dict[Keys, str]:
    """Return the maps that the rules name: for the keys of each, the path that names it.

    Raises PolicyError.
    """
    maps: dict[Keys, str] = {}
    stated = [parse(text, namespaces) for text, rule in fields.items() if rule.map]
    for path in sorted(stated, key=lambda path: (len(path.steps), bool(path.steps and path.steps[-1].many))):
        if path.place or not path.steps:
            raise PolicyError(f"{path}: a map is a JSON object below the record; XML has none")
        map_path = resolve_maps(path, maps, whole=True)
        if path.steps[-1].many and map_path.keys[:-1] not in maps:
            raise PolicyError(f"{path}: a map is named without [*]; its values are {path}")
        maps[map_path.keys] = path.text
    return maps


def unusable_paths(
    texts: Iterable[str], namespaces: Mapping[str, str], depth: int
) -> Iterator[tuple[tuple[str, str], str]]:
    """Yield the fields whose own path cannot be used, each with its keys in the policy and the reason."""
    for text in texts:
        try:
            parse(text, namespaces, depth)
        except PolicyError as error:
            yield ("fields", text), str(error)


def read_path(
    text: str, namespaces: Mapping[str, str], depth: int, maps: Collection[Keys], *, whole: bool = False
) -> Path:
    """Parse a path of the policy; ``whole``: it names a map. Raises PolicyError."""
    return resolve_maps(parse(text, namespaces, depth), maps, whole=whole)


def find_both_forms(rules: Iterable[tuple[Path, FieldRule]]) -> frozenset[Keys]:
    """Return the keys at which both single values and fields of objects have rules, and one is published.

    XML has none.
    """
    stated = list(rules)
    values = {
        path.keys: rule.is_published for path, rule in stated if rule.role is not None and not path.place
    }
    parts = (
        (path.keys[:depth], rule.is_published) for path, rule in stated for depth in range(1, len(path.keys))
    )
    return frozenset(keys for keys, published in parts if keys in values and (published or values[keys]))

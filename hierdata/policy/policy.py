"""The policy: everything that is asked of a release. It does not depend on the code that carries it out."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from functools import cached_property
from pathlib import Path as FilePath
from typing import Annotated, Any, Literal, cast

from pydantic import Field, PrivateAttr, ValidationError, model_validator

from hierdata.documents.scalars import NOT_FINITE
from hierdata.domains.base import QuasiDomain
from hierdata.domains.bounds import MOST_PARTS, MOST_STEPS, Count, FileName, Name, Passes
from hierdata.engines import Engine
from hierdata.ground.errors import PolicyError
from hierdata.ground.recodings import DEFAULT, RecodingTraits, traits_of
from hierdata.policy.presets import PRESETS, describe_model
from hierdata.policy.problems import InconsistencyError, PolicyFile, mistakes
from hierdata.policy.spec.families import EngineSpec, FormatName, Model, RecodingName, with_preset
from hierdata.policy.spec.fields import FieldRule, find_both_forms, maps_of, read_path, unusable_paths
from hierdata.policy.spec.gates import AttackerModel, Gates, OtherMetrics
from hierdata.policy.spec.safe_harbor import SafeHarbor
from hierdata.policy.spec.shape import (
    ControlRule,
    IndividualRule,
    NoIndividual,
    StepSpec,
    read_individual,
    with_counts,
)
from hierdata.policy.spec.tables import (
    CsvOptions,
    PopulationTable,
    StandardName,
    TableName,
    TableRule,
    list_lookups,
    order_tables,
)
from hierdata.policy.spec.values import (
    ENTRIES,
    AcceptedRisks,
    EncodingName,
    Keep,
    Namespaces,
    PathText,
    PlaceText,
    PolicyPart,
    SensitiveTables,
)
from hierdata.privacy import MODELS, BoundedKnowledge, PrivacyModel
from hierdata.records.derived import DerivedField
from hierdata.records.identifiers import DateShift, PseudonymSpec
from hierdata.records.keyed import Lookup, Table
from hierdata.records.maps import resolve_maps
from hierdata.records.mixed import Mixed, compared_fields, tell_forms_apart
from hierdata.records.path import Path, depth_of, parse
from hierdata.records.rules import Unlisted
from hierdata.records.schema import Role, Rule
from hierdata.records.survey import Keys


class Policy(PolicyPart):
    """What a release promises and how each field is treated.

    Files are named relative to ``folder``. A preset fixes engine and recoding, and adds its models where the
    policy has none of their kinds. Without ``engine`` the engines of the best measured quality are used.
    """

    version: Literal[1] = Field(description="version of this policy format")
    dataset: Name = Field(default="records", description="name of the release")
    format: FormatName | None = Field(
        default=None, description="format of the input, by default that of its suffix"
    )
    encoding: EncodingName | None = Field(
        default=None, description="how the text of the input is encoded, by default UTF-8; a release is UTF-8"
    )
    namespaces: Namespaces = Field(default={}, description="XML prefixes and their URIs; '' is the default")
    records: PlaceText | None = Field(
        default=None, description="path of the records: $.students, or $.events.* for the values of an object"
    )
    standard: StandardName | None = Field(
        default=None, description="the standard that the rows of `tables` follow: resources of HL7 FHIR R4"
    )
    tables: Annotated[dict[TableName, TableRule], Field(min_length=1, max_length=MOST_PARTS)] | None = Field(
        default=None, description="keyed tables that together make up the records"
    )
    individual: PathText | IndividualRule | NoIndividual | None = Field(
        default=None, description="the value that says whose record it is: one individual, one record"
    )
    control: ControlRule | None = Field(
        default=None, description="individuals who are kept out of the release, to measure its risks"
    )
    shape: Annotated[tuple[StepSpec, ...], Field(max_length=MOST_STEPS)] = Field(
        default=(), description="changes to the lists of records, in order, before anything else"
    )
    csv: CsvOptions | None = Field(default=None, description="how CSV is read and written")
    unlisted: Literal["error", "drop"] | Keep = Field(
        default="error", description="what to do with fields that no rule names"
    )
    spelling: Keep | None = Field(default=None, description="keep the spelling of the input, with the reason")
    empty: Literal["keep", "drop"] = Field(
        default="keep", description="what to do with vertices that have neither values nor children"
    )
    record_schema: FileName | None = Field(
        default=None, alias="schema", description="JSON Schema that every input record must satisfy, or XSD"
    )
    models: Annotated[tuple[Model, ...], Field(min_length=1, max_length=100)] = Field(
        description="privacy models, all must hold"
    )
    fields: Annotated[dict[PathText, FieldRule], Field(min_length=1, max_length=20_000)] = Field(
        description="a rule for each field, by its path"
    )
    safe_harbor: SafeHarbor | None = Field(
        default=None,
        description="where the 18 identifiers of HIPAA's Safe Harbor are: fields or objects for each, or []",
    )
    population: PopulationTable | None = Field(
        default=None, description="the people that an adversary may know, for models that need them"
    )
    engine: EngineSpec | None = Field(default=None, description="how classes are searched")
    blocks: Count | Literal["whole"] | None = Field(
        default=None, description="about how many records are clustered together; whole: all at once"
    )
    effort: Passes | None = Field(
        default=None, description="without engine: passes over trees that reduce the loss, 3 by default"
    )
    key: Literal["per-run"] | None = Field(
        default=None, description="per-run: pseudonyms and shifts use a key that ends with the run"
    )
    suppressed: Literal["guarded", "as_published"] | None = Field(
        default=None, description="whether the models hold for suppressed records as a whole too"
    )
    recoding: RecodingName = Field(default=DEFAULT, description="in what form classes are published")
    sensitive_tables: SensitiveTables | None = Field(
        default=None,
        description="with slicing: which sensitive attributes share a table, how many tables, or correlated",
    )
    accept: AcceptedRisks = Field(
        default=AcceptedRisks(), description="risks that are refused unless a reason is given"
    )
    metrics: OtherMetrics = Field(
        default=(), description="further metrics: risks that attacks measure, and those of plug-ins"
    )
    attackers: dict[Name, AttackerModel] = Field(
        default={}, max_length=MOST_PARTS, description="attackers that gates refer to, by name"
    )
    gates: Gates = Field(default=(), description="limits on figures of the release")

    def __init__(self, /, **data: Any) -> None:
        try:
            super().__init__(**data)
        except ValidationError as error:
            raise PolicyError(map(str, mistakes(error, type(self), data))) from None

    # Validation of other data, as by model_validate, does not call __init__ (as in pydantic's own classes).
    __init__.__pydantic_base_init__ = True  # type: ignore[attr-defined]

    _folder: FilePath = PrivateAttr(default=FilePath())
    _file: PolicyFile | None = PrivateAttr(default=None)
    _checked: bool = PrivateAttr(default=False)

    @property
    def folder(self) -> FilePath:
        """The folder that the files named in the policy are relative to."""
        return self._folder

    def files(self) -> Iterator[tuple[tuple[str, ...], str]]:
        """Yield (keys, file) for every file that the policy names."""
        if self.record_schema is not None:
            yield ("schema",), self.record_schema
        if self.population is not None:
            yield ("population", "file"), self.population.file
        for path, rule in self.fields.items():
            for key, file in rule.files():
                yield ("fields", path, key), file

    @cached_property
    def missing_numbers(self) -> frozenset[str]:
        """The words for numbers that are none, NaN and infinity, that a rule counts as missing."""
        return frozenset(NOT_FINITE) & {word for rule in self.fields.values() for word in rule.missing}

    @property
    def publishes_nothing(self) -> bool:
        """Whether every field is dropped, so that all published records are empty."""
        rules = self.fields.values()
        kept = any(rule.published_as is not None or rule.derived is not None for rule in rules)
        return not kept and not isinstance(self.unlisted, Keep)

    @property
    def preset(self) -> str | None:
        """The name of the preset, if one is used."""
        return self.engine.preset if self.engine is not None else None

    @cached_property
    def models_of_preset(self) -> str:
        """Say which models are those that the preset fills in; "" for none."""
        if self.preset is None:
            return ""
        stated = [(model.kind, model.model_dump(exclude={"on"})) for model in self.models]
        filled = [
            describe_model(model)
            for model in PRESETS[self.preset].models
            if (model["kind"], MODELS[model["kind"]](**model).model_dump(exclude={"on"})) in stated
        ]
        if not filled:
            return ""
        return f"of the preset {self.preset}, unless the policy states others: {', '.join(filled)}"

    @cached_property
    def steps(self) -> tuple[Engine, ...]:
        """The engine steps; empty if the choice depends on the records and the models."""
        return () if self.engine is None else self.engine.find_steps()

    @cached_property
    def sensitive_steps(self) -> tuple[Engine, ...]:
        """The engine steps that group each sensitive table; empty if the choice depends on the models."""
        return () if self.engine is None else self.engine.find_sensitive_steps()

    @property
    def recoding_traits(self) -> RecodingTraits:
        """The traits of the recoding."""
        return traits_of(self.recoding)

    @cached_property
    def knowledge(self) -> BoundedKnowledge | None:
        """The model of bounded knowledge, if there is one."""
        return next(
            (cast("BoundedKnowledge", model) for model in self.models if model.bounds_knowledge), None
        )

    @property
    def guards_suppressed(self) -> bool:
        """Whether suppressed records must satisfy the models as a whole; presets suppress as printed."""
        stated = self.suppressed or ("guarded" if self.preset is None else "as_published")
        judged = self.knowledge is None and any(model.per_attribute for model in self.models)
        return judged and stated == "guarded"

    @cached_property
    def table_division(self) -> int | Literal["correlated"] | tuple[tuple[str, ...], ...] | None:
        """Which sensitive attributes share a table, by their paths as ``fields`` has them."""
        if not isinstance(self.sensitive_tables, tuple):
            return self.sensitive_tables
        return tuple(
            tuple(self.spell_path(self.path(text).keys) for text in table) for table in self.sensitive_tables
        )

    @cached_property
    def maps(self) -> dict[Keys, str]:
        """The objects that are maps, each with the path that names it."""
        return maps_of(self.fields, self.namespaces)

    @cached_property
    def depth(self) -> int:
        """How many steps of an XPath lead to a record: 2, or 1 if each record is the root of a file."""
        return depth_of(self.records, self.namespaces)

    @cached_property
    def paths(self) -> tuple[Path, ...]:
        """The paths of ``fields``, in order."""
        return tuple(self.path(text, whole=rule.map) for text, rule in self.fields.items())

    def path(self, text: str, *, whole: bool = False) -> Path:
        """Parse a path that the policy names; ``whole``: it names a map. Raises PolicyError."""
        path = read_path(text, self.namespaces, self.depth, self.maps, whole=whole)
        return tell_forms_apart(path, self.both_forms) if self.both_forms else path

    @cached_property
    def both_forms(self) -> frozenset[Keys]:
        """The keys at which records may have single values or objects, and both have rules."""
        return find_both_forms(
            (read_path(text, self.namespaces, self.depth, self.maps, whole=rule.map), rule)
            for text, rule in self.fields.items()
        )

    @cached_property
    def mixed_keys(self) -> Mixed:
        """The keys with values of several kinds: items of filters, single values and objects."""
        return Mixed.of(self.paths)

    @cached_property
    def rules_by_keys(self) -> dict[Keys, tuple[Path, FieldRule]]:
        """Path and rule of each field by its keys, in the order of the policy."""
        pairs = zip(self.paths, self.fields.values(), strict=True)
        return {path.keys: (path, rule) for path, rule in pairs}

    def spell_path(self, keys: Keys) -> str:
        """Return the path of a field that has a rule, by its keys."""
        return str(self.rules_by_keys[keys][0])

    def is_inside(self, keys: Keys) -> bool:
        """Return whether keys lead to a vertex that the policy makes, or below one."""
        return any(keys[:end] in self.vertices for end in range(1, len(keys) + 1))

    @cached_property
    def individual_rule(self) -> IndividualRule | None:
        """What the policy says about individuals, None if each record is one."""
        return read_individual(self.individual)

    @cached_property
    def identity(self) -> tuple[Keys, ...] | None:
        """The fields that say whose a record is, None without ``individual``."""
        individual = self.individual_rule
        return None if individual is None else tuple(self.path(text).keys for text in individual.fields)

    @cached_property
    def labels(self) -> dict[str, str]:
        """What people call the fields that have a label, by path."""
        rules = self.rules_by_keys.values()
        return {str(path): rule.label for path, rule in rules if rule.label is not None}

    @property
    def has_entries(self) -> bool:
        """Whether the records are the values of an object, as in ``records: $.events.*``."""
        return self.records is not None and self.records.startswith("$") and self.records.endswith(ENTRIES)

    @cached_property
    def place(self) -> Keys:
        """The keys that lead to the records (XML: root and record element, or the root alone), or ()."""
        if self.records is None:
            return self.paths[0].place
        text = self.records.removesuffix(ENTRIES) if self.has_entries else self.records
        path = resolve_maps(parse(text, self.namespaces, 1), ())
        return path.place + path.keys

    @cached_property
    def joined_tables(self) -> tuple[Table, ...]:
        """The tables that make up the records, the root first; empty without ``tables``."""
        return order_tables(self.tables or {}, self._key_of_standard, self._linked_tables)

    @cached_property
    def lookups(self) -> tuple[Lookup, ...]:
        """The tables of rows that belong to nobody."""
        return list_lookups(self.tables or {}, self._key_of_standard)

    @property
    def _key_of_standard(self) -> str | None:
        return None if self.standard is None else "id"

    @property
    def _linked_tables(self) -> set[str]:
        """The tables whose keys identify rows that others refer to, "" for the root."""
        if self.standard is None or self.knowledge is not None:
            return set()
        identities = (keys for keys, spec in self.pseudonyms.items() if spec.is_identity)
        shown = (self.rules_by_keys[keys][0].document_keys for keys in identities)
        return {"".join(above[-1:]) for *above, last in shown if last == self._key_of_standard}

    def rules(self) -> tuple[Rule, ...]:
        """Return the rules that binding needs. Vertex types say what filters compare."""
        stated = tuple(
            rule.bound_to(path, respelled=self.spelling is not None)
            for path, rule in zip(self.paths, self.fields.values(), strict=True)
        )
        compared = (path for path in self.compared_fields if path.keys not in self.rules_by_keys)
        return stated + tuple(Rule(path, None, optional=True) for path in compared)

    @cached_property
    def compared_fields(self) -> tuple[Path, ...]:
        """The fields that filters compare."""
        return tuple(compared_fields(self.paths))

    def declared_fields(self, *, identifiers: bool = False) -> dict[Keys, frozenset[str]]:
        """Return the fields to survey, the published ones (or identifiers too), with spellings of missing."""
        return {
            keys: frozenset(rule.missing)
            for keys, (_, rule) in self.rules_by_keys.items()
            if (rule.published_as is not None and keys not in self.pseudonyms)
            or (identifiers and rule.role == "identifier")
        }

    @cached_property
    def quasi(self) -> dict[Keys, QuasiDomain]:
        """The domain of each field that the promise treats as a quasi-identifier."""
        return {
            keys: rule.domain for keys, (_, rule) in self.rules_by_keys.items() if rule.domain is not None
        }

    @cached_property
    def sensitive(self) -> dict[Keys, FieldRule]:
        """The rule of each sensitive attribute."""
        return self._published_as(Role.SENSITIVE)

    @cached_property
    def exempt(self) -> dict[Keys, str]:
        """The reason for each field that is published unchanged and not judged."""
        return {keys: rule.exempt or "" for keys, rule in self._published_as(Role.CARRIED).items()}

    @cached_property
    def pseudonyms(self) -> dict[Keys, PseudonymSpec]:
        """The fields whose values are replaced by pseudonyms."""
        return {
            keys: tokens
            for keys, (path, rule) in self.rules_by_keys.items()
            if rule.stated_action is not None and (tokens := rule.stated_action.tokens(str(path))) is not None
        }

    @cached_property
    def date_shifts(self) -> dict[Keys, DateShift]:
        """The fields whose dates are moved."""
        return {
            keys: shift
            for keys, (_, rule) in self.rules_by_keys.items()
            if rule.stated_action is not None and (shift := rule.stated_action.date_shift()) is not None
        }

    @cached_property
    def derived_fields(self) -> dict[Keys, DerivedField]:
        """The derived fields, each with its source. Raises PolicyError for a path that cannot be read."""
        fields = {}
        for keys, (_, rule) in self.rules_by_keys.items():
            if rule.derived is not None:
                source = self.path(rule.derived).keys
                missing = self.rules_by_keys[source][1].missing if source in self.rules_by_keys else ()
                fields[keys] = DerivedField(source, keys, frozenset(missing), frozenset(rule.missing))
        return fields

    @cached_property
    def forbidden_fields(self) -> frozenset[Keys]:
        """The fields that must not occur in the release."""
        return frozenset(keys for keys, (_, rule) in self.rules_by_keys.items() if rule.is_dropped)

    @cached_property
    def vertices(self) -> frozenset[Keys]:
        """The paths that the policy itself makes vertices, by ``[*]`` or ``vertex: true``."""
        marked = {
            path.keys[:count]
            for path in self.paths
            for count, step in enumerate(path.steps, 1)
            if step.many or step.apart
        }
        return frozenset(marked | {keys for keys, (_, rule) in self.rules_by_keys.items() if rule.vertex})

    @cached_property
    def scoped_models(self) -> tuple[tuple[PrivacyModel, frozenset[Keys] | None], ...]:
        """The models, each with the sensitive attributes it is limited to (None: all)."""
        return tuple(
            (model, None if model.on is None else frozenset(self.path(text).keys for text in model.on))
            for model in self.models
        )

    @cached_property
    def diversity(self) -> Fraction | None:
        """The largest l that a model asks for."""
        return max((Fraction(model.l) for model in self.models if hasattr(model, "l")), default=None)

    @property
    def unlisted_fields(self) -> Unlisted:
        """What binding does with a field without a rule; ``add_unlisted`` has added rules for kept ones."""
        return "error" if self.unlisted == "error" else "drop"

    def _published_as(self, role: Role) -> dict[Keys, FieldRule]:
        return {keys: rule for keys, (_, rule) in self.rules_by_keys.items() if rule.published_as is role}

    @model_validator(mode="before")
    @classmethod
    def _fill_in(cls, data: Any) -> Any:
        """Add the models of a preset and the fields of counts; the validation that follows finds mistakes."""
        return with_counts(with_preset(data))

    @model_validator(mode="after")
    def _has_paths(self) -> Policy:
        try:
            _ = self.paths
        except PolicyError as error:
            unusable = list(unusable_paths(self.fields, self.namespaces, self.depth))
            raise InconsistencyError(unusable or [(("fields",), str(error))]) from None
        return self

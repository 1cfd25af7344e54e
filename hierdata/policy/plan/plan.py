"""A policy applied to one collection: what every later step needs, fixed before anything is encoded."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass, replace
from typing import Any

from hierdata.documents.formats import FORMATS
from hierdata.domains.base import Hierarchy
from hierdata.domains.sensitive import SensitiveDomain
from hierdata.engines import ENGINES, Constraints
from hierdata.forest.encoded import Frame
from hierdata.forest.worth import Worth
from hierdata.ground.errors import InputError, PolicyError, PromiseError
from hierdata.ground.plugins import Plugin, find
from hierdata.ground.recodings import is_built_in
from hierdata.policy.checks.knowledge import known_values
from hierdata.policy.checks.records import count_vertices, find_rare_forms
from hierdata.policy.checks.sensitive import Readings, bound_readings
from hierdata.policy.plan.compared import (
    LabelsKnown,
    References,
    Scales,
    compile_scales,
    population_of,
    semantics,
)
from hierdata.policy.plan.stages import Stage, bind_constraints, plan_stages
from hierdata.policy.policy import Policy
from hierdata.privacy import MODELS
from hierdata.privacy.population import Population
from hierdata.records.binding import Binding, resolve
from hierdata.records.schema import Attribute, Role, Schema
from hierdata.records.survey import Keys, Survey


@dataclass(frozen=True)
class Prepared:
    """What later steps need for one collection; tuples are indexed by vertex type, then by attribute."""

    policy: Policy
    survey: Survey
    binding: Binding
    hierarchies: tuple[tuple[Hierarchy, ...], ...]
    domains: tuple[tuple[SensitiveDomain, ...], ...]
    constraints: Constraints
    scales: Scales
    stages: tuple[Stage, ...]
    worth: Worth

    @property
    def schema(self) -> Schema:
        """The schema of the records."""
        return self.binding.schema

    @property
    def frame(self) -> Frame:
        """What all records share; a search minimizes weighted losses unless a preset keeps its paper's LM."""
        sought = None if self.policy.preset is not None else self.worth
        return Frame(self.schema, self.hierarchies, self.domains, self.worth, sought)

    @property
    def labels(self) -> LabelsKnown:
        """By derived field the values of its source, each with its label."""
        return {keys: tuple(self.survey.labels[keys].pairs.values()) for keys in self.policy.derived_fields}

    @property
    def readings(self) -> Readings:
        """What is asked of each sensitive attribute."""
        return bound_readings(self.policy, self.schema)

    @property
    def codebooks(self) -> dict[str, dict[str, Any]]:
        """The codebook of each quasi-identifier, by its path: how published values are to be read."""
        return {
            attribute.path: tree.codebook
            for kind, hierarchies in zip(self.schema.types, self.hierarchies, strict=True)
            for attribute, tree in zip(kind.quasi, hierarchies, strict=True)
        }


def prepare(policy: Policy, survey: Survey, many_hints: Collection[Keys] = ()) -> Prepared:
    """Apply a policy to a surveyed collection.

    Raises PolicyError if they do not match, InputError if a derived field does not follow from its source,
    PromiseError if the population table is too small for a model.
    """
    binding = resolve(policy.rules(), survey.shape, unlisted=policy.unlisted_fields, many_hints=many_hints)
    binding = replace(binding, sparse=policy.empty == "drop", mixed=policy.mixed_keys)
    schema = binding.schema
    _check_pseudonyms(policy, survey, schema)
    _check_derived(policy, survey, schema)
    _check_forms(policy, survey)
    quasi, sensitive = (_list_by_type(schema, role) for role in (Role.QUASI, Role.SENSITIVE))
    hierarchies = tuple(
        tuple(_compile_domain(policy, survey, keys) for keys, _ in attributes) for attributes in quasi
    )
    scales = compile_scales(policy, survey)
    taxonomies = semantics(policy)
    domains = tuple(
        tuple(
            SensitiveDomain.build(
                attribute.path,
                survey.values[keys],
                scales[keys],
                policy.sensitive[keys].reads_numbers,
                taxonomies[keys],
                policy.sensitive[keys].sameness,
                policy.sensitive[keys].form(policy.folder),
            )
            for keys, attribute in attributes
        )
        for attributes in sensitive
    )
    population = population_of(policy, many_keys(schema))
    _check_rows(policy, population)
    root = [keys for keys, _ in quasi[0]]
    crowd = None if population is None else population.at_root(root, hierarchies[0]).count
    readings = bound_readings(policy, schema)
    constraints = replace(bind_constraints(policy, schema, readings, sensitive, domains), population=crowd)
    stages = tuple(plan_stages(policy, schema, constraints))
    for stage in stages:
        for step in stage.steps:
            step.check(stage.kind, hierarchies[stage.kind])
    worth = worth_of(policy, schema, survey)
    return Prepared(policy, survey, binding, hierarchies, domains, constraints, scales, stages, worth)


def _compile_domain(policy: Policy, survey: Survey, keys: Keys) -> Hierarchy:
    """Return the hierarchy of a quasi-identifier; resources are silent about missing and suppressed alike."""
    tree = policy.quasi[keys].compile(survey.values[keys], policy.folder)
    return tree if policy.standard is None else tree.mask_missing()


def _check_pseudonyms(policy: Policy, survey: Survey, schema: Schema) -> None:
    """Raise PolicyError if pseudonyms reveal more than which values of one record are equal."""
    for domain, count in sorted(survey.repeated.items()):
        some = "1 pseudonym occurs" if count == 1 else f"{count} pseudonyms occur"
        raise PolicyError(
            f"in the domain {domain} {some} in more than one record: anyone who knows how records are linked "
            "could re-identify them; give the fields other domains, drop them, or say under `links` why that "
            "is no risk"
        )
    for keys, reason in find_rare_forms(policy, survey):
        raise PolicyError(reason, path=policy.spell_path(keys))
    for kind in schema.types:
        for attribute in kind.attributes:
            keys = schema.keys(kind.index) + attribute.steps
            if keys not in policy.pseudonyms or policy.rules_by_keys[keys][1].exempt is not None:
                continue
            vertices = count_vertices(
                survey.shape.find(schema.keys(kind.index)) if kind.parent is not None else survey.shape
            )
            if lacking := vertices - survey.pseudonyms[keys]:
                raise PolicyError(
                    f"{lacking} of {vertices} have no value here, and a pseudonym cannot hide that: say "
                    "under `exempt` why the absence cannot identify anybody, or drop the field",
                    path=attribute.path,
                )


def _check_derived(policy: Policy, survey: Survey, schema: Schema) -> None:
    """Raise InputError unless derived fields follow from their sources, PolicyError if they are apart."""
    for keys, field in policy.derived_fields.items():
        path = policy.spell_path(keys)
        for kind in map(schema.keys, range(1, len(schema.types))):
            if len(kind) > len(field.shared) and kind in (keys[: len(kind)], field.source[: len(kind)]):
                raise PolicyError("this field and its source are not at the same vertex", path=path)
        if faults := survey.labels[keys].faults:
            source = policy.spell_path(field.source)
            raise InputError(f"this is not derived from {source}: {faults}", path=path)


def _check_forms(policy: Policy, survey: Survey) -> None:
    """Raise PolicyError for a published form that leaves every sensitive value as it is."""
    for keys, rule in policy.sensitive.items():
        has_values = any(value is not None for value in survey.values.get(keys, ()))
        if rule.publish is not None and has_values and keys not in survey.coarsened:
            raise PolicyError(
                "publish is not coarser than the input: every value is published as finely as it is written; "
                "state a wider form, or leave publish out",
                path=policy.spell_path(keys),
            )


def _check_rows(policy: Policy, population: Population | None) -> None:
    """Raise PromiseError if a model asks for more people than the population table has."""
    if population is None:
        return
    for model in policy.models:
        if model.least_population > population.rows:
            raise PromiseError(
                f"{model.kind} asks for {model.least_population} people who fit a class, and the "
                f"population table has {population.rows} rows: no larger k can work"
            )


def references(prepared: Prepared) -> References:
    """Return how often each value of the sensitive attributes occurs in the original collection.

    Only attributes that a model compares with the original are included: a steward's file needs no more.
    """
    compared: set[Keys] = set()
    for model, scope in prepared.policy.scoped_models:
        if model.uses_reference:
            compared |= prepared.policy.sensitive.keys() if scope is None else scope
    return {
        keys: dict(zip(domain.values, domain.reference or (), strict=True))
        for attributes, domains in zip(
            _list_by_type(prepared.schema, Role.SENSITIVE), prepared.domains, strict=True
        )
        for (keys, _), domain in zip(attributes, domains, strict=True)
        if keys in compared
    }


def many_keys(schema: Schema) -> frozenset[Keys]:
    """Return the paths of the vertex types below the root."""
    return frozenset(schema.keys(kind.index) for kind in schema.types[1:])


def _list_by_type(schema: Schema, role: Role) -> list[list[tuple[Keys, Attribute]]]:
    """Return by vertex type the attributes of a role, each with its keys."""
    return [
        [(schema.keys(kind.index) + attribute.steps, attribute) for attribute in kind.of_role(role)]
        for kind in schema.types
    ]


def worth_of(policy: Policy, schema: Schema, survey: Survey) -> Worth:
    """Return the weights of a policy for the vertex types of a collection, in lowest terms.

    A field that has one value in the whole collection weighs nothing, unless the policy states its weight:
    that it is kept tells nothing. Where every field is such a field, each weighs the same.

    Under bounded knowledge the values of the root are few beside facts, and would be given up for these: one
    without a stated weight has the mean number of facts of a record, 1 to 20. Raises PolicyError if nothing
    has a weight.
    """
    at_root = 100 if policy.knowledge is None else _weigh_root(schema, survey, known_values(policy))

    def weigh_role(role: Role, constants: Collection[Keys]) -> Iterator[tuple[int, ...]]:
        for kind, attributes in enumerate(_list_by_type(schema, role)):
            default = at_root if role is Role.QUASI and not kind else 100
            rules = [(keys, policy.rules_by_keys[keys][1]) for keys, _ in attributes]
            yield tuple(
                rule.hundredths if rule.weight is not None else 0 if keys in constants else default
                for keys, rule in rules
            )

    def weigh(constants: Collection[Keys]) -> Worth:
        return Worth(
            tuple(weigh_role(Role.QUASI, constants)),
            tuple(weigh_role(Role.SENSITIVE, constants)),
            tuple(_weigh_presence(policy, schema.keys(kind.index)) for kind in schema.types),
        ).in_lowest_terms()

    # Fields that have one value at most, those where it is missing aside.
    worth = weigh([keys for keys, values in survey.values.items() if len(values) - (None in values) <= 1])
    if not worth.by_type.any():
        worth = weigh(())
    stated = stated_weights(policy)
    if stated and not worth.by_type.any():
        first = next(iter(stated))
        raise PolicyError(
            "all weights are 0, so nothing is worth keeping: state a weight above 0 for at least one field",
            path=policy.spell_path(first),
        )
    return worth


_LARGEST_ROOT_WEIGHT = 20
"""The largest weight of a value that the policy gives none."""


def stated_weights(policy: Policy) -> dict[Keys, int]:
    """Return the weights that the policy states, in hundredths, in the order of its fields."""
    return {
        keys: rule.hundredths for keys, (_, rule) in policy.rules_by_keys.items() if rule.weight is not None
    }


def _weigh_root(schema: Schema, survey: Survey, values: frozenset[Keys]) -> int:
    """Return the mean number of facts of a record, 1 to 20, in hundredths.

    ``values`` are the sensitive fields whose values are facts.
    """
    facts = 0
    for kind in schema.types[1:]:
        keys = schema.keys(kind.index)
        known = sum(keys + attribute.steps in values for attribute in kind.sensitive)
        facts += count_vertices(survey.shape.find(keys)) * max(1, len(kind.quasi) + known)
    return min(max(100 * facts // max(survey.records, 1), 100), 100 * _LARGEST_ROOT_WEIGHT)


def _weigh_presence(policy: Policy, vertex: Keys) -> int:
    _, rule = policy.rules_by_keys.get(vertex, (None, None))
    return 0 if rule is None or rule.role is not None else rule.hundredths


def list_plugins(policy: Policy) -> tuple[Plugin, ...]:
    """Return the members of other distributions that a policy names, each once."""
    domains = [rule.other for rule in policy.fields.values() if rule.other is not None]
    named = [
        *(("models", model.kind) for model in policy.models if model.kind not in MODELS),
        *(("engines", step.kind) for step in policy.steps if step.kind not in ENGINES),
        *(("domains", getattr(domain, "kind", "")) for domain in domains),
        *(("metrics", name) for name in policy.metrics),
        *(("metrics", gate.metric) for gate in policy.gates if not gate.is_built_in),
        *(("formats", name) for name in (policy.format,) if name is not None and name not in FORMATS),
        *(("recodings", name) for name in (policy.recoding,) if not is_built_in(name)),
    ]
    plugins = (find(family, name) for family, name in dict.fromkeys(named))
    return tuple(plugin for plugin in plugins if plugin is not None)

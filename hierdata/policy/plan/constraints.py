"""The models of a policy, bound to the sensitive attributes of a collection."""

from __future__ import annotations

from collections.abc import Iterator

from hierdata.domains.sensitive import SensitiveDomain
from hierdata.engines import Constraints
from hierdata.engines.base import BoundedValues, CountedVertices
from hierdata.policy.checks.knowledge import bounded_values, bounds_values_at, known_counts
from hierdata.policy.checks.readings import Readings
from hierdata.policy.policy import Policy
from hierdata.privacy.base import Constraint
from hierdata.privacy.grouping import protected_codes
from hierdata.records.schema import Attribute, Role, Schema
from hierdata.records.survey import Keys


def bind_constraints(
    policy: Policy,
    schema: Schema,
    readings: Readings,
    sensitive: list[list[tuple[Keys, Attribute]]],
    domains: tuple[tuple[SensitiveDomain, ...], ...],
) -> Constraints:
    """Bind all models: those on records, and by vertex type and sensitive attribute those on values."""
    tied = policy.recoding_traits.ties_values
    on_records: list[Constraint] = []
    on_values: list[list[list[Constraint]]] = [[[] for _ in own] for own in sensitive]
    for model, scope in policy.scoped_models:
        if not model.per_attribute:
            on_records.append(model.bind(None))
            continue
        for attributes, own, bound in zip(sensitive, domains, on_values, strict=True):
            for (keys, _), domain, constraints in zip(attributes, own, bound, strict=True):
                if scope is None or keys in scope:
                    constraints.append(model.bind_reading(domain, readings[keys], tied=tied))
    return Constraints(
        tuple(on_records),
        tuple(tuple(tuple(constraints) for constraints in own) for own in on_values),
        guarded=policy.guards_suppressed,
        bounded=tuple(_bound_values(policy, readings, sensitive, domains)),
        counts=tuple(_find_counted(policy, schema)),
    )


def _find_counted(policy: Policy, schema: Schema) -> Iterator[CountedVertices]:
    """Yield the vertex types that are counted; one that no record has is left out, and refused later."""
    kinds = {schema.keys(kind.index): kind.index for kind in schema.types}
    root = [attribute.steps for attribute in schema.root.of_role(Role.QUASI)]
    for keys, (field, _) in known_counts(policy).items():
        if keys in kinds:
            yield CountedVertices(kinds[keys], root.index(field))


def _bound_values(
    policy: Policy,
    readings: Readings,
    sensitive: list[list[tuple[Keys, Attribute]]],
    domains: tuple[tuple[SensitiveDomain, ...], ...],
) -> Iterator[BoundedValues]:
    """Yield the values whose share the alpha of bounded knowledge limits."""
    stated = bounded_values(policy)
    for kind, (attributes, own) in enumerate(zip(sensitive, domains, strict=True)):
        for position, ((keys, _), domain) in enumerate(zip(attributes, own, strict=True)):
            if bounds_values_at(policy, keys):
                codes = range(len(domain.values)) if stated is None else protected_codes(domain, stated[keys])
                presence = readings[keys].asks == "presence"
                yield BoundedValues(kind, position, frozenset(codes), presence)

"""What a search must keep, which engines do it, and how many records they see together.

The models of a policy are bound to the sensitive attributes of a collection. Its steps, or default ones
if it names none, are checked against the records: one stage for each part that is partitioned.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from hierdata.documents.document import COUNT, group_key
from hierdata.domains.sensitive import SensitiveDomain
from hierdata.engines import ENGINES, Constraints, Engine
from hierdata.engines.base import BoundedValues, CountedVertices, Mended, Trial
from hierdata.ground.errors import PolicyError
from hierdata.policy.checks.knowledge import (
    bounded_values,
    bounds_values_at,
    check_facts,
    known_counts,
    known_values,
)
from hierdata.policy.checks.sensitive import Readings
from hierdata.policy.policy import Policy
from hierdata.privacy.base import Constraint
from hierdata.privacy.grouping import protected_codes
from hierdata.records.schema import Attribute, Schema, VertexType
from hierdata.records.survey import Keys


@dataclass(frozen=True)
class Stage:
    """Engine steps that partition one vertex type in sequence; ``kind`` is 0 for whole records."""

    kind: int
    steps: tuple[Engine, ...]
    constraints: Constraints

    def work(self) -> Iterator[tuple[Engine, Constraints]]:
        """Yield each step with the constraints that it must keep: all but those that a later step mends."""
        for number, step in enumerate(self.steps, 1):
            mended = frozenset[Mended]().union(*(later.mends for later in self.steps[number:]))
            yield step, self.constraints.without_mended(mended)

    def chooses(self, blocks: int) -> bool:
        """Return whether the first step chooses between its variants by trials on some blocks."""
        least = self.steps[0].chooses_from
        return least is not None and blocks >= least

    def choose_by_trials(self, trials: Mapping[Hashable, Trial]) -> Stage:
        """Return the stage with the choice of its first step made by trials (``Engine.choose_by_trials``)."""
        first, *others = self.steps
        return replace(self, steps=(first.choose_by_trials(trials), *others))

    def of_table(self, positions: Sequence[int]) -> Stage:
        """Return the stage of one sensitive table, which has the attributes at these positions."""
        constraints = self.constraints.on_attributes(self.kind, positions)
        return replace(self, steps=self.steps or (_unasked_for_rows(constraints),), constraints=constraints)


def plan_stages(policy: Policy, schema: Schema, constraints: Constraints) -> Iterator[Stage]:
    """Yield the stages of a search, parents before children.

    Raises PolicyError if the steps do not fit each other, the records or the recoding.
    """
    check_facts(policy, schema)
    steps = policy.steps
    if steps:
        _check_scopes(policy, schema, steps)
    if policy.recoding_traits.groups_each_table:
        stages = [*_plan_tables(policy, schema, constraints)]
    elif (steps and steps[0].aligns) or not policy.recoding_traits.partitions_each_type:
        stages = [Stage(0, steps or default_engines(policy, schema, constraints), constraints)]
    else:
        stages = []
        for kind in schema.types:
            of_kind = tuple(step for step in steps if step.on in (None, kind.path))
            if kind.sensitive:
                bound = constraints.at(kind.index)
                stages.append(Stage(kind.index, of_kind or (_unasked_for_rows(bound),), bound))
    _check_order(schema, stages)
    if policy.recoding_traits.separates_values:
        _check_separated(policy, schema, constraints)
    yield from stages


def _check_order(schema: Schema, stages: Sequence[Stage]) -> None:
    """Raise PolicyError if a first step needs another before it, or a later one cannot continue."""
    for stage in stages:
        path = schema.types[stage.kind].path
        for number, step in enumerate(stage.steps):
            if not number and not step.begins:
                raise PolicyError(
                    f"{step.kind} continues from the classes of another step: put one before it", path=path
                )
            if number and not step.goes_on:
                raise PolicyError(
                    f"{step.kind} starts from single records and cannot continue from another step", path=path
                )


def _plan_tables(policy: Policy, schema: Schema, constraints: Constraints) -> Iterator[Stage]:
    """Yield the stage of the groups of each sensitive table, and that of the classes of quasi-identifiers.

    Raises PolicyError for records with vertices below them, and for models whose promise a mixture of groups
    need not keep.
    """
    if len(schema.types) > 1:
        raise PolicyError(_one_table(policy), path=schema.types[1].path)
    for attribute, bound in zip(schema.root.sensitive, constraints.on_values[0], strict=True):
        if not bound:
            raise PolicyError(
                "no model judges these values, and a group of one record would show them: add a model on "
                "them",
                path=attribute.path,
            )
        if not all(constraint.closed_under_union for constraint in bound):
            raise PolicyError(
                f"a model here may hold in two groups and fail for somebody who may be in either: with "
                f"recoding {policy.recoding} it cannot be kept; use recoding slicing",
                path=attribute.path,
            )
    classes = constraints.on_attributes(0, ())
    yield Stage(0, policy.sensitive_steps, replace(constraints, on_records=()))
    steps = policy.steps or default_engines(policy, schema, classes)
    # A mixture of groups that are close is close, however few records of them are in the class.
    sizes = (constraint.min_class_size for constraint in constraints.all() if constraint.closeness is None)
    yield Stage(0, steps, replace(classes, least=max(sizes, default=1)))


def _one_table(policy: Policy) -> str:
    """Say why records with vertices below them cannot be grouped as rows, and what can be done."""
    if policy.preset is None:
        chosen, instead = f"recoding {policy.recoding}", "use recoding slicing"
    else:
        chosen = f"the preset {policy.preset}"
        instead = (
            "state its models and `recoding: slicing` without `engine`, which then searches classes of whole "
            "records and compares values at each place"
        )
    return f"{chosen} groups the rows of one table, and these records have vertices below them: {instead}"


def default_engines(policy: Policy, schema: Schema, constraints: Constraints) -> tuple[Engine, ...]:
    """Return the engines for a policy that names none: those that lose least, as measured.

    For trees only alignment works; local search continues from its classes, with the stated effort. For rows,
    ``full-domain`` finds the optimum if all values of an attribute have one depth, ``compose`` loses least if
    classes must be distributed like the whole, otherwise ``sweep``. Bounded knowledge has its own.
    """
    if constraints.knowledge is not None:
        return tuple(_engine(kind) for kind, engine in ENGINES.items() if engine.bounds_knowledge)
    if len(schema.types) > 1:
        begun = _engine("k-member")
        if policy.effort is None:
            return begun, _engine("local-search")
        return (begun, _engine("local-search", passes=policy.effort)) if policy.effort else (begun,)
    if policy.recoding_traits.uses_one_depth:
        return (_engine("full-domain"),)
    close = any(constraint.closeness is not None for constraint in constraints.all())
    return (_engine("compose" if close else "sweep"),)


def _unasked_for_rows(constraints: Constraints) -> Engine:
    """Return the engine for groups of rows if the policy names none: the one that loses the fewest records.

    ``spread`` if one attribute counts numbers together with those near them, ``mbf`` if a class may hold only
    one value of each group, else ``mondrian``: other models have no bound to reach.
    """
    caps = [constraint.caps for constraint in constraints.all() if constraint.caps is not None]
    size = constraints.min_class_size
    near = sum(
        any(constraint.caps is not None and constraint.caps.reach is not None for constraint in bound)
        for attributes in constraints.on_values
        for bound in attributes
    )
    if near:
        return _engine("spread" if near == 1 else "mondrian")
    once = (cap.most == 1 or size * max(cap.share, default=0) < 2 for cap in caps)
    return _engine("mbf" if caps and all(once) else "mondrian")


def _engine(kind: str, **stated: int) -> Engine:
    return ENGINES[kind](kind=kind, **stated)


def _check_scopes(policy: Policy, schema: Schema, steps: tuple[Engine, ...]) -> None:
    """Raise PolicyError if the steps do not fit the records or the recoding."""
    scopes = {step.on for step in steps if step.on is not None}
    if not all(step.aligns == steps[0].aligns for step in steps):
        raise PolicyError(
            "tree engines and row engines cannot be combined: all steps partition whole records, or all "
            "partition the rows of vertex types"
        )
    if steps[0].aligns:
        return
    apart = policy.recoding_traits.partitions_each_type
    if policy.preset is not None and len(schema.types) > 1 and not apart:
        raise PolicyError(_one_table(policy), path=schema.types[1].path)
    if not apart and (len(schema.types) > 1 or scopes):
        raise PolicyError(
            f"{steps[0].kind} partitions rows of one vertex type: with recoding {policy.recoding} it takes "
            "records without vertices below them and no `on`; clustree aligns whole records, and recoding: "
            "anatomy publishes every vertex with a group id"
        )
    sensitive = {kind.path: kind.sensitive for kind in schema.types}
    for path in scopes:
        if not sensitive.get(path):
            known = ", ".join(path for path, attributes in sensitive.items() if attributes)
            raise PolicyError(f"there are no vertices with sensitive values here, only at {known}", path=path)
    for path, attributes in sensitive.items():
        if (
            policy.recoding_traits.partitions_each_type
            and attributes
            and not any(step.on in (None, path) for step in steps)
        ):
            raise PolicyError(
                f"no step partitions these values, so they would stay with their record: add one on {path}",
                path=attributes[0].path,
            )


def _check_separated(policy: Policy, schema: Schema, constraints: Constraints) -> None:
    """Raise PolicyError if sensitive values cannot be published separately as the policy asks."""
    for kind in schema.types:
        if policy.recoding_traits.partitions_each_type:
            _check_judged(kind, constraints)
        _check_names(policy, schema, kind)
    _check_tables(policy, schema)


def _check_judged(kind: VertexType, constraints: Constraints) -> None:
    """Raise PolicyError if groups would promise nothing."""
    bound = constraints.on_values[kind.index]
    for attribute, of_attribute in zip(kind.sensitive, bound, strict=True):
        if not of_attribute and not constraints.on_records:
            raise PolicyError(
                "no model judges these values, and a group of one record would show them: add a model on "
                "them, or k-anonymity",
                path=attribute.path,
            )


def _check_names(policy: Policy, schema: Schema, kind: VertexType) -> None:
    """Raise PolicyError if a field has a name that groups need."""
    sensitive = kind.sensitive
    if not sensitive:
        return
    base = schema.keys(kind.index)
    groups = [group_key()]
    if policy.recoding_traits.groups_each_table:
        groups = [group_key(number) for number, _ in enumerate(sensitive, 1)]
    needed = {(*base, group) for group in groups}
    needed |= {(*base, COUNT) for attribute in sensitive if attribute.steps[:1] == (COUNT,)}
    for keys, (path, _) in policy.rules_by_keys.items():
        if keys[: len(base) + 1] in needed:
            raise PolicyError(
                f"recoding: {policy.recoding} writes a field `{keys[len(base)]}` here: give the "
                "field of the input another name",
                path=str(path),
            )


def _check_tables(policy: Policy, schema: Schema) -> None:
    """Raise PolicyError if a sensitive table has values of different vertices, which share no row."""
    owner = {attribute.path: kind.path for kind in schema.types for attribute in kind.attributes}
    for table in policy.table_division if isinstance(policy.table_division, tuple) else ():
        there = [path for path in table if path in owner]
        for path in there:
            if owner[path] != owner[there[0]]:
                raise PolicyError(
                    "sensitive_tables: this field shares a table with values of other vertices: give each "
                    "vertex type tables of its own",
                    path=path,
                )


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
    on_values: list[list[list[Constraint]]] = [[[] for _ in attributes] for attributes in sensitive]
    for model, scope in policy.scoped_models:
        if not model.per_attribute:
            on_records.append(model.bind(None))
            continue
        for attributes, domains_of_kind, bound in zip(sensitive, domains, on_values, strict=True):
            for (keys, _), domain, constraints in zip(attributes, domains_of_kind, bound, strict=True):
                if scope is None or keys in scope:
                    constraints.append(model.bind_reading(domain, readings[keys], tied=tied))
    return Constraints(
        tuple(on_records),
        tuple(tuple(map(tuple, of_kind)) for of_kind in on_values),
        guarded=policy.guards_suppressed,
        bounded=tuple(_bound_values(policy, readings, sensitive, domains)),
        counts=tuple(_find_counted(policy, schema)),
        facts=_find_facts(policy, sensitive),
    )


def _find_counted(policy: Policy, schema: Schema) -> Iterator[CountedVertices]:
    """Yield the vertex types that are counted; one that no record has is left out, and refused later."""
    kinds = {schema.keys(kind.index): kind.index for kind in schema.types}
    root = [attribute.steps for attribute in schema.root.quasi]
    for keys, (field, _) in known_counts(policy).items():
        if keys in kinds:
            yield CountedVertices(kinds[keys], root.index(field))


def _find_facts(policy: Policy, sensitive: list[list[tuple[Keys, Attribute]]]) -> tuple[tuple[int, ...], ...]:
    """Return by vertex type the sensitive attributes with values that somebody may know."""
    known = known_values(policy)
    if not known:
        return ()
    return tuple(
        tuple(index for index, (keys, _) in enumerate(fields) if keys in known) for fields in sensitive
    )


def _bound_values(
    policy: Policy,
    readings: Readings,
    sensitive: list[list[tuple[Keys, Attribute]]],
    domains: tuple[tuple[SensitiveDomain, ...], ...],
) -> Iterator[BoundedValues]:
    """Yield the values whose share the alpha of bounded knowledge limits."""
    stated = bounded_values(policy)
    for kind, (attributes, domains_of_kind) in enumerate(zip(sensitive, domains, strict=True)):
        for position, ((keys, _), domain) in enumerate(zip(attributes, domains_of_kind, strict=True)):
            if bounds_values_at(policy, keys):
                codes = range(len(domain.values)) if stated is None else protected_codes(domain, stated[keys])
                presence = readings[keys].asks == "presence"
                named = None if stated is None else max(len(codes), 1)
                yield BoundedValues(kind, position, frozenset(codes), named, presence)


BLOCK_SIZE = 2000
"""Records per block where nothing is stated: what quality mode clusters together."""
ROOT_CLASSES = 10_000
"""The same under bounded knowledge, whose classes have hundreds of records."""
_FEWEST = 4
"""The number of smallest classes that a block must have room for."""


def block_size(policy: Policy, schema: Schema, constraints: Constraints) -> int | None:
    """Return about how many records a block should have; None if all records are clustered together.

    By default only trees are cut into blocks, and only if the policy names no engine. With ``blocks`` in the
    policy any engine works in blocks. Raises PolicyError if ``blocks`` is stated and cannot be followed.
    """
    stated = policy.blocks
    if stated == "whole":
        return None
    hindrance = _hindrance(policy, constraints)
    if stated is None:
        size = BLOCK_SIZE if constraints.knowledge is None else ROOT_CLASSES
        return None if hindrance or policy.steps or len(schema.types) == 1 else size
    if hindrance:
        raise PolicyError(f"blocks: {hindrance}: leave `blocks` out, or ask for `whole`")
    if stated < least_block_size(constraints):
        raise PolicyError(
            f"blocks: {stated} records are too few where a class has at least {constraints.min_class_size}: "
            f"use {least_block_size(constraints)} or more"
        )
    return stated


def may_be_cut(policy: Policy, flat: bool) -> bool:
    """Return whether the records may be cut into blocks, as far as is known before they are read.

    ``flat``: the records are rows without vertices below them.
    """
    if policy.blocks is None:
        return not (flat or policy.steps or not policy.recoding_traits.generalizes_each_value)
    return policy.blocks != "whole"


def least_block_size(constraints: Constraints) -> int:
    """Return the fewest records that a block may have."""
    return _FEWEST * constraints.min_class_size


def _hindrance(policy: Policy, constraints: Constraints) -> str:
    """Return why records must be clustered together; "" if they need not be."""
    if not policy.recoding_traits.generalizes_each_value:
        return f"recoding {policy.recoding} looks at all records at once"
    knowledge = constraints.knowledge
    if knowledge is not None:
        # Classes of two blocks differ in their root vectors, so no union is judged.
        return "counted roots: patterns are counted over all records" if knowledge.root == "counted" else ""
    if not all(constraint.closed_under_union for constraint in constraints.all()):
        return "a model that is not closed under unions must judge all records that look alike together"
    return ""

"""The contract of engines: a partition that any recoding can publish, in which every constraint holds."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hierdata.engines import Constraints, Engine
from hierdata.forest.forest import Forest
from hierdata.forest.partition import SUPPRESSED, Partition
from hierdata.privacy import DistinctLDiversity, FrequencyLDiversity, KAnonymity, PrivacyModel
from hierdata.testing.contract import ContractError, check_parameters, require
from hierdata.testing.worlds import World, search, tables, trees

MODELS: tuple[PrivacyModel, ...] = (KAnonymity(k=3), DistinctLDiversity(l=2), FrequencyLDiversity(l=2))
"""The default models of ``check_engine``."""


def check_engine(engine: Engine, models: Sequence[PrivacyModel] = MODELS) -> None:
    """Check an engine against its contract under each model: on trees if it aligns them, else on tables.

    An engine that does not begin starts from classes of a built-in engine. Raises ContractError.
    """
    check_parameters(engine)
    published = 0
    for world in trees() if engine.aligns else tables():
        for model in models:
            constraints = world.bind(model)
            partition = _search_twice(engine, world, constraints)
            _check_classes(engine, world, constraints, partition)
            _check_nodes(engine, world.forest, partition)
            _check_constraints(engine, world, constraints, partition)
            published += partition.class_count
    require(published, f"{type(engine).__name__} must publish something if all models can hold")
    _check_hopeless(engine, models[0])


def _search_twice(engine: Engine, world: World, constraints: Constraints) -> Partition:
    """Return the partition of two runs with one seed, which must agree and must not change the forest."""
    name, forest = type(engine).__name__, world.forest
    before = [array.copy() for array in _arrays(forest)]
    reported: list[int] = []
    first, again = (search(engine, world, constraints, 0, reported.append) for _ in range(2))
    same = all(map(np.array_equal, before, _arrays(forest)))
    require(same, f"{name} must not change the forest that it is given")
    equal = (
        np.array_equal(first.equivalence_class, again.equivalence_class)
        and np.array_equal(first.representative, again.representative)
        and np.array_equal(first.nodes, again.nodes)
        and first.costs == again.costs
    )
    require(equal, f"{name} must find the same for the same seed: use only rng for random draws")
    return first


def _arrays(forest: Forest) -> tuple[NDArray[Any], ...]:
    return forest.nodes, forest.sensitive, forest.roots, forest.parent, forest.type


def _members(partition: Partition) -> dict[int, list[int]]:
    """Return the vertices of each representative."""
    members: defaultdict[int, list[int]] = defaultdict(list)
    for vertex, representative in enumerate(partition.representative.tolist()):
        if representative != SUPPRESSED:
            members[representative].append(vertex)
    return dict(members)


def _check_classes(engine: Engine, world: World, constraints: Constraints, partition: Partition) -> None:
    """Check that every record is in one class, or is suppressed with all its vertices."""
    name, forest = type(engine).__name__, world.forest
    require(
        len(partition.equivalence_class) == forest.record_count
        and len(partition.representative) == forest.vertex_count
        and partition.nodes.shape == forest.nodes.shape,
        f"{name} must return a class per record, a representative per vertex, and nodes as in the forest",
    )
    sizes = Counter(partition.equivalence_class.tolist())
    sizes.pop(SUPPRESSED, None)
    require(
        sorted(sizes) == list(range(partition.class_count)), f"{name} must number its classes 0, 1, 2 ..."
    )
    require(
        all(size >= constraints.min_class_size for size in sizes.values()),
        f"{name} made a class below the minimum size of the constraints",
    )
    shown = partition.representative >= 0
    of_record = partition.equivalence_class[forest.record_of]
    require(
        not shown[of_record == SUPPRESSED].any()
        and np.array_equal(shown[forest.roots[:-1]], partition.equivalence_class >= 0),
        f"{name} must show the root of every record in a class, and no vertex of a suppressed record",
    )
    first: dict[int, int] = {}
    for representative, vertices in _members(partition).items():
        class_number = int(of_record[representative])
        records = forest.record_of[vertices].tolist()
        member = int(forest.record_of[representative])
        parents = forest.parent[vertices]
        kept = (
            partition.representative[representative] == representative
            and {*of_record[vertices].tolist()} == {class_number}
            and {*forest.type[vertices].tolist()} == {int(forest.type[representative])}
            and len({*records}) == len(records) == sizes[class_number]
            and first.setdefault(class_number, member) == member
            and (
                parents[0] < 0
                or {*partition.representative[parents].tolist()} == {int(forest.parent[representative])}
            )
        )
        require(
            kept,
            f"{name} must represent one vertex of every member of a class, all of one type and below one "
            "parent, by a vertex of one member",
        )


def _check_nodes(engine: Engine, forest: Forest, partition: Partition) -> None:
    for representative, vertices in _members(partition).items():
        for position, tree in enumerate(forest.hierarchies[forest.type[representative]]):
            node = int(partition.nodes[forest.first_node[representative] + position])
            values = forest.nodes[forest.first_node[vertices] + position].tolist()
            require(
                all(node in tree.ancestors[value] for value in values),
                f"{type(engine).__name__} must publish nodes that generalize every member of the class",
            )


def _check_constraints(engine: Engine, world: World, constraints: Constraints, partition: Partition) -> None:
    """Check the constraints at every vertex of every class, as the judge does."""
    forest, sizes = world.forest, Counter(partition.equivalence_class.tolist())
    for representative, vertices in _members(partition).items():
        record = int(forest.record_of[representative])
        size = sizes[int(partition.equivalence_class[record])]
        views = [(constraints.on_records, Counter[int]())]
        for position, bound in enumerate(constraints.on_values[forest.type[representative]]):
            codes = forest.sensitive[forest.first_sensitive[vertices] + position].tolist()
            views.append((bound, Counter(code for code in codes if code >= 0)))
        require(
            all(
                constraint.holds(constraints.view(size, counts, ()))
                for bound, counts in views
                for constraint in bound
            ),
            f"{type(engine).__name__} made a class in which a constraint does not hold",
        )


def _check_hopeless(engine: Engine, model: PrivacyModel) -> None:
    """Check that all records are suppressed, and counted in the costs, if no class can be large enough."""
    name = type(engine).__name__
    world = next(trees(1, 6) if engine.aligns else tables(1, 6))
    too_many = KAnonymity(k=world.forest.record_count + 1).bind()
    constraints = replace(world.bind(model), on_records=(too_many,))
    try:
        partition = search(engine, world, constraints, 0, lambda done: None)
    except (ArithmeticError, LookupError, ValueError) as error:
        raise ContractError(
            f"{name} must suppress all records if no class is possible, not raise an error"
        ) from error
    require(
        partition.class_count == 0 and (partition.representative == SUPPRESSED).all(),
        f"{name} must suppress all records if no class is possible",
    )
    costs = [count for cost, count in partition.costs.items() if cost.startswith("records")]
    require(
        math.fsum(costs) == world.forest.record_count,
        f"{name} must count suppressed records in its costs, under names that begin with records",
    )

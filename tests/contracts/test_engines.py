"""What every engine must keep, whatever the model: a partition that any recoding may publish."""

from __future__ import annotations

from collections import Counter, defaultdict
from functools import cache
from itertools import count, islice
from typing import Any

import numpy as np
import pytest

from hierdata.engines import ENGINES, Constraints
from hierdata.forest import Forest, Scope
from hierdata.partition import SUPPRESSED, Partition
from hierdata.privacy import MODELS
from hierdata.privacy.base import ClassView, PrivacyModel
from tests.random_collections import Collection, collection

PARAMETERS: dict[str, list[dict[str, Any]]] = {
    "k-anonymity": [{"k": 2}, {"k": 4}],
    "distinct-l-diversity": [{"l": 2}],
    "frequency-l-diversity": [{"l": 2}, {"l": "5/2"}],
    "entropy-l-diversity": [{"l": "3/2"}],
    "recursive-cl-diversity": [{"c": 2, "l": 2}],
    "alpha-k": [{"k": 3, "alpha": "0.5"}, {"k": 3, "alpha": "0.4", "values": [1, 21]}],
    "level-alpha-k": [{"k": 3}, {"k": 10}],
}
SETTINGS: dict[str, list[dict[str, Any]]] = {
    "clustree": [{"pairing": pairing} for pairing in ("greedy", "benefit", "optimal")] + [{"window": 2}],
}
CASES = [MODELS[kind](**own) for kind, cases in PARAMETERS.items() for own in cases]

each_engine = pytest.mark.parametrize(
    ("name", "setting"), [(name, setting) for name, own in SETTINGS.items() for setting in own], ids=str
)
each_model = pytest.mark.parametrize("model", CASES, ids=str)


def test_every_engine_and_every_model_is_in_the_contract() -> None:
    assert SETTINGS.keys() == ENGINES.keys()
    assert PARAMETERS.keys() == MODELS.keys()


@cache
def collections() -> list[Collection]:
    """Nine in which there is something sensitive."""
    built = (collection(50 + seed, records=23, depth=1 + seed % 3, most=3) for seed in count())
    return list(islice((one for one in built if any(shape.sensitive for shape in one.shapes)), 9))


def bind(built: Collection, model: PrivacyModel) -> Constraints:
    if model.per_attribute:
        return built.bind(model)
    return Constraints((model.bind(None),), tuple(tuple(() for _ in own) for own in built.forest.domains))


def runs(
    name: str, setting: dict[str, Any], model: PrivacyModel
) -> list[tuple[Forest, Constraints, Partition]]:
    found = []
    for seed, built in enumerate(collections()):
        constraints = bind(built, model)
        engine = ENGINES[name](**setting)
        partition = engine.step(
            built.forest, Scope.of(built.forest), constraints, None, np.random.default_rng(seed)
        )
        found.append((built.forest, constraints, partition))
    return found


def groups(partition: Partition) -> dict[int, list[int]]:
    """The vertices that each representative vertex stands for."""
    found: defaultdict[int, list[int]] = defaultdict(list)
    for vertex, representative in enumerate(partition.representative.tolist()):
        if representative != SUPPRESSED:
            found[representative].append(vertex)
    return dict(found)


@each_model
@each_engine
def test_the_partition_is_one(name: str, setting: dict[str, Any], model: PrivacyModel) -> None:
    for forest, constraints, partition in runs(name, setting, model):
        classes = Counter(partition.class_of.tolist())
        classes.pop(SUPPRESSED, None)
        assert sorted(classes) == list(range(partition.class_count))
        assert all(size >= constraints.min_class_size for size in classes.values())

        published = partition.representative >= 0
        of_record = partition.class_of[forest.record_of]
        assert not published[of_record == SUPPRESSED].any(), "a suppressed record shows a vertex"
        assert published[forest.roots[:-1]].tolist() == (partition.class_of >= 0).tolist()
        first_member: dict[int, int] = {}
        for representative, vertices in groups(partition).items():
            assert partition.representative[representative] == representative
            own = int(of_record[representative])
            assert {int(at) for at in of_record[vertices]} == {own}
            assert {int(kind) for kind in forest.type[vertices]} == {int(forest.type[representative])}
            records = forest.record_of[vertices].tolist()
            assert len(set(records)) == len(records) == classes[own], "one vertex of every member"
            member = int(forest.record_of[representative])
            assert first_member.setdefault(own, member) == member, "representatives of one record"
            parents = forest.parent[vertices]
            if parents[0] >= 0:
                above = {int(at) for at in partition.representative[parents]}
                assert above == {int(forest.parent[representative])}, "the edges are those of the originals"


@each_model
@each_engine
def test_published_nodes_generalize_every_member(
    name: str, setting: dict[str, Any], model: PrivacyModel
) -> None:
    for forest, _, partition in runs(name, setting, model):
        for representative, vertices in groups(partition).items():
            for position, tree in enumerate(forest.hierarchies[forest.type[representative]]):
                node = int(partition.nodes[forest.first_node[representative] + position])
                for vertex in vertices:
                    assert node in tree.ancestors[forest.nodes[forest.first_node[vertex] + position]]


@each_model
@each_engine
def test_every_constraint_holds_at_every_vertex_of_every_class(
    name: str, setting: dict[str, Any], model: PrivacyModel
) -> None:
    judged = 0
    for forest, constraints, partition in runs(name, setting, model):
        sizes = Counter(partition.class_of.tolist())
        for representative, vertices in groups(partition).items():
            size = sizes[int(partition.class_of[forest.record_of[representative]])]
            assert all(one.holds(ClassView(size, {})) for one in constraints.on_records)
            for position, bound in enumerate(constraints.on_values[forest.type[representative]]):
                codes = forest.sensitive[forest.first_sensitive[vertices] + position].tolist()
                view = ClassView(size, Counter(code for code in codes if code >= 0))
                assert all(one.holds(view) for one in bound), view
                judged += 1
    assert judged, "every record was suppressed in every collection"


@each_model
@each_engine
def test_equal_draws_give_equal_partitions_and_the_forest_is_left_alone(
    name: str, setting: dict[str, Any], model: PrivacyModel
) -> None:
    nodes = [built.forest.nodes.copy() for built in collections()]
    for (forest, _, one), (_, _, two), before in zip(
        runs(name, setting, model), runs(name, setting, model), nodes, strict=True
    ):
        assert (one.class_of == two.class_of).all()
        assert (one.representative == two.representative).all()
        assert (one.nodes == two.nodes).all()
        assert one.costs == two.costs
        assert (forest.nodes == before).all()


@each_engine
def test_a_class_that_cannot_be_leaves_nothing_published(name: str, setting: dict[str, Any]) -> None:
    built = collection(3, records=4, depth=2)
    partition = ENGINES[name](**setting).step(
        built.forest,
        Scope.of(built.forest),
        bind(built, MODELS["k-anonymity"](k=5)),
        None,
        np.random.default_rng(0),
    )
    assert partition.class_count == 0
    assert (partition.class_of == SUPPRESSED).all()
    assert (partition.representative == SUPPRESSED).all()
    assert sum(partition.costs[cost] for cost in partition.costs if cost.startswith("records")) == 4

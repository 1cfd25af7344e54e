"""What every engine must keep, whatever the model: a partition that any recoding may publish."""

from __future__ import annotations

from collections import Counter, defaultdict
from fractions import Fraction
from functools import cache
from itertools import count, islice
from typing import Any

import numpy as np

from hierdata.engines import ENGINES, Constraints
from hierdata.engines.base import StepInput
from hierdata.engines.enforce import coalesce
from hierdata.forest.forest import Forest, Scope
from hierdata.forest.partition import SUPPRESSED, Partition
from hierdata.judge import judge
from hierdata.metrics import METRICS
from hierdata.privacy import MODELS
from hierdata.privacy.base import PrivacyModel
from hierdata.release.recodings import RECODINGS
from tests.cases import for_each, with_worlds
from tests.promises import bind, promise
from tests.random_collections import Collection, collection

PARAMETERS: dict[str, list[dict[str, Any]]] = {
    "k-anonymity": [{"k": 2}, {"k": 4}],
    "distinct-l-diversity": [{"l": 2}, {"l": 2, "by": "level"}],
    "frequency-l-diversity": [{"l": 2}, {"l": "5/2"}],
    "entropy-l-diversity": [{"l": "3/2"}, {"l": "3/2", "by": "similarity", "e": 1}],
    "recursive-cl-diversity": [
        {"c": 2, "l": 2},
        {"c": 2, "l": 2, "by": "partition", "partition": {"depth": 1}},
    ],
    "alpha-k": [{"k": 3, "alpha": "0.5"}, {"k": 3, "alpha": "0.4", "values": [1, 21]}],
    "level-alpha-k": [{"k": 3}, {"k": 10}],
    "l-e-diversity": [{"l": 2, "e": 1}, {"l": 2, "e": "1/2", "repeats": "allow"}],
    "delta-l-diversity": [{"delta": "1/2", "l": 2}, {"delta": 2, "l": "4/3"}],
    "epsilon-m-anonymity": [{"epsilon": 2, "m": 2}, {"epsilon": "1/2", "m": "3/2", "relative": True}],
    "t-closeness": [
        {"t": "0.5"},
        {"t": "0.3", "distance": "ordered"},
        {"t": "0.4", "distance": "hierarchical"},
    ],
    "basic-beta-likeness": [{"beta": 2}],
    "enhanced-beta-likeness": [{"beta": 3}],
    "delta-disclosure": [{"delta": 3}, {"delta": 2, "absent": "ignore"}],
    "p-sensitive-k-anonymity": [{"p": 2, "k": 3}],
    "k-map": [{"k": 4}],
    "delta-presence": [{"delta_max": "2/5"}],
}
SETTINGS: dict[str, list[dict[str, Any]]] = {
    "clustree": [{"pairing": pairing} for pairing in ("greedy", "benefit", "optimal")]
    + [{"window": 2}, {"grow": False}],
    "k-member": [{}, {"candidates": 3}],
    "kaca": [{}, {"beta": 1}],
    "full-domain": [{"suppression": 1}],
    "local-search": [{}, {"near": 2, "pairing": "greedy"}],
    "mbf": [{}],
    "compose": [{"passes": 3}],
    "mondrian": [{}],
    "msb": [{"order": order} for order in ("bucket", "single", "multi")],
    "spread": [{}],
    "swap": [{}],
    "swarm": [{"particles": 4, "rounds": 5}],
    "sweep": [{}, {"passes": 0}],
}
ALL_WORLDS = 9
"""How many collections there are; in some of them no class can be under some of the models."""
AGAIN = 3
"""On how many inputs each engine and model runs a second time."""
CASES = [MODELS[kind](**own) for kind, cases in PARAMETERS.items() for own in cases]


def suits(name: str, model: PrivacyModel) -> bool:
    """mbf and msb draw values that differ, not the mix of the whole; spread asks how many lie near."""
    if name == "spread":
        relative = getattr(model, "relative", False)
        return model.kind in ("delta-l-diversity", "epsilon-m-anonymity") and not relative
    return name not in ("mbf", "msb") or not model.needs_reference


PAIRS = [
    (name, setting, model)
    for name, own in SETTINGS.items()
    for model in CASES
    for setting in own
    if suits(name, model)
]
each_engine = for_each(
    "name, setting",
    [(name, setting) for name, own in SETTINGS.items() for setting in own],
    member=lambda name, _: str(name),
)
few_or_all = with_worlds(1, ALL_WORLDS)
each_pair = for_each("name, setting, model", PAIRS, member=lambda name, *_: str(name), few=6)


def test_every_engine_and_every_model_is_in_the_contract() -> None:
    """Except the one that keeps bounded knowledge: tests/engines/test_specialize.py holds it to that."""
    assert SETTINGS.keys() == {name for name, engine in ENGINES.items() if not engine.bounds_knowledge}
    assert PARAMETERS.keys() == {name for name, model in MODELS.items() if not model.bounds_knowledge}


@cache
def collections() -> list[Collection]:
    """Nine in which there is something sensitive."""
    built = (collection(50 + seed, records=23, depth=1 + seed % 3, most=3) for seed in count())
    return list(islice((one for one in built if any(shape.sensitive for shape in one.shapes)), ALL_WORLDS))


@cache
def tables() -> list[Collection]:
    """Nine of one vertex a record, with one or two sensitive attributes."""
    built = (collection(80 + seed, records=40, depth=1) for seed in count())
    return list(islice((one for one in built if one.shapes[0].sensitive), ALL_WORLDS))


def inputs(name: str, worlds: int = ALL_WORLDS) -> list[Collection]:
    """Engines that align take trees, the others rows; spread looks at one attribute."""
    if ENGINES[name].aligns:
        return collections()[:worlds]
    return [built for built in tables() if name != "spread" or built.shapes[0].sensitive == 1][:worlds]


def stepped(
    name: str, setting: dict[str, Any], forest: Forest, constraints: Constraints, seed: int
) -> Partition:
    """What an engine finds; one that cannot begin goes on from classes of mondrian, or of clustree."""
    engine, scope, before = ENGINES[name](**setting), Scope.of(forest), None
    if not engine.begins:
        asked = constraints.without_mended(engine.mends)
        first = ENGINES["clustree" if engine.aligns else "mondrian"]()
        before = first.find_classes(StepInput(forest, scope, asked, None, np.random.default_rng(seed)))
    return engine.find_classes(StepInput(forest, scope, constraints, before, np.random.default_rng(seed)))


def runs(
    name: str, setting: dict[str, Any], model: PrivacyModel, worlds: int
) -> tuple[tuple[Forest, Constraints, Partition], ...]:
    """What an engine makes of the inputs; the tests look at the same partitions, and change none."""
    return _runs(name, tuple(setting.items()), model, worlds)


@cache
def _runs(
    name: str, setting: tuple[tuple[str, Any], ...], model: PrivacyModel, worlds: int
) -> tuple[tuple[Forest, Constraints, Partition], ...]:
    found = []
    for seed, built in enumerate(inputs(name, worlds)):
        constraints = bind(built, model)
        partition = stepped(name, dict(setting), built.forest, constraints, seed)
        found.append((built.forest, constraints, partition))
    return tuple(found)


def groups(partition: Partition) -> dict[int, list[int]]:
    """The vertices that each representative vertex stands for."""
    found: defaultdict[int, list[int]] = defaultdict(list)
    for vertex, representative in enumerate(partition.representative.tolist()):
        if representative != SUPPRESSED:
            found[representative].append(vertex)
    return dict(found)


@few_or_all
@each_pair
def test_the_partition_is_one(name: str, setting: dict[str, Any], model: PrivacyModel, worlds: int) -> None:
    for forest, constraints, partition in runs(name, setting, model, worlds):
        classes = Counter(partition.equivalence_class.tolist())
        classes.pop(SUPPRESSED, None)
        assert sorted(classes) == list(range(partition.class_count))
        assert all(size >= constraints.min_class_size for size in classes.values())

        published = partition.representative >= 0
        of_record = partition.equivalence_class[forest.record_of]
        assert not published[of_record == SUPPRESSED].any(), "a suppressed record shows a vertex"
        assert published[forest.roots[:-1]].tolist() == (partition.equivalence_class >= 0).tolist()
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


@few_or_all
@each_pair
def test_published_nodes_generalize_every_member(
    name: str, setting: dict[str, Any], model: PrivacyModel, worlds: int
) -> None:
    for forest, _, partition in runs(name, setting, model, worlds):
        for representative, vertices in groups(partition).items():
            for position, tree in enumerate(forest.hierarchies[forest.type[representative]]):
                node = int(partition.nodes[forest.first_node[representative] + position])
                for vertex in vertices:
                    assert node in tree.ancestors[forest.nodes[forest.first_node[vertex] + position]]


@few_or_all
@each_pair
def test_every_constraint_holds_at_every_vertex_of_every_class(
    name: str, setting: dict[str, Any], model: PrivacyModel, worlds: int
) -> None:
    judged = 0
    for forest, constraints, partition in runs(name, setting, model, worlds):
        sizes = Counter(partition.equivalence_class.tolist())
        for representative, vertices in groups(partition).items():
            own = int(forest.record_of[representative])
            size = sizes[int(partition.equivalence_class[own])]
            first = forest.first_node[forest.roots[own]]
            root = partition.nodes[first : first + len(forest.hierarchies[0])].tolist()
            assert all(one.holds(constraints.view(size, {}, root)) for one in constraints.on_records)
            for position, bound in enumerate(constraints.on_values[forest.type[representative]]):
                codes = forest.sensitive[forest.first_sensitive[vertices] + position].tolist()
                view = constraints.view(size, Counter(code for code in codes if code >= 0), root)
                assert all(one.holds(view) for one in bound), view
                judged += 1
    assert judged or worlds < ALL_WORLDS, "every record was suppressed in every collection"


@few_or_all
@each_pair
@for_each("recoding", ["generalization", "representatives"])
def test_the_judge_confirms_what_is_published(
    name: str, setting: dict[str, Any], model: PrivacyModel, recoding: str, worlds: int
) -> None:
    """The last step of every search is ``coalesce``; the judge sees documents alone."""
    published = 0
    for built, (forest, constraints, found) in zip(
        inputs(name, worlds), runs(name, setting, model, worlds), strict=True
    ):
        partition = coalesce(forest, found, constraints)
        publication = RECODINGS[recoding]().publish(forest, [partition], range(forest.record_count))
        verdict = judge(publication.parts[0].documents(), promise(built, model, recoding))
        assert verdict.passed or not partition.class_count, verdict
        gone, _ = METRICS["suppression_ratio"]().of(publication, forest)
        assert gone.value == 1 - Fraction(verdict.records, forest.record_count)
        assert verdict.classes <= partition.class_count
        published += verdict.records
    assert published or worlds < ALL_WORLDS, "every record was suppressed in every collection"


@few_or_all
@each_pair
def test_equal_draws_give_equal_partitions_and_the_forest_is_left_alone(
    name: str, setting: dict[str, Any], model: PrivacyModel, worlds: int
) -> None:
    nodes = [built.forest.nodes.copy() for built in inputs(name, worlds)]
    inputs_again = list(enumerate(inputs(name, worlds)))[:AGAIN]
    for (seed, built), (forest, constraints, one), before in zip(
        inputs_again, runs(name, setting, model, worlds), nodes, strict=False
    ):
        two = stepped(name, setting, forest, constraints, seed)
        assert built.forest is forest
        assert (one.equivalence_class == two.equivalence_class).all()
        assert (one.representative == two.representative).all()
        assert (one.nodes == two.nodes).all()
        assert one.costs == two.costs
        assert (forest.nodes == before).all()


@each_engine
def test_a_class_that_cannot_be_leaves_nothing_published(name: str, setting: dict[str, Any]) -> None:
    built = collection(3, records=4, depth=2 if ENGINES[name].aligns else 1)
    five = MODELS["k-anonymity"](k=5)
    model = five if suits(name, five) else MODELS["delta-l-diversity"](delta=0, l=5)
    partition = stepped(name, setting, built.forest, bind(built, model), 0)
    assert partition.class_count == 0
    assert (partition.equivalence_class == SUPPRESSED).all()
    assert (partition.representative == SUPPRESSED).all()
    assert sum(partition.costs[cost] for cost in partition.costs if cost.startswith("records")) == 4

"""The last step: what coincides is judged together, as its twin does it, and the judge finds nothing."""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import replace
from fractions import Fraction
from functools import cache
from itertools import count, islice
from typing import Any

import numpy as np
import pytest

from hierdata.engines import Constraints
from hierdata.engines.base import StepInput
from hierdata.engines.clustree.engine import CluStree
from hierdata.engines.enforce import coalesce
from hierdata.forest.forest import Forest, Scope
from hierdata.forest.partition import Partition
from hierdata.judge import judge
from hierdata.privacy import (
    AlphaK,
    DeltaDisclosure,
    DeltaLDiversity,
    EpsilonMAnonymity,
    FrequencyLDiversity,
    LEDiversity,
    LevelAlphaK,
)
from hierdata.privacy.base import ClassView, Constraint, PrivacyModel, SensitiveReading
from hierdata.privacy.k_anonymity import DeltaPresence
from hierdata.release.recodings import RECODINGS
from tests.cases import with_worlds
from tests.naive_coalesce import Known, Node, Values, coalesced
from tests.promises import bind, promise
from tests.random_collections import Collection, collection

MODELS: list[PrivacyModel] = [
    LEDiversity(l=2, e=1),
    LEDiversity(l=2, e="1/2", repeats="allow"),
    DeltaLDiversity(delta="1/2", l=2),
    DeltaLDiversity(delta=2, l="4/3"),
    EpsilonMAnonymity(epsilon="1/2", m="3/2", relative=True),
    DeltaDisclosure(delta=2, absent="ignore"),
    DeltaPresence(delta_max="2/5"),
]
each_model = pytest.mark.parametrize("model", MODELS, ids=str)


@cache
def sensitive_ones() -> list[Collection]:
    """Fifty with sensitive values below the root, where siblings may be pooled."""
    built = (collection(300 + seed, records=30, depth=1 + seed % 3, most=4) for seed in count())
    return list(islice((one for one in built if any(shape.sensitive for shape in one.shapes[1:])), 50))


def found(seed: int, model: PrivacyModel) -> tuple[Collection, Constraints, Partition]:
    built = sensitive_ones()[seed]
    constraints = bind(built, model)
    partition = CluStree(pairing="greedy").find_classes(
        StepInput(built.forest, Scope.of(built.forest), constraints, None, np.random.default_rng(seed))
    )
    return built, constraints, partition


def classes_of(forest: Forest, partition: Partition) -> list[Known]:
    """The class representatives for the twin; a node's name is its vertex."""
    behind: defaultdict[int, list[int]] = defaultdict(list)
    for v, representative in enumerate(partition.representative.tolist()):
        if representative >= 0:
            behind[representative].append(v)
    nodes: dict[int, Node] = {}
    for v, vertices in sorted(behind.items()):
        kind = int(forest.type[v])
        first = forest.first_node[v]
        trees = forest.hierarchies[kind]
        labels = partition.nodes[first : first + len(trees)].tolist()
        values = [
            forest.sensitive[forest.first_sensitive[vertices] + at].tolist()
            for at in range(len(forest.domains[kind]))
        ]
        records = forest.record_of[vertices].tolist()
        nodes[v] = Node(
            v,
            str(kind),
            tuple(tree.labels[node] for tree, node in zip(trees, labels, strict=True)),
            [
                [(record, code) for record, code in zip(records, own, strict=True) if code >= 0]
                for own in values
            ],
        )
        if forest.parent[v] >= 0:
            nodes[int(forest.parent[v])].children.append(nodes[v])
    roots = [node for v, node in nodes.items() if forest.parent[v] < 0]
    roots.sort(key=lambda node: int(partition.equivalence_class[forest.record_of[node.name]]))
    return [Known(len(behind[root.name]), root) for root in roots]


def names(node: Node) -> set[int]:
    return {node.name}.union(*map(names, node.children))


class Fickle(Constraint):
    """No model at all: it holds for one class and fails for the next, so that unions fail in every way."""

    closed_under_union = closed_under_pooling = False
    min_class_size = 2

    def holds(self, view: ClassView) -> bool:
        return (sum(code * times for code, times in view.counts.items()) + view.records) % 3 > 0

    def achieved_parameters(self, view: ClassView) -> dict[str, Fraction]:
        return {}


def assert_as_the_twin(forest: Forest, constraints: Constraints, partition: Partition) -> Counter[str]:
    """The same classes and vertices; answers what was given up."""
    united = coalesce(forest, partition, constraints)

    def view(records: int, values: list[Any]) -> ClassView:
        shown: defaultdict[int, set[int]] = defaultdict(set)
        for record, code in values:
            shown[record].add(code)
        sets = Counter(map(frozenset, shown.values()))
        return ClassView(records, Counter(code for _, code in values), sets=sets)

    def holds(kind: str, records: int, values: Values) -> bool:
        bound = constraints.on_values[int(kind)]
        return all(
            one.holds(view(records, at_place))
            for at_place, own in zip(values, bound, strict=True)
            for one in own
            if kind == "0" or not one.reading.of_record
        )

    def in_records(kind: str, at: int, records: int, values: list[Any]) -> bool:
        bound = constraints.on_values[int(kind)][at]
        return all(one.holds(view(records, values)) for one in bound if one.reading.of_record)

    presence = any(one.reading.asks == "presence" for one in constraints.all())
    left = coalesced(classes_of(forest, partition), holds, presence=presence, in_records=in_records)
    expected = set().union(*(names(known.root) for known in left))
    kept = united.representative >= 0
    assert set(united.representative[kept].tolist()) == expected
    assert (united.representative[kept] == partition.representative[kept]).all()
    assert kept[forest.roots[:-1]].tolist() == (united.equivalence_class >= 0).tolist()
    assert united.class_count == len(left)
    given_up = (partition.equivalence_class >= 0) & (united.equivalence_class < 0)
    assert united.costs["records_lost_in_a_union"] == int(given_up.sum())
    pooled = (partition.representative >= 0) & ~kept & ~given_up[forest.record_of]
    assert united.costs["vertices_lost_in_a_pool"] >= int(pooled.sum())
    return united.costs - partition.costs


@with_worlds(2, 25)
@pytest.mark.parametrize("model", MODELS[:-1], ids=str)
def test_gives_up_what_the_twin_gives_up(model: PrivacyModel, worlds: int) -> None:
    for seed in range(worlds):
        built, constraints, partition = found(seed, model)
        assert_as_the_twin(built.forest, constraints, partition)


PRESENCE: list[PrivacyModel] = [
    FrequencyLDiversity(l=2),
    AlphaK(k=2, alpha="2/3"),
    LevelAlphaK(k=2, alpha=("1", "2/3", "2/3", "1/2", "1/2")),
    LEDiversity(l=2, e=1),
    DeltaLDiversity(delta="1/2", l=2),
]


def bind_presence(built: Collection, model: PrivacyModel, within: Any, *, tied: bool = True) -> Constraints:
    return Constraints(
        (),
        tuple(
            tuple((model.bind_presence(domain, within, tied=tied),) for domain in own)
            for own in built.forest.domains
        ),
    )


@with_worlds(1, 20)
@pytest.mark.parametrize("model", PRESENCE, ids=str)
@pytest.mark.parametrize("within", ["place", "record"])
def test_gives_up_what_the_twin_gives_up_by_presence(model: PrivacyModel, within: Any, worlds: int) -> None:
    lost: Counter[str] = Counter()
    for seed, built in enumerate(sensitive_ones()[:worlds]):
        constraints = bind_presence(built, model, within)
        partition = CluStree(pairing="greedy").find_classes(
            StepInput(built.forest, Scope.of(built.forest), constraints, None, np.random.default_rng(seed))
        )
        lost += assert_as_the_twin(built.forest, constraints, partition)
    assert lost["vertices_lost_in_a_pool"]


@with_worlds(3, 20)
@pytest.mark.parametrize("model", PRESENCE, ids=str)
@pytest.mark.parametrize("within", ["place", "record"])
@pytest.mark.parametrize("recoding", ["generalization", "representatives"])
def test_the_judge_finds_nothing_that_fails_by_presence(
    model: PrivacyModel, within: Any, recoding: str, worlds: int
) -> None:
    published = failing = 0
    for seed, built in enumerate(sensitive_ones()[:worlds]):
        constraints = bind_presence(built, model, within, tied=recoding == "generalization")
        partition = CluStree(pairing="greedy").find_classes(
            StepInput(built.forest, Scope.of(built.forest), constraints, None, np.random.default_rng(seed))
        )
        rules = promise(built, model, recoding)
        reading = SensitiveReading("presence", within)
        rules = replace(rules, sensitive=tuple(replace(one, reading=reading) for one in rules.sensitive))
        order = range(built.forest.record_count)
        before, after = (
            judge(RECODINGS[recoding]().publish(built.forest, [own], order).parts[0].documents(), rules)
            for own in (partition, coalesce(built.forest, partition, constraints))
        )
        assert after.passed or not after.records, after
        published += after.records
        failing += bool(before.records) and not before.passed
    assert published
    assert failing, "without this step the judge would find failures"


def test_gives_up_what_the_twin_gives_up_whatever_fails() -> None:
    lost: Counter[str] = Counter()
    for seed, built in enumerate(sensitive_ones()):
        constraints = Constraints((), tuple(tuple((Fickle(),) for _ in own) for own in built.forest.domains))
        partition = CluStree(pairing="greedy").find_classes(
            StepInput(built.forest, Scope.of(built.forest), constraints, None, np.random.default_rng(seed))
        )
        lost += assert_as_the_twin(built.forest, constraints, partition)
    assert lost["records_lost_in_a_union"] > 20
    assert lost["vertices_lost_in_a_pool"] > 20


@with_worlds(2, 50)
@each_model
@pytest.mark.parametrize("recoding", ["generalization", "representatives"])
def test_the_judge_finds_nothing_that_fails(model: PrivacyModel, recoding: str, worlds: int) -> None:
    published = 0
    for seed in range(worlds):
        built, constraints, partition = found(seed, model)
        united = coalesce(built.forest, partition, constraints)
        order = range(built.forest.record_count)
        publication = RECODINGS[recoding]().publish(built.forest, [united], order)
        verdict = judge(publication.parts[0].documents(), promise(built, model, recoding))
        assert verdict.passed or not united.class_count, verdict
        published += verdict.records
    assert published


def test_without_this_step_the_judge_would_find_failures() -> None:
    failing = 0
    for seed in range(30):
        built, _, partition = found(seed, MODELS[0])
        publication = RECODINGS["generalization"]().publish(built.forest, [partition], range(30))
        verdict = judge(publication.parts[0].documents(), promise(built, MODELS[0], "generalization"))
        failing += bool(partition.class_count) and not verdict.passed
    assert failing


def test_models_that_no_union_breaks_leave_the_partition_as_it_is() -> None:
    built, constraints, partition = found(0, FrequencyLDiversity(l=2))
    assert coalesce(built.forest, partition, constraints) is partition


def equal_classes(*classes: list[str]) -> tuple[Collection, Partition]:
    """One-vertex records without quasi-identifiers: all classes coincide."""
    built: Any = None
    for seed in range(100):
        built = collection(seed, records=sum(map(len, classes)), depth=1)
        if not built.shapes[0].taxonomies and built.shapes[0].sensitive == 1:
            break
    forest = built.forest
    forest.sensitive[:] = [int(value) for own in classes for value in own]
    class_of = np.array([at for at, own in enumerate(classes) for _ in own])
    first = np.array([class_of.tolist().index(at) for at in class_of.tolist()])
    return built, Partition(class_of, first, forest.nodes)


def test_the_largest_classes_are_taken_up_first() -> None:
    """Codes 0, 1 and 2, 3 are similar values, 4 and 5 as well: one of each pair may stand in a union."""
    built, partition = equal_classes(["0", "2"], ["1", "4", "6"], ["5", "3"], ["0", "4"])
    united = coalesce(built.forest, partition, bind(built, LEDiversity(l=2, e=1)))
    assert united.equivalence_class.tolist() == [-1, -1, 0, 0, 0, -1, -1, -1, -1]
    assert united.costs == {"records_lost_in_a_union": 6}


def test_a_smaller_class_that_fits_beside_the_larger_is_kept() -> None:
    built, partition = equal_classes(["0", "2"], ["3", "4"], ["5", "6"])
    united = coalesce(built.forest, partition, bind(built, LEDiversity(l=2, e=1)))
    assert united.equivalence_class.tolist() == [0, 0, -1, -1, 1, 1]

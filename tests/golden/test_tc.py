"""Golden cases of paper TC that are about classes: partitions, random keys, figures. All 43 are asserted."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from hierdata.domains.sensitive import SensitiveDomain
from hierdata.engines import ENGINES, Constraints
from hierdata.engines.base import StepInput
from hierdata.engines.reassignment.arrangement import Arrangement
from hierdata.engines.reassignment.kernel import UNIT, objective
from hierdata.engines.reassignment.swarming import along_the_leaves, deal_rows, decode_keys
from hierdata.forest.encoding import encode
from hierdata.forest.forest import Forest, Scope
from hierdata.forest.partition import Partition
from hierdata.metrics import METRICS
from hierdata.metrics.losses import AdditionalInformationLoss
from hierdata.privacy import TCloseness
from hierdata.records.record import Vertex
from hierdata.records.schema import Attribute, Role, Schema, VertexType
from tests import naive_distributions
from tests import naive_reassigning as naive
from tests.golden import test_distributions as distances
from tests.golden.cases import Case, agrees
from tests.golden.test_distributions import PSO, achieved, cases, domain, tree_of
from tests.publications import publication_of

HERE = {
    "all_partitions",
    "best_partition",
    "best_partition_small",
    "random_key_decode",
    "threshold_reading",
    "add_info_loss",
    "suppression_ratio",
}
THERE = {
    "emd_hierarchical",
    "emd_trace_node",
    "emd_leaf_extra",
    "emd_ordered",
    "class_ranges",
    "t_closeness_of_partition",
}


def test_no_case_is_left_out() -> None:
    assert len(PSO.cases) == 43
    assert {case.kind for case in PSO.cases} == HERE | THERE
    marked = [
        mark
        for module in (distances, __import__(__name__, fromlist=["_"]))
        for name, test in vars(module).items()
        if name.startswith("test_")
        for mark in getattr(test, "pytestmark", [])
    ]
    asserted = {case.id for mark in marked for case in mark.args[1] if isinstance(case, Case)}
    assert asserted >= {case.id for case in PSO.cases}


def forest(case: Case, values: list[str]) -> Forest:
    """Records of one sensitive value and no quasi-identifier."""
    schema = Schema((VertexType(0, "$", (), True, None, (), (Attribute("$.s", ("s",), Role.SENSITIVE),)),))
    own = domain(tree_of(case), values)
    return encode((Vertex(0, [], [value], [], []) for value in values), schema, [()], [[own]])


def constraints(found: Forest, t: Fraction) -> Constraints:
    ((own,),) = found.domains
    return Constraints((), (((TCloseness(t=t, distance="hierarchical").bind(own),),),))


def attribute(case: Case, values: list[str], t: Fraction = Fraction(0)) -> naive.Attribute:
    tree = tree_of(case)
    return naive.Attribute(values, lambda p, q: naive_distributions.hierarchical(p, q, tree), t)


def in_order(sizes: list[int]) -> np.ndarray[Any, Any]:
    return np.repeat(np.arange(len(sizes)), sizes)


def largest(case: Case, values: list[str], classes: list[list[int]]) -> Fraction:
    """By the model."""
    own = domain(tree_of(case), values)
    return max(achieved(own, [values[row] for row in rows], "hierarchical") for rows in classes)


def diseases(case: Case) -> list[str]:
    return [row[3] for row in case.input["records"]]


@cases(PSO, "all_partitions")
def test_every_split_of_table_one(case: Case) -> None:
    values = diseases(case)
    found = [
        {
            "classes": [[row + 1 for row in rows] for rows in classes],
            "t": naive.objective(classes, [attribute(case, values)])[0],
        }
        for classes in naive.every_partition(range(6), case.input["class_sizes"])
    ]
    by_classes = {str(one["classes"]): one["t"] for one in found}
    assert len(found) == len(by_classes) == len(case.expected)
    for expected in case.expected:
        assert agrees(expected["t"], by_classes[str(expected["classes"])])
        rows = [[row - 1 for row in own] for own in expected["classes"]]
        assert agrees(expected["t"], largest(case, values, rows))


def reached(case: Case, name: str, values: list[str], sizes: list[int], t: Fraction) -> list[list[int]]:
    """The classes that an engine makes of rows in their order, none suppressed and none united."""
    built = forest(case, values)
    classes = in_order(sizes)
    first = np.cumsum([0, *sizes[:-1]])
    before = Partition(classes, first[classes], built.nodes)
    partition = ENGINES[name](kind=name).find_classes(
        StepInput(built, Scope.of(built), constraints(built, t), before, np.random.default_rng(1))
    )
    assert np.bincount(partition.equivalence_class).tolist() == sizes
    return [np.flatnonzero(partition.equivalence_class == own).tolist() for own in range(len(sizes))]


@pytest.mark.parametrize("name", ["swap", "swarm"])
@cases(PSO, "best_partition")
def test_the_best_split_of_table_one(case: Case, name: str) -> None:
    values, sizes = diseases(case), case.input["class_sizes"]
    best = naive.optimum(sizes, [attribute(case, values)])
    assert agrees(case.expected, best)
    assert largest(case, values, reached(case, name, values, sizes, best)) == best


@pytest.mark.parametrize("name", ["swap", "swarm"])
@cases(PSO, "best_partition_small")
def test_small_tables_reach_the_optimum(case: Case, name: str) -> None:
    values, sizes = case.input["values"], case.input["class_sizes"]
    best = naive.optimum(sizes, [attribute(case, values)])
    assert agrees(case.expected["optimum"], best)
    order = sorted(range(len(values)), key=lambda row: (case.input["leaf_order"].index(values[row]), row))
    rule = naive.dealt(order, sizes)
    assert agrees(
        case.expected["round_robin_on_leaf_order"], naive.objective(rule, [attribute(case, values)])[0]
    )
    built = forest(case, values)
    made = Arrangement.of(built, Scope.of(built), constraints(built, best), in_order(sizes))
    members = deal_rows(along_the_leaves(made), made.classes.starts)
    assert sorted(map(sorted, np.split(members, made.classes.starts[1:-1]))) == sorted(map(sorted, rule))
    assert largest(case, values, reached(case, name, values, sizes, best)) == best


@cases(PSO, "random_key_decode")
def test_random_keys(case: Case) -> None:
    values, sizes, keys = case.input["values"], case.input["class_sizes"], case.input["keys"]
    classes = naive.decode(keys, sizes)
    expected = case.expected
    assert agrees(expected["classes"], classes)
    assert agrees(expected["objective"], naive.objective(classes, [attribute(case, values)])[0])
    members = decode_keys(np.array(keys), np.arange(len(keys)))
    assert agrees(expected["classes"], [own.tolist() for own in np.split(members, np.cumsum(sizes)[:-1])])
    built = forest(case, values)
    made = Arrangement.of(built, Scope.of(built), constraints(built, Fraction(0)), in_order(sizes))
    _, found, _, _ = objective(members, made.classes.starts, made.closeness, made.caps)
    assert found == round(Fraction(expected["objective"]["exact"]) * UNIT)


@cases(PSO, "threshold_reading")
def test_the_smallest_distance_of_a_class_is_no_threshold(case: Case) -> None:
    classes, size = case.input["start_classes"], case.input["class_size"]
    values = [value for own in classes for value in own]
    assert sorted(values) == sorted(case.input["values"])
    own, expected = domain(tree_of(case), values), case.expected
    per_class = [achieved(own, one, "hierarchical") for one in classes]
    assert agrees(expected["class_distances"], per_class)
    assert agrees(expected["smallest"], min(per_class))
    sizes = [size] * len(classes)
    best = naive.optimum(sizes, [attribute(case, values)])
    assert agrees(expected["best_reachable_largest"], best)
    assert min(per_class) < best
    for name in ("swap", "swarm"):
        assert largest(case, values, reached(case, name, values, sizes, best)) == best


@cases(PSO, "add_info_loss")
def test_additional_information_loss(case: Case) -> None:
    tables, least = case.input["group_sizes_per_table"], Fraction(case.input["l"])
    twin = sum(
        (sum(((size - least) / least for size in own), Fraction(0)) / len(own) for own in tables), Fraction(0)
    ) / len(tables)
    assert agrees(case.expected, twin)
    figure = AdditionalInformationLoss(least).of(*several_tables(tables))
    assert agrees(case.expected, figure[0].value)


def several_tables(tables: list[list[int]]) -> Any:
    """Groups of these sizes: each table is a vertex type below records that hold one vertex of it."""
    count = max(map(sum, tables))
    types = [VertexType(0, "$", (), True, None, tuple(range(1, len(tables) + 1)), ())]
    for at in range(1, len(tables) + 1):
        attributes = (Attribute(f"$.t{at}.s", ("s",), Role.SENSITIVE),)
        types.append(VertexType(at, f"$.t{at}", (f"t{at}",), False, 0, (), attributes))
    codes = [(), *([SensitiveDomain(f"$.t{at}.s", (1,))] for at in range(1, len(tables) + 1))]
    records = [
        Vertex(
            0, [], [], [], [Vertex(at, [], [1], [], []) for at, own in enumerate(tables, 1) if row < sum(own)]
        )
        for row in range(count)
    ]
    built = encode(records, Schema(tuple(types)), [()] * len(types), codes)
    publication = publication_of(
        built, Partition(np.arange(count), np.arange(built.vertex_count), built.nodes.copy())
    )
    place = publication.equivalence_position.copy()
    for at, own in enumerate(tables, 1):
        vertices = np.flatnonzero(built.type == at)
        place[vertices] = vertices[0] + np.repeat(np.arange(len(own)), own)
    return replace(publication, equivalence_position=place), built


@cases(PSO, "suppression_ratio")
def test_suppression_ratio(case: Case) -> None:
    gone, count = case.input["suppressed"], case.input["n"]
    built = forest_of_nothing(count)
    classes = np.zeros(count, np.int64)
    classes[:gone] = -1
    partition = Partition(classes, np.where(classes < 0, -1, gone), built.nodes)
    found = {
        one.name: one.value
        for one in METRICS["suppression_ratio"]().of(publication_of(built, partition), built)
    }
    assert agrees(case.expected, found["records"])
    assert agrees(case.expected, Fraction(gone, count))


def forest_of_nothing(count: int) -> Forest:
    schema = Schema((VertexType(0, "$", (), True, None, (), ()),))
    return encode((Vertex(0, [], [], [], []) for _ in range(count)), schema, [()], [()])

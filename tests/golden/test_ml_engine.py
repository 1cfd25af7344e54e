"""The golden tree pairs and the runs worked by hand, on the compiled engine."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from hierdata.engines import Constraints
from hierdata.engines.alignment.alignment import Alignment
from hierdata.engines.base import StepInput
from hierdata.engines.clustree.engine import CluStree
from hierdata.forest.encoding import encode
from hierdata.forest.forest import Forest, Scope
from hierdata.metrics import METRICS
from hierdata.privacy import KAnonymity, LevelAlphaK
from hierdata.privacy.base import PrivacyModel
from hierdata.records.record import Vertex
from hierdata.records.schema import Attribute, Role, Schema, VertexType
from tests import naive
from tests.golden.cases import Case, agrees, load
from tests.golden.hand_worked import TAXONOMIES, Run, by_hand_collection, by_hand_runs
from tests.publications import publication_of
from tests.random_collections import LevelDomain, hierarchy

GOLDEN = load("multilevel_hierarchical.json")
PARENTS = {"student": None, "course": "student", "book": "student", "teacher": "course"}
PAIRINGS = {"greedy": "greedy", "greedy_loss_minus_suppression": "benefit", "optimal": "optimal"}


def forest_of(records: Iterable[Vertex], taxonomies: Mapping[str, str], trees: Mapping[str, Any]) -> Forest:
    """A forest of one quasi-identifier and one sensitivity level at each vertex."""
    names = list(taxonomies)
    types = tuple(
        VertexType(
            index=i,
            path=name,
            steps=() if PARENTS[name] is None else (name,),
            many=True,
            parent=None if PARENTS[name] is None else names.index(PARENTS[name]),
            children=tuple(names.index(other) for other in names if PARENTS[other] == name),
            attributes=(
                Attribute(f"{name}.qi", ("qi",), Role.QUASI),
                Attribute(f"{name}.level", ("level",), Role.SENSITIVE),
            ),
        )
        for i, name in enumerate(names)
    )
    hierarchies = [[hierarchy(naive.Taxonomy(trees[taxonomies[name]]))] for name in names]
    domains = [[LevelDomain(name, (1, 2, 3, 4, 5), (1, 2, 3, 4, 5))] for name in names]
    return encode(records, Schema(types), hierarchies, domains)


def constraints_of(forest: Forest, model: PrivacyModel | None) -> Constraints:
    bound = [[() if model is None else (model.bind(one),) for one in own] for own in forest.domains]
    return Constraints((), tuple(tuple(own) for own in bound))


def golden_forest(*trees: Mapping[str, Any]) -> Forest:
    names = list(PARENTS)

    def vertex(tree: Mapping[str, Any]) -> Vertex:
        children = [vertex(child) for child in tree["children"]]
        return Vertex(names.index(tree["type"]), list(tree["qi"]), [tree["level"]], [], children)

    (quasi,) = zip(*(GOLDEN.inputs["qi_taxonomy_by_type"][name] for name in names), strict=True)
    return forest_of(map(vertex, trees), dict(zip(names, quasi, strict=True)), GOLDEN.inputs["taxonomies"])


def pair_loss(given: Mapping[str, Any], pairing: str) -> Fraction:
    forest = golden_forest(given["a"], given["b"])
    model = None if given["k"] is None else LevelAlphaK(k=given["k"])
    alignment = Alignment(forest, constraints_of(forest, model), given["k"] or 2, pairing)
    return Fraction(int(alignment.pair_losses(0, np.array([1]))[0]), forest.scale)


@pytest.mark.parametrize("pairing", PAIRINGS)
@pytest.mark.parametrize("case", GOLDEN.by_kind()["tree_pair_cost"], ids=lambda case: case.id)
def test_the_engine_aligns_a_golden_pair(case: Case, pairing: str) -> None:
    assert agrees(case.expected[pairing], pair_loss(case.input, PAIRINGS[pairing]))


def test_no_trial_alters_a_tree() -> None:
    (case,) = GOLDEN.by_kind()["tree_pair_in_place"]
    assert agrees(case.expected["with_copies"], pair_loss(case.input, "greedy"))


class Draws:
    """Stands in for a random generator: gives what was drawn by hand."""

    def __init__(self, draws: list[int]) -> None:
        self._draws = draws

    def integers(self, low: int, high: int, size: int) -> np.ndarray:
        return np.array(self._draws[:size] + [0] * (size - len(self._draws)))


@pytest.mark.parametrize("run", by_hand_runs(), ids=lambda run: run.name)
def test_the_engine_runs_algorithm_2_as_worked_by_hand(run: Run) -> None:
    records = [
        Vertex(
            0,
            [student["program"]],
            [student["gpa"]],
            [],
            [Vertex(1, [course["code"]], [course["grade"]], [], []) for course in student["courses"]],
        )
        for student in by_hand_collection()
    ]
    forest = forest_of(records, {"student": "program", "course": "course"}, TAXONOMIES)
    constraints = (
        constraints_of(forest, LevelAlphaK(k=run.k))
        if run.level_alpha
        else Constraints((KAnonymity(k=run.k).bind(None),), (((),), ((),)))
    )
    partition = CluStree(window=run.window, pairing="greedy").find_classes(
        StepInput(forest, Scope.of(forest), constraints, None, Draws(run.draws))
    )

    kept = [sorted(members) for members, tree in zip(run.members, run.published, strict=True) if tree]
    classes = [
        np.flatnonzero(partition.equivalence_class == at).tolist() for at in range(partition.class_count)
    ]
    assert classes == kept
    assert [representative(forest, partition, members) for members in kept] == [t for t in run.published if t]
    loss = METRICS["lm_cost"]().of(publication_of(forest, partition), forest)
    assert loss[0].value == run.total_loss
    assert partition.costs["records_left_over"] == len(run.leftover)


def representative(forest: Forest, partition: Any, members: list[int]) -> dict[str, Any]:
    """The class representative as a document, from the partition alone."""

    def label(v: int) -> Any:
        node = partition.nodes[forest.first_node[v]]
        return forest.hierarchies[forest.type[v]][0].labels[node]

    def levels(v: int) -> list[int]:
        vertices = np.flatnonzero(partition.representative == v)
        return sorted(
            int(code) + 1 for code in forest.sensitive[forest.first_sensitive[vertices]] if code >= 0
        )

    own = {
        int(v)
        for record in members
        for v in partition.representative[forest.roots[record] : forest.roots[record + 1]]
        if v >= 0
    }
    root = next(v for v in own if forest.type[v] == 0)
    courses = [{"code": label(v), "grade": levels(v)} for v in sorted(own - {root})]
    return {"program": label(root), "gpa": levels(root), "courses": courses}

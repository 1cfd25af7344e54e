"""The engine takes records by a bound of their losses, and finds what it would find among all of them."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Literal

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from hierdata.engines.alignment.alignment import find_unpaired
from hierdata.engines.alignment.kernels.representative import begin
from hierdata.engines.alignment.lower_bounds import histograms
from hierdata.engines.base import Constraints, StepInput
from hierdata.engines.clustree import run as running
from hierdata.engines.clustree.engine import CluStree
from hierdata.engines.clustree.run import ClusTreeRun
from hierdata.forest.forest import Forest, Scope
from hierdata.forest.partition import Partition
from hierdata.privacy import DeltaLDiversity, EntropyLDiversity, FrequencyLDiversity, LEDiversity, LevelAlphaK
from hierdata.privacy.base import PrivacyModel
from tests import naive, naive_growth
from tests.benchmarks.collections import Encoded, encoded, policy_for, written
from tests.cases import each_once, examples
from tests.random_collections import collection

Pairing = Literal["greedy", "benefit", "optimal"]
PAIRINGS: dict[Pairing, str] = {
    "greedy": "greedy",
    "benefit": "greedy_loss_minus_suppression",
    "optimal": "optimal",
}
MODELS: dict[str, PrivacyModel] = {
    "levels, k = 3": LevelAlphaK(k=3),
    "levels, k = 5": LevelAlphaK(k=5),
    "frequency": FrequencyLDiversity(l=2),
    "neighbors": DeltaLDiversity(delta=1, l="4/3"),
    "l = 3, e = 1": LEDiversity(l=3, e=1),
    "entropy": EntropyLDiversity(l="3/2"),
}


def clustered(forest: Forest, constraints: Constraints, engine: CluStree, seed: int) -> Partition:
    return engine.find_classes(
        StepInput(forest, Scope.of(forest), constraints, None, np.random.default_rng(seed))
    )


def assert_same_as_among_all(
    forest: Forest, constraints: Constraints, engine: CluStree, seed: int
) -> tuple[int, int]:
    """Answers the pair losses that the engine evaluated, and those that there are."""
    found = clustered(forest, constraints, engine, seed)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(running, "begin", naive_growth.begin)
        patch.setattr(running, "grow", naive_growth.grow)
        expected = clustered(forest, constraints, engine, seed)
    for name in ("equivalence_class", "representative", "nodes"):
        assert (getattr(found, name) == getattr(expected, name)).all(), name
    evaluated, all_there_are = found.costs.pop("pair_losses"), expected.costs.pop("pair_losses")
    assert found.costs == expected.costs
    assert evaluated <= all_there_are
    return evaluated, all_there_are


@examples(60)
@given(
    st.integers(0, 2**20),
    st.integers(1, 4),
    st.sampled_from(sorted(PAIRINGS)),
    st.sampled_from(sorted(MODELS)),
    st.sampled_from([2, 5, 50]),
    st.booleans(),
)
def test_the_same_classes_as_among_all(
    seed: int, depth: int, pairing: Pairing, model: str, window: int, grow: bool
) -> None:
    built = collection(seed, records=25, depth=depth)
    engine = CluStree(window=window, pairing=pairing, grow=grow)
    assert_same_as_among_all(built.forest, built.bind(MODELS[model]), engine, seed)


@cache
def students(folder: Path, name: str, preset: str, records: int) -> Encoded:
    own = folder / f"{name}-{preset}-{records}"
    own.mkdir()
    file = written(own, name, records)
    return encoded(file, policy_for(file, models=[], preset=preset))


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("students")


@pytest.mark.parametrize("preset", ["MLevCluTree", pytest.param("ClusTree", marks=pytest.mark.full)])
@pytest.mark.parametrize(("pairing", "name"), each_once([*PAIRINGS], ["A", "B"]))
def test_students_cluster_the_same_with_a_part_of_the_pair_losses(
    folder: Path, name: str, pairing: Pairing, preset: str
) -> None:
    data = students(folder, name, preset, 1000 if (name, pairing) == ("A", "greedy") else 300)
    evaluated, all_there_are = assert_same_as_among_all(
        data.forest, data.prepared.constraints, CluStree(pairing=pairing, grow=False), 3
    )
    assert evaluated < all_there_are / 2


class Begun:
    """The bounds and losses of a seed with some others, and what a run begins with."""

    def __init__(
        self, forest: Forest, constraints: Constraints, seed: int, others: NDArray[np.int64], window: int
    ) -> None:
        size = constraints.min_class_size
        run = ClusTreeRun(forest, constraints, size, window, "greedy", growing=False)
        alone = find_unpaired(forest, run.rows, run.settings.first_slot, run.rules.caps)
        found = histograms(forest, alone)
        self.losses = run.pair_losses(seed, others).tolist()
        self.bounds = found.bounds(seed, others).tolist()
        self.near, self.near_losses = np.empty(window, np.int64), np.empty(window, np.int64)
        self.count, self.evaluated = begin(
            seed,
            others,
            self.near,
            self.near_losses,
            found,
            run.buffers,
            run.arrays,
        )


@examples(60)
@given(
    st.integers(0, 2**20),
    st.integers(1, 3),
    st.integers(1, 12),
    st.sampled_from(sorted(MODELS)),
    st.permutations(range(30)),
    st.integers(1, 30),
)
def test_no_pair_loss_is_evaluated_that_the_bound_rules_out(
    seed: int, depth: int, window: int, model: str, order: list[int], some: int
) -> None:
    """Who is near, in which order, and how many had to be looked at; also where many losses are equal."""
    built = collection(seed, records=30, depth=depth, most=1)
    others = np.array(order[:some])
    begun = Begun(built.forest, built.bind(MODELS[model]), order[0], others, window)
    assert all(bound <= loss for bound, loss in zip(begun.bounds, begun.losses, strict=True))
    expected = sorted((loss, place) for place, loss in enumerate(begun.losses) if place > 0)[:window]
    assert begun.near[: begun.count].tolist() == [others[place] for _, place in expected]
    assert begun.near_losses[: begun.count].tolist() == [loss for loss, _ in expected]
    if len(expected) == window:
        not_ruled_out = [
            place for place, bound in enumerate(begun.bounds) if place > 0 and (bound, place) <= max(expected)
        ]
        assert begun.evaluated == len(not_ruled_out)
    else:
        assert begun.evaluated == some - 1


@examples(60)
@given(
    st.integers(0, 2**20),
    st.integers(1, 4),
    st.sampled_from(sorted(PAIRINGS)),
    st.sampled_from(["levels, k = 3", "levels, k = 5", "neighbors"]),
)
def test_who_has_no_partner_by_the_caps(seed: int, depth: int, pairing: Pairing, model: str) -> None:
    built = collection(seed, records=6, depth=depth, most=2)
    forest, constraints = built.forest, built.bind(MODELS[model])
    size = constraints.min_class_size
    run = ClusTreeRun(forest, constraints, size, 5, pairing, growing=False)
    alone = find_unpaired(forest, run.rows, run.settings.first_slot, run.rules.caps)
    rules = naive.Rules(built.naive_schema, size, built.caps(MODELS[model]), PAIRINGS[pairing])
    for v, vertex in enumerate(built.vertices()):
        nobody = naive.Tree(vertex.type, vertex.qi, [None] * len(vertex.sensitive))
        above = forest.parent[v] >= 0 and alone[forest.parent[v]]
        assert alone[v] == (above or not naive.check_cons(vertex, nobody, rules))
    found = histograms(forest, alone)
    for record, tree in enumerate(built.trees):
        for bound, other in zip(found.bounds(record).tolist(), built.trees, strict=True):
            assert bound <= naive.pair_loss(tree, other, rules) * forest.scale

"""Local search against its twin, and what it promises of any partition of trees."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hierdata.engines.alignment.alignment import Alignment
from hierdata.engines.alignment.kernels.arrays import FIRST_NODE, QUASI_COUNT
from hierdata.engines.base import StepInput, silent
from hierdata.engines.clustree.engine import CluStree
from hierdata.engines.local_search.engine import LocalSearch
from hierdata.engines.local_search.run import ExchangedClasses
from hierdata.forest.forest import Scope
from hierdata.forest.partition import Partition
from hierdata.metrics import METRICS
from hierdata.privacy import (
    DeltaLDiversity,
    FrequencyLDiversity,
    KAnonymity,
    LEDiversity,
    LevelAlphaK,
    TCloseness,
)
from hierdata.privacy.base import PrivacyModel
from tests import naive, naive_local_search
from tests.cases import examples
from tests.promises import bind
from tests.publications import publication_of
from tests.random_collections import Collection, collection
from tests.twin import weighted_loss

SETTINGS = {
    "level alpha, k = 2": LevelAlphaK(k=2),
    "level alpha, k = 3": LevelAlphaK(k=3, alpha=("0.8", "0.6", "0.4", "0.4", "0.4")),
    "frequency, l = 2": FrequencyLDiversity(l=2),
    "(1/2,2)": DeltaLDiversity(delta="1/2", l=2),
    "l = 2, e = 1": LEDiversity(l=2, e=1),
}
COPIES = LevelAlphaK(k=2, alpha=("1", "0.6", "0.6", "0.5", "0.4"))
"""Under this one, records of the first level may be a class by themselves, and others need them."""
OTHERS = {
    "k = 2": KAnonymity(k=2),
    "t = 1/3": TCloseness(t="1/3"),
}


def clustered(built: Collection, model: PrivacyModel, seed: int, size: int | None = None) -> Partition:
    engine = CluStree(pairing="greedy", window=6, size=size)
    rng = np.random.default_rng(seed)
    return engine.find_classes(StepInput(built.forest, Scope.of(built.forest), bind(built, model), None, rng))


def searched(built: Collection, model: PrivacyModel, partition: Partition, engine: LocalSearch) -> Partition:
    rng = np.random.default_rng(0)
    return engine.find_classes(
        StepInput(built.forest, Scope.of(built.forest), bind(built, model), partition, rng)
    )


def loss(built: Collection, partition: Partition) -> Fraction:
    """LM, or the weighted losses of a collection that has weights."""
    if built.forest.sought is not None:
        return weighted_loss(built, partition)
    figures = METRICS["lm_cost"]().of(publication_of(built.forest, partition), built.forest)
    total = figures[0].value
    assert isinstance(total, Fraction)
    return total


def twin_of(
    built: Collection, model: PrivacyModel, seed: int, size: int | None, near: int
) -> naive_local_search.LocalSearch:
    least = bind(built, model).min_class_size
    size = size or least
    draws = np.random.default_rng(seed).integers(0, 2**63 - 1, size=len(built.trees) // size + 1)
    caps, closings = built.caps(model), built.closings(model)
    found = naive.mlevclutree(
        built.trees, built.naive_schema, size, caps, closings, iter(draws.tolist()), window=6, grow=True
    )
    published = [one for one in found.classes if one.representative is not None]
    largest = 2 * max((len(one.members) for one in published), default=0)
    rules = naive.Rules(built.naive_schema, None, caps)
    twin = naive_local_search.LocalSearch(built.trees, rules, closings, [], least, largest, near, 20)
    for one in published:
        assert one.representative is not None
        order = [one.members[0], *sorted(one.members[1:])]
        kept = len(order) * twin.saved(one.representative)
        twin.classes.append(naive_local_search.Standing(order, one.representative, kept))
    return twin


@pytest.mark.parametrize("setting", SETTINGS)
@pytest.mark.parametrize("depth", [1, 2, pytest.param(3, marks=pytest.mark.full)])
@pytest.mark.parametrize("seeds", [(1, 2), pytest.param(range(4), marks=pytest.mark.full)], ids=len)
def test_engine_and_twin_agree(setting: str, depth: int, seeds: Sequence[int]) -> None:
    made = 0
    for seed in seeds if depth < 3 else seeds[:2]:
        built = collection(seed + 1000 * depth, records=18 if depth < 3 else 12, depth=depth)
        near, passes = (3, 10)[seed % 2], 1 + seed % 3
        size = (None, 4)[seed // 2 % 2]
        twin = twin_of(built, SETTINGS[setting], seed, size, near)
        made += twin.run(passes)
        agree(
            built,
            SETTINGS[setting],
            seed,
            size,
            LocalSearch(passes=passes, near=near, pairing="greedy"),
            twin,
        )
    assert made


@pytest.mark.full
@pytest.mark.parametrize("setting", SETTINGS)
def test_engine_and_twin_agree_on_weighted_losses(setting: str) -> None:
    made = 0
    for seed in range(4):
        built = collection(seed + 4000, records=14, depth=1 + seed % 3, most=3).weighted(seed)
        twin = twin_of(built, SETTINGS[setting], seed, None, 4)
        made += twin.run(2)
        agree(built, SETTINGS[setting], seed, None, LocalSearch(passes=2, near=4, pairing="greedy"), twin)
    assert made


@pytest.mark.full
@pytest.mark.parametrize(("depth", "seeds"), [(1, (28, 29)), (2, (8, 12)), (3, (4,))])
def test_engine_and_twin_agree_on_copies(depth: int, seeds: tuple[int, ...]) -> None:
    together = 0
    for seed in seeds:
        built = collection(seed + 100 * depth, records=5, depth=depth, copies=5)
        twin = twin_of(built, COPIES, seed, 3, 3)
        twin.run(2)
        together += twin.together_made
        agree(built, COPIES, seed, 3, LocalSearch(passes=2, near=3, pairing="greedy"), twin)
    assert together, "some records joined a class together"


def agree(
    built: Collection,
    model: PrivacyModel,
    seed: int,
    size: int | None,
    engine: LocalSearch,
    twin: naive_local_search.LocalSearch,
) -> None:
    """Whether the engine comes to the classes and the loss of its twin, whose passes have been made."""
    agrees(built, searched(built, model, clustered(built, model, seed, size), engine), twin)


def agrees(built: Collection, after: Partition, twin: naive_local_search.LocalSearch) -> None:
    """Whether a partition has the classes and the loss of a twin."""
    classes = [np.flatnonzero(after.equivalence_class == at).tolist() for at in range(after.class_count)]
    assert classes == [sorted(one.order) for one in twin.classes]
    kept = sum(twin.kept(at) for at in range(len(twin.classes)))
    assert loss(built, after) == sum(map(built.naive_schema.cost, built.trees)) - kept


def test_the_suppressed_join_the_classes_that_lose_least_by_them() -> None:
    found = Counter[str]()
    engine = LocalSearch(pairing="greedy")
    for seed in range(40):
        setting = [*SETTINGS][seed % len(SETTINGS)]
        model = SETTINGS[setting]
        built = collection(seed + 7000, records=14, depth=1 + seed % 2, most=3)
        before = clustered(built, model, seed)
        left = np.flatnonzero(before.equivalence_class < 0).tolist()
        scope, rng = Scope.of(built.forest), np.random.default_rng(0)
        after = engine.take_in(StepInput(built.forest, scope, bind(built, model), before, rng, silent))
        twin = twin_of(built, model, seed, None, 1)
        if not (left and all(twin.take_in(record) for record in left)):
            found["none suppressed" if not left else "fits no class"] += 1
            assert after is None
            continue
        assert after is not None
        found["worse" if loss(built, after) > loss(built, before) else "no worse"] += 1
        agrees(built, after, twin)
        judged(built, model, after)
    assert min(found["fits no class"], found["no worse"], found["worse"]) > 1, found


@examples(25)
@given(
    seed=st.integers(0, 10**6),
    depth=st.integers(1, 3),
    setting=st.sampled_from([*SETTINGS, *OTHERS]),
    pairing=st.sampled_from(["greedy", "benefit", "optimal"]),
    size=st.sampled_from([None, 4]),
    weighted=st.booleans(),
)
def test_a_search_is_safe_and_never_worse(
    seed: int, depth: int, setting: str, pairing: str, size: int | None, weighted: bool
) -> None:
    model = (SETTINGS | OTHERS)[setting]
    built = collection(seed, records=20, depth=depth)
    built = built.weighted(seed) if weighted else built
    before = clustered(built, model, seed, size)
    after = searched(built, model, before, LocalSearch(passes=2, near=4, pairing=pairing))
    assert loss(built, after) <= loss(built, before)
    assert (after.equivalence_class < 0).sum() <= (before.equivalence_class < 0).sum()
    assert after.class_count == before.class_count
    judged(built, model, after)


def judged(built: Collection, model: PrivacyModel, partition: Partition) -> None:
    """Hold every model at every vertex of every class, by counting."""
    forest, constraints = built.forest, bind(built, model)
    for own in range(partition.class_count):
        records = np.flatnonzero(partition.equivalence_class == own)
        behind = partition.representative[
            np.repeat(np.isin(np.arange(forest.record_count), records), np.diff(forest.roots))
        ]
        shown, counts = np.unique(behind[behind >= 0], return_counts=True)
        assert (counts == len(records)).all(), "each member has a vertex behind each of the representative"
        for vertex in shown.tolist():
            members = np.flatnonzero(partition.representative == vertex)
            assert len(np.unique(forest.record_of[members])) == len(members)
            kind = forest.type[vertex]
            assert (forest.type[members] == kind).all()
            parents = partition.representative[forest.parent[members]] if kind else members * 0
            assert len(np.unique(parents)) == 1
            for position, bound in enumerate(constraints.on_values[kind]):
                codes = forest.sensitive[forest.first_sensitive[members] + position]
                held = Counter(codes[codes >= 0].tolist())
                view = constraints.view(len(records), held, ())
                assert all(constraint.holds(view) for constraint in bound)
        assert all(one.holds(constraints.view(len(records), {}, ())) for one in constraints.on_records)


@pytest.mark.parametrize("setting", [*SETTINGS, *OTHERS])
def test_a_search_repeats_and_ends(setting: str) -> None:
    model = (SETTINGS | OTHERS)[setting]
    built = collection(5, records=24, depth=2)
    before = clustered(built, model, 1)
    engine = LocalSearch(passes=40, near=5)
    after, again = searched(built, model, before, engine), searched(built, model, before, engine)
    further = searched(built, model, before, LocalSearch(passes=80, near=5))
    for other in (again, further):
        assert after.costs == other.costs
        assert (after.equivalence_class == other.equivalence_class).all()
        assert (after.representative == other.representative).all()
        assert (after.nodes == other.nodes).all()


def test_no_passes_change_nothing() -> None:
    built = collection(5, records=12, depth=2)
    before = clustered(built, LevelAlphaK(k=2), 1)
    assert searched(built, LevelAlphaK(k=2), before, LocalSearch(passes=0)) is before


def test_large_classes_stay_as_they_are() -> None:
    built = collection(3, records=140, depth=1)
    model = KAnonymity(k=70)
    before = clustered(built, model, 1)
    after = searched(built, model, before, LocalSearch())
    assert before.class_count == 2
    assert (after.equivalence_class == before.equivalence_class).all()
    assert (after.representative == before.representative).all()


@pytest.mark.parametrize("left_in_memory", [0, 1])
def test_a_vertex_without_quasi_identifiers_has_no_node_whatever_stood_in_memory(
    monkeypatch: pytest.MonkeyPatch, left_in_memory: int
) -> None:
    built = next(
        one for one in (collection(seed, 12, 2) for seed in range(50)) if not one.shapes[0].taxonomies
    )
    model = LevelAlphaK(k=2)
    before = clustered(built, model, 1)
    prepare = Alignment.__init__

    def prepared(self: Alignment, *arguments: Any) -> None:
        prepare(self, *arguments)
        self.representative.fill(left_in_memory)

    monkeypatch.setattr(Alignment, "__init__", prepared)
    classes = ExchangedClasses(built.forest, bind(built, model), before, "greedy", 10)
    assert before.class_count
    assert (classes.current.rows[:, 0, QUASI_COUNT] == 0).all()
    assert (classes.current.rows[:, 0, FIRST_NODE] == -1).all()

"""K-member clustering of trees against its twin, and the loss it reckons with against the metric."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from hierdata.engines import Constraints
from hierdata.engines.base import StepInput, Trial
from hierdata.engines.k_member.engine import KMember
from hierdata.engines.k_member.search import Begun
from hierdata.engines.k_member.sizes import Reach, best
from hierdata.forest.forest import Scope
from hierdata.forest.partition import Partition
from hierdata.ground.errors import PolicyError
from hierdata.metrics import METRICS
from hierdata.privacy import FrequencyLDiversity, LEDiversity, LevelAlphaK, TCloseness
from hierdata.privacy.base import PrivacyModel
from tests.benchmarks.collections import encoded, policy_for, written
from tests.cases import first_few
from tests.naive_k_member import Twin
from tests.publications import publication_of
from tests.random_collections import Collection, collection
from tests.twin import weighted_loss

MODELS = {
    "level alpha, k = 2": LevelAlphaK(k=2),
    "level alpha, k = 3": LevelAlphaK(k=3, alpha=("0.8", "0.6", "0.4", "0.4", "0.2")),
    "frequency, l = 5/2": FrequencyLDiversity(l="5/2"),
    "l = 2, e = 1": LEDiversity(l=2, e=1),
    "t = 0.4": TCloseness(t="0.4"),
}


def partitioned(built: Collection, model: PrivacyModel, **parameters: int) -> Partition:
    engine = KMember(**parameters)
    scope = Scope.of(built.forest)
    return engine.find_classes(
        StepInput(built.forest, scope, built.bind(model), None, np.random.default_rng(0))
    )


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize(
    ("depth", "weighted", "seeds"),
    [
        (1, False, (1,)),
        (2, True, (2,)),
        *(
            pytest.param(*own, marks=pytest.mark.full)
            for own in (
                (1, False, (0, 2)),
                (2, True, (0, 1)),
                (2, False, range(3)),
                (3, False, range(3)),
                (3, True, range(3)),
            )
        ),
    ],
)
def test_engine_and_twin_agree(model: str, depth: int, weighted: bool, seeds: Sequence[int]) -> None:
    for seed in seeds:
        built = collection(seed + 300 * depth, records=14, depth=depth)
        built = built.weighted(seed) if weighted else built
        forest, constraints = built.forest, built.bind(MODELS[model])
        least = constraints.min_class_size
        largest, candidates = (max(least, 5), 50) if seed % 2 else (least + 1, 4)
        aligned, stride = (2 if seed == 2 else 12), 1 + seed
        twin = Twin(forest, constraints, least, largest, candidates, aligned, stride)
        classes = twin.search()

        partition = partitioned(
            built, MODELS[model], largest=largest, candidates=candidates, aligned=aligned, stride=stride
        )
        found = [
            np.flatnonzero(partition.equivalence_class == at).tolist() for at in range(partition.class_count)
        ]
        assert found == [sorted(one.records) for one in classes]

        saved = sum(len(one.records) * one.saved for one in classes)
        total = METRICS["lm_cost"]().of(publication_of(forest, partition), forest)[0]
        lost = weighted_loss(built, partition)
        assert weighted or lost == total.value
        assert lost * forest.scale == forest.scale * sum(twin.weights) - saved


@pytest.mark.parametrize("model", first_few(1, ["level alpha, k = 2", "level alpha, k = 3"]))
def test_what_is_settled_is_done(model: str) -> None:
    """The ways lose what the twin's drafts lose, and the best of them is then taken anywhere."""
    built, other = (collection(seed, records=14, depth=2) for seed in (601, 602))
    asked = [one.bind(MODELS[model]) for one in (built, other)]
    least = asked[0].min_class_size
    engine = KMember(largest=6)
    twins = [
        Twin(one.forest, own, least, 6, 120, 12, 1) for one, own in zip((built, other), asked, strict=True)
    ]
    trials = engine.run_trials(built.forest, Scope.of(built.forest), asked[0], np.random.default_rng(0))

    drafts = [twins[0].draft(plan) for plan in twins[0].plans()]
    for draft in drafts:
        assert Trial(twins[0].loss(draft), twins[0].suppressed(draft)) in trials.values()
    assert len({*trials.values()}) > 1

    for size in twins[1].sizes():
        settled = engine.choose_by_trials({**trials, (size, False): Trial(0, 0)})
        partition = settled.find_classes(
            StepInput(other.forest, Scope.of(other.forest), asked[1], None, np.random.default_rng(0))
        )
        found = [
            np.flatnonzero(partition.equivalence_class == at).tolist() for at in range(partition.class_count)
        ]
        assert found == [sorted(one.records) for one in twins[1].search([(size,)])]


def test_of_choices_that_lose_as_much_the_one_with_fewest_suppressed_is_best() -> None:
    assert best({5: Trial(1010, 3), 10: Trial(1000, 9)}) == 5
    assert best({5: Trial(1011, 3), 10: Trial(1000, 9)}) == 10
    assert best({5: Trial(1010, 9), 10: Trial(1000, 9), 8: Trial(1000, 9)}) == 10
    assert best({5: Trial(1, 0), 10: Trial(0, 9)}) == 10


@pytest.mark.parametrize(
    ("parameters", "told"), [({"size": 2}, "size 2 is too small"), ({"largest": 2}, "largest 2 is smaller")]
)
def test_sizes_that_do_not_fit_are_told(parameters: dict[str, int], told: str) -> None:
    forest = collection(1, records=6, depth=2).forest
    three = Constraints((), (), least=3)
    with pytest.raises(PolicyError, match=told):
        KMember(**parameters).find_classes(
            StepInput(forest, Scope.of(forest), three, None, np.random.default_rng(0))
        )


def test_classes_grow_where_rare_levels_need_it() -> None:
    """With k = 2, levels 3 to 5 can be published in classes of 3, 5 and 10 only."""
    built = next(
        one
        for one in (collection(seed, records=60, depth=1) for seed in range(50))
        if one.shapes[0].sensitive
    )
    pairs = partitioned(built, LevelAlphaK(k=2), largest=2)
    free = partitioned(built, LevelAlphaK(k=2))
    lost = [int((partition.equivalence_class < 0).sum()) for partition in (pairs, free)]
    assert lost[1] < lost[0]
    assert np.bincount(free.equivalence_class[free.equivalence_class >= 0]).min() > 2


def test_fewer_records_propose_the_larger_the_class_where_proposals_are_bounded() -> None:
    reach = Reach(candidates=120, aligned=12, stride=1, again=4, vertices=50.0, bounded=True)
    assert [reach.stride_for(size) for size in (5, 14, 15, 60, 120)] == [1, 1, 2, 5, 9]
    assert reach._replace(stride=3).stride_for(15) == 3
    assert reach._replace(bounded=False).stride_for(120) == 1


def test_a_draft_takes_up_what_another_began(monkeypatch: pytest.MonkeyPatch) -> None:
    """The classes are the same as if each draft began anew; fewer records are aligned."""
    model = MODELS["t = 0.4"]
    fewer = 0
    for seed in range(6):
        built = collection(seed, records=40, depth=2)
        taken = partitioned(built, model)
        with monkeypatch.context() as patch:
            patch.setattr(Begun, "take_up", lambda self, other: np.zeros_like(self.seeds))
            anew = partitioned(built, model)
        assert np.array_equal(taken.equivalence_class, anew.equivalence_class)
        assert np.array_equal(taken.representative, anew.representative)
        fewer += taken.costs["pair_losses"] < anew.costs["pair_losses"]
    assert fewer


def test_the_estimate_knows_that_few_records_propose_under_closeness(tmp_path: Path) -> None:
    """It is above the number of alignments, and of its order; without the bounded stride it was 50 times."""
    models: list[dict[str, object]] = [{"kind": "t-closeness", "t": "1/2", "distance": "equal"}]
    file = written(tmp_path, "B", 100)
    data = encoded(file, policy_for(file, models=models, preset=""))
    constraints = data.prepared.constraints
    assert KMember()._reach(100, data.forest.vertex_count, constraints).stride_for(60) > 1
    scope = Scope.of(data.forest)
    partition = KMember().find_classes(
        StepInput(data.forest, scope, constraints, None, np.random.default_rng(0))
    )
    estimate = KMember().estimate_work(100, data.forest.vertex_count, constraints)
    assert 1 < estimate / partition.costs["pair_losses"] < 8

"""What sweep does beyond its loops: the order of nodes, who is asked, where it starts, what it loses."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Sequence
from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np
import pytest

from hierdata.documents.document import Scalar
from hierdata.domains import DOMAINS
from hierdata.engines.base import Constraints, StepInput
from hierdata.engines.mondrian.engine import Mondrian
from hierdata.engines.rows.table import RowLine, losses_of
from hierdata.engines.sweep import run as sweep_run
from hierdata.engines.sweep.engine import Sweep
from hierdata.engines.sweep.kernel import NO, UNKNOWN, YES, Memory, recall_answer, remember
from hierdata.engines.sweep.run import best_depths, generalized_places, order_columns
from hierdata.forest.forest import Scope
from hierdata.forest.partition import Partition
from hierdata.privacy import MODELS
from hierdata.privacy.base import ClassView, Constraint, PrivacyModel
from tests.benchmarks import adult
from tests.cases import with_worlds
from tests.engines.test_mondrian_twin import random_table
from tests.small_tables import Table, table

INTERVAL = DOMAINS["interval"](steps=[1, 2, 4, 8])
K = MODELS["k-anonymity"]


def run(own: Table, *models: PrivacyModel, passes: int = 2, seed: int = 1) -> Partition:
    scope = Scope.of(own.forest, own.kind)
    return Sweep(passes=passes).find_classes(
        StepInput(own.forest, scope, own.bind(*models), None, np.random.default_rng(seed))
    )


def ages(values: Sequence[Scalar], sensitive: Sequence[Scalar], owners: Sequence[int] | None = None) -> Table:
    return table([INTERVAL], [[value] for value in values], [[value] for value in sensitive], owners)


def crowd(rows: int, seed: int = 0) -> Table:
    """A table of three quasi-identifiers."""
    rng = random.Random(seed)
    quasi: list[list[Scalar]] = [[rng.randint(0, 15) for _ in range(3)] for _ in range(rows)]
    return table([INTERVAL] * 3, quasi, [[rng.randint(0, 5)] for _ in range(rows)])


def members(partition: Partition) -> list[list[int]]:
    return [np.flatnonzero(partition.equivalence_class == at).tolist() for at in range(partition.class_count)]


def lost(own: Table, partition: Partition) -> int:
    assert (partition.equivalence_class >= 0).all()
    return int(losses_of(own.forest, Scope.of(own.forest, own.kind), partition.equivalence_class).sum())


def test_nodes_close_what_they_can_the_least_loss_first() -> None:
    """Equal ages first, then bins of 2, then of 4: 12 waits for 15, since no other row is left near it."""
    partition = run(ages([0, 0, 4, 5, 12, 15], range(6)), K(k=2), passes=0)
    assert sorted(members(partition)) == [[0, 1], [2, 3], [4, 5]]


@pytest.mark.parametrize("most", [1, 7, 50, 10_000])
def test_the_nodes_of_least_loss_are_listed_in_order(most: int) -> None:
    for seed in range(20):
        own = random_table(seed)
        line = order_columns(RowLine.of(own.forest, Scope.of(own.forest)))
        nodes = generalized_places(line.above)
        columns = range(line.places.shape[1])
        places = [nodes[line.first[at] + line.places[:, at]] for at in columns]
        every = [
            [0] + [depth for depth in range(1, nodes.shape[1]) if (own[:, depth] != own[:, depth - 1]).any()]
            for own in places
        ]

        def loss(depths: tuple[int, ...], line: RowLine = line, places: Any = places) -> int:
            return sum(
                int(line.losses[own[:, depth]].sum()) for own, depth in zip(places, depths, strict=True)
            )

        wanted = sorted(product(*every), key=lambda depths: (loss(depths), depths))
        found = [tuple(depths) for depths in best_depths(line, nodes, most).tolist()]
        assert list(map(loss, found)) == list(map(loss, wanted[:most]))
        assert len(set(found)) == len(found)
        assert len(wanted) > most or found == wanted


def test_answers_are_remembered_and_a_full_table_is_emptied() -> None:
    memory = Memory(np.zeros(16, np.uint64), np.zeros(16, np.int8), np.zeros(1, np.int64))
    prints = np.array([3, 19, 35, 2**63], np.uint64)  # the first three share their place
    remember(prints, np.array([True, False, True, False]), memory)
    known = [recall_answer(one, memory.prints, memory.answers) for one in prints]
    assert known == [YES, NO, YES, NO]
    assert recall_answer(np.uint64(51), memory.prints, memory.answers) == UNKNOWN
    remember(np.arange(100, 105, dtype=np.uint64), np.ones(5, np.bool_), memory)
    assert recall_answer(np.uint64(3), memory.prints, memory.answers) == UNKNOWN
    assert recall_answer(np.uint64(104), memory.prints, memory.answers) == YES
    assert memory.filled[0] == 5


class _Counted(Constraint):
    """At least two values, and a note of who asked."""

    closed_under_union = closed_under_pooling = True
    min_class_size = 2

    def __init__(self) -> None:
        self.asked: Counter[tuple[Any, ...]] = Counter()

    def holds(self, view: ClassView) -> bool:
        self.asked[tuple(sorted(view.counts.items()))] += 1
        return len(view.counts) >= 2

    def achieved_parameters(self, view: ClassView) -> dict[str, Fraction]:
        return {}


def test_loops_ask_once_for_each_content() -> None:
    own = crowd(600)
    counted = _Counted()
    constraints = Constraints((), (((counted,),),))
    scope = Scope.of(own.forest)
    answers = sweep_run.Answers(own.forest, scope, constraints)
    line = order_columns(RowLine.of(own.forest, scope))
    sweep_run.close_classes(line, answers, lambda done: None)
    assert counted.asked
    # Classes of equal content may be asked about at one node; later ones remember.
    assert sum(counted.asked.values()) < 2 * len(counted.asked)


@pytest.mark.parametrize(
    "models",
    [
        [MODELS["t-closeness"](t="0.2")],
        [MODELS["basic-beta-likeness"](beta=1)],
        [MODELS["frequency-l-diversity"](l=4)],
        [K(k=3), MODELS["recursive-cl-diversity"](c=1, l=3)],
        [K(k=3)],
    ],
    ids=lambda models: models[-1].kind,
)
@with_worlds(1, 12)
def test_no_more_is_lost_than_by_cuts_alone(models: list[PrivacyModel], worlds: int) -> None:
    for seed in range(worlds):
        own = crowd(400, seed)
        scope = Scope.of(own.forest)
        cuts = Mondrian().find_classes(
            StepInput(own.forest, scope, own.bind(*models), None, np.random.default_rng(1))
        )
        assert lost(own, run(own, *models)) <= lost(own, cuts)


def test_tables_of_joins_change_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    with_tables = [run(crowd(300, seed), K(k=4)) for seed in range(3)]
    monkeypatch.setattr(sweep_run, "_TABLED", 0)
    for seed, before in enumerate(with_tables):
        assert (run(crowd(300, seed), K(k=4)).equivalence_class == before.equivalence_class).all()


def test_what_the_sweep_has_no_time_for_is_gathered(monkeypatch: pytest.MonkeyPatch) -> None:
    """With one node, and with few rows compared, all rows have a class that holds all the same."""
    own = crowd(400)
    monkeypatch.setattr(sweep_run, "VISITED", 1)
    for compared in (2**26, 2000):
        monkeypatch.setattr(sweep_run, "_COMPARED_TO_GATHER", compared)
        partition = run(own, K(k=3), passes=0)
        assert (partition.equivalence_class >= 0).all()
        assert min(map(len, members(partition))) >= 3


def test_below_the_root_nobody_meets_himself() -> None:
    rng = random.Random(7)
    for k in (2, 3, 5):
        owners = sorted(rng.randrange(12) for _ in range(60))
        own = ages([rng.randint(0, 15) for _ in owners], [1] * 60, owners)
        partition = run(own, K(k=k))
        for rows in members(partition):
            records = [owners[row] for row in rows]
            assert len(set(records)) == len(records) >= k
        assert int((partition.equivalence_class >= 0).sum()) >= 57


def test_a_table_without_quasi_identifiers_is_one_class() -> None:
    assert members(run(table([], [[]] * 5, [[at] for at in range(5)]), K(k=2))) == [[0, 1, 2, 3, 4]]


def test_where_nothing_can_be_the_reason_names_what_could() -> None:
    partition = run(ages(range(6), [1, 1, 2, 2, 7, 7]), K(k=7))
    assert partition.class_count == 0
    assert partition.costs == {"records_that_no_class_accepts": 6}
    assert "6 is the largest k or l" in partition.reason


def test_losses_that_would_not_fit_steer_all_the_same() -> None:
    """Prime spans make denominators whose sums over many rows pass 64 bits."""
    spans = (999_983, 999_979, 15_485_863)
    domains = [DOMAINS["interval"](steps=[1, span // 3], domain=[0, span]) for span in spans]
    rng = random.Random(9)
    quasi: list[list[Scalar]] = [[rng.randint(0, span) for span in spans] for _ in range(400)]
    partition = run(table(domains, quasi, [[1]] * 400), K(k=4))
    assert partition.class_count > 20
    assert (partition.equivalence_class >= 0).all()


@pytest.mark.skipif(not adult.is_there(), reason="the data set Adult does not lie beside the repository")
@pytest.mark.parametrize(
    ("models", "bar"),
    [
        ([{"kind": "k-anonymity", "k": 5}], 0.0282),
        ([{"kind": "k-anonymity", "k": 5}, {"kind": "distinct-l-diversity", "l": 4}], 0.0404),
    ],
)
def test_adult_loses_less_than_by_the_best_tool_there_is(models: list[dict[str, Any]], bar: float) -> None:
    own = adult.table(adult.WITHOUT_MISSING)
    data = adult.encoded(own, adult.policy(adult.SENSITIVE, models, "sweep"))
    forest, scope = data.forest, Scope.of(data.forest)
    (stage,) = data.prepared.stages
    partition = Sweep().find_classes(
        StepInput(forest, scope, stage.constraints, None, np.random.default_rng(1))
    )
    assert (partition.equivalence_class >= 0).all()
    loss = int(losses_of(forest, scope, partition.equivalence_class).sum())
    assert loss / (forest.scale * forest.nodes.size) <= bar

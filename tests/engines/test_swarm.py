"""swarm against its slow twin: one round, the codes of partitions, and that it finds nothing worse."""

from __future__ import annotations

import random
from collections import Counter
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np
import pytest

from hierdata.engines import ENGINES
from hierdata.engines.base import StepInput
from hierdata.engines.reassignment.arrangement import Arrangement
from hierdata.engines.reassignment.kernel import UNIT, objective
from hierdata.engines.reassignment.swarming import (
    Flight,
    along_the_leaves,
    deal_rows,
    decode_keys,
    encode_members,
    run_swarm,
    seeds,
)
from hierdata.engines.rows.table import classes_of, partition_of
from hierdata.forest.forest import Scope
from hierdata.privacy import FrequencyLDiversity, TCloseness
from tests import naive_distributions
from tests import naive_reassigning as naive
from tests.cases import for_each
from tests.small_tables import Table, table

close_to = partial(TCloseness, distance="equal")

FLIGHT = Flight(0.729, 1.494, 1.494, 0.5)


def random_table(seed: int, rows: int = 9) -> tuple[Table, list[naive.Attribute], np.ndarray[Any, Any]]:
    rng = random.Random(seed)
    sensitive = [[rng.choice((1, 2, 3, 4)), rng.choice((1, 1, 2))] for _ in range(rows)]
    classes = np.repeat(np.arange(rows // 3), 3)
    attributes = [
        naive.Attribute(column, naive_distributions.equal) for column in zip(*sensitive, strict=True)
    ]
    return table([], [[] for _ in sensitive], sensitive), attributes, classes


def arranged(built: Table, classes: np.ndarray[Any, Any], t: Any = 0) -> Arrangement:
    return Arrangement.of(built.forest, Scope.of(built.forest), built.bind(close_to(t=t)), classes)


def members(made: Arrangement, found: np.ndarray[Any, Any]) -> naive.Classes:
    return [own.tolist() for own in np.split(found, made.classes.starts[1:-1])]


@pytest.mark.parametrize("seed", range(10))
def test_a_round_is_that_of_the_twin(seed: int) -> None:
    rng = np.random.default_rng(seed)
    keys, best, leader, *draws = rng.random((5, 7))
    speed = rng.uniform(-0.5, 0.5, 7)
    particle = naive.Particle(keys.tolist(), speed.tolist(), best.tolist())
    naive.move(particle, leader.tolist(), (draws[0].tolist(), draws[1].tolist()), 0.729, (1.494, 1.494), 0.5)
    moved, faster = FLIGHT.move_keys(keys, speed, best, leader, (draws[0], draws[1]))
    assert moved.tolist() == particle.keys
    assert faster.tolist() == particle.speed
    assert np.abs(faster).max() <= 0.5
    assert 0 <= moved.min() <= moved.max() <= 1


@pytest.mark.parametrize("seed", range(10))
def test_codes_stand_for_partitions(seed: int) -> None:
    rng = np.random.default_rng(seed)
    rows = np.sort(rng.permutation(20)[:12])
    shuffled = rng.permutation(rows)
    assert decode_keys(encode_members(shuffled), rows).tolist() == shuffled.tolist()
    keys = np.round(rng.random(12), 1)  # with ties
    expected = naive.decode(keys.tolist(), [5, 4, 3])
    assert decode_keys(keys, np.arange(12)).tolist() == [row for own in expected for row in own]
    starts = np.array([0, 5, 9, 12])
    assert [own.tolist() for own in np.split(deal_rows(shuffled, starts), starts[1:-1])] == naive.dealt(
        shuffled.tolist(), [5, 4, 3]
    )


@pytest.mark.parametrize("seed", range(10))
def test_the_objective_is_the_largest_distance_then_the_mean(seed: int) -> None:
    built, attributes, classes = random_table(seed)
    made = arranged(built, classes)
    _, largest, total, failing = objective(
        made.classes.members, made.classes.starts, made.closeness, made.caps
    )
    most, mean = naive.objective(members(made, made.classes.members), attributes)
    assert largest == round(most * UNIT)
    assert abs(total - mean * UNIT * len(classes)) <= len(classes)
    own = [naive.of_class(rows, attributes) for rows in members(made, made.classes.members)]
    assert failing == sum(one > 0 for one in own)


@for_each("rounds", [0, 5])
@for_each("seed", range(10))
def test_nothing_worse_is_found(seed: int, rounds: int) -> None:
    built, attributes, classes = random_table(seed, rows=15)
    made = arranged(built, classes)
    rule = members(made, deal_rows(along_the_leaves(made), made.classes.starts))
    before = members(made, made.classes.members)
    found = members(
        made, run_swarm(made, FLIGHT, seeds(made), 5, rounds, np.random.default_rng(seed), lambda done: None)
    )
    assert sorted(row for own in found for row in own) == list(range(15))
    assert [len(own) for own in found] == [3] * 5
    least = min(naive.objective(rule, attributes), naive.objective(before, attributes))
    assert naive.objective(found, attributes) <= least


@for_each("name", ["swap", "swarm"])
@for_each("seed", range(8))
def test_small_tables_reach_the_optimum(name: str, seed: int) -> None:
    built, attributes, classes = random_table(seed)
    best = naive.optimum([3, 3, 3], attributes)
    scope = Scope.of(built.forest)
    before = partition_of(built.forest, scope, classes, Counter())
    partition = ENGINES[name](kind=name).find_classes(
        StepInput(
            built.forest,
            scope,
            built.bind(close_to(t=best)),
            before,
            np.random.default_rng(seed),
        )
    )
    found = classes_of(partition, scope)
    assert Counter(found.tolist()) == {0: 3, 1: 3, 2: 3}, "nothing was united"
    rows = [np.flatnonzero(found == own).tolist() for own in range(3)]
    assert naive.objective(rows, attributes)[0] <= best


def test_diversity_counts_before_distance() -> None:
    """The classes as they are keep a cap that every nearer partition breaks, so they stay."""
    built = table([], [[], [], [], []], [[1, 1], [1, 2], [2, 2], [2, 1]])
    scope = Scope.of(built.forest)
    close = close_to(t=0)
    (first, second) = built.forest.domains[0]
    from hierdata.engines import Constraints

    constraints = Constraints((), (((close.bind(first),), (FrequencyLDiversity(l=2).bind(second),)),))
    made = Arrangement.of(built.forest, scope, constraints, np.array([0, 0, 1, 1]))
    found = run_swarm(made, FLIGHT, seeds(made), 8, 20, np.random.default_rng(1), lambda done: None)
    broken, _, _, _ = objective(found, made.classes.starts, made.closeness, made.caps)
    assert broken == 0


def test_parameters_are_exact() -> None:
    swarm: Any = ENGINES["swarm"].model_validate({"kind": "swarm", "inertia": "0.7"})
    assert swarm.inertia == Fraction(7, 10)

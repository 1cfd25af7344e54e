"""The compiled engine against the twin: the same classes, vertices, labels and exact total loss."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from hierdata.engines.base import StepInput
from hierdata.engines.clustree.engine import CluStree
from hierdata.forest.forest import Scope
from hierdata.forest.partition import Partition
from hierdata.metrics import METRICS
from hierdata.privacy import DeltaLDiversity, FrequencyLDiversity, LEDiversity, LevelAlphaK
from hierdata.privacy.base import PrivacyModel
from tests import naive
from tests.cases import with_worlds
from tests.publications import publication_of
from tests.random_collections import MISSING, Collection, collection

SETTINGS = {
    "level alpha, k = 3": LevelAlphaK(k=3),
    "level alpha, k = 5": LevelAlphaK(k=5, alpha=("0.8", "0.6", "0.4", "0.4", "0.2")),
    "frequency, l = 2": FrequencyLDiversity(l=2),
    "frequency, l = 5/2": FrequencyLDiversity(l="5/2"),
    "(2,2)": DeltaLDiversity(delta=2, l=2),
    "(1/2,3)": DeltaLDiversity(delta="1/2", l=3),
    "(1,4/3)": DeltaLDiversity(delta=1, l="4/3"),
    "l = 3, e = 1": LEDiversity(l=3, e=1),
}
PAIRINGS = {"greedy": "greedy", "benefit": "greedy_loss_minus_suppression"}


def both(
    built: Collection,
    model: PrivacyModel,
    seed: int,
    window: int,
    pairing: str,
    grow: bool,
    presence: bool = False,
) -> tuple[naive.Result, Partition]:
    constraints = built.bind_presence(model) if presence else built.bind(model)
    partition = CluStree(window=window, pairing=pairing, grow=grow).find_classes(
        StepInput(built.forest, Scope.of(built.forest), constraints, None, np.random.default_rng(seed))
    )
    size = constraints.min_class_size
    draws = np.random.default_rng(seed).integers(0, 2**63 - 1, size=len(built.trees) // size + 1)
    result = naive.mlevclutree(
        built.trees,
        built.naive_schema,
        size,
        [replace(cap, of_records=presence) for cap in built.caps(model)],
        [] if presence else built.closings(model),
        iter(draws.tolist()),
        window=window,
        pairing=PAIRINGS[pairing],
        grow=grow,
    )
    return result, partition


def engine_classes(partition: Partition) -> list[list[int]]:
    return [np.flatnonzero(partition.equivalence_class == at).tolist() for at in range(partition.class_count)]


@pytest.mark.parametrize("pairing", PAIRINGS)
@pytest.mark.parametrize("setting", SETTINGS)
@pytest.mark.parametrize("depth", [1, 2, 3, pytest.param(4, marks=pytest.mark.full)])
@with_worlds(1, 12)
def test_engine_and_twin_agree(setting: str, depth: int, pairing: str, worlds: int) -> None:
    for seed in range(worlds):
        built = collection(seed + 1000 * depth, records=16, depth=depth)
        window = (50, 4)[seed % 2]
        result, partition = both(built, SETTINGS[setting], seed, window, pairing, grow=bool(seed % 3))
        assert_same(built, result, partition)


PRESENCE = {
    "level alpha": LevelAlphaK(k=4, alpha=("1", "0.5", "0.5", "0.5", "0.25")),
    "frequency": FrequencyLDiversity(l=2),
    "(1/2,2)": DeltaLDiversity(delta="1/2", l=2),
    "(1,4/3)": DeltaLDiversity(delta=1, l="4/3"),
}


@pytest.mark.parametrize("pairing", PAIRINGS)
@pytest.mark.parametrize("setting", PRESENCE)
@pytest.mark.parametrize("depth", [2, *(pytest.param(depth, marks=pytest.mark.full) for depth in (3, 4))])
@with_worlds(2, 24)
def test_engine_and_twin_agree_on_records_that_show_a_value(
    setting: str, depth: int, pairing: str, worlds: int
) -> None:
    """Over siblings without quasi-identifiers a value counts once for each record."""
    otherwise = 0
    for seed in range(worlds):
        built = collection(seed + 1000 * depth, records=16, depth=depth, most=4)
        result, partition = both(built, PRESENCE[setting], seed, 50, pairing, bool(seed % 3), presence=True)
        assert_same(built, result, partition)
        by_value = both(built, PRESENCE[setting], seed, 50, pairing, bool(seed % 3))[1]
        otherwise += not np.array_equal(by_value.representative, partition.representative)
    assert otherwise or setting != "frequency"


def assert_same(built: Collection, result: naive.Result, partition: Partition) -> None:
    published = [sorted(c.members) for c in result.classes if c.representative is not None]
    assert engine_classes(partition) == published

    vertices = built.vertices()
    number = {id(vertex): at for at, vertex in enumerate(vertices)}
    for at, vertex in enumerate(vertices):
        stands_for = result.representative_of(vertex)
        if stands_for is None:
            assert partition.representative[at] == -1
            continue
        first = number[id(stands_for.members[0])]
        assert partition.representative[at] == first
        start = built.forest.first_node[first]
        trees = built.forest.hierarchies[int(vertex.type)]
        labels = [
            tree.labels[node]
            for tree, node in zip(trees, partition.nodes[start : start + len(trees)], strict=True)
        ]
        assert labels == [None if label == MISSING else label for label in stands_for.qi]

    figures = METRICS["lm_cost"]().of(publication_of(built.forest, partition), built.forest)
    assert figures[0].value == Fraction(result.total_loss)

"""Every metric of a release in parts: the sum of what is counted of each is what is counted of the whole."""

from __future__ import annotations

import pickle
import random
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from functools import cache, reduce
from itertools import product
from operator import add
from typing import Any, get_args

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hierdata.forest.forest import Forest
from hierdata.forest.publication import Publication
from hierdata.metrics import METRICS, RISKS, Metric, cells
from hierdata.metrics import joint_counts as joint
from hierdata.metrics.base import Same, Sums
from hierdata.metrics.cells import CellRun, Cells, join_runs
from hierdata.metrics.tallies import Tallies, count_part, tally
from hierdata.policy.load import from_data
from hierdata.privacy import KAnonymity
from hierdata.records.schema import KeyForm, Weight
from hierdata.release.gates import bind_gates, every_metric, pass_gates
from tests.cases import first_few
from tests.contracts.test_discrimination_rate import PARTITION, keys_above, published
from tests.contracts.test_metrics import BETTER_AND_WORSE
from tests.contracts.test_recodings import prepared
from tests.parts import cut, renumbered
from tests.publications import publication_of
from tests.random_collections import Collection, collection

Seen = dict[int, tuple[Any, ...]]

SEEDS = range(9)


@cache
def built(seed: int) -> Collection:
    return collection(seed, 24 + seed, 1 + seed % 3)


def asked(forest: Forest, seed: int) -> list[Metric]:
    """Every metric, and every risk by every form of keys, with either weight, of values and of blocks."""
    rng = random.Random(seed)
    found: list[Metric] = [metric() for metric in METRICS.values()]
    for kind, domains in enumerate(forest.domains):
        known = [path for _, _, path in keys_above(forest, kind)]
        some = [tuple(rng.sample(known, rng.randint(1, len(known))))] if known else []
        forms: list[Any] = [*get_args(KeyForm), *some]
        for domain, keys, partition, weight in product(domains, forms, (None, PARTITION), get_args(Weight)):
            found += [metric([domain.path], keys, partition, weight) for metric in RISKS.values()]
    return found


def seen(metrics: Sequence[Metric], tallies: Tallies) -> Seen:
    """All figures, and whether each is a fraction."""
    return {
        at: tuple((figure, type(figure.value)) for figure in metric.figures(tallies))
        for at, metric in enumerate(metrics)
    }


def tallied(publication: Publication, forest: Forest, metrics: Sequence[Metric], rng: random.Random) -> Any:
    """What the parts come to, sent from elsewhere, added in any order and two by two."""
    parts = [
        pickle.loads(pickle.dumps(tally(*part, metrics)))
        for part in cut(publication, forest, rng.randint(2, 5), rng)
    ]
    while len(parts) > 1:
        one, other = (parts.pop(rng.randrange(len(parts))) for _ in range(2))
        parts.append(one + other)
    return parts[0]


@pytest.mark.parametrize("together", [False, True])
@pytest.mark.parametrize("seed", first_few(2, SEEDS))
def test_parts_add_up_to_the_whole(seed: int, together: bool) -> None:
    rng, forest = random.Random(seed), built(seed).forest
    publication = published(built(seed), together)
    metrics = asked(forest, seed)
    whole = tally(publication, forest, metrics)
    expected = seen(metrics, whole)
    assert any(expected.values())
    for _ in range(2):
        summed = tallied(publication, forest, metrics, rng)
        assert seen(metrics, summed) == expected
        assert summed[count_part] == replace(
            whole[count_part], costs=Sums(), rounded=summed[count_part].rounded
        )


@pytest.mark.parametrize("together", [False, True])
@pytest.mark.parametrize("seed", SEEDS[1::3])
def test_weights_that_are_no_whole_numbers_add_up_too(
    seed: int, together: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where denominators are large, floats are worked out once, of exact sums."""
    monkeypatch.setattr(joint, "_EXACT", 1)
    rng, forest = random.Random(seed), built(seed).forest
    publication, metrics = published(built(seed), together), asked(forest, seed)
    expected = seen(metrics, tally(publication, forest, metrics))
    assert seen(metrics, tallied(publication, forest, metrics, rng)) == expected


@pytest.mark.parametrize("together", [False, True])
@pytest.mark.parametrize("seed", first_few(1, SEEDS[:3]))
def test_long_keys_and_many_cells_come_to_the_same(
    seed: int, together: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Keys that do not fit into a number are digests; what does not fit at once is looked at in pieces."""
    rng, forest = random.Random(seed), built(seed).forest
    metrics = asked(forest, seed)
    expected = seen(metrics, tally(published(built(seed), together), forest, metrics))
    monkeypatch.setattr(cells, "_RUN", 3)
    monkeypatch.setattr(cells, "_PIECE", 3)
    pieces = seen(metrics, tallied(published(built(seed), together), forest, metrics, rng))
    assert pieces == expected
    monkeypatch.setattr(cells, "_LARGEST", 4)
    monkeypatch.setattr(joint, "_LARGEST", 4)
    summed = tallied(published(built(seed), together), forest, metrics, rng)
    long = seen(metrics, summed)
    for at, own in long.items():
        for (figure, kind), (other, expected_kind) in zip(own, expected[at], strict=True):
            # Sums of floats follow the order of keys, which is another one.
            assert kind is expected_kind
            assert figure.value == pytest.approx(other.value, rel=1e-12) if kind is float else figure == other
    assert long == seen(metrics, tally(published(built(seed), together), forest, metrics))


@pytest.mark.parametrize("seed", [0, 1, 2, 4, 5])  # 3 has no quasi-identifiers
def test_each_part_may_number_the_sets_that_it_publishes(seed: int) -> None:
    """Sets and ranges are nodes that a block makes for its own classes: what they say is what counts."""
    rng = random.Random(seed)
    forest, partition = prepared(built(seed), KAnonymity(k=2), "sets_and_ranges")
    publication, metrics = publication_of(forest, partition), asked(forest, seed)
    expected = seen(metrics, tally(publication, forest, metrics))
    parts = [renumbered(*part, rng) for part in cut(publication, forest, 3, rng)]
    assert len({tuple(tree.labels for own in part.hierarchies for tree in own) for _, part in parts}) > 1
    summed = reduce(add, [tally(*part, metrics) for part in parts])
    assert seen(metrics, summed) == expected


def test_what_asks_and_what_answers_can_be_sent() -> None:
    """Metrics, those of gates too, travel to where parts are measured."""
    rate = {"metric": "discrimination_rate", "operator": "<=", "value": 1, "on": "$.s"}
    loss = {"metric": "lm_cost", "figure": "per_value", "operator": "<=", "value": 1}
    policy = from_data(
        {
            "version": 1,
            "models": [{"kind": "k-anonymity", "k": 2}],
            "fields": {"$.q": {"role": "quasi", "flat": True}, "$.s": {"role": "sensitive"}},
            "gates": [rate, loss, rate | {"partition": {"blocks": {"low": [1, 2], "high": [3, 4, 5]}}}],
        }
    )
    publication, _, forest = BETTER_AND_WORSE["discrimination_rate"]
    gates = bind_gates(policy, forest.schema, forest.domains)
    metrics = every_metric(policy, forest.schema, forest.domains, gates)
    sent = pickle.loads(pickle.dumps(metrics))
    assert tally(publication, forest, sent).keys() == tally(publication, forest, metrics).keys()
    verdicts = pass_gates(pickle.loads(pickle.dumps(gates)), tally(publication, forest, sent))
    assert [verdict.passed for verdict in verdicts] == [True] * 3


def test_a_part_without_anything_published_adds_nothing_to_what_is_known() -> None:
    forest = built(1).forest
    publication = published(built(1), together=False)
    gone = np.full(forest.vertex_count, -1)
    nothing = Publication((), gone, publication.nodes, gone, gone)
    metrics = [metric() for name, metric in METRICS.items() if name == "discrimination_rate"]
    whole = tally(publication, forest, metrics)
    assert seen(metrics, whole + tally(nothing, forest, metrics)) == seen(metrics, whole)


def test_what_several_metrics_ask_is_counted_once() -> None:
    forest, publication = built(2).forest, published(built(2), together=False)
    risks = [metric() for metric in RISKS.values()]
    again = [metric() for metric in RISKS.values()]
    assert tally(publication, forest, risks).keys() == tally(publication, forest, [*risks, *again]).keys()


def test_parts_of_different_releases_are_no_whole() -> None:
    tallies = [tally(published(built(seed), False), built(seed).forest, []) for seed in (0, 1)]
    wrong = Tallies({count_part: Same(1)})
    with pytest.raises(ValueError, match="the parts are of different releases"):
        wrong + Tallies({count_part: Same(2)})
    assert tallies[0][count_part].records + tallies[1][count_part].records == 24 + 25


# Cells

CELL = st.tuples(st.integers(-9, 9), st.integers(0, 2**40))
COUNTED = st.lists(st.tuples(CELL, st.integers(1, 2**35)), max_size=30)


def cells_of(pairs: list[tuple[tuple[int, int], int]]) -> Cells:
    lanes = np.array([cell for cell, _ in pairs], np.int64).reshape(-1, 2).T
    return Cells.of([*lanes], np.array([count for _, count in pairs], np.int64))


def counts_of(found: Cells) -> Counter[tuple[int, int]]:
    run = CellRun.of(*join_runs(found.runs))
    listed = zip(*(lane.tolist() for lane in run.lanes), run.counts.tolist(), strict=True)
    return Counter({(first, second): count for first, second, count in listed})


@given(st.lists(COUNTED, min_size=1, max_size=6), st.randoms(use_true_random=False))
def test_cells_are_a_counter(parts: list[Any], rng: random.Random) -> None:
    expected: Counter[tuple[int, int]] = Counter()
    for pairs in parts:
        for cell, count in pairs:
            expected[cell] += count
    rng.shuffle(parts)
    assert counts_of(reduce(add, map(cells_of, parts))) == expected


def test_equal_cells_are_held_once() -> None:
    """A thousand parts of the same cells take no more room than a few."""
    one = cells_of([((at, at), 1) for at in range(50)])
    found = reduce(add, [one] * 1000)
    assert sum(map(len, found.runs)) < 150
    assert set(counts_of(found).values()) == {1000}


def test_sums_keep_what_only_one_side_has() -> None:
    first = Sums({"a": Fraction(1, 3), "b": Fraction(1)})
    assert first + Sums({"b": Fraction(-1), "c": Fraction(2)}) == {
        "a": Fraction(1, 3),
        "b": Fraction(0),
        "c": Fraction(2),
    }

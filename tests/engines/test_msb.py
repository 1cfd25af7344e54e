"""msb against its twin, the three orders by hand, and what it owes to chance."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from hierdata.domains.codes import Flat
from hierdata.domains.semantic_partition import SemanticPartition
from hierdata.engines import ENGINES
from hierdata.engines.base import StepInput
from hierdata.engines.buckets.buckets import Buckets, Coordinate
from hierdata.engines.buckets.draw import Order, draw
from hierdata.forest.forest import Scope
from hierdata.forest.partition import Partition
from hierdata.privacy import FrequencyLDiversity
from hierdata.privacy.base import PrivacyModel
from tests import naive_msb as naive
from tests.cases import for_each
from tests.small_tables import Table, table

ORDERS: tuple[Order, ...] = ("bucket", "single", "multi")
each_order = pytest.mark.parametrize("order", ORDERS)


class Still:
    """Random draws without chance: rows stay in order, and of equal buckets the first one is drawn from."""

    def permutation(self, rows: Any) -> Any:
        return rows

    def random(self, count: int) -> Any:
        return np.zeros(count)


def buckets(vectors: Sequence[naive.Vector | None], l: int, shares: Sequence[Fraction]) -> Buckets:  # noqa: E741
    """What the engine sees of these vectors; -1 stands for a row without a value."""
    found = []
    for at, share in enumerate(shares):
        column = [-1 if own is None else own[at] for own in vectors]
        found.append(Coordinate(f"$.s{at}", np.array(column, np.int64), (share,) * (max(column) + 1)))
    return Buckets(tuple(found), l, len(vectors))


def drawn(own: Buckets, order: Order, records: Sequence[int] | None = None) -> list[list[int]]:
    of = np.arange(own.rows) if records is None else np.array(records)
    classes = draw(own, of, Still(), lambda done: None, order)  # type: ignore[arg-type]
    return [np.flatnonzero(classes == at).tolist() for at in range(int(classes.max(initial=-1)) + 1)]


def vectors(rng: random.Random, rows: int, width: int) -> list[naive.Vector | None]:
    sizes = [rng.randint(2, 6) for _ in range(width)]
    return [
        None if rng.random() < 0.05 else tuple(min(rng.randrange(n), rng.randrange(n)) for n in sizes)
        for _ in range(rows)
    ]


@each_order
@for_each("seed", range(60), few=15)
def test_it_draws_what_the_twin_draws(order: Order, seed: int) -> None:
    rng = random.Random(seed)
    rows, width, l = rng.randint(1, 40), rng.randint(1, 4), rng.randint(1, 4)  # noqa: E741
    own = vectors(rng, rows, width)
    if not any(own):
        return
    records = sorted(rng.randrange(rows) for _ in own) if seed % 3 == 0 else None
    shares = [Fraction(rng.choice((1, 1, 1, 2)), l) for _ in range(width)]
    room = {(at, value): int(share * l) for at, share in enumerate(shares) for value in range(6)}
    twin = naive.draw(own, l, order, room, records)
    assert drawn(buckets(own, l, shares), order, records) == [sorted(group) for group in twin]


A, B, C, D, E, T, U, V, W, X, Y, Z = range(12)
BY_HAND: list[naive.Vector] = [
    *[(A, X)] * 4,
    *[(B, Y)] * 2, *[(B, Z)] * 2, *[(B, W)] * 2,
    (C, V), *[(C, T)] * 2, *[(C, U)] * 2, *[(D, V)] * 2, *[(E, V)] * 2,
]  # fmt: skip
"""A is in 4 rows, B in 6, C in 5, D and E in 2; X in 4, V in 5, all others in 2."""


def test_the_three_orders_by_hand() -> None:
    """The largest bucket is (A, X) with 4; the largest capacity B with 6; the largest sum C and V, 5 + 5."""
    found = naive.buckets_of(BY_HAND)
    assert {vector: naive.selectivity(found, vector, "multi") for vector in found} == {
        (A, X): 4 + 4, (B, Y): 6 + 2, (B, Z): 6 + 2, (B, W): 6 + 2,
        (C, V): 5 + 5, (C, T): 5 + 2, (C, U): 5 + 2, (D, V): 2 + 5, (E, V): 2 + 5,
    }  # fmt: skip
    assert first_of(BY_HAND, "bucket") == {(A, X)}
    assert first_of(BY_HAND, "single") == {(B, Y), (B, Z), (B, W)}, "equally large: by chance"
    assert first_of(BY_HAND, "multi") == {(C, V)}


def test_equal_capacities_go_by_the_size_of_the_bucket() -> None:
    """0 is in four rows, 1 in two of them, 2 and 3 in one each: (0, 1) is the largest of three under 0."""
    rows: list[naive.Vector] = [(0, 2), (0, 1), (0, 1), (0, 3)]
    assert first_of(rows, "single") == {(0, 1)}


def first_of(rows: list[naive.Vector], order: Order) -> set[naive.Vector]:
    """The buckets that a class of one row is drawn from first, over many draws: l = 1 leaves no choice."""
    own = buckets(rows, 1, [Fraction(1)] * 2)
    found = set()
    for seed in range(40):
        classes = draw(own, np.arange(len(rows)), np.random.default_rng(seed), lambda done: None, order)
        found.add(rows[int(np.flatnonzero(classes == 0)[0])])
    return found


def test_masked_buckets_come_back_when_the_class_is_full() -> None:
    """l = 2 by hand, multi: (0,0) has 3 + 3; it masks (0,1) and (1,0), so (2,2) is the only partner."""
    rows: list[naive.Vector | None] = [(0, 0), (0, 0), (0, 1), (1, 0), (2, 2)]
    assert drawn(buckets(rows, 2, [Fraction(1, 2)] * 2), "multi") == [[1, 4], [2, 3]]
    assert naive.draw(rows, 2, "multi") == [[1, 4], [2, 3]]


def test_a_class_that_cannot_be_filled_gives_its_rows_back() -> None:
    """(0,0) is first and masks both others, which make a class of two without it."""
    rows: list[naive.Vector | None] = [(0, 0), (0, 0), (0, 1), (1, 0)]
    for order in ORDERS:
        assert drawn(buckets(rows, 2, [Fraction(1, 2)] * 2), order) == [[2, 3]]
        assert naive.draw(rows, 2, order) == [[2, 3]]


def step(own: Table, *models: PrivacyModel, seed: int = 0, **setting: Any) -> Partition:
    return ENGINES["msb"](kind="msb", **setting).find_classes(
        StepInput(
            own.forest,
            Scope.of(own.forest, own.kind),
            own.bind(*models),
            None,
            np.random.default_rng(seed),
        )
    )


@each_order
@for_each("seed", range(10))
def test_classes_are_diverse_in_every_attribute(order: Order, seed: int) -> None:
    rng = random.Random(seed)
    rows = [[rng.randrange(5), rng.randrange(4), rng.randrange(9)] for _ in range(60)]
    partition = step(table([Flat()], [["x"]] * 60, rows), FrequencyLDiversity(l=3), seed=seed, order=order)
    assert partition.class_count
    assert not partition.costs["classes_dissolved"], "what is drawn is diverse already"
    for number in range(partition.class_count):
        held = [rows[row] for row in np.flatnonzero(partition.equivalence_class == number)]
        assert len(held) >= 3
        assert all(3 * max(Counter(column).values()) <= len(held) for column in zip(*held, strict=True))


def test_bucket_first_is_the_draw_of_mbf() -> None:
    rng = random.Random(3)
    rows = [[rng.randrange(5), rng.randrange(4)] for _ in range(60)]
    own = table([Flat()], [["x"]] * 60, rows)
    one = step(own, FrequencyLDiversity(l=2), order="bucket")
    other = ENGINES["mbf"](kind="mbf").find_classes(
        StepInput(
            own.forest,
            Scope.of(own.forest),
            own.bind(FrequencyLDiversity(l=2)),
            None,
            np.random.default_rng(0),
        )
    )
    assert (one.equivalence_class == other.equivalence_class).all()


@each_order
def test_continuous_values_are_discretized_by_their_model(order: Order) -> None:
    """Two bins of equal width, 0..9 and 10..19: no class has two of one, though all values differ."""
    rows = [[value] for value in range(20)]
    bins = FrequencyLDiversity(l=2, by="partition", partition=SemanticPartition(equal_width=2))
    partition = step(table([Flat()], [["x"]] * 20, rows), bins, order=order)
    assert sorted(np.bincount(partition.equivalence_class)) == [2] * 10
    for number in range(10):
        low, high = np.flatnonzero(partition.equivalence_class == number)
        assert low < 10 <= high


@each_order
def test_ties_and_rows_of_a_bucket_go_by_chance_not_by_the_order_of_the_input(order: Order) -> None:
    own = buckets([(0,)] * 6 + [(1,)] * 6, 2, [Fraction(1, 2)])
    partners = set()
    for seed in range(100):
        classes = draw(own, np.arange(12), np.random.default_rng(seed), lambda done: None, order)
        partners |= set(np.flatnonzero(classes == classes[0]).tolist()) - {0}
    assert partners == set(range(6, 12))


@each_order
def test_below_the_root_no_class_has_two_rows_of_a_record(order: Order) -> None:
    rng = random.Random(5)
    owners = sorted(rng.randrange(12) for _ in range(40))
    owners = [sorted(set(owners)).index(owner) for owner in owners]
    rows = [[rng.randrange(5), rng.randrange(6)] for _ in owners]
    partition = step(table([Flat()], [["x"]] * 40, rows, owners), FrequencyLDiversity(l=2), order=order)
    assert partition.class_count
    for number in range(partition.class_count):
        held = [owners[row] for row in np.flatnonzero(partition.equivalence_class == number)]
        assert len(set(held)) == len(held) >= 2


def test_the_reason_says_what_the_data_allow() -> None:
    own = table([Flat()], [["x"]] * 9, [[1]] * 5 + [[2]] * 3 + [[3]])
    partition = step(own, FrequencyLDiversity(l=3))
    assert partition.reason.endswith("at most 3 of 9 rows can be published in classes of at least 3; 3 are")

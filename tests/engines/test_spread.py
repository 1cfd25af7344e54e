"""spread against all partitions: as many rows published as can be, and every class as it must be."""

from __future__ import annotations

import random
from collections.abc import Sequence
from decimal import Decimal
from fractions import Fraction
from itertools import product
from math import ceil

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hierdata.domains import DOMAINS
from hierdata.engines.base import StepInput
from hierdata.engines.enforce import coalesce
from hierdata.engines.mondrian.engine import Mondrian
from hierdata.engines.rows.dealing import Apart
from hierdata.engines.rows.kernel import keep
from hierdata.engines.spread.engine import Spread
from hierdata.engines.spread.run import nearness
from hierdata.forest.forest import Forest, Scope
from hierdata.forest.partition import SUPPRESSED, Partition
from hierdata.ground.errors import PolicyError
from hierdata.privacy import MODELS
from hierdata.privacy.base import PrivacyModel
from tests import naive_tables
from tests.cases import with_worlds
from tests.small_tables import Table, table

Value = int | Decimal


def run(own: Table, *models: PrivacyModel) -> Partition:
    scope = Scope.of(own.forest, own.kind)
    return Spread().find_classes(
        StepInput(own.forest, scope, own.bind(*models), None, np.random.default_rng(1))
    )


def diversity(delta: object, l: object) -> PrivacyModel:  # noqa: E741
    return MODELS["delta-l-diversity"](delta=str(delta), l=str(l))


def of_values(values: Sequence[Value | None], seed: int = 0, owners: Sequence[int] | None = None) -> Table:
    """A table with two quasi-identifiers beside these values."""
    rng = random.Random(seed)
    domains = [DOMAINS["interval"](steps=[1, 2, 4, 8]), DOMAINS["flat"]()]
    quasi = [[rng.randrange(16), rng.choice("abc")] for _ in values]
    return table(domains, quasi, [[value] for value in values], owners)


def classes(partition: Partition, values: Sequence[Value | None]) -> list[list[Value | None]]:
    return [
        [value for value, own in zip(values, partition.equivalence_class.tolist(), strict=True) if own == at]
        for at in range(partition.class_count)
    ]


def check(partition: Partition, values: Sequence[Value | None], delta: object, l: object) -> int:  # noqa: E741
    """That every class is as DL definition 5 says; how many rows are published."""
    for own in classes(partition, values):
        present = [Fraction(value) for value in own if value is not None]
        assert naive_tables.delta_l(present, Fraction(str(delta)), Fraction(str(l)))
        assert len(own) >= ceil(Fraction(str(l)))
    return int((partition.equivalence_class != SUPPRESSED).sum())


def draw(rng: random.Random) -> tuple[list[Value], str]:
    """Up to nine values, whole or with a decimal, and a delta at which some of them touch."""
    count = rng.randint(1, 9)
    if rng.random() < 0.5:
        return [rng.randint(0, rng.choice((4, 8, 20))) for _ in range(count)], rng.choice(
            ("0", "0.5", "1", "2")
        )
    values = [Decimal(rng.randint(0, rng.choice((6, 15, 40)))) / 10 for _ in range(count)]
    return values, rng.choice(("0.05", "0.1", "0.15", "0.3"))


@with_worlds(10, 60)
@pytest.mark.parametrize("l", [1, 2, 3, 4])
def test_no_partition_publishes_more_rows(l: int, worlds: int) -> None:  # noqa: E741
    rng = random.Random(l)
    suppressed = published = 0
    for seed in range(worlds):
        values, delta = draw(rng)
        partition = run(of_values(values, seed), diversity(delta, l))
        found = check(partition, values, delta, l)
        best = naive_tables.most_published(
            [Fraction(value) for value in values], Fraction(delta), Fraction(l)
        )
        assert found == best, (values, delta)
        published += found
        suppressed += len(values) - found
        assert (not partition.reason) == (found == len(values))
        if 0 < found < len(values):
            assert f"at most {best} of the {len(values)} values" in partition.reason
    assert published
    assert suppressed or l == 1


ALIKE = (
    [DOMAINS["flat"]()],
    [DOMAINS["interval"](steps=[1, 2, 4])],
    [DOMAINS["interval"](steps=[1, 2, 4]), DOMAINS["flat"]()],
)
"""Domains with few labels, so that classes look alike."""


def forms_of(forest: Forest) -> list[set[tuple[object, ...]]]:
    """By row of a table, all combinations of labels that may be published for it."""
    return [
        {
            *product(
                *(
                    {tree.labels[node] for node in tree.ancestors[forest.nodes[first + at]] if node >= 0}
                    for at, tree in enumerate(forest.hierarchies[0])
                )
            )
        }
        for first in forest.first_node.tolist()
    ]


@with_worlds(20, 120)
def test_classes_that_look_alike_are_told_apart(worlds: int) -> None:
    """Against all classes and labels: never more, and nearly as many where there are few labels."""
    rng = random.Random(2)
    best = missed = 0
    for _ in range(worlds):
        least, delta = rng.choice((1, 2, 2, 3)), rng.choice(("0", "0.5", "1", "2"))
        values = [rng.randint(0, rng.choice((4, 8, 14))) for _ in range(rng.randint(1, 7))]
        domains = rng.choice(ALIKE)
        quasi = [[rng.randrange(3) for _ in domains] for _ in values]
        own = table(domains, quasi, [[value] for value in values])
        published = coalesce(own.forest, run(own, diversity(delta, least)), own.bind(diversity(delta, least)))
        found = int((published.equivalence_class != SUPPRESSED).sum())
        exact = [Fraction(value) for value in values]
        most = naive_tables.most_published_by_labels(
            exact, forms_of(own.forest), Fraction(delta), Fraction(least)
        )
        assert found <= most <= naive_tables.most_published(exact, Fraction(delta), Fraction(least))
        best += most
        missed += most - found
    assert missed <= best / 100


def test_one_of_two_classes_that_look_alike_is_generalized() -> None:
    own = table([DOMAINS["flat"]()], [[1]] * 4, [[value] for value in range(4)])
    partition = coalesce(own.forest, run(own, diversity("1/2", 2)), own.bind(diversity("1/2", 2)))
    assert partition.equivalence_class.tolist() == [0, 1, 0, 1]
    (tree,) = own.forest.hierarchies[0]
    shown = partition.nodes[own.forest.first_node[partition.representative]]
    assert sorted(map(str, (tree.labels[node] for node in shown.tolist()))) == ["*", "*", "1", "1"]


def test_where_no_label_is_left_a_class_is_lost() -> None:
    """Three classes that are not safe together need three forms, and there are 1 and * only."""
    own = table([DOMAINS["flat"]()], [[1]] * 6, [[value] for value in (0, 1, 2, 3, 4, 5)])
    partition = coalesce(own.forest, run(own, diversity(1, 2)), own.bind(diversity(1, 2)))
    exact = [Fraction(value) for value in range(6)]
    most = naive_tables.most_published_by_labels(exact, forms_of(own.forest), Fraction(1), Fraction(2))
    assert int((partition.equivalence_class != SUPPRESSED).sum()) == most < 6


@pytest.mark.parametrize("l", ["3/2", "5/2", "7/3"])
@with_worlds(6, 120)
def test_the_bound_holds_where_l_is_not_whole(l: str, worlds: int) -> None:  # noqa: E741
    rng = random.Random(l)
    gap = total = 0
    for seed in range(worlds):
        values, delta = draw(rng)
        own = of_values(values, seed)
        found = check(run(own, diversity(delta, l)), values, delta, l)
        exact = [Fraction(value) for value in values]
        best = naive_tables.most_published(exact, Fraction(delta), Fraction(l))
        scope = Scope.of(own.forest)
        apart, _ = nearness(own.forest, scope, own.bind(diversity(delta, l)))
        bound = len(apart.tracks(np.arange(len(values)), Fraction(l)))
        assert found <= best <= bound
        gap += best - found
        total += best
    assert gap <= total / 10, "what spread misses where l is not whole"


@with_worlds(6, 60)
def test_the_scan_keeps_the_most_rows_with_so_many_in_a_window(worlds: int) -> None:
    rng = random.Random(5)
    for _ in range(worlds):
        values, delta = draw(rng)
        values = sorted(values)[:8]
        own = of_values(values)
        scope = Scope.of(own.forest)
        apart, _ = nearness(own.forest, scope, own.bind(diversity(delta, 1)))
        exact = [Fraction(value) for value in values]
        for tracks in range(1, len(values) + 1):
            groups = np.sort(apart.groups)
            kept = keep(tracks, groups, apart.ends, np.empty(len(values), np.int64))
            assert kept == naive_tables.most_with_windows_of(exact, Fraction(delta), tracks)


@given(
    st.lists(st.integers(0, 30), min_size=1, max_size=60),
    st.integers(0, 8),
    st.sampled_from(["1", "2", "5/2", "3", "6"]),
)
def test_classes_are_diverse_and_touching_values_apart(values: list[int], twice: int, l: str) -> None:  # noqa: E741
    check(run(of_values(values), diversity(Fraction(twice, 2), l)), values, Fraction(twice, 2), l)


def test_where_values_are_missing_their_rows_join_classes() -> None:
    values = [0, 10, 20, 30, None, None, 0]
    partition = run(of_values(values), diversity(1, 2))
    assert (partition.equivalence_class != SUPPRESSED).all()
    check(partition, values, 1, 2)


def test_other_models_are_kept_too() -> None:
    rng = random.Random(3)
    values = [rng.randint(0, 1000) for _ in range(200)]
    partition = run(of_values(values), diversity(10, 2), MODELS["k-anonymity"](k=5))
    sizes = np.bincount(partition.equivalence_class[partition.equivalence_class >= 0])
    assert len(sizes) > 5
    assert sizes.min() >= 5
    check(partition, values, 10, 2)


def test_two_models_of_one_attribute_keep_both() -> None:
    rng = random.Random(4)
    values = [rng.randint(0, 300) for _ in range(120)]
    partition = run(of_values(values), diversity(10, 2), diversity(2, 4))
    assert partition.class_count
    check(partition, values, 10, 2)
    check(partition, values, 2, 4)


@pytest.mark.parametrize("l", [2, 3])
def test_below_the_root_a_class_takes_one_vertex_of_a_record(l: int) -> None:  # noqa: E741
    rng = random.Random(6)
    published = rows = 0
    for seed in range(30):
        count = rng.randint(2, 60)
        values: list[Value | None] = [rng.randint(0, 60) for _ in range(count)]
        owners = sorted(rng.randrange(count // 2) for _ in range(count))
        partition = run(of_values(values, seed, owners), diversity(1, l))
        for at in range(partition.class_count):
            records = [
                own for own, where in zip(owners, partition.equivalence_class, strict=True) if where == at
            ]
            assert len(set(records)) == len(records)
        published += check(partition, values, 1, l)
        rows += count
    assert published > 0.9 * rows


def test_nothing_can_be_published_says_what_could() -> None:
    partition = run(of_values([1, 2, 3, 4, 50]), diversity(2, 3))
    assert partition.class_count == 0
    assert "2 is the largest l that would work" in partition.reason


def test_without_a_model_on_near_numbers_spread_refuses() -> None:
    own = of_values([1, 2, 3])
    with pytest.raises(PolicyError, match="use mondrian"):
        run(own, MODELS["k-anonymity"](k=2))
    with pytest.raises(PolicyError, match="use mondrian"):
        run(own, MODELS["frequency-l-diversity"](l=2))


def test_two_attributes_at_once_are_refused() -> None:
    own = table([], [[], []], [[1, 2], [3, 4]])
    with pytest.raises(PolicyError, match="one attribute"):
        run(own, diversity(1, 1))


def test_an_empty_choice_keeps_nothing() -> None:
    apart = Apart(np.zeros(0, np.int32), np.zeros(0, np.int32))
    assert len(apart.tracks(np.zeros(0, np.int64), Fraction(2))) == 0


@pytest.mark.parametrize("k", [5, 10])
def test_larger_classes_than_l_are_never_worse_than_cuts(k: int) -> None:
    """k values need not be apart pairwise, so cuts may publish more or lose less than what is dealt."""
    for seed in range(6):
        rng = random.Random(seed)
        own = of_values([rng.randint(0, rng.choice((6, 60))) for _ in range(60)], seed)
        models = MODELS["k-anonymity"](k=k), diversity(1, 2)
        found = run(own, *models)
        scope, constraints = Scope.of(own.forest), own.bind(*models)
        cut = Mondrian().find_classes(
            StepInput(own.forest, scope, constraints, None, np.random.default_rng(1))
        )
        assert (found.equivalence_class >= 0).sum() >= (cut.equivalence_class >= 0).sum()
        assert bool(found.reason) == bool((found.equivalence_class < 0).any())
        sizes = np.bincount(found.equivalence_class[found.equivalence_class >= 0])
        assert not len(sizes) or sizes.min() >= k

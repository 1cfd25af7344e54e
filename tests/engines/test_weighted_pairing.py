"""Weighted losses: the alignment against its twin, and the scale on which sums are exact."""

from __future__ import annotations

import random
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hierdata.engines.alignment.alignment import Alignment
from hierdata.forest.worth import Heaviest, Worth
from hierdata.ground.errors import InputError
from hierdata.privacy import FrequencyLDiversity
from tests import naive, random_collections
from tests.cases import examples, with_worlds
from tests.engines.test_optimal_pairing import MODELS, check_class
from tests.random_collections import Collection, Shape, collected, collection, taxonomy
from tests.test_histograms import numbers


@pytest.mark.parametrize(
    "name",
    [
        "frequency",
        pytest.param("frequency, each value once", marks=pytest.mark.long),  # 25 CPU s for three worlds
        *(pytest.param(name, marks=pytest.mark.full) for name in MODELS if not name.startswith("frequency")),
    ],
)
@examples(10)
@given(seed=st.integers(0, 10**6), depth=st.integers(2, 3), most=st.integers(1, 4), size=st.integers(2, 4))
def test_losses_and_pairs_are_those_of_the_best_assignment(
    name: str, seed: int, depth: int, most: int, size: int
) -> None:
    built = collection(seed, records=6, depth=depth, most=most if depth == 2 else min(most, 2))
    check_class(built.weighted(seed), MODELS[name], size)


def bare(seed: int, quasi: tuple[int, int, int]) -> Collection:
    """Records with vertices and leaves that have so many quasi-identifiers, often none."""
    rng = random.Random(seed)
    types = tuple(
        Shape(parent, tuple(taxonomy(rng) for _ in range(count)), sensitive, most)
        for parent, count, sensitive, most in (
            (None, quasi[0], 0, 1), (0, quasi[1], 1, 3), (1, quasi[2], 1, 2), (0, 0, 1, 2),
        )
    )  # fmt: skip
    return collected(types, [random_collections.record(rng, types, 0) for _ in range(5)]).weighted(seed)


@pytest.mark.parametrize("quasi", [(0, 0, 0), (1, 0, 0), (0, 1, 0), (1, 0, 1), (2, 1, 0)], ids=str)
@pytest.mark.parametrize("name", ["level alpha", "frequency", "each kind once"])
@with_worlds(1, 18)
def test_vertices_without_quasi_identifiers(name: str, quasi: tuple[int, int, int], worlds: int) -> None:
    for seed in range(worlds):
        check_class(bare(seed, quasi), MODELS[name], 3)


@with_worlds(5, 40)
@pytest.mark.parametrize("pairing", ["greedy", "benefit"])
def test_the_published_pairing_with_weights(pairing: str, worlds: int) -> None:
    of_twin = {"greedy": "greedy", "benefit": "greedy_loss_minus_suppression"}[pairing]
    for seed in range(worlds):
        built = (collection(seed, records=5, depth=3) if seed % 2 else bare(seed, (1, 0, 1))).weighted(seed)
        model = FrequencyLDiversity(l=2)
        aligned = Alignment(built.forest, built.bind(model), 2, pairing)  # type: ignore[arg-type]
        rules = naive.Rules(built.naive_schema, 2, built.caps(model), of_twin)
        for record, tree in enumerate(built.trees):
            losses = aligned.pair_losses(record, np.arange(5))
            assert [Fraction(int(loss), built.forest.scale) for loss in losses] == [
                naive.pair_loss(tree, other, rules) for other in built.trees
            ]


def with_worth(built: Collection, weight: int, sensitive: int = 0) -> Collection:
    """The collection where each quasi-identifier has one weight, each sensitive attribute another."""
    worth = Worth(
        tuple((weight,) * len(shape.taxonomies) for shape in built.shapes),
        tuple((sensitive,) * shape.sensitive for shape in built.shapes),
        (0,) * len(built.shapes),
    )
    return replace(built, forest=replace(built.forest, sought=worth))


def test_golden_a_sensitive_value_is_worth_a_pair() -> None:
    """Two records with one equal vertex each, and one with two: who is paired by worth counts values too.

    By hand: vertices of one type with one sensitive value and no quasi-identifier. Under LM nothing is lost
    whatever is paired; with weight 1 each vertex without a partner loses 1.
    """
    types = (Shape(None, (), 0, 1), Shape(0, (), 1, 4))
    trees = []
    for count in (1, 1, 3):
        children = [random_collections.record(random.Random(at), types, 1) for at in range(count)]
        tree = naive.Tree("0", [], [], [own[0] for own in children])
        trees.append((tree, random_collections.Vertex(0, [], [], [], [own[1] for own in children])))
    plain = collected(types, trees)
    for built, expected in ((plain, [0, 0, 0]), (with_worth(plain, 1, 1), [0, 0, 2])):
        constraints = random_collections.Constraints((), tuple(() for _ in types))
        aligned = Alignment(built.forest, constraints, 2, "optimal")
        assert (aligned.pair_losses(0, np.arange(3)) / built.forest.scale).tolist() == expected


def test_the_scale_is_exact_where_it_fits_and_a_power_of_two_where_not() -> None:
    one = Worth(((1,),), ((),), (0,))
    forest = replace(numbers((2, 5, 10), [*range(9)], (0, 10**9 - 1)), sought=one)
    common = forest.scale
    assert common == forest.lm_scale > 2**20, "weights of 1 leave the losses of LM"
    assert [own.tolist() for own in forest.losses[0]] == [own.tolist() for own in forest.lm[0]]
    children = 99
    largest = 2**62 // (4 * (children + 1) * common)
    assert largest < 2**31
    fits, over = (
        replace(forest, heaviest=Heaviest(weight=largest + more, children=children)) for more in (0, 1)
    )
    assert fits.scale == common
    assert over.scale < common
    assert over.scale & (over.scale - 1) == 0
    assert 2 * over.scale > 2**62 // (4 * (children + 1) * (largest + 1)) >= over.scale
    rounded = [
        abs(Fraction(int(own), over.scale) - lm)
        for own, lm in zip(over.losses[0][0], over.hierarchies[0][0].lm, strict=True)
    ]
    assert max(rounded) <= Fraction(1, 2 * over.scale)


@pytest.mark.parametrize("heaviest", [Heaviest(weight=2**31), Heaviest(weight=2**20, children=2**21)])
def test_what_is_too_heavy_is_refused(heaviest: Heaviest) -> None:
    built = with_worth(collection(5, records=5, depth=2), 1)
    with pytest.raises(InputError, match="rounder weights"):
        _ = replace(built.forest, heaviest=heaviest).scale


def test_worthless_vertices_are_paired_on_any_scale() -> None:
    """Pairs that gain nothing are kept rather than suppressed, also where losses had to be rounded."""
    types = (Shape(None, (taxonomy(random.Random(1)),), 0, 1), Shape(0, (), 1, 6))
    rng = random.Random(2)
    built = collected(types, [random_collections.record(rng, types, 0) for _ in range(6)])
    worth = Worth(((9999,), ()), ((), (0,)), (0, 0))
    for heaviest in (Heaviest(), Heaviest(weight=2**31 - 1, children=255)):
        forest = replace(built.forest, sought=worth, heaviest=heaviest)
        check_class(replace(built, forest=forest), FrequencyLDiversity(l=1), 3)


def test_by_default_every_value_counts_the_same() -> None:
    worth = Worth(((100, 200), ()), ((50,), (100, 100)), (0, 300))
    assert worth.in_lowest_terms() == Worth(((2, 4), ()), ((1,), (2, 2)), (0, 6))
    assert worth.constants == (50, 500)
    assert worth.by_type.tolist() == [350, 500]
    assert Worth(((0,),), ((),), (0,)).in_lowest_terms() == Worth(((0,),), ((),), (0,))

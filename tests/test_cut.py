"""The cut: every record has one block, blocks have fair sizes, and nothing depends on who looks."""

from __future__ import annotations

import pickle
from dataclasses import replace
from fractions import Fraction
from math import floor

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from hierdata.engines.blocking import Cut, Sizes, grow_cut
from hierdata.engines.blocking.growing import ValueShares, shares
from hierdata.engines.blocking.tree import hashes_of
from hierdata.privacy import FrequencyLDiversity
from tests import naive_cut
from tests.cases import examples
from tests.random_collections import collection


def random_counts(seed: int, records: int, columns: int, most: int) -> NDArray[np.uint8]:
    rng = np.random.default_rng(seed)
    kinds = rng.integers(0, most + 1, (max(records // 20, 1), columns))
    own = kinds[rng.integers(0, len(kinds), records)] + rng.integers(-1, 2, (records, columns))
    return np.clip(own, 0, most).astype(np.uint8)


@st.composite
def collections(draw: st.DrawFn) -> tuple[NDArray[np.uint8], NDArray[np.int64], Sizes]:
    records, columns = draw(st.integers(1, 400)), draw(st.integers(0, 6))
    counts = random_counts(draw(st.integers(0, 99)), records, columns, draw(st.sampled_from([0, 1, 5, 255])))
    weights = np.array(draw(st.lists(st.integers(1, 2**42), min_size=columns, max_size=columns)), np.int64)
    unit = draw(st.integers(1, 6))
    least = unit * draw(st.integers(1, 4))
    return counts, weights, Sizes(records, least + draw(st.integers(0, 60)), least, unit)


@examples(30)
@given(collections(), st.integers(0, 2**64 - 1))
def test_a_cut_of_all_records_has_blocks_of_fair_sizes_and_whole_classes(collection, salt: int) -> None:
    counts, weights, sizes = collection
    ordinals = np.arange(len(counts))
    made = grow_cut(counts, weights, ordinals, sizes, salt)
    found = np.bincount(made.block_of(counts, ordinals), minlength=made.blocks)
    assert len(found) == made.blocks
    assert found.min() >= min(sizes.least, len(counts))
    assert found.max() < 2 * sizes.smallest or len(counts) < 2 * sizes.smallest
    if sizes.size % sizes.unit == 0 and 2 * sizes.size % 3 == 0 and sizes.smallest % sizes.unit == 0:
        assert (found % sizes.unit > 0).sum() <= 1


@examples(25)
@given(collections(), st.integers(0, 2**64 - 1), st.data())
def test_leaves_are_those_of_the_definition_whoever_else_is_asked_for(collection, salt: int, data) -> None:
    counts, weights, sizes = collection
    ordinals = np.arange(len(counts)) * 3 + 7
    order = np.random.default_rng(data.draw(st.integers(0, 9))).permutation(len(counts))
    made = grow_cut(counts, weights, ordinals, sizes, salt)
    other = grow_cut(counts[order], weights, ordinals[order], sizes, salt)
    leaves = made.leaf_of(counts, ordinals)
    hashes = hashes_of(ordinals, salt).tolist()
    assert leaves.tolist() == [naive_cut.leaf_of(made, *one) for one in zip(counts, hashes, strict=True)]
    some = order[: data.draw(st.integers(0, len(counts)))]
    travelled: Cut = pickle.loads(pickle.dumps(other))
    assert travelled.leaf_of(counts[some], ordinals[some]).tolist() == leaves[some].tolist()


@examples(40)
@given(collections(), st.data())
def test_settled_blocks_are_large_enough_and_united_with_neighbors(collection, data) -> None:
    counts, weights, sizes = collection
    made = grow_cut(counts, weights, np.arange(len(counts)), sizes)
    few = st.integers(0, 2 * sizes.size)
    real = np.array(data.draw(st.lists(few, min_size=made.leaves, max_size=made.leaves)), np.int64)
    settled = made.settle_counts(real)
    assert set(settled.first.tolist()) <= set(range(settled.blocks))
    of_block = np.bincount(settled.first, real, minlength=settled.blocks)[np.unique(settled.first)]
    assert of_block.sum() == real.sum()
    assert of_block.min() >= min(sizes.least, real.sum())
    assert settled.settle_counts(real).first.tolist() == settled.first.tolist()
    if (real >= sizes.least).all() and (real <= 2 * sizes.size).all():
        assert settled.first.tolist() == list(range(made.leaves))


def test_a_sample_cuts_the_collection_into_blocks_around_the_size() -> None:
    counts = random_counts(3, 40_000, 30, 9)
    weights = np.arange(1, 31)
    ordinals = np.arange(len(counts))
    sample = ordinals[::8]
    made = grow_cut(counts[sample], weights, sample, Sizes(len(counts), 2000, 100, 5), 11)
    real = np.bincount(made.leaf_of(counts, ordinals), minlength=made.leaves)
    settled = made.settle_counts(real)
    sizes = np.bincount(settled.block_of(counts, ordinals), minlength=settled.blocks)
    assert sizes.sum() == len(counts)
    assert sizes.min() >= 1000
    assert sizes.max() <= 4000


def test_a_cut_parts_groups_that_are_apart_and_no_neighbors() -> None:
    rng = np.random.default_rng(1)
    group = rng.permutation(np.repeat(np.arange(4), [150, 220, 180, 250]))
    counts = rng.integers(0, 3, (800, 8)).astype(np.uint8)
    counts[:, 0] += (group % 2 * 40).astype(np.uint8)
    counts[:, 5] += (group // 2 * 40).astype(np.uint8)
    made = grow_cut(counts, np.full(8, 10), np.arange(800), Sizes(800, 200, 10))
    blocks = made.block_of(counts, np.arange(800))
    assert len({*zip(group.tolist(), blocks.tolist(), strict=True)}) == made.blocks == 4


@pytest.mark.parametrize("columns", [0, 1, 3])
def test_equal_records_are_dealt_evenly(columns: int) -> None:
    counts = np.full((5000, columns), 2, np.uint8)
    made = grow_cut(
        counts[::10], np.ones(columns, np.int64), np.arange(0, 5000, 10), Sizes(5000, 500, 20, 5), 1
    )
    sizes = np.bincount(made.block_of(counts, np.arange(5000)), minlength=made.blocks)
    assert made.blocks >= 7
    assert sizes.min() >= 200
    assert sizes.max() <= 1000


def test_a_leaf_that_turns_out_far_too_large_is_dealt_out() -> None:
    counts = np.repeat(np.array([[0], [9]], np.uint8), 100, axis=0)
    made = grow_cut(counts, np.ones(1, np.int64), np.arange(200), Sizes(200, 100, 20), 5)
    assert made.leaves == 2
    settled = made.settle_counts(np.array([80, 1000]))
    assert settled.parts.tolist() == [1, 10]
    assert settled.blocks == 11
    many = np.full((1000, 1), 9, np.uint8)
    sizes = np.bincount(settled.block_of(many, np.arange(1000)))
    assert sizes[0] == 0
    assert len(sizes) == 11
    assert sizes[1:].min() >= 60
    close = replace(made, sizes=Sizes(200, 100, 95)).settle_counts(np.array([100, 1000]))
    assert close.blocks == 2, "dealt by chance, blocks of 100 on average could have fewer than 95"


def test_leaves_without_enough_records_go_to_the_smallest_block_beside_them() -> None:
    counts = np.repeat(np.array([[0, 0], [0, 9], [90, 0], [90, 9]], np.uint8), 50, axis=0)
    made = grow_cut(counts, np.array([5, 1]), np.arange(200), Sizes(200, 50, 10))
    assert made.leaves == 4
    assert made.settle_counts(np.array([60, 50, 4, 5])).first.tolist() == [1, 0, 0, 0] or made.settle_counts(
        np.array([60, 50, 4, 5])
    ).first.tolist() == [0, 1, 1, 1]
    assert made.settle_counts(np.array([3, 2, 1, 2])).blocks == 1
    assert made.settle_counts(np.array([40, 3, 30, 20])).first.tolist() == [0, 0, 1, 2]


@pytest.mark.full
def test_a_cut_is_of_whole_numbers_that_single_precision_adds_exactly() -> None:
    counts = np.random.default_rng(2).integers(0, 256, (3000, 700)).astype(np.uint8)
    weights = np.random.default_rng(3).integers(1, 2**50, 700)
    made = grow_cut(counts, weights, np.arange(3000), Sizes(3000, 400, 50, 5))
    assert np.abs(made.directions.astype(np.int64)).sum(axis=1).max() * 255 < 2**24
    exact = counts.astype(np.int64) @ made.directions.T.astype(np.int64)
    assert (exact == (counts.astype(np.float32) @ made.directions.T.astype(np.float32))).all()
    sizes = np.bincount(made.block_of(counts, np.arange(3000)))
    assert (sizes % 5 == 0).all()


def test_the_salt_keys_who_goes_where_among_equals() -> None:
    counts = np.zeros((300, 1), np.uint8)
    blocks = [
        grow_cut(counts, np.ones(1, np.int64), np.arange(300), Sizes(300, 100, 10), salt).block_of(
            counts, np.arange(300)
        )
        for salt in (1, 2)
    ]
    assert (blocks[0] != blocks[1]).any()


def test_cuts_keep_together_what_balances_shares() -> None:
    """One half has too much of a group, the other too little: a cut between them would lose values."""
    rng = np.random.default_rng(3)
    counts = np.column_stack([np.repeat([0, 9], 400), rng.integers(0, 5, 800)]).astype(np.uint8)
    excess = np.where(counts[:, :1] > 0, 100, -100)
    own = ValueShares(excess.astype(np.int64), np.full(800, 1000))
    sizes = Sizes(800, 400, 10)

    def lost(shares: ValueShares | None) -> int:
        blocks = grow_cut(counts, np.array([10, 1]), np.arange(800), sizes, 0, shares).block_of(
            counts, np.arange(800)
        )
        assert blocks.max() > 0
        return sum(max(int(excess[blocks == block].sum()), 0) for block in range(blocks.max() + 1))

    assert lost(None) == 40_000
    assert lost(own) <= 800 * 1000 // 200


def test_added_loss_is_what_the_sides_lose_more() -> None:
    rng = np.random.default_rng(4)
    own = ValueShares(rng.integers(-9, 10, (30, 3)), np.ones(30, np.int64))
    order, left = rng.permutation(30), np.array([1, 7, 29])
    for at, added in zip(left.tolist(), own.added_loss(order, left).tolist(), strict=True):
        parts = (own.excess[order[:at]], own.excess[order[at:]], own.excess)
        losses = [sum(max(int(column.sum()), 0) for column in part.T) for part in parts]
        assert added == losses[0] + losses[1] - losses[2]


def test_excess_of_records_is_the_weight_above_their_shares() -> None:
    built = collection(5, records=12, depth=2)
    constraints = built.bind(FrequencyLDiversity(l="5/2"))
    found = shares(built.forest, constraints)
    column = 0
    for kind in range(len(constraints.on_values)):
        for position, cap in constraints.caps(kind):
            for group, share in enumerate(cap.share):
                for record in range(12):
                    own = range(built.forest.roots[record], built.forest.roots[record + 1])
                    there = [v for v in own if built.forest.type[v] == kind]
                    codes = [
                        built.forest.sensitive[built.forest.first_sensitive[v] + position] for v in there
                    ]
                    values = sum(code >= 0 and cap.group_of[code] == group for code in codes)
                    weight = Fraction(int(built.forest.weight_by_type[kind]))
                    exact = 1024 * weight * (values - share * len(there)) / (1 - share)
                    assert found.excess[record, column] == floor(exact)
                column += 1
    assert column == found.excess.shape[1] > 0

"""Optimal pairing against its twin, which tries every assignment: losses, and the pairs that are made."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hierdata.engines.aligning.alignment import Alignment
from hierdata.kernels.anonytree import align
from hierdata.kernels.arrays import BELOW, CHILD_COUNT, FIRST_CHILD, WEIGHT
from hierdata.kernels.growth import merge, plant
from hierdata.privacy import DeltaLDiversity, FrequencyLDiversity, LEDiversity, LevelAlphaK
from hierdata.privacy.base import PrivacyModel
from tests import naive
from tests.naive_trees import Number
from tests.random_collections import Collection, collection

MODELS: dict[str, PrivacyModel] = {
    "level alpha": LevelAlphaK(k=4),
    "level alpha, narrow": LevelAlphaK(k=5, alpha=("0.4", "0.4", "0.4", "0.2", "0.2")),
    "frequency": FrequencyLDiversity(l=2),
    "frequency, each value once": FrequencyLDiversity(l=4),
    "values near each other": DeltaLDiversity(delta=2, l=2),
    "each kind once": LEDiversity(l=3, e=1),
}


class GrownClass:
    """A class of the engine that records join in turn, and the same class for the twin."""

    def __init__(self, built: Collection, model: PrivacyModel, size: int) -> None:
        self.alignment = Alignment(built.forest, built.bind(model), size, "optimal")
        self.built = built
        self.roots = built.forest.roots
        self.vertices = built.vertices()
        self.representative = np.empty_like(self.alignment.representative)
        self.members = np.empty_like(self.alignment.members)
        self.queue = np.empty((self.alignment.representative.shape[0], 2), np.int64)

    def found(self, record: int) -> None:
        a = self.alignment
        start, end = self.roots[record], self.roots[record + 1]
        plant(start, end - start, a.settings.first_slot, a.rows, a.representative, a.members)
        self.size = 1

    def join(self, record: int) -> None:
        a = self.alignment
        count = merge(
            self.roots[record], self.size, a.settings, a.scratch, self.queue, a.representative, a.members,
            self.representative, self.members, a.rows, a.rules,
        )  # fmt: skip
        a.representative[:count] = self.representative[:count]
        a.members[:, :count] = self.members[:, :count]
        self.size += 1

    def twin(self, at: int = 0) -> naive.Representative:
        """What the engine's representative stands for, from its members alone."""
        a = self.alignment
        members = [self.vertices[v] for v in a.members[: self.size, at]]
        schema = self.built.naive_schema
        labels = members[0].qi
        for member in members[1:]:
            labels = schema.join(member.type, labels, member.qi)
        values = [
            [value for member in members for value in member.values[i]] for i in range(len(members[0].values))
        ]
        first, count = a.representative[at, [FIRST_CHILD, CHILD_COUNT]]
        children = [self.twin(child) for child in range(first, first + count)]
        found = naive.Representative(members[0].type, labels, values, members, children)
        assert found.quasi_count == a.representative[at, WEIGHT]
        assert found.quasi_count - len(labels) == a.representative[at, BELOW]
        return found


def best(
    a: Sequence[naive.Vertex], b: Sequence[naive.Tree], rules: naive.Rules
) -> tuple[Number, int, list[tuple[int, int]]]:
    """Of all assignments the least loss, the most pairs with it (negative), and such pairs."""
    if not a:
        return sum(naive.suppression(y, rules) for y in b), 0, []
    choices = []
    loss, pairs, made = best(a[1:], b, rules)
    choices.append((naive.suppression(a[0], rules) + loss, pairs, made))
    for at, y in enumerate(b):
        if naive.check_cons(a[0], y, rules):
            own = naive.pair_loss(a[0], y, rules)
            loss, pairs, made = best(a[1:], [*b[:at], *b[at + 1 :]], rules)
            choices.append((own + loss, pairs - 1, made))
    return min(choices, key=lambda choice: choice[:2])


def check_class(built: Collection, model: PrivacyModel, size: int) -> None:
    """Grow a class over the first records that fit, and compare every alignment on the way."""
    grown = GrownClass(built, model, size)
    rules = naive.Rules(built.naive_schema, size, built.caps(model), "optimal")
    everybody = range(len(built.trees))
    scale = built.forest.scale
    for seed in everybody[:2]:
        losses = grown.alignment.pair_losses(seed, np.arange(len(built.trees)))
        assert [Fraction(int(loss), scale) for loss in losses] == [
            naive.pair_loss(built.trees[seed], tree, rules) for tree in built.trees
        ]
        grown.found(seed)
        for record in everybody:
            tree = built.trees[record]
            twin: naive.Vertex = grown.twin() if grown.size > 1 else built.trees[seed]
            if grown.size == size or record == seed or not naive.check_cons(twin, tree, rules):
                continue
            expected = naive.pair_loss(twin, tree, rules)
            _, pairs, _ = best(twin.children, tree.children, rules)
            assert aligned(grown, record) == expected
            grown.join(record)
            merged = grown.twin()
            assert len(merged.children) == -pairs, "of equal losses one with the most pairs"
            assert made_equal(merged, rules) + lost(twin, tree, merged, rules) == expected


def aligned(grown: GrownClass, record: int) -> Fraction:
    """The engine's loss of aligning the class with a record."""
    a = grown.alignment
    loss = align(
        0, 1, grown.roots[record], 1, grown.size, True, a.settings, a.scratch, a.representative, a.rows,
        a.rules,
    )  # fmt: skip
    return Fraction(int(loss), grown.built.forest.scale)


def made_equal(merged: naive.Vertex, rules: naive.Rules) -> Number:
    """What both trees publish of the vertices that were paired."""
    return sum(2 * rules.schema.lm(vertex.type, vertex.qi) for vertex in naive.pre_order(merged))


def lost(twin: naive.Vertex, tree: naive.Tree, merged: naive.Vertex, rules: naive.Rules) -> Number:
    """What was not paired on either side."""
    return sum(naive.suppression(x, rules) - naive.suppression(merged, rules) for x in (twin, tree))


@pytest.mark.parametrize("name", MODELS)
@settings(max_examples=12, deadline=None, derandomize=True)
@given(seed=st.integers(0, 10**6), depth=st.integers(2, 3), most=st.integers(1, 4), size=st.integers(2, 4))
def test_losses_and_pairs_are_those_of_the_best_assignment(
    name: str, seed: int, depth: int, most: int, size: int
) -> None:
    built = collection(seed, records=6, depth=depth, most=most if depth == 2 else min(most, 2))
    check_class(built, MODELS[name], size)

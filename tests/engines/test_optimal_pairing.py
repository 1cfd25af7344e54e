"""Optimal pairing against its twin, which tries every assignment: losses, and the pairs that are made."""

from __future__ import annotations

import itertools
import random
from collections import Counter
from collections.abc import Sequence
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import linear_sum_assignment

from hierdata.engines.alignment import alignment as aligning
from hierdata.engines.alignment.alignment import Alignment
from hierdata.engines.alignment.kernels.arrays import (
    CHILD_COUNT,
    COLUMN_OF,
    DEGREE,
    DESK,
    FIRST_CHILD,
    OWN,
    WEIGHT,
    Sides,
)
from hierdata.engines.alignment.kernels.assignment import match
from hierdata.engines.alignment.kernels.representative import merge, plant
from hierdata.engines.alignment.kernels.vertices import FEW_GROUPS
from hierdata.privacy import DeltaLDiversity, FrequencyLDiversity, LEDiversity, LevelAlphaK
from hierdata.privacy.base import PrivacyModel
from hierdata.records.record import Vertex
from tests import naive, random_collections
from tests.aligned import align
from tests.cases import examples, with_worlds
from tests.naive_trees import Number
from tests.random_collections import (
    LEVELS,
    MISSING,
    VALUES,
    Collection,
    Shape,
    collected,
    collection,
    taxonomy,
)

MODELS: dict[str, PrivacyModel] = {
    "level alpha": LevelAlphaK(k=4),
    "level alpha, narrow": LevelAlphaK(k=5, alpha=("0.4", "0.4", "0.4", "0.2", "0.2")),
    "frequency": FrequencyLDiversity(l=2),
    "frequency, each value once": FrequencyLDiversity(l=4),
    "values near each other": DeltaLDiversity(delta=2, l=2),
    "each kind once": LEDiversity(l=3, e=1),
}


@pytest.fixture(autouse=True)
def all_lists_are_matched_in_full(monkeypatch: pytest.MonkeyPatch) -> None:
    """Lists that are matched by candidates have tests of their own (``test_long_lists``)."""
    monkeypatch.setattr(aligning, "LONG", 2**40)


class GrownClass:
    """A class of the engine that records join in turn, and the same class for the twin."""

    def __init__(self, built: Collection, model: PrivacyModel, size: int) -> None:
        self.alignment = Alignment(built.forest, built.bind(model), size, "optimal")
        self.built = built
        self.roots = built.forest.roots
        self.vertices = built.vertices()

    def found(self, record: int) -> None:
        a = self.alignment
        plant(record, a.buffers, a.arrays)
        self.size = 1

    def join(self, record: int) -> None:
        a = self.alignment
        count = merge(record, self.size, a.buffers, a.arrays)
        a.representative[:count] = a.buffers.new[:count]
        a.members[:, :count] = a.buffers.new_members[:, :count]
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
        assert schema.cost(found) == a.representative[at, WEIGHT]
        assert schema.own_cost(found.type) == a.representative[at, OWN]
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
    sides = Sides(grown.size, a.settings, a.scratch, a.representative, a.rows, a.rules)
    loss = align(0, 1, grown.roots[record], 1, True, sides)
    return Fraction(int(loss), grown.built.forest.scale)


def made_equal(merged: naive.Vertex, rules: naive.Rules) -> Number:
    """What both trees publish of the vertices that were paired."""
    return sum(2 * rules.schema.lm(vertex.type, vertex.qi) for vertex in naive.pre_order(merged))


def lost(twin: naive.Vertex, tree: naive.Tree, merged: naive.Vertex, rules: naive.Rules) -> Number:
    """What was not paired on either side."""
    return sum(naive.suppression(x, rules) - naive.suppression(merged, rules) for x in (twin, tree))


@pytest.mark.parametrize("name", MODELS)
@examples(12)
@given(seed=st.integers(0, 10**6), depth=st.integers(2, 3), most=st.integers(1, 4), size=st.integers(2, 4))
def test_losses_and_pairs_are_those_of_the_best_assignment(
    name: str, seed: int, depth: int, most: int, size: int
) -> None:
    built = collection(seed, records=6, depth=depth, most=most if depth == 2 else min(most, 2))
    check_class(built, MODELS[name], size)


def balanced(rng: random.Random) -> naive.Taxonomy:
    """Eight leaves under four nodes under two."""
    parent: dict[str, str | None] = {"*": None}
    for top in "ab":
        parent[top] = "*"
        for middle in "ab":
            parent[top + middle] = top
            for leaf in "ab":
                parent[top + middle + leaf] = top + middle
    return naive.Taxonomy(parent, missing=MISSING)


CONFLICTS: dict[str, PrivacyModel] = {
    "each level once": LevelAlphaK(k=4, alpha=("0.25", "0.25", "0.25", "0.25", "0.25")),
    "the lowest twice": LevelAlphaK(k=4, alpha=("0.5", "0.25", "0.25", "0.25", "0.1")),
    "each value once": FrequencyLDiversity(l=4),
}


@pytest.mark.parametrize("name", CONFLICTS)
def test_leaves_that_caps_keep_apart(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Caps forbid most pairs, so that going by level alone would not be optimal."""
    monkeypatch.setattr(random_collections, "taxonomy", balanced)
    for seed in range(30):
        built = random_collections.collection(seed, records=5, depth=2, most=5)
        if max(int(built.forest.child_count[root]) for root in built.forest.roots[:-1]) <= 6:
            check_class(built, CONFLICTS[name], 4)


@with_worlds(20, 200)
def test_an_exchange_of_partners_further_up(monkeypatch: pytest.MonkeyPatch, worlds: int) -> None:
    """One pair of equals, or two pairs one node higher: caps decide what there is, and two gain more."""
    monkeypatch.setattr(random_collections, "taxonomy", balanced)
    found = 0
    for seed in range(worlds):
        built = random_collections.collection(seed, records=4, depth=2, most=2)
        free = Alignment(built.forest, built.bind(FrequencyLDiversity(l=1)), 4, "optimal")
        bound = Alignment(built.forest, built.bind(CONFLICTS["each level once"]), 4, "optimal")
        rules = naive.Rules(built.naive_schema, 4, built.caps(CONFLICTS["each level once"]), "optimal")
        for a, tree in enumerate(built.trees):
            losses = bound.pair_losses(a, np.arange(4))
            found += int(np.count_nonzero(losses > free.pair_losses(a, np.arange(4))))
            assert [Fraction(int(loss), built.forest.scale) for loss in losses] == [
                naive.pair_loss(tree, other, rules) for other in built.trees
            ]
    assert found > 100 * worlds // 200, "the caps hardly matter: the collections are too easy"


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("most", [5, 40, 70])
def test_by_level_and_by_assignment_alone_are_the_same(
    seed: int, most: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also on lists too long for the twin, 64 partners to a word."""
    model = LevelAlphaK(k=4)
    built = random_collections.collection(seed, records=8, depth=2, most=most)
    everybody = np.arange(8)
    by_level = Alignment(built.forest, built.bind(model), 4, "optimal")
    assert by_level.rules.nests.all()
    monkeypatch.setattr(aligning, "_nests", lambda ancestors, losses: False)
    by_assignment = Alignment(built.forest, built.bind(model), 4, "optimal")
    assert not by_assignment.rules.nests.any()
    for record in range(8):
        expected = by_assignment.pair_losses(record, everybody).tolist()
        assert by_level.pair_losses(record, everybody).tolist() == expected


@pytest.mark.parametrize("most", [5, 40, pytest.param(80, marks=pytest.mark.full)])
@pytest.mark.parametrize("children", [1, 2, 3])
@pytest.mark.parametrize("name", ["level alpha", "values near each other"])
def test_long_lists_of_families(name: str, children: int, most: int) -> None:
    """Lists too long for the twin: it says what each pair gains, and a library which pairs are best."""
    rng = random.Random(children * most)
    types = tuple(
        Shape(parent, tuple(taxonomy(rng) for _ in range(quasi)), sensitive, length)
        for parent, quasi, sensitive, length in ((None, 1, 0, 1), (0, 2, 1, most), (1, 1, 1, children))
    )
    built = collected(types, [random_collections.record(rng, types, 0) for _ in range(6)])
    grown = GrownClass(built, MODELS[name], 4)
    rules = naive.Rules(built.naive_schema, 4, built.caps(MODELS[name]), "optimal")
    joined = 0
    grown.found(0)
    for record in range(1, 6):
        tree = built.trees[record]
        twin = grown.twin() if grown.size > 1 else built.trees[0]
        if grown.size < 4 and naive.check_cons(twin, tree, rules):
            gains = [
                [int(built.forest.scale * gain(x, y, rules)) for y in tree.children] for x in twin.children
            ]
            table = np.array(gains, np.int64).reshape(len(gains), len(tree.children))
            kept = int(table[linear_sum_assignment(table, maximize=True)].sum())
            loss = 2 * rules.schema.lm("0", rules.schema.join("0", twin.qi, tree.qi))
            loss += sum(naive.suppression(child, rules) for child in [*twin.children, *tree.children])
            assert aligned(grown, record) == loss - Fraction(kept, built.forest.scale)
            grown.join(record)
            joined += 1
    assert joined > 0


def gain(x: naive.Vertex, y: naive.Tree, rules: naive.Rules) -> Number:
    """What two trees save if they are aligned, 0 if they must not be."""
    return naive.suppression(x, rules) + naive.suppression(y, rules) - naive.pair_loss(x, y, rules)


@pytest.mark.parametrize("name", ["level alpha", "level alpha, narrow", "frequency"])
@pytest.mark.parametrize(("depth", "most"), [(2, 5), (2, 70), (3, 4)])
def test_many_groups_and_few_are_the_same(name: str, depth: int, most: int) -> None:
    """Where groups are too many to be bits of a word, caps are counted for each pair of vertices."""
    joined = 0
    for seed in range(6):
        built = random_collections.collection(seed, records=10, depth=depth, most=most)
        few, many = (GrownClass(built, MODELS[name], 4) for _ in range(2))
        caps = few.alignment.rules.caps
        nobodys = np.repeat([[9, len(caps), len(caps), 0, 0]], FEW_GROUPS, axis=0)
        many.alignment.rules = many.alignment.rules._replace(caps=np.vstack([caps, nobodys]))
        for grown in (few, many):
            grown.found(0)
        for record in range(1, 10):
            for other in range(10):
                assert aligned(few, other) == aligned(many, other)
            aligned(few, record)
            if few.size < 4 and few.alignment.scratch.mates[0, 0] == 0:
                joined += 1
                for grown in (few, many):
                    grown.join(record)
                assert (few.twin().members, few.size) == (many.twin().members, many.size)
    assert joined > 0


@pytest.mark.parametrize("values", [("20", "1", "2"), ("1", "2", "20"), ("9", "20", "4", "21")])
def test_of_equal_leaves_the_one_stays_over_whose_level_has_least_room(values: tuple[str, ...]) -> None:
    source = naive.Taxonomy({"*": None, "a": "*", "b": "a", "c": "a"}, missing=MISSING)
    types = (Shape(None, (), 0, 1), Shape(0, (source,), 1, 4))

    def one(*own: tuple[str, str]) -> tuple[naive.Tree, Vertex]:
        trees = [naive.Tree("1", [node], [value], []) for node, value in own]
        vertices = [Vertex(1, [node], [value], [], []) for node, value in own]
        return naive.Tree("0", [], [], trees), Vertex(0, [], [], [], vertices)

    level = dict(zip(VALUES, LEVELS, strict=True))
    first = [("b", "1")] * (len(values) - 1)
    built = collected(types, [one(*first), one(*(("c", value) for value in values))])
    grown = GrownClass(built, LevelAlphaK(k=10), 10)
    grown.found(0)
    grown.join(1)
    behind = [grown.vertices[v] for v in grown.alignment.members[1, 1 : len(values)]]
    shown = Counter(vertex.values[0][0] for vertex in behind)
    assert shown == Counter(values) - Counter([max(values, key=level.__getitem__)])


def test_steps_that_do_not_nest_are_no_tree() -> None:
    nested = np.array([[0, -1, -1], [0, 1, -1], [0, 1, 2], [0, 1, 3], [0, -1, 4]], np.int32)
    assert aligning._nests(nested, np.array([9, 4, 0, 0, 0]))
    assert not aligning._nests(nested, np.array([9, 4, 0, 5, 0])), "a node costs more than the one above it"
    crossing = [[0, -1, -1, -1], [0, 1, -1, -1], [0, 2, -1, -1], [0, -1, 3, -1], [0, 1, 3, 4], [0, 2, 3, 5]]
    assert not aligning._nests(np.array(crossing, np.int32), np.array([9, 4, 4, 2, 0, 0]))


@with_worlds(12, 300)
def test_the_matching_gains_as_much_as_any(worlds: int) -> None:
    rng = np.random.default_rng(11)
    for _ in range(worlds):
        rows, columns = rng.integers(1, 6, 2).tolist()
        most = int(rng.choice([2, 3, 10, 1000]))
        gains = rng.integers(0, most, (rows, columns)) * (rng.random((rows, columns)) < rng.random())
        edges = np.zeros((2, rows, columns), np.int64)
        desk = np.full((DESK, 6), 77, np.int64)  # what is left from other calls
        for i in range(rows):
            own = rng.permutation(np.flatnonzero(gains[i]))
            desk[DEGREE, i] = len(own)
            edges[0, i, : len(own)] = own
            edges[1, i, : len(own)] = gains[i, own]
        total = match(edges[0], edges[1], rows, columns, desk)
        chosen = [(i, int(j)) for i, j in enumerate(desk[COLUMN_OF, :rows]) if j >= 0]
        assert len({j for _, j in chosen}) == len(chosen)
        assert total == sum(int(gains[pair]) for pair in chosen)
        wider = np.hstack([gains, np.zeros((rows, rows), np.int64)])  # nobody needs a partner
        everyone = itertools.permutations(range(columns + rows), rows)
        assert total == max(sum(int(wider[i, j]) for i, j in enumerate(order)) for order in everyone)

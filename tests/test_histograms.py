"""The bound of an alignment: equal to its definition on trees, and never above a loss."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from hierdata.domains.interval import Interval
from hierdata.engines.alignment import lower_bounds as made
from hierdata.engines.alignment.kernels.arrays import FIRST_NODE, QUASI_COUNT
from hierdata.engines.alignment.kernels.lower_bounds import HIGHEST, bounds_to, histogram_of
from hierdata.engines.alignment.lower_bounds import histograms
from hierdata.forest.encoding import encode
from hierdata.forest.forest import Forest
from hierdata.privacy import FrequencyLDiversity, LevelAlphaK
from hierdata.privacy.base import PrivacyModel
from hierdata.records.record import Vertex
from hierdata.records.schema import Attribute, Role, Schema, VertexType
from tests import naive
from tests.cases import examples
from tests.random_collections import Collection, collection

MODELS = {"levels": LevelAlphaK(k=3), "frequency": FrequencyLDiversity(l=2)}


def from_definition(built: Collection, a: int, b: int) -> Fraction:
    """The weighted L1 distance of the two trees' histograms, and what their values have lost.

    Vertices of a type count once more by what they are worth beside their quasi-identifiers.
    """
    counted = [Counter[tuple[str, int, object]]() for _ in range(2)]
    bound = Fraction(0)
    schema = built.naive_schema
    for kind, constant in schema.constants.items():
        one, other = (
            sum(vertex.type == kind for vertex in naive.pre_order(built.trees[at])) for at in (a, b)
        )
        bound += constant * abs(one - other)

    def weight(kind: str, position: int) -> int:
        return schema.weights[kind][position] if schema.weights else 1

    for counts, tree in zip(counted, (built.trees[a], built.trees[b]), strict=True):
        for vertex in naive.pre_order(tree):
            for position, (taxonomy, label) in enumerate(
                zip(built.naive_schema.taxonomies[vertex.type], vertex.qi, strict=True)
            ):
                if label != taxonomy.missing:
                    bound += weight(vertex.type, position) * taxonomy.lm(label)
                for node in taxonomy.ancestors(label):
                    counts[vertex.type, position, node] += 1
    for kind, position, node in counted[0] | counted[1]:
        taxonomy = built.naive_schema.taxonomies[kind][position]
        above = taxonomy.parent[node]
        over = Fraction(1) if above is None else Fraction(taxonomy.lm(above))
        own = Fraction(0) if node == taxonomy.missing else Fraction(taxonomy.lm(node))
        counts = [clipped[kind, position, node] for clipped in counted]
        bound += weight(kind, position) * (over - own) * abs(counts[0] - counts[1])
    return bound


def twin_losses(
    built: Collection, record: int, model: PrivacyModel, pairing: str, size: int
) -> list[Fraction]:
    rules = naive.Rules(built.naive_schema, size, built.caps(model), pairing)
    return [Fraction(naive.pair_loss(built.trees[record], other, rules)) for other in built.trees]


@examples(60)
@given(st.integers(0, 2**20), st.integers(1, 4), st.booleans())
def test_on_trees_it_is_its_definition(seed: int, depth: int, weighted: bool) -> None:
    built = collection(seed, records=5, depth=depth)
    built = built.weighted(seed) if weighted else built
    found = histograms(built.forest)
    for a in range(5):
        assert [Fraction(int(bound), built.forest.scale) for bound in found.bounds(a)] == [
            from_definition(built, a, b) for b in range(5)
        ]


@examples(80)
@given(
    st.integers(0, 2**20),
    st.integers(1, 4),
    st.sampled_from(sorted(naive.PAIRINGS)),
    st.sampled_from(sorted(MODELS)),
    st.sampled_from([1, 4, 1024]),
    st.booleans(),
)
def test_no_alignment_loses_less(
    seed: int, depth: int, pairing: str, model: str, most: int, weighted: bool
) -> None:
    """Whatever the pairing, the model and the weights, and where nodes have to share columns."""
    built = collection(seed, records=6, depth=depth, most=2 if pairing == "optimal" else None)
    built = built.weighted(seed) if weighted else built
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(made, "_MOST_COLUMNS", most)
        found = histograms(built.forest)
    assert found.counts.shape[1] <= most
    for record in range(6):
        losses = twin_losses(built, record, MODELS[model], pairing, 3)
        bounds = [Fraction(int(bound), built.forest.scale) for bound in found.bounds(record)]
        assert all(bound <= loss for bound, loss in zip(bounds, losses, strict=True))


def numbers(steps: tuple[int, ...], values: list[int | None], domain: tuple[int, int] | None) -> Forest:
    """Records of one number each."""
    hierarchy = Interval(steps=steps, domain=domain).compile(Counter(values), Path())
    attribute = Attribute("$.a", ("a",), Role.QUASI)
    schema = Schema((VertexType(0, "$", (), True, None, (), (attribute,)),))
    return encode((Vertex(0, [value], [], [], []) for value in values), schema, [[hierarchy]], [[]])


def assert_bounds_all_joins(forest: Forest) -> None:
    """Of every record with every node: a class may already be published as a node above the values."""
    found = histograms(forest)
    (tree,), (losses,) = forest.hierarchies[0], forest.losses[0]
    everybody = np.arange(forest.record_count)
    row = np.zeros((1, FIRST_NODE + 1), np.int32)
    row[0, QUASI_COUNT] = 1
    vector = np.empty(found.counts.shape[1], np.uint8)
    out = np.empty(forest.record_count, np.int64)
    for node in range(len(tree.labels)):
        row[0, FIRST_NODE] = node
        total = histogram_of(row, 1, found, vector)
        bounds_to(vector, total, everybody, found, out)
        for bound, value in zip(out.tolist(), forest.nodes.tolist(), strict=True):
            assert 0 <= bound <= 2 * losses[tree.join(node, value)]


@given(
    st.lists(st.integers(1, 12), min_size=1, max_size=4, unique=True),
    st.lists(st.one_of(st.integers(0, 40), st.none()), min_size=1, max_size=12),
    st.booleans(),
)
def test_steps_that_do_not_nest(steps: list[int], values: list[int | None], wide: bool) -> None:
    assert_bounds_all_joins(numbers(tuple(sorted(steps)), values, (0, 10**15) if wide else None))


def test_losses_that_are_rounded() -> None:
    forest = numbers((2, 5, 10), [*range(30), None], (0, 2**61 - 1))
    assert not forest.exact
    assert_bounds_all_joins(forest)


def test_one_value_only() -> None:
    """A domain of one leaf loses nothing but by suppression."""
    assert_bounds_all_joins(numbers((1,), [7, 7], None))
    assert_bounds_all_joins(numbers((1,), [None, None], None))


def family(children: list[int]) -> Forest:
    """Records with so many equal children; the root has no quasi-identifier."""
    hierarchy = Interval(steps=(1,)).compile(Counter([1, 2]), Path())
    attribute = Attribute("$.c.a", ("a",), Role.QUASI)
    types = (
        VertexType(0, "$", (), True, None, (1,), ()),
        VertexType(1, "$.c", ("c",), True, 0, (), (attribute,)),
    )
    records = [
        Vertex(0, [], [], [], [Vertex(1, [1], [], [], []) for _ in range(count)]) for count in children
    ]
    return encode(records, Schema(types), [[], [hierarchy]], [[], []])


def test_counts_are_clipped_on_both_sides() -> None:
    found = histograms(family([10, 250, 255, 256, 300, 1000]))
    assert int(found.counts.max()) == HIGHEST
    scale = family([1]).scale
    assert (found.bounds(0) / scale).tolist() == [0, 240, 245, 245, 245, 245]
    assert (found.bounds(5) / scale).tolist() == [245, 5, 0, 0, 0, 0]


def test_records_without_any_quasi_identifier() -> None:
    forest = family([0, 0, 3])
    found = histograms(forest)
    assert (found.bounds(0) / forest.scale).tolist() == [0, 0, 3]


@examples(60)
@given(st.integers(0, 2**20), st.integers(2, 4), st.data())
def test_who_stays_alone_costs_all_it_has(seed: int, depth: int, data: st.DataObject) -> None:
    """The distance to a record without those subtrees, and what they cost."""
    built = collection(seed, records=4, depth=depth)
    built = built.weighted(seed) if seed % 2 else built
    forest = built.forest
    below = np.flatnonzero(forest.parent >= 0)
    assume(len(below))
    alone = np.zeros(forest.vertex_count, np.bool_)
    alone[data.draw(st.lists(st.sampled_from(below.tolist())))] = True
    for v in below:  # breadth first
        alone[v] |= alone[forest.parent[v]]
    found, plain = histograms(forest, alone), histograms(forest)
    cost = np.zeros(4, np.int64)
    np.add.at(cost, forest.record_of[alone], forest.scale * forest.own_weight[alone])
    nothing = np.zeros(found.counts.shape[1], np.uint8)
    out = np.empty(4, np.int64)
    bounds_to(nothing, np.int64(0), np.arange(4), found, out)
    assert (out == found.totals).all()
    assert (out == forest.scale * forest.weight[forest.roots[:-1]]).all()
    for record in range(4):
        assert (found.bounds(record) >= plain.bounds(record)).all()
        assert (found.bounds(record) >= cost + cost[record]).all()

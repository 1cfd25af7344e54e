"""Encoding records as arrays."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest

from hierdata.domains.base import Hierarchy, QuasiDomain, Uncovered
from hierdata.domains.date import Date
from hierdata.domains.interval import Interval
from hierdata.forest.encoding import encode
from hierdata.forest.forest import Forest
from hierdata.forest.isomorphism import ranks
from hierdata.forest.nesting import nest_nodes
from hierdata.ground.errors import InputError
from hierdata.records.record import Vertex
from hierdata.records.schema import Attribute, Role, Schema, VertexType
from tests.random_collections import collection


def one_attribute(losses: tuple[Fraction, ...], values: list[int], copies: int = 1) -> Forest:
    """Records of one quasi-identifier: a root over leaves with these losses."""

    def node_of(value: object) -> int:
        if value not in range(1, len(losses)):
            raise Uncovered
        return int(str(value))

    ancestors = ((0, -1), *((0, node) for node in range(1, len(losses))))
    hierarchy = Hierarchy(tuple(map(str, range(len(losses)))), ancestors, losses, node_of)
    attribute = Attribute("$.a", ("a",), Role.QUASI)
    schema = Schema((VertexType(0, "$", (), True, None, (), (attribute,)),))
    records = [Vertex(0, [value], [], [], []) for value in values for _ in range(copies)]
    return encode(records, schema, [[hierarchy]], [[]])


def test_losses_are_exact_integers_while_sums_fit() -> None:
    forest = one_attribute((Fraction(1), Fraction(1, 3), Fraction(2, 7)), [1, 2])
    assert (forest.scale, forest.exact) == (21, True)
    assert forest.losses[0][0].tolist() == [21, 7, 6]


def test_a_denominator_that_is_too_large_is_rounded_once() -> None:
    fine = Fraction(1, 2**61 - 1)
    forest = one_attribute((Fraction(1), fine, Fraction(1, 3)), [1, 2])
    assert (forest.scale, forest.exact) == (2**40, False)
    for loss, exact in zip(forest.losses[0][0].tolist(), (1, fine, Fraction(1, 3)), strict=True):
        assert abs(Fraction(loss, forest.scale) - exact) <= Fraction(1, 2**41)


def test_a_value_outside_its_domain_is_told_by_record_and_path_alone() -> None:
    with pytest.raises(InputError, match=r"^record 2, \$\.a: ") as caught:
        one_attribute((Fraction(1), Fraction(0)), [1, 987654])
    assert "987654" not in str(caught.value)
    assert caught.value.revealed == ("987654",)
    assert caught.value.__cause__ is None


def test_children_are_contiguous_and_weights_add_up() -> None:
    forest = collection(3, records=20, depth=4).forest
    for v in range(forest.vertex_count):
        children = np.arange(forest.first_child[v], forest.first_child[v] + forest.child_count[v])
        assert (forest.parent[children] == v).all()
        assert forest.weight[v] == forest.quasi_count[v] + forest.weight[children].sum()
        assert (forest.record_of[children] == forest.record_of[v]).all()
    assert int(forest.child_count.sum()) == forest.vertex_count - forest.record_count


@pytest.mark.parametrize("size", [1, 7])
def test_records_are_encoded_alike_however_many_at_once(size: int, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = collection(3, records=20, depth=4).forest
    monkeypatch.setattr("hierdata.records.record._BATCH", size)
    monkeypatch.setattr("hierdata.forest.encoding._WAITING", 3 * size)
    parts = collection(3, records=20, depth=4).forest
    for name in ("roots", "type", "parent", "first_child", "child_count", "first_node", "nodes"):
        assert (getattr(parts, name) == getattr(whole, name)).all(), name
    assert (parts.sensitive == whole.sensitive).all()
    spelled = [parts.spellings[at] for at in parts.spelling.tolist() if at >= 0]
    assert spelled == [whole.spellings[at] for at in whole.spelling.tolist() if at >= 0]
    assert parts.carried == whole.carried


def test_ranks_follow_labels_then_the_ranks_of_children() -> None:
    """By the definition: forms as nested tuples, in their order."""
    rng = np.random.default_rng(3)
    for seed in range(40):
        forest = collection(seed, int(rng.integers(1, 25)), int(rng.integers(1, 4))).forest
        shown = np.arange(forest.vertex_count)
        shown[rng.random(len(shown)) < 0.2 * (seed % 2)] = -1
        nodes = np.where(rng.random(len(forest.nodes)) < 0.6, 0, forest.nodes).astype(np.int32)
        beside = (len(forest.schema.types) - 1,) if seed % 3 == 0 else ()
        found = ranks(forest, shown, nodes, beside)
        own = [v for v in range(forest.vertex_count) if shown[v] == v]
        below: dict[int, list[tuple[object, ...]]] = {v: [] for v in own}
        forms: dict[int, tuple[object, ...]] = {}
        for v in reversed(own):
            first, width = forest.first_node[v], len(forest.hierarchies[forest.type[v]])
            labels = tuple(nodes[first : first + width].tolist())
            forms[v] = (int(forest.type[v]), labels, tuple(sorted(below[v])))
            if forest.parent[v] in below and forest.type[v] not in beside:
                below[int(forest.parent[v])].append(forms[v])
        assert (found[shown < 0] == -1).all()
        assert sorted(own, key=lambda v: (forms[v], v)) == sorted(own, key=lambda v: (found[v], v))
        assert len({*forms.values()}) == len({*found[own].tolist()})


def test_published_nodes_are_nested_or_disjoint_as_their_labels_say() -> None:
    """By the values that each label may stand for: of steps that do not nest, and of weeks over months."""
    draw = Random(2)
    days = {f"2001-{month:02}-{day:02}": 1 for month in (1, 2, 3) for day in (1, 14, 29)}
    numbers = dict.fromkeys(range(24), 1)
    domains: list[tuple[QuasiDomain, dict[Any, int]]] = [
        (Date(steps=["day", "week", "month", "year"]), days),
        *((Interval(steps=sorted(draw.sample(range(1, 13), 3))), numbers) for _ in range(20)),
    ]
    left_out = 0
    for domain, values in domains:
        tree, labels = domain.compile(values, Path()), domain.labels(Path())
        nest = nest_nodes(tree)
        nodes = [own for own in np.flatnonzero(nest.published).tolist() if own not in (0, nest.missing)]
        extents = {own: labels.extent(tree.labels[own]) for own in nodes}
        for one, other in combinations(nodes, 2):
            (low, high), (begin, end) = sorted((extents[one], extents[other]))
            assert high < begin or end <= high or low == begin, (domain, tree.labels[one], tree.labels[other])
        depths = {max(depth for depth, own in enumerate(tree.ancestors[node]) if own >= 0) for node in nodes}
        left_out += len(depths) < tree.depths - 1
    assert left_out > 5
    weeks = nest_nodes(domains[0][0].compile(days, Path()))
    assert weeks.depths.max() == 3, "of day, week, month and year the week is left out"

"""Records as arrays: the parts of a forest, put together in any way, are the forest that they came from."""

from __future__ import annotations

import pickle
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hierdata.document import Scalar
from hierdata.encoding import encoded
from hierdata.forest import Forest
from hierdata.pieces import Frame, joined, part
from hierdata.records.record import Vertex
from hierdata.records.schema import Attribute, Role, Schema, VertexType
from tests.random_collections import collection

ARRAYS = (
    *("roots", "type", "parent", "first_child", "child_count", "first_node", "nodes"),
    *("first_sensitive", "sensitive"),
)


def spelled(forest: Forest) -> list[tuple[type, Scalar]]:
    """How each sensitive value of a forest is spelled."""
    return [
        (type(value), str(value))
        for value in (forest.spellings[at] if at >= 0 else None for at in forest.spelling.tolist())
    ]


def assert_same(left: Forest, right: Forest) -> None:
    for name in ARRAYS:
        assert np.array_equal(getattr(left, name), getattr(right, name)), name
    assert spelled(left) == spelled(right)
    assert left.carried == right.carried


@given(seed=st.integers(0, 10_000), depth=st.integers(1, 3), cuts=st.lists(st.integers(0, 12), max_size=3))
def test_parts_of_a_forest_make_it_again(seed: int, depth: int, cuts: list[int]) -> None:
    forest = collection(seed, 12, depth).forest
    frame = Frame(forest.schema, forest.hierarchies, forest.domains)
    ordinals = np.arange(100, 112)
    borders = [0, *sorted(cuts), 12]
    parts = [
        pickle.loads(pickle.dumps(part(forest, ordinals, np.arange(low, high))))
        for low, high in pairwise(borders)
    ]
    together = joined(parts)
    assert together.ordinals.tolist() == ordinals.tolist()
    assert_same(frame.forest(together), forest)


@given(seed=st.integers(0, 10_000), order=st.permutations(range(9)))
def test_records_are_taken_in_any_order(seed: int, order: list[int]) -> None:
    forest = collection(seed, 9, 3).forest
    frame = Frame(forest.schema, forest.hierarchies, forest.domains)
    taken = frame.forest(part(forest, np.arange(9), np.array(order)))
    back = np.argsort(order)
    assert_same(frame.forest(part(taken, np.arange(9), back)), forest)


def _records(count: int) -> list[Vertex]:
    return [Vertex(0, [], [], [at % 3], []) for at in range(count)]


def _frame() -> Frame:
    carried = Attribute("$.note", ("note",), Role.CARRIED)
    return Frame(Schema((VertexType(0, "$", (), True, None, (), (carried,)),)), ((),), ((),))


@pytest.mark.parametrize("batch", [1, 1024, 1500, None])
def test_batches_are_the_same_records(batch: int | None) -> None:
    pieces = list(encoded(iter(_records(2500)), _frame(), before=7, batch=batch))
    assert (len(pieces) > 1) == (batch is not None)
    together = joined(pieces)
    assert together.ordinals.tolist() == list(range(7, 2507))
    assert together.carried == {at: (at % 3,) for at in range(2500)}


def test_the_heaviest_record_of_the_collection_decides_the_scale() -> None:
    forest = collection(3, 8, 3).forest
    frame = Frame(forest.schema, forest.hierarchies, forest.domains)
    some = part(forest, np.arange(8), np.arange(2))
    assert frame.forest(some, heaviest=2**61).exact is False
    assert frame.forest(some).scale == forest.scale

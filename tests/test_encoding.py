"""Records as arrays: the parts of a forest, put together in any way, are the forest that they came from."""

from __future__ import annotations

import gc
import pickle
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hierdata.documents.document import Scalar
from hierdata.documents.scalars import Double
from hierdata.domains.codes import Flat
from hierdata.domains.sensitive import SensitiveDomain
from hierdata.forest.encoded import Frame, join_encoded, part
from hierdata.forest.encoding import encode_records
from hierdata.forest.forest import Forest
from hierdata.forest.worth import Heaviest
from hierdata.ground.errors import InputError
from hierdata.records.record import BoundRecords, Vertex, bind_by_column
from hierdata.records.schema import Attribute, Role, Schema, VertexType
from hierdata.records.values import Values
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
    together = join_encoded(parts)
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
def test_batches_are_the_same_records(batch: int | None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("hierdata.records.record._BATCH", 100)
    batches = bind_by_column(iter(_records(2500)), _frame().schema)
    pieces = list(encode_records(batches, _frame(), before=7, batch=batch))
    assert (len(pieces) > 1) == (batch is not None)
    together = join_encoded(pieces)
    assert together.ordinals.tolist() == list(range(7, 2507))
    assert together.carried == {at: (at % 3,) for at in range(2500)}


def test_batches_are_freed_without_a_search_for_cycles() -> None:
    """The command line and the workers do not search for cycles: what is in one would stay in memory."""
    records, schema = _records(2500), _frame().schema
    gc.collect()
    gc.disable()
    try:
        assert sum(1 for _ in bind_by_column(records, schema)) == 1
        assert gc.collect() == 0
    finally:
        gc.enable()


def test_the_heaviest_record_of_the_collection_decides_the_scale() -> None:
    forest = collection(3, 8, 3).forest
    frame = Frame(forest.schema, forest.hierarchies, forest.domains)
    some = part(forest, np.arange(8), np.arange(2))
    assert frame.forest(some, heaviest=Heaviest(quasi=2**61)).exact is False
    assert frame.forest(some).scale == forest.scale


SHAPES = VertexType(0, "$", (), True, None, (1, 2), (Attribute("$.q", ("q",), Role.QUASI),))
BELOW = VertexType(1, "$.a[*]", ("a",), True, 0, (), (Attribute("$.a[*].s", ("s",), Role.SENSITIVE),))
BESIDE = VertexType(2, "$.b[*]", ("b",), True, 0, (), (Attribute("$.b[*].q", ("q",), Role.QUASI),))
TREES = Schema((SHAPES, BELOW, BESIDE))


def _tree(quasi: Scalar, below: list[Scalar], beside: list[Scalar]) -> Vertex:
    children = [Vertex(1, (), (one,), (), ()) for one in below]
    return Vertex(0, (quasi,), (), (), children + [Vertex(2, (one,), (), (), ()) for one in beside])


def _trees_frame() -> Frame:
    flat = Flat().compile({"x": 1, "y": 1}, Path())
    domain = SensitiveDomain.build("$.a[*].s", Values(["u", "v", Double("1.0"), 1]))
    return Frame(TREES, ((flat,), (), (flat,)), ((), (domain,), ()))


def test_children_stand_breadth_first_by_group_and_spellings_by_type() -> None:
    trees = [_tree("x", [], ["y"]), _tree("y", ["u", Double("1.0")], []), _tree("x", [1, None], ["x", "y"])]
    (found,) = encode_records(bind_by_column(iter(trees), TREES), _trees_frame())
    assert found.size.tolist() == [2, 3, 5]
    assert found.type.tolist() == [0, 2, 0, 1, 1, 0, 1, 1, 2, 2]
    assert found.child_count.tolist() == [1, 0, 2, 0, 0, 4, 0, 0, 0, 0]
    spelled = [repr(found.spellings[at]) if at >= 0 else None for at in found.spelling.tolist()]
    assert spelled == ["'u'", "Double('1.0')", "1", None]
    assert found.sensitive[1] == found.sensitive[2]  # equal numbers are one value


@pytest.mark.parametrize(
    ("trees", "place", "value"),
    [
        ([_tree("x", ["u"], []), _tree("x", ["?"], ["!"])], "record 9, $.a[*].s", "?"),
        ([_tree("x", [], ["!"]), _tree("?", [], [])], "record 8, $.b[*].q", "!"),
        ([_tree("!", ["?"], [])], "record 8, $", "!"),
    ],
)
@pytest.mark.parametrize("waiting", [1, 1000])
def test_the_first_value_outside_its_domain_is_told(
    trees: list[Vertex], place: str, value: str, waiting: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("hierdata.forest.encoding._WAITING", waiting)

    def batches() -> Iterator[BoundRecords]:
        yield from bind_by_column(iter(trees), TREES)
        raise InputError("something else", record=99)

    with pytest.raises(InputError) as caught:
        list(encode_records(batches(), _trees_frame(), before=7))
    assert str(caught.value).startswith(place)
    assert caught.value.revealed == (value,)
    assert value not in str(caught.value)


def test_an_error_of_the_input_passes_where_nothing_before_it_is_wrong() -> None:
    def batches() -> Iterator[BoundRecords]:
        yield from bind_by_column(iter([_tree("x", [], [])]), TREES)
        raise InputError("something else", record=99)

    with pytest.raises(InputError, match="something else"):
        list(encode_records(batches(), _trees_frame()))

"""Rows by column, against counting tuples."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hierdata.measurement.table.rows import TableColumn, TableRows, number_combinations
from hierdata.metrics import cells as packing
from tests.rates_of_counts import split_rows

CELLS = st.tuples(st.integers(0, 2), st.integers(0, 3), st.integers(0, 1), st.integers(1, 4))


@pytest.mark.parametrize("largest", [3, 2**62])
@given(cells=st.lists(CELLS, min_size=1, max_size=30))
def test_a_table_counts_what_occurs_together(cells: list[tuple[int, int, int, int]], largest: int) -> None:
    x, *by, times = (np.array(column) for column in zip(*cells, strict=True))
    columns = [TableColumn(tuple("abcd"), codes) for codes in by]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(packing, "_LARGEST", largest)
        tally = TableRows({}, times).tally(TableColumn(tuple("xyz"), x), columns)
        (joint,) = tally.joints()
        lanes = number_combinations(columns).lanes
    expected: dict[tuple[int, int], Counter[int]] = {}
    for value, first, second, count in cells:
        expected.setdefault((first, second), Counter())[value] += count
    held = [Counter[int]() for _ in expected]
    for key, value, count in zip(joint.key, joint.value[0], joint.weight, strict=True):
        held[key][value] += count
    assert held == [expected[key] for key in sorted(expected)]
    lanes_of = dict(zip(zip(*by, strict=True), zip(*lanes, strict=True), strict=True))
    assert len(set(lanes_of.values())) == len(expected)
    assert [*zip(*joint.shown, strict=True)] == [lanes_of[key] for key in sorted(expected)]
    assert tally.by_key == split_rows(expected.values())

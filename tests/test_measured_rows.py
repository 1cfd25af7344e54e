"""Rows by column, against counting tuples."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hierdata.measurement.table import rows
from hierdata.measurement.table.rows import Column, Rows
from tests.rates_of_counts import split_rows

CELLS = st.tuples(st.integers(0, 2), st.integers(0, 3), st.integers(0, 1), st.integers(1, 4))


@pytest.mark.parametrize("dense", [0, 4])
@pytest.mark.parametrize("largest", [3, 2**62])
@given(cells=st.lists(CELLS, min_size=1, max_size=30))
def test_a_table_counts_what_occurs_together(
    cells: list[tuple[int, int, int, int]], dense: int, largest: int
) -> None:
    x, *by, times = (np.array(column) for column in zip(*cells, strict=True))
    columns = [Column(tuple("abcd"), codes) for codes in by]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(rows, "_DENSE", dense)
        patch.setattr(rows, "_LARGEST", largest)
        table = Rows({}, times).table(Column(tuple("xyz"), x), columns)
    expected: dict[tuple[int, int], Counter[int]] = {}
    for value, first, second, count in cells:
        expected.setdefault((first, second), Counter())[value] += count
    shown = list(zip(*(codes.tolist() for codes in table.shown), strict=True))
    assert shown == sorted(expected)
    assert [table.cells(row) for row in table.rows()] == [expected[key] for key in shown]
    assert table.split() == split_rows(expected.values())

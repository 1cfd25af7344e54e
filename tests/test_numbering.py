"""Keys are numbered as by sorting, whether a table or sorting does it."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from hierdata.forest.isomorphism import number_keys


@given(st.lists(st.integers(0, 30), max_size=20), st.sampled_from([1, 10**11]))
def test_keys_are_numbered_in_ascending_order(small: list[int], factor: int) -> None:
    keys = [factor * key for key in small]
    first, number = number_keys(np.array(keys, np.int64))
    distinct = sorted(set(keys))
    assert first.tolist() == [keys.index(key) for key in distinct]
    assert number.tolist() == [distinct.index(key) for key in keys]

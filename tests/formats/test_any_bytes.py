"""Any bytes give records or an error of ours: what the benchmark ``fuzz`` looks for, for a moment."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hierdata.documents.formats import FORMATS
from tests.benchmarks.readers import look, seeds
from tests.cases import examples

SEEDS = {name: tuple(seeds(name)) for name in FORMATS}


@pytest.mark.parametrize("name", FORMATS)
def test_every_fixture(name: str) -> None:
    assert len(SEEDS[name]) > 3
    for data in SEEDS[name]:
        look(name, data)


@pytest.mark.parametrize("name", FORMATS)
@examples(60)
@given(st.data())
def test_a_change_of_a_fixture(name: str, data: st.DataObject) -> None:
    whole = data.draw(st.sampled_from(SEEDS[name]))
    at, end = sorted((data.draw(st.integers(0, len(whole))), data.draw(st.integers(0, len(whole)))))
    between = data.draw(st.one_of(st.binary(max_size=8), st.just(whole[end : end + 20])))
    look(name, whole[:at] + between + whole[end if data.draw(st.booleans()) else at :])

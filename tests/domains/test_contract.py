"""What every domain keeps: the contract of ``hierdata.domains.base``."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hierdata.domains import DOMAINS
from hierdata.testing import check_domain
from tests.domains.hierarchies import STRATEGIES

HERE = Path()
every_domain = pytest.mark.parametrize("kind", DOMAINS)


@every_domain
@given(data=st.data())
def test_a_domain_keeps_the_contract(kind: str, data: st.DataObject) -> None:
    domain, observed = data.draw(STRATEGIES[kind])
    check_domain(domain, observed)
    assert domain.compile(observed, HERE).codebook["kind"] == kind


@pytest.mark.parametrize("kind", sorted(DOMAINS.keys() - {"taxonomy"}))
@given(data=st.data())
def test_the_codebook_tells_nothing_that_only_the_data_tell(kind: str, data: st.DataObject) -> None:
    domain, observed = data.draw(STRATEGIES[kind])
    book, other = (domain.compile(values, HERE).codebook for values in (observed, {}))
    assert book == other

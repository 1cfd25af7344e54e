"""The distance of t-closeness that suits an attribute, where the policy states none."""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal
from typing import Any

import pytest
from pydantic import ValidationError

from hierdata.domains.sensitive import SensitiveDomain
from hierdata.ground.errors import PolicyError
from hierdata.privacy import TCloseness
from hierdata.privacy.base import PrivacyModel
from tests.privacy.distributions import COMPARED, GROUPED


def distance_at(domain: SensitiveDomain, **stated: Any) -> str | None:
    found: PrivacyModel = TCloseness.model_validate({"t": "1/2", **stated}).resolve(domain)
    assert isinstance(found, TCloseness)
    return found.distance


def domain(*values: Any, reference: tuple[int, ...] | None = None, number: bool = False) -> SensitiveDomain:
    counts = (1,) * len(values) if reference is None else reference
    return SensitiveDomain("$.a", values, reference=counts, number=number)


def test_a_taxonomy_comes_before_numbers_and_numbers_before_the_rest() -> None:
    assert distance_at(COMPARED) == "hierarchical"
    assert distance_at(replace(COMPARED, paths=None, heights=None)) == "ordered"
    assert distance_at(domain(1, Decimal("2.5"))) == "ordered"
    assert distance_at(domain("1", "2")) == "equal"
    assert distance_at(domain("1", "2", number=True)) == "ordered"
    assert distance_at(domain("a", "b")) == "equal"
    assert distance_at(domain(True, False)) == "equal"


@pytest.mark.parametrize("stated", ["equal", "ordered", "hierarchical"])
def test_a_stated_distance_wins(stated: str) -> None:
    assert distance_at(COMPARED, distance=stated) == stated


def test_numbers_and_texts_together_suit_no_distance() -> None:
    mixed = domain(1, 2, "unknown")
    with pytest.raises(PolicyError, match="2 of 3 are numbers: state 'distance: equal', or list") as error:
        TCloseness(t="1/2").bind(mixed)
    assert "unknown" not in str(error.value)
    assert TCloseness(t="1/2", distance="equal").bind(mixed).closeness is not None
    # The original decides: what only a release shows changes no distance.
    assert distance_at(domain(1, 2, "forged", reference=(3, 1, 0))) == "ordered"
    assert distance_at(domain("a", "b", 7, reference=(3, 1, 0))) == "equal"


def test_an_attribute_without_values_has_no_distance() -> None:
    assert distance_at(domain()) is None
    unknown = "hierarchical distance with a taxonomy, ordered for numbers, else equal"
    assert unknown in TCloseness(t=1).promise()


@pytest.mark.parametrize(("how", "suits"), [(how, suits) for how, _, suits in GROUPED], ids=str)
def test_groups_have_the_distance_of_their_kind(how: dict[str, Any], suits: str) -> None:
    assert distance_at(COMPARED, **how) == suits
    assert distance_at(domain(), **how) == suits, "the data are not asked"
    assert f"{suits} distance" in TCloseness.model_validate({"t": 1, **how}).promise()
    for other in {"ordered", "hierarchical"} - {suits}:
        with pytest.raises(ValidationError, match="does not suit these groups"):
            TCloseness.model_validate({"t": 1, "distance": other, **how})

"""Single models: thresholds, parameters, levels, protected values."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from hierdata.domains.sensitive import SensitiveDomain
from hierdata.ground.errors import PolicyError
from hierdata.privacy import (
    AlphaK,
    EntropyLDiversity,
    FrequencyLDiversity,
    KAnonymity,
    LevelAlphaK,
    RecursiveCLDiversity,
)
from hierdata.privacy.base import ClassView, PrivacyModel
from tests import naive_models as naive

MANY = SensitiveDomain("$.a", tuple(f"v{code}" for code in range(12)))
PAPER = SensitiveDomain("$.a", tuple(f"v{level}" for level in range(1, 6)), (1, 2, 3, 4, 5))


@pytest.mark.parametrize(
    ("model", "view"),
    [
        (FrequencyLDiversity(l=3), ClassView(9, {0: 3, 1: 3, 2: 3})),
        (FrequencyLDiversity(l="10/3"), ClassView(10, {0: 3, 1: 3, 2: 3, 3: 1})),
        (AlphaK(k=10, alpha=0.1), ClassView(10, dict.fromkeys(range(10), 1))),
        (AlphaK(k=10, alpha="0.3"), ClassView(10, {0: 3, 1: 3, 2: 3, 3: 1})),
        (LevelAlphaK(k=10), ClassView(10, {0: 8, 1: 1, 2: 1})),
        (EntropyLDiversity(l=2), ClassView(10**9, {0: 10**9, 1: 10**9})),
        # Entropy exactly log 4 with unequal shares: 1/2 and four times 1/8.
        (EntropyLDiversity(l=4), ClassView(8, {0: 4, 1: 1, 2: 1, 3: 1, 4: 1})),
    ],
)
def test_touching_holds_and_a_hair_more_does_not(model: PrivacyModel, view: ClassView) -> None:
    domain = PAPER if model.kind == "level-alpha-k" else MANY
    assert model.bind(domain).holds(view)
    more = {**view.counts, 0: view.counts[0] + 1}
    assert not model.bind(domain).holds(ClassView(view.records + 1, more))


def test_entropy_near_the_threshold_is_decided_in_integers() -> None:
    even = {0: 10**5, 1: 10**5 + 1}
    assert not EntropyLDiversity(l=2).bind(MANY).holds(ClassView(200_001, even))
    assert EntropyLDiversity(l=Fraction(2) - Fraction(1, 10**9)).bind(MANY).holds(ClassView(200_001, even))


def test_recursive_is_strict_when_it_touches() -> None:
    touching = ClassView(4, {0: 2, 1: 1, 2: 1})
    assert not RecursiveCLDiversity(c=1, l=2).bind(MANY).holds(touching)
    assert RecursiveCLDiversity(c="1.01", l=2).bind(MANY).holds(touching)
    assert RecursiveCLDiversity(c=1, l=2).bind(MANY).achieved_parameters(touching) == {"l": 1}
    assert RecursiveCLDiversity(c="1/2", l=1).bind(MANY).achieved_parameters(touching) == {"l": 0}


@given(
    st.dictionaries(st.integers(0, 11), st.integers(1, 9), min_size=1),
    st.fractions(1, 6, max_denominator=8),
    st.integers(1, 40),
)
def test_larger_classes_hold_like_the_twin(counts: dict[int, int], least: Fraction, records: int) -> None:
    values = [code for code, count in counts.items() for _ in range(count)]
    view = ClassView(records, counts)
    assert FrequencyLDiversity(l=least).bind(MANY).holds(view) == naive.frequency_l(records, values, least)
    assert EntropyLDiversity(l=least).bind(MANY).holds(view) == naive.entropy_l(records, values, least)
    recursive = RecursiveCLDiversity(c=least, l=3).bind(MANY)
    assert recursive.holds(view) == naive.recursive_cl(records, values, least, 3)


@pytest.mark.parametrize("spelling", [0.1, "0.1", Decimal("0.1"), "1/10", Fraction(1, 10)])
def test_decimals_are_exact_however_they_arrive(spelling: object) -> None:
    assert AlphaK.model_validate({"k": 2, "alpha": spelling}).alpha == Fraction(1, 10)


@pytest.mark.parametrize("number", ["", "x", -1, "1e999999999", "1/0", True, None, "NaN", float("inf"), [1]])
def test_no_share_no_parameter(number: object) -> None:
    with pytest.raises(ValidationError):
        AlphaK.model_validate({"k": 2, "alpha": number})


@pytest.mark.parametrize(
    ("model", "parameters"),
    [
        (KAnonymity, {"k": 0}),
        (KAnonymity, {"k": 2.0}),
        (KAnonymity, {"k": True}),
        (KAnonymity, {"k": 2, "on": ("$.a",)}),
        (FrequencyLDiversity, {"l": "0.99"}),
        (RecursiveCLDiversity, {"c": 0, "l": 2}),
        (AlphaK, {"k": 2, "alpha": "1.01"}),
        (AlphaK, {"k": 2, "alpha": 1, "values": ()}),
        (LevelAlphaK, {"k": 2, "alpha": ()}),
        (LevelAlphaK, {"k": 2, "on": ()}),
    ],
)
def test_parameters_out_of_range_are_refused(
    model: type[PrivacyModel], parameters: dict[str, object]
) -> None:
    with pytest.raises(ValidationError):
        model.model_validate(parameters)


def test_levels_are_needed_and_an_alpha_for_each() -> None:
    with pytest.raises(PolicyError, match="needs 'levels'"):
        LevelAlphaK(k=2).bind(MANY)
    with pytest.raises(PolicyError, match="2 alphas, but the attribute 5 levels"):
        LevelAlphaK(k=2, alpha=("1/2", "1/2")).bind(PAPER)
    two_levels = SensitiveDomain("$.s", ("a", "b"), (1, 2), 2)
    assert LevelAlphaK(k=2).bind(two_levels).min_class_size == 2


def test_the_class_size_leaves_room_for_one_value_of_every_kind() -> None:
    assert AlphaK(k=2, alpha="0.3").bind(MANY).min_class_size == 4
    assert AlphaK(k=5, alpha="0.3").bind(MANY).min_class_size == 5
    assert AlphaK(k=2, alpha="0.3", values=("v0",)).bind(MANY).min_class_size == 2
    assert FrequencyLDiversity(l="2.5").bind(MANY).min_class_size == 3
    assert EntropyLDiversity(l="2.5").bind(MANY).min_class_size == 3


@pytest.mark.parametrize(
    ("protected", "value", "same"),
    [
        ("HIV", "HIV", True),
        ("HIV", "hiv", False),
        (3, "3", True),
        ("3", 3, True),
        (3, Decimal("3.0"), True),
        ("-3.50", Decimal("-3.5"), True),
        (True, "true", True),
        (True, True, True),
        (1, True, False),
    ],
)
def test_protected_values_are_found_in_every_format(protected: object, value: object, same: bool) -> None:
    model = AlphaK.model_validate({"k": 1, "alpha": 0, "values": (protected,)})
    constraint = model.bind(SensitiveDomain("$.a", (value, "else")))
    assert constraint.holds(ClassView(2, {0: 1, 1: 1})) != same


def test_pooled_siblings_are_no_records() -> None:
    alone = ClassView(1, {0: 1, 1: 1, 2: 1})
    for model in (FrequencyLDiversity(l=3), EntropyLDiversity(l=3), RecursiveCLDiversity(c=2, l=3)):
        assert not model.bind(MANY).holds(alone)
        assert model.bind(MANY).holds(ClassView(3, alone.counts))

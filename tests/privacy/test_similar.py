"""The models on similar values: errata of LE and DL, thresholds, what is refused, what is said."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from hierdata.domains.number import canonical
from hierdata.domains.sensitive import SensitiveDomain
from hierdata.ground.errors import PolicyError
from hierdata.privacy import (
    AlphaK,
    DeltaLDiversity,
    DistinctLDiversity,
    EntropyLDiversity,
    EpsilonMAnonymity,
    FrequencyLDiversity,
    LEDiversity,
    PrivacyModel,
    RecursiveCLDiversity,
)
from hierdata.privacy.base import ClassView
from hierdata.privacy.neighbourhood import safe_to_merge
from hierdata.reproduction.dl_examples import run_printed_check
from tests import naive_semantics as naive
from tests.privacy.largest import largest_l
from tests.privacy.similar import BLOCKS, DOMAIN

DISEASES = SensitiveDomain(
    "$.d",
    ("flu", "pneumonia", "ulcer", "dyspepsia", "gastritis", "cancer", "carcinoid"),
    paths=(
        (0, 1, 2, 3),
        (0, 1, 2, 4),
        *((0, 5, 6, leaf) for leaf in (7, 8, 9)),
        *((0, 10, 11, leaf) for leaf in (12, 13)),
    ),
)
"""The tree of paper LE, variant A: leaves of one depth."""
CLASSES = st.lists(st.integers(-12, 12).map(lambda half: Fraction(half, 2)), min_size=1, max_size=9)
DELTAS = st.integers(0, 8).map(lambda quarter: Fraction(quarter, 4))
LEAST = st.fractions(1, 4, max_denominator=4)


def of_values(*values: str) -> ClassView:
    return ClassView(len(values), Counter(map(DISEASES.code_of, values)))


def holds(model: PrivacyModel, values: list[Fraction]) -> bool:
    own = tuple(dict.fromkeys(values))
    numbers = SensitiveDomain("$.n", tuple(map(canonical, own)))
    return model.bind(numbers).holds(ClassView(len(values), Counter(map(own.index, values))))


# (l,e)-diversity


def test_two_classes_that_hold_may_not_together() -> None:
    """LE-9."""
    bound = LEDiversity(l=3, e=1).bind(DISEASES)
    one, two = ("flu", "cancer", "ulcer"), ("flu", "cancer", "dyspepsia")
    assert bound.holds(of_values(*one))
    assert bound.holds(of_values(*two))
    assert not bound.holds(of_values(*one, *two))
    assert not bound.closed_under_union


def test_equal_values_are_similar_unless_repeats_are_allowed() -> None:
    """LE-1."""
    view = of_values("flu", "flu", "cancer", "cancer", "gastritis", "gastritis")
    assert not LEDiversity(l=3, e=1).bind(DISEASES).holds(view)
    allowed = LEDiversity(l=3, e=1, repeats="allow").bind(DISEASES)
    assert allowed.holds(view)
    assert not allowed.holds(of_values("flu", "flu", "cancer", "gastritis")), "half of them are flu"
    assert not allowed.holds(of_values("flu", "pneumonia", "cancer", "gastritis"))


def test_a_distance_of_exactly_e_is_too_near() -> None:
    view = of_values("flu", "pneumonia")
    assert not LEDiversity(l=2, e=1).bind(DISEASES).holds(view)
    assert LEDiversity(l=2, e="0.99").bind(DISEASES).holds(view)


def test_at_e_0_all_values_are_different() -> None:
    bound = LEDiversity(l=2, e=0).bind(DISEASES)
    assert bound.holds(of_values("flu", "pneumonia", "ulcer"))
    assert not bound.holds(of_values("flu", "flu", "ulcer"))


def test_a_class_with_missing_values_needs_l_that_are_present() -> None:
    bound = LEDiversity(l=3, e=1).bind(DISEASES)
    assert bound.holds(ClassView(5, of_values("flu", "ulcer", "cancer").counts))
    assert not bound.holds(ClassView(5, of_values("flu", "ulcer").counts))
    assert bound.holds(ClassView(5, {}))


def test_the_pair_decides_where_a_chain_does_not() -> None:
    """LE-2: flu and HIV are in one bucket through angina, and apart."""
    for repeats in ("forbid", "allow"):
        bound = LEDiversity(l=2, e="3/2", repeats=repeats).bind(DOMAIN)
        assert bound.holds(ClassView(2, {0: 1, 3: 1}))
        assert not bound.holds(ClassView(2, {0: 1, 2: 1}))
    assert bound.caps is not None
    assert (len(bound.caps.share), bound.caps.sufficient) == (4, False)


def test_what_is_achieved_is_told_by_l_and_the_least_distance() -> None:
    model = LEDiversity(l=2, e=1)
    bound = model.bind(DISEASES)
    near, far = (
        bound.achieved_parameters(of_values("flu", "pneumonia", "ulcer")),
        bound.achieved_parameters(of_values("flu", "ulcer")),
    )
    assert near == {"l": 3, "distance": 1}
    assert far == {"l": 2, "distance": 3}
    assert bound.achieved_parameters(of_values("flu")) == {"l": 1}, "one value has no distance"
    assert bound.achieved_parameters(of_values("flu", "flu")) == {"l": 2, "distance": 0}
    assert model.weakest(near, far) == {"l": 2, "distance": 1}
    assert model.weakest(far, {"l": Fraction(1)}) == {"l": 1, "distance": 3}


def test_buckets_that_are_single_values_make_the_caps_sufficient() -> None:
    caps = LEDiversity(l=2, e="1/2", repeats="allow").bind(DISEASES).caps
    assert caps is not None
    assert caps.sufficient
    caps = LEDiversity(l=2, e=1, repeats="allow").bind(DISEASES).caps
    assert caps is not None
    assert (caps.group_of, caps.sufficient) == ((0, 0, 1, 1, 1, 2, 2), False)


# (delta,l)-diversity and (epsilon,m)-anonymity


@given(CLASSES, DELTAS, LEAST)
def test_one_principle_under_two_names(values: list[Fraction], delta: Fraction, least: Fraction) -> None:
    """DL-1."""
    epsilon_m = EpsilonMAnonymity(epsilon=2 * delta, m=least)
    assert holds(DeltaLDiversity(delta=delta, l=least), values) == holds(epsilon_m, values)


@given(CLASSES, DELTAS)
def test_the_largest_l_is_the_largest_that_holds(values: list[Fraction], delta: Fraction) -> None:
    best = largest_l(values, delta)
    assert best == Fraction(len(values), max(naive.similar_to_each(values, delta).values()))
    assert holds(DeltaLDiversity(delta=delta, l=best), values)
    assert not holds(DeltaLDiversity(delta=delta, l=best + Fraction(1, 10**6)), values)


def test_the_smallest_counterexample_to_monotonicity() -> None:
    """DL-2."""
    half = Fraction(1, 2)
    assert largest_l([0, 2], half) == largest_l([1, 3], half) == 2
    assert largest_l([0, 2, 1, 3], half) == Fraction(4, 3)


@given(CLASSES, CLASSES, DELTAS)
def test_a_union_keeps_more_than_half(one: list[Fraction], two: list[Fraction], delta: Fraction) -> None:
    """DL-2: l(union) >= l (n1 + n2) / max(n1 + 2 n2, 2 n1 + n2)."""
    least = min(largest_l(one, delta), largest_l(two, delta))
    n1, n2 = len(one), len(two)
    assert largest_l(one + two, delta) >= least * Fraction(n1 + n2, max(n1 + 2 * n2, 2 * n1 + n2)) > least / 2


@given(CLASSES, CLASSES, DELTAS, LEAST)
def test_what_is_safe_to_merge_holds_and_stays_safe(
    one: list[Fraction], two: list[Fraction], delta: Fraction, least: Fraction
) -> None:
    """DL-2, the test of width 4 delta."""
    assert safe_to_merge(one, delta, least) == (
        naive.fullest_window(one, 4 * delta) <= Fraction(len(one)) / least
    )
    if safe_to_merge(one, delta, least):
        assert largest_l(one, delta) >= least
        if safe_to_merge(two, delta, least):
            assert safe_to_merge(one + two, delta, least)


def test_the_printed_check_hides_what_ours_finds() -> None:
    """DL-3."""
    values, half = [0, 1, 2, 3], Fraction(1, 2)
    assert run_printed_check(values, half) == 2
    assert largest_l(values, half) == Fraction(4, 3)
    assert run_printed_check([5], half) is None


def test_relative_neighbourhoods_are_not_symmetric() -> None:
    bound = EpsilonMAnonymity(epsilon="0.4", m=2, relative=True).bind(SensitiveDomain("$.n", (10, 15)))
    assert not bound.holds(ClassView(2, {0: 1, 1: 1})), "10 lies around 15"
    assert (
        EpsilonMAnonymity(epsilon="0.3", m=2, relative=True)
        .bind(SensitiveDomain("$.n", (10, 15)))
        .holds(ClassView(2, {0: 1, 1: 1}))
    )
    assert bound.caps is None


def test_functions_refuse_a_class_without_values() -> None:
    """DL-7; a vertex without values is another thing (ML-7)."""
    with pytest.raises(ValueError, match="without values"):
        largest_l([], Fraction(1))
    with pytest.raises(ValueError, match="without values"):
        safe_to_merge([], Fraction(1), Fraction(2))
    assert DeltaLDiversity(delta=1, l=2).bind(SensitiveDomain("$.n", (1,))).holds(ClassView(3, {}))


def test_pooled_siblings_are_no_records() -> None:
    alone = {0: 1, 1: 1, 2: 1}
    numbers = SensitiveDomain("$.n", (0, 10, 20))
    apart = SensitiveDomain("$.d", ("a", "b", "c"), paths=((0, 1, 2), (0, 3, 4), (0, 5, 6)))
    for model, domain in (
        (LEDiversity(l=3, e=1), apart),
        (LEDiversity(l=3, e=1, repeats="allow"), apart),
        (DeltaLDiversity(delta=1, l=3), numbers),
        (EpsilonMAnonymity(epsilon=1, m=3), numbers),
    ):
        assert not model.bind(domain).holds(ClassView(1, alone))
        assert model.bind(domain).holds(ClassView(3, alone))


def test_ten_million_records_are_counted_exactly() -> None:
    many = 10**7
    bound = DeltaLDiversity(delta="0.5", l=2).bind(SensitiveDomain("$.n", ("0.1", "1.2"), number=True))
    assert bound.holds(ClassView(2 * many, {0: many, 1: many}))
    assert not bound.holds(ClassView(2 * many, {0: many + 1, 1: many}))


# What is counted


GROUPED: list[tuple[type[PrivacyModel], dict[str, Any]]] = [
    (DistinctLDiversity, {"l": 2}),
    (FrequencyLDiversity, {"l": 2}),
    (EntropyLDiversity, {"l": 2}),
    (RecursiveCLDiversity, {"c": 2, "l": 2}),
    (AlphaK, {"k": 2, "alpha": "1/2"}),
]
each_grouped = pytest.mark.parametrize(("model", "own"), GROUPED, ids=str)


@each_grouped
def test_five_lung_diseases_are_one(model: type[PrivacyModel], own: dict[str, Any]) -> None:
    view = of_values("ulcer", "dyspepsia", "gastritis")
    assert model.model_validate(own).bind(DISEASES).holds(view)
    for by in ({"by": "similarity", "e": 1}, {"by": "partition", "partition": {"depth": 1}}):
        assert not model.model_validate({**own, **by}).bind(DISEASES).holds(view)


@each_grouped
def test_values_are_counted_unless_something_else_is_said(
    model: type[PrivacyModel], own: dict[str, Any]
) -> None:
    plain = model.model_validate(own)
    assert plain == model.model_validate({**own, "by": "value"})
    assert not {"by", "e", "partition"} & plain.model_dump().keys()
    grouped = model.model_validate({**own, "by": "level"})
    assert grouped.model_dump()["by"] == "level"
    assert "level" in grouped.promise()
    assert "level" not in plain.promise()
    assert "similar" in model.model_validate({**own, "by": "similarity", "e": "1.5"}).promise()
    assert "block" in model.model_validate({**own, "by": "partition", "partition": BLOCKS}).promise()


@each_grouped
@pytest.mark.parametrize(
    "stated",
    [
        {"by": "similarity"},
        {"by": "partition"},
        {"e": 1},
        {"by": "level", "e": 1},
        {"partition": {"depth": 1}},
        {"by": "similarity", "e": -1},
        {"by": "group"},
    ],
    ids=str,
)
def test_by_and_what_it_needs_stand_together(
    model: type[PrivacyModel], own: dict[str, Any], stated: dict[str, Any]
) -> None:
    with pytest.raises(ValidationError):
        model.model_validate({**own, **stated})


@each_grouped
def test_levels_and_taxonomy_are_needed_where_they_are_counted(
    model: type[PrivacyModel], own: dict[str, Any]
) -> None:
    bare = SensitiveDomain("$.bare", ("a",))
    for by, missing in (
        ({"by": "level"}, "'levels'"),
        ({"by": "similarity", "e": 1}, "'taxonomy'"),
        ({"by": "partition", "partition": {"depth": 1}}, "'taxonomy'"),
        ({"by": "partition", "partition": {"blocks": {"b": ["z"]}}}, "1 in none"),
    ):
        with pytest.raises(PolicyError, match=rf"\$\.bare: .*{missing}"):
            model.model_validate({**own, **by}).bind(bare)


def test_protected_values_are_no_groups() -> None:
    with pytest.raises(ValidationError, match="by: level"):
        AlphaK(k=2, alpha="0.5", values=("HIV",), by="level")


# What is refused


@pytest.mark.parametrize(
    ("model", "parameters"),
    [
        (LEDiversity, {"l": 0, "e": 1}),
        (LEDiversity, {"l": "2", "e": 1}),
        (LEDiversity, {"l": 2, "e": "-0.1"}),
        (LEDiversity, {"l": 2}),
        (LEDiversity, {"l": 2, "e": 1, "repeats": "maybe"}),
        (DeltaLDiversity, {"delta": -1, "l": 2}),
        (DeltaLDiversity, {"delta": 1, "l": "0.9"}),
        (EpsilonMAnonymity, {"epsilon": -1, "m": 2}),
        (EpsilonMAnonymity, {"epsilon": 1, "m": 0}),
        (EpsilonMAnonymity, {"epsilon": "1.1", "m": 2, "relative": True}),
        (EpsilonMAnonymity, {"epsilon": 1, "m": 2, "relative": 1}),
    ],
)
def test_parameters_out_of_range_are_refused(
    model: type[PrivacyModel], parameters: dict[str, object]
) -> None:
    with pytest.raises(ValidationError):
        model.model_validate(parameters)


def test_a_taxonomy_and_numbers_are_needed() -> None:
    text = SensitiveDomain("$.bare", ("secret", "7"))
    with pytest.raises(PolicyError, match=r"\$\.bare: .*'taxonomy'"):
        LEDiversity(l=2, e=1).bind(text)
    for model in (DeltaLDiversity(delta=1, l=2), EpsilonMAnonymity(epsilon=1, m=2)):
        with pytest.raises(PolicyError, match=r"\$\.bare: .*needs numbers: add `number: true`") as refused:
            model.bind(text)
        assert "secret" not in str(refused.value)

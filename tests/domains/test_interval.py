"""Intervals: spellings, bins that nest or not, domains, speed."""

from __future__ import annotations

import re
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from hierdata.documents.document import Numeral, Scalar
from hierdata.domains import Interval
from hierdata.domains.base import Hierarchy, Uncovered

HERE = Path()


def over(values: list[Scalar], steps: list[Any], **spec: Any) -> Hierarchy:
    return Interval(steps=steps, **spec).compile(dict.fromkeys(values, 1), HERE)


def joined(tree: Hierarchy, a: Scalar, b: Scalar) -> Scalar:
    return tree.labels[tree.join(tree.node_of(a), tree.node_of(b))]


def test_integers_have_closed_bins_and_a_step_of_1_is_the_value_itself() -> None:
    tree = over([1985, 1986, 1989, 1991, 2004], [1, 2, 5, 10])
    assert joined(tree, 1985, 1985) == 1985
    assert joined(tree, 1985, 1986) == "[1985, 1989]"  # the bins of 2 begin at even years
    assert joined(tree, 1985, 1991) == "*"
    assert tree.labels[tree.ancestors[tree.node_of(1991)][-2]] == "[1990, 1991]"
    assert not any(label in ("[1985, 1985]", "[1985, 1986]") for label in tree.labels)


def test_decimals_have_half_open_bins_with_as_many_digits_as_the_step() -> None:
    tree = over([Decimal("0.50"), Decimal("0.9"), Decimal("3.75"), 3], ["0.5", 1, 10])
    assert joined(tree, Decimal("0.5"), Decimal("0.9")) == "[0.5, 1.0)"
    assert joined(tree, Decimal("3.75"), 3) == "[3, 4)"
    assert joined(tree, 3, Decimal("0.9")) == "[0, 10)"


def test_negative_numbers() -> None:
    tree = over([-1, -5, -6, 0], [5])
    assert joined(tree, -1, -5) == "[-5, -1]"
    assert joined(tree, -1, 0) == "*"
    assert (
        joined(over([Decimal("-0.1"), Decimal("-0.5")], ["0.5"]), Decimal("-0.1"), Decimal("-0.5"))
        == "[-0.5, 0.0)"
    )


def test_equal_numbers_are_one_value_in_one_spelling() -> None:
    tree = over([1, Decimal("1.0"), Numeral("1e0"), Decimal("2.50")], [1], decimals=True)
    assert (
        tree.node_of(1)
        == tree.node_of(Decimal("1.00"))
        == tree.node_of(Numeral("10e-1"))
        == tree.node_of("1")
    )
    assert [tree.labels[tree.node_of(value)] for value in (1, "2.5")] == ["[1, 2)", "[2, 3)"]
    whole = over([1, Decimal("1.0"), Numeral("1e0"), Decimal("2.0")], [1])
    label = whole.labels[whole.node_of(1)]
    assert (type(label), label) == (int, 1)


def test_a_number_in_a_text_is_published_as_a_number() -> None:
    tree = over(["1990", "1991.0", "+5"], [1, 10])
    assert [tree.labels[tree.node_of(value)] for value in (1990, 1991, 5)] == [1990, 1991, 5]


def test_the_policy_alone_says_whether_numbers_may_have_decimals() -> None:
    assert "[3.0, 3.5)" in over([3, 4], ["0.5"]).labels
    assert "[3, 4)" in over([3, 4], [1], domain=[0, "4.5"]).labels
    assert "[3, 4)" in over([3, 4], [1], decimals=True).labels
    whole = over([3, Decimal("3.5"), Decimal("99.5")], [1, 5], domain=[0, 50], outside="clamp")
    assert whole.labels == over([3], [1, 5], domain=[0, 50], outside="clamp").labels
    for value in (Decimal("3.5"), "99.5"):
        with pytest.raises(Uncovered):
            whole.node_of(value)


def test_losses_are_widths_over_the_domain_and_at_most_1() -> None:
    tree = over([1985, 1989, 2005], [5, 100])
    loss = {str(label): loss for label, loss in zip(tree.labels, tree.lm, strict=True)}
    assert loss["[1985, 1989]"] == Fraction(4, 20)
    assert loss["[1900, 1999]"] == 1
    assert loss["*"] == 1
    assert over([Decimal("0.5"), Decimal("2.5")], [1], decimals=True).lm[1] == Fraction(1, 2)
    assert set(over([7], [5]).lm) == {0}
    assert over([7], [5], domain=[0, 40]).lm[:2] == (1, Fraction(4, 40))


def test_beyond_the_domain_is_refused_or_clamped() -> None:
    strict = over([5, 99], [10], domain=[0, 50])
    clamped = over([5, 99, -3], [1, 10], domain=[0, 50], outside="clamp")
    with pytest.raises(Uncovered):
        strict.node_of(99)
    assert 99 not in strict.labels
    assert clamped.labels[clamped.node_of(99)] == 50
    assert joined(clamped, -3, 5) == "[0, 9]"
    assert strict.labels[strict.node_of(5)] == "[0, 9]"
    assert clamped.codebook["domain"] == ["0", "50"]


def test_what_is_no_number_or_was_not_observed_is_not_covered() -> None:
    tree = over([1, 2], [5])
    for value in (True, "", "one", "1 ", "1_0", "nan", "Infinity", Decimal("NaN"), Decimal("1e400000"), 3):
        with pytest.raises(Uncovered):
            tree.node_of(value)


@pytest.mark.parametrize(
    "spec",
    [
        {"steps": []},
        {"steps": [0, 1]},
        {"steps": [2, 1]},
        {"steps": [1, 1]},
        {"steps": ["1/3"]},
        {"steps": ["x"]},
        {"steps": [True]},
        {"steps": [1], "domain": [5, 1]},
        {"steps": [1], "outside": "clamp"},
    ],
)
def test_rules_that_are_refused(spec: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        Interval.model_validate(spec)


def test_the_policy_s_decimals_are_taken_as_they_are_written() -> None:
    assert Interval(steps=[0.1, Decimal("0.2")]).steps == (Fraction(1, 10), Fraction(1, 5))


@given(
    st.lists(st.integers(-300, 300), min_size=1, max_size=20, unique=True),
    st.lists(st.integers(2, 50), min_size=1, max_size=4, unique=True).map(lambda steps: [1, *steps]),
)
def test_two_integers_meet_in_the_smallest_step_that_holds_both(values: list[int], steps: list[int]) -> None:
    tree = over(list(values), sorted(steps))
    for a in values:
        for b in values:
            step = next((step for step in sorted(steps) if a // step == b // step), None)
            expected = (
                a if a == b else f"[{a // step * step}, {a // step * step + step - 1}]" if step else "*"
            )  # a step of 1 is the value itself
            assert joined(tree, a, b) == expected


@given(
    st.lists(st.decimals(-50, 50, places=2), min_size=1, max_size=20, unique=True),
    st.lists(st.sampled_from(["0.25", "0.5", "0.75", "1", "4", "6"]), unique=True),
)
def test_a_value_lies_in_exactly_the_bins_above_it(values: list[Decimal], steps: list[str]) -> None:
    tree = over([*values, Decimal("0.01")], ["0.05", *sorted(steps, key=Decimal)])  # which lies in all
    for node, label in enumerate(tree.labels):
        ends = re.fullmatch(r"\[(\S+), (\S+)\)", str(label))
        if ends is None:
            continue
        for value in values:
            assert (Decimal(ends[1]) <= value < Decimal(ends[2])) == (
                node in tree.ancestors[tree.node_of(value)]
            )


def test_where_steps_do_not_nest_the_order_of_joining_matters() -> None:
    tree = over([3, 4, 5], [1, 4, 6])
    three, four, five = map(tree.node_of, (3, 4, 5))
    assert tree.labels[tree.join(tree.join(three, four), five)] == "[0, 5]"
    assert tree.labels[tree.join(three, tree.join(four, five))] == "*"


def test_nothing_finer_than_the_first_step_is_published() -> None:
    tree = over([20, 22, 27, 31], [5, 10])
    assert [tree.labels[tree.node_of(age)] for age in (20, 22, 27, 31)] == [
        *["[20, 24]"] * 2,
        "[25, 29]",
        "[30, 34]",
    ]
    assert tree.lm[tree.node_of(20)] == Fraction(4, 11)
    assert set(tree.labels) == {"*", "[20, 29]", "[30, 39]", "[20, 24]", "[25, 29]", "[30, 34]", None}


def test_a_finest_bin_over_the_edge_of_a_wider_one_lies_in_none_of_that_step() -> None:
    tree = over([7, 12, 13], [5, 12])
    assert joined(tree, 12, 13) == "[10, 14]"
    assert joined(tree, 7, 12) == "*"
    assert "[0, 11]" in tree.labels
    assert "[12, 23]" not in tree.labels


def test_100_000_distinct_values_need_only_the_bins_that_hold_one() -> None:
    values: list[Scalar] = [17 * i - 900_000 for i in range(100_000)]
    tree = over(values, [1, 100, 10_000])
    nodes = [tree.node_of(value) for value in values]
    assert len(set(nodes)) == len(values)
    assert len(tree.labels) == 1 + 170 + 17_000 + 100_000 + 1

"""Sensitivity levels: exact decisions, the degrees of scikit-fuzzy, forms of the policy, facts."""

from __future__ import annotations

import json
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from hierdata.document import Numeral, Scalar
from hierdata.domains.base import Uncovered
from hierdata.domains.levels import Levels, LevelScale, scale_from_facts
from hierdata.domains.membership import Trapezoid, breakpoints, knots, value_level, value_sets
from hierdata.domains.number import canonical, parameter
from hierdata.domains.sensitive import SensitiveDomain, build
from hierdata.records.values import Values

ROUNDING = 1e-12


def scale(spec: dict[str, Any], values: list[Scalar] | None = None, number: bool = False) -> LevelScale:
    return Levels.model_validate(spec).compile(Values(values or []), number)


GPA = scale({"domain": [0, 4], "sensitive": "low"})
INCOME = scale({"domain": [0, 90], "sensitive": "high"})
LETTERS = scale({"by": {"A": 1, "B": 2, "E": 5}})
SCORES = scale({"by": {1: 1, "2.5": 2, Decimal("3.50"): 3}})
DISEASES = ["flu"] * 90 + ["cold"] * 50 + ["gout"] * 20 + ["HIV"]
RARE = scale({"by": "frequency", "sensitive": "rare"}, [*DISEASES, None])
SETS = scale(
    {
        "sets": [
            {"level": 1, "shape": [0, 0, 1, 2]},
            {"level": 3, "shape": [1, 2, "5/2"]},
            {"level": 1, "shape": [8, 9, 9]},
        ]
    }
)
NEAREST = scale(
    {"sets": [{"level": 1, "shape": [0, 1, 2]}, {"level": 2, "shape": [4, 5, 6]}], "outside": "clamp"}
)
SCALES = {
    "domain": GPA,
    "rising": INCOME,
    "clamp": scale({"domain": ["-1/3", 7], "sensitive": "low", "outside": "clamp"}),
    "map": LETTERS,
    "numbers": SCORES,
    "frequency": RARE,
    "common": scale({"by": "frequency", "sensitive": "common"}, [1, 1, Decimal("1.50"), "x"]),
    "sets": SETS,
    "nearest": NEAREST,
}
PROBES: list[Scalar] = [
    0,
    1,
    2,
    3,
    -1,
    9,
    "2.5",
    "x",
    "A",
    "flu",
    "HIV",
    True,
    Decimal("3.50"),
    Numeral("1.5e0"),
    "",
]


def answer(ask: Callable[[Scalar], object], value: Scalar) -> object:
    try:
        return ask(value)
    except Uncovered:
        return Uncovered


# The five membership functions


@given(
    st.fractions(-100, 100, max_denominator=60), st.fractions(0, 100, max_denominator=60), st.fractions(-1, 2)
)
def test_the_level_is_that_of_the_highest_degree_the_upper_one_on_a_tie(
    low: Fraction, width: Fraction, place: Fraction
) -> None:
    if not width:
        return
    high = low + width
    value = low + place * width
    inside = min(max(value, low), high)
    degrees = [one.degree(inside) for one in value_sets(low, high)]
    assert value_level(value, low, high) == max(range(5), key=lambda i: (degrees[i], i)) + 1


def test_breakpoints_belong_to_the_upper_level_and_knots_to_their_set() -> None:
    for low, high in ((0, 4), (0, 1), (Fraction(-7, 3), Fraction(11, 9))):
        for level, point in enumerate(breakpoints(low, high), 2):
            assert value_level(point, low, high) == level
            assert value_level(point - Fraction(1, 10**30), low, high) == level - 1
            below, above = value_sets(low, high)[level - 2 : level]
            assert below.degree(point) == above.degree(point) > 0
        assert [
            value_sets(low, high)[i].degree(knot)
            for i, knot in zip((1, 2, 3), knots(low, high)[1:4], strict=True)
        ] == [1, 1, 1]


def numeric(low: Fraction, high: Fraction) -> LevelScale:
    return scale({"domain": [low, high], "sensitive": "low", "outside": "clamp"})


def agree(one: LevelScale, value: Scalar) -> None:
    exact, shown = one.exact_memberships(value), one.memberships(value)
    assert len(exact) == len(shown)
    assert all(abs(float(degree) - other) <= ROUNDING for degree, other in zip(exact, shown, strict=True))


def highest(degrees: tuple[float, ...]) -> int:
    return max(range(len(degrees)), key=lambda i: (degrees[i], i)) + 1


@pytest.mark.parametrize(
    ("low", "high"),
    [("0", "4"), ("0", "1"), ("-12.5", "990"), ("1000000000", "1000000000.001"), ("-1e-30", "0")],
)
def test_scikit_fuzzy_and_fractions_agree_on_a_dense_grid(low: str, high: str) -> None:
    ends = parameter(low), parameter(high)
    one = numeric(*ends)
    for i in range(
        -50, 1051
    ):  # thousandths hit no breakpoint, so that scikit-fuzzy's degrees decide the level too
        value = canonical(ends[0] + Fraction(i, 1000) * (ends[1] - ends[0]))
        agree(one, value)
        assert highest(one.memberships(value)) == 6 - one.level(value)


def test_at_knots_and_breakpoints_fractions_decide_and_the_degrees_still_agree() -> None:
    one = numeric(Fraction(0), Fraction(36))
    assert [6 - one.level(value) for value in (7, 8, 14, 15, 20, 21, 27, 28)] == [1, 2, 2, 3, 3, 4, 4, 5]
    for value in range(37):
        agree(one, value)


@given(
    st.decimals(-1000, 1000, places=3),
    st.decimals("0.001", 1000, places=3),
    st.decimals(-10, 2000, places=6),
)
def test_scikit_fuzzy_and_fractions_agree_over_any_domain(
    low: Decimal, width: Decimal, offset: Decimal
) -> None:
    one = numeric(Fraction(low), Fraction(low + width))
    agree(one, low + offset)
    if not any(
        abs(Fraction(offset) - point) < Fraction(1, 10**9) for point in breakpoints(0, Fraction(width))
    ):
        assert highest(one.memberships(low + offset)) == 6 - one.level(low + offset)


@given(
    st.lists(
        st.tuples(st.integers(1, 5), st.lists(st.integers(-40, 40), min_size=3, max_size=4).map(sorted)),
        min_size=1,
        max_size=5,
    ),
    st.integers(-450, 450),
)
def test_scikit_fuzzy_and_fractions_agree_on_the_policy_s_sets(
    sets: list[tuple[int, list[int]]], tenths: int
) -> None:
    one = scale({"sets": [{"level": level, "shape": shape} for level, shape in sets], "outside": "clamp"})
    value = Decimal(tenths) / 10
    agree(one, value)
    assert 1 <= one.level(value) <= one.count
    inside = one.exact_memberships(value)
    if any(inside):
        assert inside[one.level(value) - 1] == max(inside)


def test_a_degenerate_domain_has_value_level_3_and_a_warning() -> None:
    point = scale({"domain": [2, 2], "sensitive": "low"})
    assert (point.level(2), point.level(7), point.exact_memberships(2)) == (3, 3, (0, 0, 1, 0, 0))
    assert point.memberships(2) == (0, 0, 1, 0, 0)
    even = scale({"by": "frequency", "sensitive": "rare"}, ["a", "b"])
    assert (even.level("a"), even.level("b")) == (3, 3)
    for one in (point, even):
        assert "ML-3" in one.warnings[0]
    assert not any(one.warnings for one in SCALES.values())


# The forms of the policy


def test_a_domain_refuses_what_lies_beyond_and_its_level_clamps_all_the_same() -> None:
    assert (GPA.level(Decimal("3.75")), GPA.level("0.31"), GPA.level(-1), GPA.level(9)) == (1, 5, 5, 1)
    assert (INCOME.level(0), INCOME.level(90)) == (1, 5)
    assert [GPA.covers(value) for value in (0, 4, "4.0", Decimal("4.01"), -1, "x", True)] == [True] * 3 + [
        False
    ] * 4
    assert SCALES["clamp"].covers(99)
    assert not SCALES["clamp"].covers("x")


def test_an_explicit_map_matches_text_as_it_is_and_numbers_by_value() -> None:
    assert (LETTERS.level("A"), LETTERS.level("E"), LETTERS.count) == (1, 5, 5)
    assert [SCORES.level(value) for value in (1, "1.0", Decimal("2.50"), "3.5")] == [1, 1, 2, 3]
    assert SCORES.canonical("1.0") == SCORES.canonical(1)
    mixed = scale({"by": {"1": 1, "?": 2, True: 3}})
    assert [mixed.level(value) for value in (1, "1", "?", True, "true")] == [1, 1, 2, 3, 3]
    for value in ("1.0", "a", "", 7, None):
        assert not mixed.covers(value)
    assert LETTERS.memberships("A") == LETTERS.exact_memberships("A") == ()


def test_frequencies_make_rare_or_common_values_sensitive() -> None:
    assert [RARE.level(value) for value in ("HIV", "gout", "cold", "flu")] == [5, 5, 3, 1]
    common = scale({"by": "frequency", "sensitive": "common"}, list(DISEASES))
    assert [common.level(value) for value in ("HIV", "gout", "cold", "flu")] == [1, 1, 3, 5]
    assert not RARE.covers("measles")
    assert RARE.exact_memberships("HIV") == (1, 0, 0, 0, 0)


def test_frequencies_count_equal_values_together() -> None:
    one = scale({"by": "frequency", "sensitive": "rare"}, [1, Decimal("1.0"), "1", "x", "x", "x"])
    assert (one.level(1), one.level("1"), one.level("x")) == (3, 5, 1)
    text = scale({"by": "frequency", "sensitive": "rare"}, ["1", "1.0", "2", "x"], number=True)
    assert (text.level("1.00"), text.level("2")) == (1, 5)
    assert not text.covers("x")


def test_fuzzy_sets_of_the_policy() -> None:
    assert [SETS.level(value) for value in (0, 1, Decimal("1.4"), Decimal("1.5"), "2", "8.5")] == [
        1,
        1,
        1,
        3,
        3,
        1,
    ]
    assert (SETS.count, SETS.exact_memberships("1.75")) == (3, (Fraction(1, 4), 0, Fraction(3, 4)))
    for value in (-1, Decimal("2.5"), 5, "x"):
        assert not SETS.covers(value)
    assert [NEAREST.level(value) for value in (-9, "2.9", 3, "3.1", 99)] == [1, 1, 2, 2, 2]


@pytest.mark.parametrize(
    "spec",
    [
        {},
        {"domain": [0, 4]},
        {"domain": [4, 0], "sensitive": "low"},
        {"domain": [0, 4], "sensitive": "rare"},
        {"domain": [0, 4], "sensitive": "low", "by": {"A": 1}},
        {"by": "frequency"},
        {"by": "frequency", "sensitive": "low"},
        {"by": "frequency", "sensitive": "rare", "outside": "clamp"},
        {"by": {}},
        {"by": {"A": 0}},
        {"by": {"A": 1}, "sensitive": "low"},
        {"by": {1: 1, "1.0": 2}},
        {"sets": []},
        {"sets": [{"level": 1, "shape": [0, 1]}]},
        {"sets": [{"level": 1, "shape": [0, 2, 1]}]},
        {"sets": [{"level": 0, "shape": [0, 1, 2]}]},
    ],
    ids=str,
)
def test_rules_that_are_refused(spec: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        Levels.model_validate(spec)


def test_the_policy_s_form_has_a_schema_and_round_trips() -> None:
    assert Levels.model_json_schema()["additionalProperties"] is False
    for spec in (
        {"domain": [0, "0.1"], "sensitive": "low"},
        {"by": {1: 2}},
        {"sets": [{"level": 1, "shape": [0, 1, "4/3"]}]},
    ):
        stated = Levels.model_validate(spec)
        assert Levels.model_validate(json.loads(stated.model_dump_json())) == stated


# Facts


@pytest.mark.parametrize("name", SCALES)
def test_facts_are_plain_data_that_make_the_same_scale(name: str) -> None:
    one = SCALES[name]
    again = scale_from_facts(json.loads(json.dumps(one.facts())))
    assert again.facts() == one.facts()
    assert (again.count, again.warnings) == (one.count, one.warnings)
    for value in PROBES:
        for ask in ("level", "covers", "canonical", "exact_memberships"):
            assert answer(getattr(again, ask), value) == answer(getattr(one, ask), value)


@pytest.mark.parametrize(
    "facts", [{}, {"kind": "x"}, {"kind": "domain", "domain": ["1e99999999", "2"]}, {"kind": "map"}]
)
def test_broken_facts_make_no_scale(facts: dict[str, Any]) -> None:
    with pytest.raises((KeyError, ValueError)):
        scale_from_facts(facts)


# The domain of a sensitive attribute


def test_a_sensitive_domain_has_a_code_for_each_value_and_its_level() -> None:
    values = Values(["3.9", Decimal("3.90"), 0, None, "9", "x"])
    domain = build("$.gpa", values, GPA)
    assert (domain.values, domain.levels, domain.level_count) == ((0, Decimal("3.9")), (5, 1), 5)
    assert domain.code_of("3.90") == domain.code_of(Numeral("39e-1")) == 1
    for value in ("9", "x", None, True):
        with pytest.raises(Uncovered):
            domain.code_of(value)


def test_codes_do_not_depend_on_the_order_of_the_values() -> None:
    values: list[Scalar] = ["b", 2, "a", Decimal("1.50"), True, "2"]
    domain = SensitiveDomain.build("$.x", Values(values))
    assert domain.values == (Decimal("1.5"), 2, "2", "a", "b", "true")
    assert SensitiveDomain.build("$.x", Values(values[::-1])) == domain
    assert [domain.code_of(value) for value in (2, "2", True)] == [1, 2, 5]
    assert domain.levels is None
    assert SensitiveDomain("$.x", domain.values).code_of("a") == 3


def test_text_is_a_number_where_the_policy_says_so() -> None:
    domain = build("$.x", ["1", "1.0", "x"], None, number=True)
    assert (domain.values, domain.code_of("1.00")) == ((1,), 0)


def test_a_map_leaves_out_the_values_without_a_level() -> None:
    domain = build("$.grade", ["A", "Z", "E"], LETTERS)
    assert (domain.values, domain.levels) == (("A", "E"), (1, 5))


def test_trapezoids_have_vertical_edges_and_points() -> None:
    edge = Trapezoid(*map(Fraction, (1, 1, 2, 2)))
    point = Trapezoid(*map(Fraction, (1, 1, 1, 1)))
    assert (
        [edge.degree(value) for value in (0, 1, 2, 3)]
        == [0, 1, 1, 0]
        == [edge.shown(value) for value in (0, 1, 2, 3)]
    )
    assert (
        [point.degree(value) for value in (0, 1, 2)]
        == [0, 1, 0]
        == [point.shown(value) for value in (0, 1, 2)]
    )
    assert edge.distance(Fraction(9, 2)) == Fraction(5, 2)

"""Fuzzy sets: exact degrees decide, scikit-fuzzy's are the same wherever floats can tell."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hierdata.documents.document import Scalar
from hierdata.domains.levels import Levels, LevelScale
from hierdata.domains.membership import Trapezoid, breakpoints, knots, value_level, value_sets
from hierdata.domains.number import canonical, parameter
from tests.domains.degrees import exact_memberships

ROUNDING = 1e-12


def scale(spec: dict[str, Any]) -> LevelScale:
    return Levels.model_validate(spec).compile({})


@given(
    st.fractions(-100, 100, max_denominator=60),
    st.fractions(Fraction(1, 60), 100, max_denominator=60),
    st.fractions(-1, 2),
)
def test_the_level_is_that_of_the_highest_degree_the_upper_one_on_a_tie(
    low: Fraction, width: Fraction, place: Fraction
) -> None:
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
    exact, shown = exact_memberships(one, value), one.memberships(value)
    assert len(exact) == len(shown)
    assert all(abs(float(degree) - other) <= ROUNDING for degree, other in zip(exact, shown, strict=True))


def highest(degrees: tuple[float, ...]) -> int:
    return max(range(len(degrees)), key=lambda i: (degrees[i], i)) + 1


@pytest.mark.parametrize(
    ("low", "high"),
    [("0", "4"), ("0", "1"), ("-12.5", "990"), ("1000000000", "1000000000.001"), ("-1e-30", "0")],
)
@pytest.mark.parametrize("step", [11, pytest.param(1, marks=pytest.mark.full)])
def test_scikit_fuzzy_and_fractions_agree_on_a_dense_grid(low: str, high: str, step: int) -> None:
    ends = parameter(low), parameter(high)
    one = numeric(*ends)
    # Thousandths hit no breakpoint, so that scikit-fuzzy's degrees decide the level too.
    for i in range(-50, 1051, step):
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
    inside = exact_memberships(one, value)
    if any(inside):
        assert inside[one.level(value) - 1] == max(inside)


def test_trapezoids_have_vertical_edges_and_points() -> None:
    edge = Trapezoid(*map(Fraction, (1, 1, 2, 2)))
    point = Trapezoid(*map(Fraction, (1, 1, 1, 1)))
    assert (
        [edge.degree(value) for value in (0, 1, 2, 3)]
        == [0, 1, 1, 0]
        == [edge.fuzzy_degree(value) for value in (0, 1, 2, 3)]
    )
    assert (
        [point.degree(value) for value in (0, 1, 2)]
        == [0, 1, 0]
        == [point.fuzzy_degree(value) for value in (0, 1, 2)]
    )
    assert edge.distance(Fraction(9, 2)) == Fraction(5, 2)

"""Numbers near each other, beside the twin that draws every interval."""

from __future__ import annotations

from collections import Counter
from decimal import Decimal
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hierdata.domains.number import exact
from hierdata.domains.proximity import Neighbourhoods, fullest_window
from tests import naive_semantics as naive

NUMBERS = st.lists(
    st.integers(-20, 20) | st.integers(-40, 40).map(lambda tenths: exact(Decimal(tenths) / 10)),
    min_size=1,
    unique=True,
)
RADII = st.integers(0, 30).map(lambda tenths: Fraction(tenths, 10)) | st.fractions(0, 9, max_denominator=7)
SHARES = st.fractions(0, 1, max_denominator=9)


@given(NUMBERS, RADII, st.data())
def test_absolute_neighbourhoods(
    numbers: list[int | Fraction], radius: Fraction, data: st.DataObject
) -> None:
    values = data.draw(st.lists(st.sampled_from(numbers), max_size=12))
    counts = Counter(map(numbers.index, values))
    sizes = Neighbourhoods.absolute(numbers, radius).sizes(counts)
    assert {numbers[code]: size for code, size in sizes.items()} == naive.within_epsilon(values, radius)


@given(NUMBERS, SHARES, st.data())
def test_relative_neighbourhoods(numbers: list[int | Fraction], share: Fraction, data: st.DataObject) -> None:
    values = data.draw(st.lists(st.sampled_from(numbers), max_size=12))
    counts = Counter(map(numbers.index, values))
    sizes = Neighbourhoods.relative(numbers, share).sizes(counts)
    expected = naive.within_epsilon(values, share, relative=True)
    assert {numbers[code]: size for code, size in sizes.items()} == expected


@given(NUMBERS, RADII)
def test_absolute_reach_is_symmetric_and_ordered(numbers: list[int | Fraction], radius: Fraction) -> None:
    around = Neighbourhoods.absolute(numbers, radius)
    assert sorted(around.rank) == list(range(len(numbers)))
    by_rank = [numbers[code] for code in sorted(range(len(numbers)), key=around.rank.__getitem__)]
    assert by_rank == sorted(numbers)
    for a, (first, last) in enumerate(around.reach):
        assert first <= a <= last
        assert {b for b in range(len(numbers)) if abs(by_rank[a] - by_rank[b]) <= radius} == set(
            range(first, last + 1)
        )


@given(st.lists(st.integers(-20, 20) | st.fractions(-5, 5, max_denominator=6)), RADII)
def test_the_fullest_window(values: list[int | Fraction], width: Fraction) -> None:
    assert fullest_window(values, width) == naive.fullest_window(values, width)


@pytest.mark.parametrize(
    ("low", "high", "delta"),
    [("0.1", "1.1", "0.5"), ("0.2", "0.8", "0.3"), ("0.3", "0.9", "0.3"), ("0.2", "1.6", "0.7")],
)
def test_decimals_that_touch_are_near_where_floats_err(low: str, high: str, delta: str) -> None:
    floats_agree = float(high) - float(low) <= 2 * float(delta) and float(low) + float(delta) >= float(
        high
    ) - float(delta)
    assert not floats_agree, "no case for exact numbers"
    numbers = (exact(low), exact(high))
    assert Neighbourhoods.absolute(numbers, 2 * Fraction(delta)).reach == ((0, 1), (0, 1))
    assert Neighbourhoods.absolute(numbers, 2 * Fraction(delta) - Fraction(1, 10**9)).reach == (
        (0, 0),
        (1, 1),
    )


def test_codes_that_do_not_occur_have_no_neighbourhood() -> None:
    assert Neighbourhoods.absolute((1, 2), Fraction(5)).sizes({0: 0, 1: 3}) == {1: 3}


def test_a_relative_interval_never_passes_zero() -> None:
    assert Neighbourhoods.relative((0, 1, 5), Fraction(1)).reach == ((0, 0), (0, 1), (0, 2))
    with pytest.raises(ValueError, match="must be at most 1"):
        Neighbourhoods.relative((1, 2), Fraction(11, 10))

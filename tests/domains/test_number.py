"""Exact numbers in and out."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hierdata.documents.document import Numeral, Scalar
from hierdata.domains.base import Uncovered
from hierdata.domains.number import (
    MAX_DIGITS,
    canonical,
    decimals,
    exact,
    identity,
    parameter,
    plain,
)


@pytest.mark.parametrize(
    ("value", "number"),
    [
        (7, 7),
        ("007", 7),
        ("-0.50", Fraction(-1, 2)),
        ("+1", 1),
        (".5", Fraction(1, 2)),
        ("5.", 5),
        ("1.5E1", 15),
        (Decimal("1e-2"), Fraction(1, 100)),
        (Numeral("100e-2"), 1),
        (Decimal("123456789012345678901234567890.1"), Fraction(1234567890123456789012345678901, 10)),
    ],
)
def test_numbers_are_read_exactly(value: Scalar, number: Any) -> None:
    assert exact(value) == number
    assert isinstance(exact(value), int) == (Fraction(number).denominator == 1)


@pytest.mark.parametrize(
    "value",
    [
        None,
        True,
        "",
        " 1",
        "1\n",
        "1_000",
        "1,5",
        "0x10",
        "nan",
        "inf",
        "-Infinity",
        "1e",
        "٣",
        "1/2",
        "1e1000",
        "1e-1001",
        "1" * (MAX_DIGITS + 1),
        Decimal("NaN"),
        Decimal("sNaN"),
        Decimal("Infinity"),
        Decimal("1e999999"),
        Decimal("1e-999999"),
        10**MAX_DIGITS,
    ],
)
def test_what_is_no_number_of_bounded_length_is_not_covered(value: Scalar) -> None:
    with pytest.raises(Uncovered):
        exact(value)


@given(st.decimals(allow_nan=False, allow_infinity=False, places=4, min_value=-(10**40), max_value=10**40))
def test_plain_spellings_read_back_and_have_nothing_to_spare(number: Decimal) -> None:
    text = plain(exact(number))
    assert Decimal(text) == number
    assert exact(text) == exact(number)
    assert "." not in text or not text.endswith("0")
    assert canonical(exact(number)) == number
    assert str(canonical(exact(number))) == text or "E" in str(canonical(exact(number)))


@given(st.fractions(max_denominator=400))
def test_a_fraction_is_a_decimal_number_only_if_2_and_5_divide_its_denominator(number: Fraction) -> None:
    digits = decimals(number)
    if digits is None:
        assert plain(number) == str(number)
    else:
        assert (number * 10**digits).denominator == 1
        assert digits == 0 or (number * 10 ** (digits - 1)).denominator > 1
    assert parameter(plain(number)) == number


@pytest.mark.parametrize("value", ["1/0", "x", None, True, [], "nan", float("inf"), "1e9999", "٣/٤"])
def test_parameters_that_are_refused(value: Any) -> None:
    with pytest.raises(ValueError, match="must be a number"):
        parameter(value)


def test_identity_makes_equal_values_one() -> None:
    assert identity(1) == identity(Decimal("1.0")) != identity("1")
    assert identity("1.0", number=True) == identity(1, number=True)
    assert identity(True) == identity("true")
    with pytest.raises(Uncovered):
        identity("one", number=True)
    with pytest.raises(Uncovered):
        identity(True, number=True)

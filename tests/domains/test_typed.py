"""Values of MongoDB's types in every domain: one spelling and one type for equal values."""

from __future__ import annotations

import pickle
from collections.abc import Sequence
from copy import deepcopy
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hierdata.documents.days import date_of, day_of, spell_day, year_month_day
from hierdata.documents.document import Scalar
from hierdata.documents.scalars import (
    TYPED,
    Binary,
    DateTime,
    Decimal128,
    Decimal128Word,
    Double,
    DoubleWord,
    Int64,
    ObjectId,
    Regex,
    Timestamp,
    Undefined,
    Uuid,
)
from hierdata.domains import DOMAINS
from hierdata.domains.base import Hierarchy, Uncovered
from hierdata.domains.levels import Levels
from hierdata.domains.sensitive import SensitiveDomain
from hierdata.records.values import Missing, Values

OID = ObjectId("5f0c1b2a3d4e5f6071829304")


def compiled(kind: str, spec: Any, values: Sequence[Scalar]) -> Hierarchy:
    return DOMAINS[kind].model_validate(spec).compile(Values(values), Path())


def shown(kind: str, spec: Any, values: Sequence[Scalar]) -> list[str]:
    """What each value is published as where nothing is generalized."""
    tree = compiled(kind, spec, values)
    return [repr(tree.labels[tree.node_of(value)]) for value in values]


@pytest.mark.parametrize(
    ("kind", "spec", "values", "published"),
    [
        ("interval", {"steps": [1, 5]}, [Int64(1), Int64(2)], ["1", "2"]),
        ("interval", {"steps": [1, 5]}, [Double("1.0"), Int64(1), "2"], ["1", "1", "2"]),
        ("interval", {"steps": [1], "decimals": True}, [Double("1.0"), 2], ["'[1, 2)'", "'[2, 3)'"]),
        ("interval", {"steps": [1]}, [Decimal128("1.0"), Decimal128("1.00")], ["1"] * 2),
        ("interval", {"steps": [1]}, [Double("-0.0"), Double("0.0")], ["0"] * 2),
        ("interval", {"steps": [1], "domain": [0, 2], "outside": "clamp"}, [Int64(9), Int64(1)], ["2", "1"]),
        ("flat", True, [Int64(1), Double("2.0"), "x"], ["1", "2", "'x'"]),
        ("flat", True, [Double("2.50"), "2.5", True, "true"], ["Decimal('2.5')", "'2.5'", "True", "'true'"]),
        ("flat", True, [OID, "a"], [repr(OID), "'a'"]),
        ("flat", True, [OID, str(OID)], [repr(OID), repr(str(OID))]),
        ("flat", True, [DoubleWord("NaN"), Double("1.0")], ["DoubleWord('NaN')", "1"]),
        ("flat", True, [Undefined("undefined"), None], ["Undefined('undefined')", "None"]),
        ("flat", True, [Binary("AQ=="), Binary("05:AQ==")], ["Binary('AQ==')", "Binary('05:AQ==')"]),
        ("prefix", {"keep": [24]}, [OID, Uuid("a" * 8)], [repr(str(OID)), repr("a" * 8)]),
        ("prefix", {"keep": [5, 1]}, [Int64(48123), Double("48123.0")], ["'48123'"] * 2),
        ("taxonomy", {"tree": {"*": [str(OID), "1", "b"]}}, [OID, Double("1.0")], [repr(str(OID)), "'1'"]),
        (
            "taxonomy",
            {"tree": {"*": {"r": ["/^a/i", "1"]}}},
            [Regex("/^a/i"), Int64(1), 1],
            ["'/^a/i'", "'1'", "'1'"],
        ),
        (
            "date",
            {"steps": ["day", "month"]},
            [DateTime("2001-03-04T10:00:00Z"), "2001-03-04", "20010304102233.1234+0100"],
            ["'2001-03-04'"] * 3,
        ),
        (
            "date",
            {"steps": ["day"]},
            [Timestamp("2001-03-04T10:00:00Z,7"), DateTime("+010000-01-01T00:00:00Z")],
            ["'2001-03-04'", "'+010000-01-01'"],
        ),
    ],
)
def test_a_value_is_published_alike_whatever_else_there_is(
    kind: str, spec: Any, values: list[Scalar], published: list[str]
) -> None:
    assert shown(kind, spec, values) == published
    for value, label in zip(values, published, strict=True):
        assert shown(kind, spec, [value]) == [label], "a record that is suppressed must not change it"


@pytest.mark.parametrize(
    ("step", "values", "joined"),
    [
        ("month", ["+010000-02-03T00:00:00Z", "+010000-02-28T00:00:00Z"], "+010000-02"),
        ("year", ["-000005-01-01T00:00:00Z", "-000005-12-31T00:00:00Z"], "-000005"),
        ("decade", ["0001-01-01T00:00:00Z", "0009-12-31T00:00:00Z"], "[0000-01-01, 0009-12-31]"),
        ("quarter", ["9999-10-01T00:00:00Z", "9999-12-31T00:00:00Z"], "[9999-10-01, 9999-12-31]"),
        ("week", ["9999-12-31T00:00:00Z", "+010000-01-01T00:00:00Z"], "[9999-12-27, +010000-01-02]"),
        ("century", ["+010000-01-01T00:00:00Z", "+010099-01-01T00:00:00Z"], "[+010000-01-01, +010099-12-31]"),
    ],
)
def test_periods_have_no_end(step: str, values: list[str], joined: str) -> None:
    tree = compiled("date", {"steps": [step]}, [DateTime(value) for value in values])
    assert tree.labels[tree.join(*(tree.node_of(DateTime(value)) for value in values))] == joined


@given(st.integers(-(10**8), 10**8))
def test_days_and_dates_are_inverse(number: int) -> None:
    assert day_of(*date_of(number)) == number == day_of(*year_month_day(spell_day(number)))


@given(st.integers(-(2**63), 2**63 - 1))
def test_times_and_milliseconds_are_inverse(milliseconds: int) -> None:
    time = DateTime.of(milliseconds)
    assert time.milliseconds == milliseconds
    assert DateTime.read(time) == time


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_a_double_is_the_number_that_it_spells(number: float) -> None:
    value = Double.of(number)
    assert float(value) == number
    assert Double.exactly(Fraction(value)) == value  # type: ignore[arg-type]


@given(st.decimals(allow_nan=False, allow_infinity=False, places=4, min_value=-(10**28), max_value=10**28))
def test_a_decimal128_is_found_again_by_its_number(number: Decimal) -> None:
    assert Decimal128.exactly(Fraction(number)) == number


@pytest.mark.parametrize("value", [OID, Int64(2**40), Double("1.5"), Decimal128("1.50"), DoubleWord("NaN")])
def test_a_value_travels_with_its_type(value: Scalar) -> None:
    for copy in (pickle.loads(pickle.dumps(value, 5)), deepcopy(value)):
        assert (type(copy), repr(copy)) == (type(value), repr(value))
    assert type(value) in TYPED


@pytest.mark.parametrize("word", [DoubleWord("NaN"), Decimal128Word("-Infinity")])
def test_what_is_no_number_has_no_place_among_numbers(word: Scalar) -> None:
    tree = compiled("interval", {"steps": [1]}, [Double("1.0"), word])
    with pytest.raises(Uncovered):
        tree.node_of(word)
    assert word in Missing([str(word)])


def test_sensitive_values_are_equal_whatever_their_type() -> None:
    scale = Levels.model_validate({"by": {"1": 1, "2": 5}}).compile({})
    values = Values([Int64(1), Double("1.0"), Decimal128("1.00"), 2])
    domain = SensitiveDomain.build("$.a", values, scale)
    assert (domain.values, domain.levels, domain.reference) == ((1, 2), (1, 5), (3, 1))
    dates = SensitiveDomain.build("$.d", Values([DateTime("2001-03-04T00:00:00Z"), OID]))
    assert [dates.code_of(value) for value in (DateTime("2001-03-04T00:00:00Z"), OID)] == [0, 1]


def test_missing_values_are_told_by_text_and_by_number() -> None:
    missing = Missing(["undefined", "-9"])
    values = [Undefined("undefined"), Int64(-9), Double("-9.0"), OID]
    assert missing.clean_values(values) == [None, None, None, OID]

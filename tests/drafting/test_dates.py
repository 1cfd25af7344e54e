"""Formats of dates that a draft finds, and where it asks or leaves the field as it is."""

from __future__ import annotations

from typing import Any

from hierdata.domains import Date
from hierdata.drafting.dates import DateLooks
from tests.cases import for_each

DAYS = [f"{day:02}.{day % 12 + 1:02}.19{day + 40}" for day in range(1, 28)]


def found(*values: str) -> dict[str, Any] | None:
    looks = DateLooks()
    for bits, value in enumerate(values):
        looks.look(value, bits)
    reading = looks.reading()
    if reading is not None:
        Date.model_validate(reading.domain)
    return None if reading is None else {**reading.domain, "undecided": reading.undecided}


@for_each(
    "values, format",
    [
        (DAYS, "%d.%m.%Y"),
        (["1/3/2014", "11/13/2014"], "%m/%d/%Y"),
        (["3/1/2014", "13/11/2014"], "%d/%m/%Y"),
        (["2014/03/01"], "%Y/%m/%d"),
        (["01-JAN-14", "13-Feb-14"], "%d-%b-%y"),
        (["1/13/2014 4:05:06 PM"], "%m/%d/%Y %I:%M:%S %p"),
        (["March 1, 2014"], "%B %d, %Y"),
        (["2014-03-01", "31.1.2014"], ["iso", "%d.%m.%Y"]),
        (["2014-03-01T10:00:00+01:00", "2014-03", "2014"], ["iso", "%Y-%m", "%Y"]),
        (["2014-03", "2014-04"], "%Y-%m"),
        (["2014-03-01", "20140301T100000Z"], None),
    ],
)
def test_formats_that_are_found(values: list[str], format: object) -> None:
    domain = found(*values)
    assert domain is not None
    assert domain.get("format") == format
    assert not domain["undecided"]


def test_where_the_values_do_not_decide_the_draft_asks() -> None:
    domain = found("1/3/2014", "2/4/2014")
    assert domain is not None
    assert (domain["format"], domain["undecided"]) == ("%d/%m/%Y", ("%m/%d/%Y",))


@for_each(
    "values",
    [
        ["13/1/2014", "1/13/2014"],
        ["2014", "2015"],
        ["2345-7", "1751-7"],
        ["2014-03-01", "unknown"],
        ["1898-00-00", "2014-03-01"],
        ["Anna 2", "Bert 3"],
        ["12.2001"],
        [],
    ],
)
def test_what_is_no_column_of_dates(values: list[str]) -> None:
    assert found(*values) is None


def test_a_few_impossible_days_are_counted() -> None:
    domain = found(*DAYS, "00.00.1900")
    assert domain is not None
    assert domain["missing"] == "impossible"
    looks = DateLooks()
    for bits, value in enumerate([*DAYS, "00.00.1900", "31.02.1901", "31.02.1901"]):
        looks.look(value, min(bits, len(DAYS) + 1))
    reading = looks.reading()
    assert reading is not None
    assert reading.impossible == 2

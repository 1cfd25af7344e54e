"""Dates as others write them: stated formats, partial dates, zones, days that no calendar has."""

from __future__ import annotations

from pathlib import Path

import pytest
from pydantic import ValidationError

from hierdata.documents.document import Scalar
from hierdata.documents.scalars import DateTime
from hierdata.domains import Date
from hierdata.domains.base import Uncovered
from hierdata.domains.date_formats import parse_day
from hierdata.testing.domains import check_domain
from tests.cases import for_each

STEPS = ["day", "month", "year", "decade"]


def published(value: Scalar, *formats: str, steps: list[str] = STEPS, **stated: object) -> Scalar:
    domain = Date.model_validate({"steps": steps, "format": list(formats), **stated})
    tree = domain.compile({value: 1, "1999-09-09": 1}, Path())
    return tree.labels[tree.node_of(value)]


@for_each(
    "value, format, label",
    [
        ("3.1.2001", "%d.%m.%Y", "2001-01-03"),
        ("03.01.2001", "%d.%m.%Y", "2001-01-03"),
        ("1/3/2001", "%m/%d/%Y", "2001-01-03"),
        ("1/3/2001 4:05:06 PM", "%m/%d/%Y %I:%M:%S %p", "2001-01-03"),
        ("03-jan-01", "%d-%b-%y", "2001-01-03"),
        ("03-JAN-69", "%d-%b-%y", "1969-01-03"),
        ("3 January 2001", "%d %B %Y", "2001-01-03"),
        ("Wed, 03 Jan 2001 10:00:00 +0100", "%a, %d %b %Y %H:%M:%S %z", "2001-01-03"),
        ("20010103", "%Y%m%d", "2001-01-03"),
        (20010103, "%Y%m%d", "2001-01-03"),
        ("2001003", "%Y%j", "2001-01-03"),
        ("01/2001", "%m/%Y", "2001-01"),
        ("2001", "%Y", "2001"),
        ("100 % 2001", "100 %% %Y", "2001"),
        (DateTime("2001-01-03T10:00:00Z"), "%d.%m.%Y", "2001-01-03"),
    ],
)
def test_a_format_reads_as_strptime_does(value: Scalar, format: str, label: str) -> None:
    assert published(value, format) == label


@for_each(
    "value, format",
    [
        ("2001-01-03", "%d.%m.%Y"),
        ("3.1.01", "%d.%m.%Y"),
        ("3.1.2001 ", "%d.%m.%Y"),
        ("31.2.2001", "%d.%m.%Y"),
        ("2001366", "%Y%j"),
        ("112001", "%d%m%Y"),
        (True, "%Y"),
        ("25:00 2001", "%H:%M %Y"),
    ],
)
def test_what_has_no_stated_format_is_not_covered(value: Scalar, format: str) -> None:
    with pytest.raises(Uncovered):
        published(value, format)


@for_each(
    "value",
    [
        *("2001-03-04T24:00", "2001-03-04T24:00:00Z", "2001-03-04T23:59:60Z", "20010304T100000Z"),
        *("20010304T1000+01:00", "20010304240000", "2001-03-04 10:00:00 UTC", "2001-03-04t10:00z"),
        *("2001-03-04T10:00+01", "2001-03-04T10:00:00+01:00[Europe/Vienna]", "2001-03-04 10:00:00.5 +0100"),
    ],
)
def test_the_day_counts_as_written(value: str) -> None:
    assert parse_day(value) == parse_day("2001-03-04")


@for_each(
    "value", ["2001-03-04T24:01", "2001-03-04T10:61", "200103042401", "2001-03-04T10:00:61", "1898-00-00"]
)
def test_no_time_and_no_day(value: str) -> None:
    with pytest.raises(Uncovered):
        parse_day(value)


@for_each(
    "formats",
    [
        ["%d/%m/%Y", "%m/%d/%Y"],
        ["%d/%m/%y", "%m/%d/%y"],
        ["%y%m%d", "%d%m%y"],
        ["%m%Y", "%Y%m"],
        ["iso", "%Y%d%m"],
        ["%d %Q %Y"],
        ["%d.%Y"],
        ["%H:%M"],
        ["%d%d%m%Y"],
        ["%m %b %Y"],
        ["%"],
    ],
)
def test_formats_that_are_refused(formats: list[str]) -> None:
    with pytest.raises(ValidationError):
        Date(steps=("day",), format=tuple(formats))


def test_partial_dates_keep_their_own_precision() -> None:
    values = ["1974", "1974-12", "1974-12-25", "3.1.2001", "1980-01-01T24:00", "1990"]
    domain = Date(steps=("day", "month", "year", "decade"), format=("%d.%m.%Y", "iso", "%Y-%m", "%Y"))
    check_domain(domain, values)
    tree = domain.compile(dict.fromkeys(values, 1), Path())
    assert [tree.labels[tree.node_of(value)] for value in values[:4]] == [*values[:3], "2001-01-03"]
    assert tree.labels[tree.join(tree.node_of("1974"), tree.node_of("1974-12-25"))] == "1974"
    labels = domain.labels(Path())
    assert labels.is_finest("1974")
    assert labels.is_finest("1974-12")
    assert not labels.is_finest("3.1.2001")
    assert not Date(steps=("day", "year"), format=("%d.%m.%Y",)).labels(Path()).is_finest("1974")


def test_a_partial_date_is_published_by_the_first_step_that_holds_it() -> None:
    check_domain(
        Date(steps=("week", "month", "decade"), format=("iso", "%Y-%m", "%Y")),
        ["2001", "2001-03", "2001-03-30", "2001-04-01"],
    )
    formats = ("iso", "%Y-%m", "%Y")
    assert published("2001", *formats, steps=["day", "decade"]) == "[2000-01-01, 2009-12-31]"
    assert published("2001", *formats, steps=["day", "month"]) == "*"
    assert not Date(steps=("year",), format=formats).has_partial_values
    assert published("2001", *formats, steps=["year"]) == published("2001-07-08", *formats, steps=["year"])


def test_days_that_no_calendar_has_are_missing_where_the_policy_says_so() -> None:
    assert published("1898-00-00", "iso", missing="impossible") is None
    assert published("31.2.2001", "%d.%m.%Y", "iso", missing="impossible") is None
    for value in ("unknown", "1898-00", "1.1.2001"):
        with pytest.raises(Uncovered):
            published(value, "iso", missing="impossible")


def test_two_digits_mean_the_last_years_up_to_a_stated_one() -> None:
    """By default those that strptime means; only a format with such years can have a last one."""
    for until, text, year in ((None, "68", 2068), (None, "69", 1969), (2026, "27", 1927), (1900, "00", 1900)):
        domain = Date(steps=("year",), format=("%d.%m.%y",), until=until)
        tree = domain.compile({f"1.2.{text}": 1}, Path())
        assert tree.labels[tree.node_of(f"1.2.{text}")] == str(year)
    with pytest.raises(ValidationError, match="until needs a format with a year of two digits"):
        Date(steps=("year",), until=2026)

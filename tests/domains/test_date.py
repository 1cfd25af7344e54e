"""Dates: ISO text, periods, spellings."""

from __future__ import annotations

from datetime import date
from fractions import Fraction
from itertools import product
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from hierdata.documents.document import Scalar
from hierdata.domains import Date
from hierdata.domains.base import Hierarchy, Uncovered

ALL = ["day", "month", "quarter", "year", "decade", "century"]


def over(values: list[str], steps: list[str]) -> Hierarchy:
    return Date.model_validate({"steps": steps}).compile(dict.fromkeys(values, 1), Path())


def joined(tree: Hierarchy, a: str, b: str) -> Scalar:
    return tree.labels[tree.join(tree.node_of(a), tree.node_of(b))]


@pytest.mark.parametrize(
    ("other", "label"),
    [
        ("2001-03-04", "2001-03-04"),
        ("2001-03-31", "2001-03"),
        ("2001-01-01", "[2001-01-01, 2001-03-31]"),
        ("2001-12-31", "2001"),
        ("2009-07-01", "[2000-01-01, 2009-12-31]"),
        ("2099-07-01", "[2000-01-01, 2099-12-31]"),
        ("1999-12-31", "*"),
    ],
)
def test_periods_are_spelled_as_iso_text_or_by_their_ends(other: str, label: str) -> None:
    assert joined(over(["2001-03-04", other], ALL), "2001-03-04", other) == label


def test_weeks_begin_on_monday_and_need_not_lie_in_a_month() -> None:
    tree = over(["2024-02-29", "2024-03-03", "2024-03-04"], ["day", "week", "month"])
    assert joined(tree, "2024-02-29", "2024-03-03") == "[2024-02-26, 2024-03-03]"
    assert joined(tree, "2024-03-03", "2024-03-04") == "2024-03"


def test_a_finest_week_over_the_end_of_a_month_lies_in_no_month() -> None:
    tree = over(["2024-03-03", "2024-03-04", "2024-03-11"], ["week", "month"])
    assert joined(tree, "2024-03-04", "2024-03-11") == "2024-03"
    assert joined(tree, "2024-03-03", "2024-03-04") == "*"
    assert tree.at_depth(1)[tree.node_of("2024-03-03")] == 0


def test_nothing_finer_than_the_first_step_is_published() -> None:
    tree = over(["1915-07-03", "1941-07-29"], ["year", "decade"])
    assert [joined(tree, day, day) for day in ("1915-07-03", "1941-07-29")] == ["1915", "1941"]
    assert tree.axis is not None
    ends = map(tree.node_of, ("1915-07-03", "1941-07-29"))
    assert tree.axis.label(*ends) == "[1915-01-01, 1941-12-31]"


def test_a_time_is_cut_to_its_day() -> None:
    tree = over(["2001-03-04", "2001-03-09"], ["day", "month"])
    for value in ("2001-03-04T23:59:59.5Z", "2001-03-04 10:00", "2001-03-04T10:00:00+02:00", "2001-03-04Z"):
        assert tree.labels[tree.node_of(value)] == "2001-03-04"


@pytest.mark.parametrize(
    "value",
    [
        "2001-02-30",
        "2001-3-4",
        "20010230",
        "200103",
        "2001030425",
        "+2001-03-04",
        "2001-03",
        "2001",
        "2001-03-04T25:00",
        " 2001-03-04",
        "",
        2001,
        True,
    ],
)
def test_what_is_no_iso_date_is_not_covered(value: Scalar) -> None:
    with pytest.raises(Uncovered):
        over(["2001-03-04"], ["month"]).node_of(value)


def test_losses_are_lengths_over_the_collection_s_span() -> None:
    tree = over(["2001-01-01", "2001-02-28", "2001-03-02"], ["day", "month", "year"])
    assert tree.lm[tree.join(tree.node_of("2001-01-01"), tree.node_of("2001-01-01"))] == 0
    loss = {str(label): loss for label, loss in zip(tree.labels, tree.lm, strict=True)}
    assert (loss["2001-01"], loss["2001-02"], loss["2001"]) == (Fraction(30, 60), Fraction(27, 60), 1)


@pytest.mark.parametrize("steps", [[], ["month", "day"], ["month", "month"], ["fortnight"]])
def test_rules_that_are_refused(steps: list[str]) -> None:
    with pytest.raises(ValidationError):
        Date.model_validate({"steps": steps})


KEYS = {
    "month": lambda day: (day.year, day.month),
    "quarter": lambda day: (day.year, (day.month - 1) // 3),
    "year": lambda day: day.year,
    "decade": lambda day: day.year // 10,
    "century": lambda day: day.year // 100,
}


@given(st.lists(st.dates(), min_size=1, max_size=8, unique=True))
def test_two_days_meet_in_the_shortest_period_that_holds_both(days: list[date]) -> None:
    tree = over([day.isoformat() for day in days], ALL)
    for a, b in product(days, repeat=2):
        row = tree.ancestors[tree.node_of(a.isoformat())]
        join = tree.join(tree.node_of(a.isoformat()), tree.node_of(b.isoformat()))
        shared = sum(key(a) == key(b) for key in KEYS.values())  # they nest
        assert row.index(join) == (len(ALL) if a == b else shared)

"""What published labels lose, by themselves; tests/naive_public.py has the twin for whole releases."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from hierdata.documents.document import Scalar
from hierdata.domains.base import Uncovered
from hierdata.domains.codes import Flat, Prefix
from hierdata.domains.date import Date
from hierdata.domains.interval import Interval
from hierdata.domains.published import split_set
from hierdata.domains.taxonomy import Taxonomy

TREE = Taxonomy(tree={"*": {"numbers": ["1", "2", "3"], "letters": ["a", "b"]}})


def losses(domain: Any, labels: list[Scalar], sets: bool = False) -> list[Fraction]:
    loss: Callable[[Scalar], Fraction] = domain.published_losses(labels, Path(), sets=sets)
    return [loss(label) for label in labels]


@pytest.mark.parametrize(
    ("domain", "labels", "expected"),
    [
        (Interval(steps=[1, 5], domain=[0, 100]), [7, "[5, 9]", "*"], ["0", "1/25", "1"]),
        (Interval(steps=[5]), [10, "[10, 14]", "[25, 29]", "*"], ["0", "4/19", "4/19", "1"]),
        (Interval(steps=["0.5"]), ["[0.5, 1.0)", "1.5"], ["1/2", "0"]),
        (Interval(steps=[5]), ["*", "*"], ["1", "1"]),
        (Date(steps=["month", "year"]), ["2001", "2001-12", "2001-12-31"], ["1", "30/364", "0"]),
        (Date(steps=["decade"]), ["[2000-01-01, 2009-12-31]", "*"], ["1", "1"]),
        (Prefix(keep=[3, 1]), ["48123", "481**", "4****", 481, "*"], ["0", "2/5", "4/5", "0", "1"]),
        (Flat(), ["a", True, 1, "*"], ["0", "0", "0", "1"]),
        (TREE, ["a", 1, "1.0", "numbers", "letters", "*"], ["0", "0", "0", "1/2", "1/4", "1"]),
    ],
    ids=str,
)
def test_a_label_alone(domain: Any, labels: list[Scalar], expected: list[str]) -> None:
    assert losses(domain, labels) == [Fraction(one) for one in expected]


@pytest.mark.parametrize(
    ("domain", "labels", "expected"),
    [
        (Interval(steps=[1]), ["[20, 25]", "{[20, 25], null}", "{30, null}"], ["1/2", "1/2", "0"]),
        (Flat(), ["{a, b}", '{"a, b", null}', "c"], ["1/4", "1/4", "0"]),
        (TREE, ["{1, 2}", "{1, numbers}", "{a, null}", "{numbers, letters}"], ["1/4", "1/2", "1/4", "1"]),
        (Prefix(keep=[2]), ["{48, 49}", "50"], ["1/2", "0"]),
    ],
    ids=str,
)
def test_sets_and_ranges(domain: Any, labels: list[Scalar], expected: list[str]) -> None:
    assert losses(domain, labels, sets=True) == [Fraction(one) for one in expected]


@pytest.mark.parametrize(
    ("domain", "label"),
    [
        (Interval(steps=[1]), "many"),
        (Date(steps=["year"]), "2001-13"),
        (TREE, "unknown"),
        (Date(steps=["year"]), 7),
    ],
    ids=str,
)
def test_a_label_of_no_domain_is_refused(domain: Any, label: Scalar) -> None:
    with pytest.raises(Uncovered):
        losses(domain, [label])


@pytest.mark.parametrize("label", ["{", "{}", "{a", '{"a}', "{a, ", "{[1, 2}"])
def test_a_malformed_set_is_refused(label: str) -> None:
    with pytest.raises(Uncovered):
        list(split_set(label))


def test_the_form_of_numbers_follows_from_the_policy() -> None:
    for labels in ([], [1, "[5, 9]"], ["[5, 10)", "1.5"]):
        assert Interval(steps=[1, 5]).describe(labels, Path())["form"] == "integer"
        assert Interval(steps=[1, 5], decimals=True).describe(labels, Path())["form"] == "decimal"
        assert Interval(steps=["0.5"]).describe(labels, Path())["form"] == "decimal"

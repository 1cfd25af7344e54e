"""The worked examples of the multi-level paper on fuzzy levels and LM, asserted on the package."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from hierdata.documents.document import Scalar
from hierdata.domains import Taxonomy
from hierdata.domains.base import Hierarchy
from hierdata.domains.levels import Levels, LevelScale
from hierdata.domains.membership import BREAKPOINTS, breakpoints, knots, value_level, value_sets
from tests.domains.degrees import exact_memberships
from tests.golden.cases import Case, agrees, load

GOLDEN = load("multilevel_hierarchical.json")
VALUE_LEVEL_OF_LETTER = GOLDEN.inputs["letter_grade_value_level"]


def ends(stated: dict[str, Any]) -> tuple[Fraction, Fraction]:
    return Fraction(stated["min"]), Fraction(stated["max"])


def scale(stated: dict[str, Any]) -> LevelScale:
    sensitive = {"falling": "low", "rising": "high"}[stated["direction"]]
    return Levels(domain=ends(stated), sensitive=sensitive).compile({})


def document_value(text: str) -> Scalar | None:
    """The value as a document has it; None for a fraction such as 8/9, which no document can hold."""
    if "/" not in text:
        return Decimal(text)
    top, bottom = map(Decimal, text.split("/"))
    return top / bottom if Fraction(top / bottom) == Fraction(text) else None


def knot(**stated: Any) -> Fraction:
    return knots(*ends(stated))[stated["index"] - 1]


def breakpoint_(**stated: Any) -> Fraction:
    return breakpoints(*ends(stated))[stated["index"] - 1]


def breakpoint_fractions() -> dict[str, str]:
    return {f"p{index}": str(fraction) for index, fraction in enumerate(BREAKPOINTS, 1)}


def membership(**stated: Any) -> Fraction:
    scale_ = scale({**stated, "direction": "falling"})
    degree = exact_memberships(scale_, document_value(stated["value"]))[stated["set"] - 1]
    assert degree == value_sets(*ends(stated))[stated["set"] - 1].degree(Fraction(stated["value"]))
    assert abs(scale_.memberships(document_value(stated["value"]))[stated["set"] - 1] - float(degree)) < 1e-12
    return degree


def level(**stated: Any) -> dict[str, int]:
    of_value = value_level(Fraction(stated["value"]), *ends(stated))
    of_sensitivity = 6 - of_value
    if (value := document_value(stated["value"])) is not None:
        of_sensitivity = scale(stated).level(value)
    return {"value_level": of_value, "sensitivity_level": of_sensitivity}


def levels(**stated: Any) -> list[int]:
    return [scale(stated).level(document_value(value)) for value in stated["values"]]


def letter_levels(values: list[str], direction: str) -> list[int]:
    assert direction == "falling"
    by = {letter: 6 - of_value for letter, of_value in VALUE_LEVEL_OF_LETTER.items()}
    return [Levels(by=by).compile({}).level(value) for value in values]


def hierarchy(parents: dict[str, str | None]) -> Hierarchy:
    def below(node: str) -> dict[str, Any]:
        return {child: below(child) for child, parent in parents.items() if parent == node}

    root = next(node for node, parent in parents.items() if parent is None)
    return Taxonomy(tree={root: below(root)}, inner=True).compile({}, Path())


def lm(node: str, taxonomy: str = "", taxonomy_inline: Any = None) -> Fraction:
    parents = taxonomy_inline or GOLDEN.inputs["taxonomies"][taxonomy]
    tree = hierarchy(parents)
    return tree.lm[0 if parents[node] is None else tree.node_of(node)]


KINDS: dict[str, Callable[..., Any]] = {
    "knot": knot,
    "breakpoint": breakpoint_,
    "breakpoint_fractions": breakpoint_fractions,
    "membership": membership,
    "level": level,
    "levels": levels,
    "letter_levels": letter_levels,
    "lm": lm,
}
CASES = [case for case in GOLDEN.cases if case.kind in KINDS]


def test_every_kind_has_cases() -> None:
    assert {case.kind for case in CASES} == KINDS.keys()


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.id)
def test_case(case: Case) -> None:
    assert agrees(case.expected, KINDS[case.kind](**case.input))

"""Sensitivity levels: the forms of the policy, what they decide, facts."""

from __future__ import annotations

import json
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from functools import partial
from typing import Any

import pytest
from pydantic import ValidationError

from hierdata.documents.document import Numeral, Scalar
from hierdata.domains.base import Uncovered
from hierdata.domains.levels import Levels, LevelScale, scale_from_facts
from hierdata.records.values import Values
from tests.domains.degrees import exact_memberships


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


def test_a_degenerate_domain_has_value_level_3_and_a_warning() -> None:
    point = scale({"domain": [2, 2], "sensitive": "low"})
    assert (point.level(2), point.level(7), exact_memberships(point, 2)) == (3, 3, (0, 0, 1, 0, 0))
    assert point.memberships(2) == (0, 0, 1, 0, 0)
    even = scale({"by": "frequency", "sensitive": "rare"}, ["a", "b"])
    assert (even.level("a"), even.level("b")) == (3, 3)
    for one in (point, even):
        assert "ML-3" in one.warnings[0]
    assert not any(one.warnings for one in SCALES.values())


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
    assert LETTERS.memberships("A") == exact_memberships(LETTERS, "A") == ()


def test_frequencies_make_rare_or_common_values_sensitive() -> None:
    assert [RARE.level(value) for value in ("HIV", "gout", "cold", "flu")] == [5, 5, 3, 1]
    common = scale({"by": "frequency", "sensitive": "common"}, list(DISEASES))
    assert [common.level(value) for value in ("HIV", "gout", "cold", "flu")] == [1, 1, 3, 5]
    assert not RARE.covers("measles")
    assert exact_memberships(RARE, "HIV") == (1, 0, 0, 0, 0)


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
    assert (SETS.count, exact_memberships(SETS, "1.75")) == (3, (Fraction(1, 4), 0, Fraction(3, 4)))
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
        for ask in ("level", "covers", "canonical"):
            assert answer(getattr(again, ask), value) == answer(getattr(one, ask), value)
        degrees = [answer(partial(exact_memberships, own), value) for own in (again, one)]
        assert degrees[0] == degrees[1]


@pytest.mark.parametrize(
    "facts", [{}, {"kind": "x"}, {"kind": "domain", "domain": ["1e99999999", "2"]}, {"kind": "map"}]
)
def test_broken_facts_make_no_scale(facts: dict[str, Any]) -> None:
    with pytest.raises((KeyError, ValueError)):
        scale_from_facts(facts)

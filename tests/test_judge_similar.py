"""The judge on similar values: text that spells numbers, codes in any order, what is missing."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from hierdata.domains.taxonomy import Taxonomy
from hierdata.judge import JudgeRules, SensitiveRule, judge
from hierdata.privacy import DeltaLDiversity, EpsilonMAnonymity, FrequencyLDiversity, LEDiversity
from hierdata.privacy.base import PrivacyModel

TREE = Taxonomy(tree={"*": {"lungs": ["flu", "cold"], "skin": ["rash", "acne"], "tired": None}})
DISEASE = SensitiveRule(("disease",), "$.disease", taxonomy=TREE.compile({}, Path()))
INCOME = SensitiveRule(("income",), "$.income", number=True)


def verdict(model: PrivacyModel, rule: SensitiveRule, values: list[Any]) -> tuple[bool, dict[str, Fraction]]:
    """On one class, whose records differ in nothing else."""
    documents = [{"sex": "f", rule.keys[0]: value} for value in values]
    (judgement,) = judge(documents, JudgeRules((rule,), ((model, None),))).judgements
    assert judgement.held is not None
    return judgement.held, dict(judgement.achieved)


@pytest.mark.parametrize(
    ("values", "held", "achieved"),
    [
        (["rash", "flu"], True, {"l": 2, "distance": 2}),
        (["tired", "flu", "rash"], True, {"l": 3, "distance": Fraction(3, 2)}),
        (["rash", "flu", "acne"], False, {"l": 3, "distance": 1}),
        (["flu", "flu"], False, {"l": 2, "distance": 0}),
        (["flu", None], False, {"l": 1}),
    ],
)
def test_distances_are_those_of_the_taxonomy(values: list[Any], held: bool, achieved: dict[str, Any]) -> None:
    assert verdict(LEDiversity(l=2, e=1), DISEASE, values) == (held, achieved)


def test_groups_are_counted_in_any_order() -> None:
    model = FrequencyLDiversity(l=2, by="similarity", e=1)
    assert verdict(model, DISEASE, ["acne", "flu", "rash", "cold"]) == (True, {"l": 2})
    assert verdict(model, DISEASE, ["acne", "rash", "cold"]) == (False, {"l": Fraction(3, 2)})


@pytest.mark.parametrize("values", [["50", "40.0", "6e1"], ["60", "5e1", "40"], [40, "50.00", 60]])
def test_numbers_are_found_in_text_and_in_any_order(values: list[Any]) -> None:
    delta_l, epsilon_m = DeltaLDiversity(delta="7.5", l=2), EpsilonMAnonymity(epsilon=15, m=2)
    assert verdict(delta_l, INCOME, values) == (False, {"l": 1})
    assert verdict(epsilon_m, INCOME, values) == (False, {"m": 1})
    assert verdict(delta_l, INCOME, [*values[:1], "80", "100"]) == (True, {"l": 3})


def test_what_the_taxonomy_misses_or_is_no_number_never_passes() -> None:
    for model, rule, values in (
        (LEDiversity(l=2, e=1), DISEASE, ["flu", "secret"]),
        (LEDiversity(l=2, e=1), SensitiveRule(("disease",), "$.disease"), ["flu", "rash"]),
        (DeltaLDiversity(delta=1, l=2), SensitiveRule(("income",), "$.income"), ["1", "9"]),
        (DeltaLDiversity(delta=1, l=2), INCOME, ["1", "secret"]),
    ):
        documents = [{rule.keys[0]: value} for value in values]
        answer = judge(documents, JudgeRules((rule,), ((model, None),)))
        assert not answer.passed
        assert [one.held for one in answer.judgements] == [None]
        assert "secret" not in str(answer.as_dict())

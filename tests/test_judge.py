"""The judge against forged files, and what it says of what it cannot judge."""

from __future__ import annotations

import json
from dataclasses import replace
from decimal import Decimal
from fractions import Fraction
from typing import Any

import pytest

from hierdata.documents.document import Numeral, Siblings
from hierdata.domains.levels import Levels
from hierdata.judge import JudgeRules, SensitiveRule, judge
from hierdata.privacy import AlphaK, DistinctLDiversity, FrequencyLDiversity, KAnonymity, LevelAlphaK
from hierdata.privacy.base import PrivacyModel

LEVEL_OF = {"A": 1, "B": 2, "C": 3, "D": 4, "E": 5}
SCALE = Levels.model_validate({"by": LEVEL_OF}).compile({})
GPA = SensitiveRule(("gpa",), "$.gpa", number=True)
GRADE = SensitiveRule(("courses", "grade"), "$.courses[*].grade", SCALE, missing=frozenset({"?"}))
SCORE = SensitiveRule(("courses", "tests", "score"), "$.courses[*].tests[*].score")


def rules(*models: PrivacyModel, **more: Any) -> JudgeRules:
    return JudgeRules((GPA, GRADE, SCORE), tuple((model, None) for model in models), **more)


K4 = rules(KAnonymity(k=4))


def on_grades(*models: PrivacyModel) -> JudgeRules:
    return JudgeRules((GPA, GRADE, SCORE), tuple((model, frozenset({GRADE.keys})) for model in models))


ALPHA = on_grades(LevelAlphaK(k=4))


def published() -> list[dict[str, Any]]:
    """One class of four: two courses, one with two tests that cannot be told apart. Satisfies ALPHA."""
    return [
        {
            "major": "Science",
            "year": "[1985, 1989]",
            "gpa": Decimal(gpa),
            "courses": [
                {"code": "CS*", "grade": cs, "tests": [{"by": "X", "score": 1}, {"by": "X", "score": 2}]},
                {"code": "*", "grade": other, "credits": 6},
            ],
        }
        for gpa, cs, other in (("1.0", "A", "B"), ("2.0", "A", "A"), ("3.5", "B", "A"), ("4", "C", "B"))
    ]


def test_the_class_passes_and_says_what_it_achieves() -> None:
    verdict = judge(published(), ALPHA)
    assert (verdict.passed, verdict.records, verdict.classes, verdict.k, verdict.k_raw) == (True, 4, 1, 4, 4)
    (judgement,) = verdict.judgements
    assert (judgement.model, judgement.path, judgement.held) == ("level-alpha-k", GRADE.path, True)
    shares = {1: Fraction(1, 2), 2: Fraction(1, 2), 3: Fraction(1, 4), 4: Fraction(0), 5: Fraction(0)}
    assert judgement.achieved == {"k": 4, **{f"alpha_{level}": share for level, share in shares.items()}}


def forged(change: Any) -> list[dict[str, Any]]:
    records = published()
    change(records)
    return records


FORGERIES = {
    "k - 1 records": lambda r: r.pop(),
    "a quasi-identifier's value": lambda r: r[2].update(major="Arts"),
    "a child's quasi-identifier": lambda r: r[2]["courses"][0].update(code="CS1*"),
    "a missing quasi-identifier": lambda r: r[2].pop("year"),
    "a null instead of absence": lambda r: r[2].update(minor=None),
    "structure: a child less": lambda r: r[2]["courses"].pop(),
    "structure: a grandchild more": lambda r: r[2]["courses"][0]["tests"].append({"by": "X", "score": 1}),
    "structure: a child without anything": lambda r: r[2]["courses"].append({}),
    "structure: an empty array": lambda r: r[2].update(books=[]),
    "structure: an array of one": lambda r: r[2].update(major=["Science"]),
    "structure: grandchildren elsewhere": lambda r: r[2]["courses"][1].update(
        tests=r[2]["courses"][0].pop("tests")
    ),
    "an unlisted key": lambda r: r[2].update(note="left in"),
    "an unlisted key in a child": lambda r: r[2]["courses"][1].update(note="left in"),
    "an object at a sensitive path": lambda r: r[2].update(gpa={"value": "3.5"}),
    "two sensitive values for one": lambda r: r[2]["courses"][1].update(grade=["A", "B"]),
    "a number's type": lambda r: r[2]["courses"][1].update(credits=Decimal("6.0")),
    "a number as text": lambda r: r[2]["courses"][1].update(credits="6"),
    "a truth value for a number": lambda r: [
        record["courses"][1].update(credits=value) for record, value in zip(r, (1, 1, True, 1), strict=True)
    ],
}


@pytest.mark.parametrize("forgery", FORGERIES.values(), ids=FORGERIES)
def test_what_splits_a_class_fails(forgery: Any) -> None:
    assert judge(published(), K4).passed
    verdict = judge(forged(forgery), K4)
    assert not verdict.passed
    assert verdict.k < 4
    assert [judgement.held for judgement in verdict.judgements] == [False]


def test_an_identifier_left_in_fails_even_where_it_splits_nothing() -> None:
    guarded = rules(KAnonymity(k=4), forbidden=frozenset({("id",), ("courses", "ref")}))
    records = published()
    assert judge(records, guarded).passed
    for record in records:
        record["id"] = None
        record["courses"][1]["ref"] = "same"
    verdict = judge(records, guarded)
    assert verdict.k == 4
    assert not verdict.passed
    assert verdict.forbidden == {"id": 4, "courses.ref": 4}


def test_one_level_over_its_share_at_one_vertex_fails() -> None:
    verdict = judge(forged(lambda r: r[3]["courses"][1].update(grade="E")), ALPHA)
    assert not verdict.passed
    assert verdict.judgements[0].failing_classes == 1
    assert verdict.judgements[0].achieved["alpha_5"] == Fraction(1, 4)
    # The same value at a place where ten share it is within level 5's tenth.
    ten = [{"courses": [{"code": "*", "grade": grade}]} for grade in "AAAAABBBCE"]
    assert judge(ten, ALPHA).passed


def test_identical_siblings_are_judged_as_one_place() -> None:
    def records(*codes: str) -> list[dict[str, Any]]:
        thirds = [f"A{second}A"[: len(codes)] for second in "BCD"]
        return [
            {"courses": [{"code": code, "grade": grade} for code, grade in zip(codes, grades, strict=True)]}
            for grades in thirds
        ]

    models = JudgeRules((GRADE,), ((FrequencyLDiversity(l=2), None),))
    assert not judge(records("X", "Y"), models).passed, "everybody has an A in X"
    assert judge(records("X", "X"), models).passed, "half of the pool are A's"
    assert judge(records("X", "X", "X"), models).judgements[0].achieved == {"l": Fraction(3, 2)}


@pytest.mark.parametrize("model", [FrequencyLDiversity(l=3), DistinctLDiversity(l=3), KAnonymity(k=2)])
def test_siblings_do_not_stand_in_for_records(model: PrivacyModel) -> None:
    alone = [{"courses": [{"code": "X", "grade": grade} for grade in "ABC"]}]
    assert not judge(alone, JudgeRules((GRADE,), ((model, None),))).passed


def test_identical_siblings_of_different_parents_are_different_places() -> None:
    record = {"courses": [{"code": code, "tests": [{"by": "X", "score": code}]} for code in "PQ"]}
    models = JudgeRules((SCORE,), ((FrequencyLDiversity(l=2), None),))
    assert not judge([record] * 4, models).passed
    twins = {"courses": [{"code": "P", "tests": [{"by": "X", "score": score}]} for score in "PQ"]}
    assert judge([twins] * 4, models).passed


def test_models_on_values_judge_k_even_where_nothing_sensitive_is_left() -> None:
    verdict = judge([{"major": "*"}] * 3, ALPHA)
    assert not verdict.passed
    assert verdict.judgements[0].achieved == {"k": 3}


def test_missing_sensitive_values_neither_split_a_class_nor_count() -> None:
    records = published()
    records[0]["courses"][1].pop("grade")
    records[1]["courses"][1]["grade"] = None
    records[2]["courses"][1]["grade"] = "?"
    verdict = judge(records, ALPHA)
    assert verdict.k == verdict.k_raw == 4
    assert verdict.judgements[0].achieved["alpha_2"] == 1, "the one grade that is present"


def test_an_object_of_sensitive_values_only_may_be_missing() -> None:
    result = SensitiveRule(("result", "mark"), "$.result.mark")
    models = JudgeRules((result,), ((KAnonymity(k=3), None), (DistinctLDiversity(l=2), None)))
    records = [{"a": 1, "result": {"mark": "A"}}, {"a": 1, "result": {"mark": "B"}}, {"a": 1}]
    assert judge(records, models).passed
    assert judge(records, replace(models, vertices=frozenset({("result",)}))).k == 1
    elements = [{**record, "result": Siblings([record["result"]])} for record in records[:2]] + records[2:]
    assert judge(elements, models).k_raw == 3
    assert judge(elements, replace(models, vertices=frozenset({("result",)}))).k == 1


def test_repeated_sensitive_elements_count_where_they_are_vertices() -> None:
    rule = SensitiveRule(("mark",), "/r/mark")
    models = JudgeRules((rule,), ((KAnonymity(k=2), None),))
    one_or_none = [{"a": "x", "mark": Siblings(["A"])}, {"a": "x"}]
    two_or_one = [{"a": "x", "mark": Siblings(["A", "B"])}, {"a": "x", "mark": Siblings(["A"])}]
    assert judge(one_or_none, models).k == 2
    assert judge(two_or_one, models).k == 1
    assert judge(one_or_none, replace(models, vertices=frozenset({("mark",)}))).k == 1
    assert judge([{"mark": "A"}, {}], replace(models, vertices=frozenset({("mark",)}))).k == 1


def test_k_raw_sees_order_and_spelling_and_no_sensitive_value() -> None:
    records = published()
    assert judge(records, K4).k_raw == 4
    records[0]["courses"].reverse()
    assert (judge(records, K4).k, judge(records, K4).k_raw) == (4, 1)
    spelled = [{"size": number} for number in (Decimal("1.5"), Decimal("1.50"), Numeral("15e-1"))]
    verdict = judge(spelled, K4)
    assert (verdict.k, verdict.k_raw) == (3, 1)


def test_exempt_fields_are_pardoned_and_counted_beside() -> None:
    records = published()
    for ordinal, record in enumerate(records):
        record["pseudonym"] = {"of": f"P{ordinal}"}
    assert not judge(records, K4).passed
    pardoned = replace(K4, exempt=frozenset({("pseudonym",)}))
    verdict = judge(records, pardoned)
    assert (verdict.passed, verdict.k, verdict.k_exempt, verdict.k_raw) == (True, 4, 1, 1)
    assert judge(records, K4).k_exempt is None


def test_equal_numbers_are_one_sensitive_value() -> None:
    models = JudgeRules((GPA,), ((DistinctLDiversity(l=2), None),))
    spelled = [{"gpa": gpa} for gpa in (1, Decimal("1.0"), "1.00", Numeral("1e0"))]
    assert judge(spelled, models).judgements[0].achieved == {"l": 1}
    assert judge([{"gpa": "1"}, {"gpa": 2}], models).passed


def test_a_value_without_level_is_not_judged_where_levels_matter() -> None:
    records = forged(lambda r: r[0]["courses"][0].update(grade="F"))
    verdict = judge(records, on_grades(LevelAlphaK(k=4), FrequencyLDiversity(l=2)))
    assert [judgement.held for judgement in verdict.judgements] == [None, True]
    assert verdict.judgements[0].reason == "values without a level: 1"
    assert not verdict.passed


def test_what_cannot_be_judged_never_passes() -> None:
    assert not judge(published(), rules()).passed, "no model, no promise"
    assert not judge(published(), rules(KAnonymity(k=4), not_judged=("t-closeness",))).passed
    nowhere = replace(K4, models=((FrequencyLDiversity(l=1), frozenset({("elsewhere",)})),))
    assert judge(published(), nowhere).judgements[0].held is None
    assert not judge(published(), nowhere).passed
    no_levels = replace(K4, models=((LevelAlphaK(k=1), frozenset({GPA.keys})),))
    assert "levels" in judge(published(), no_levels).judgements[0].reason
    assert not judge(published(), no_levels).passed


def test_protected_values_are_judged_where_they_lie() -> None:
    model = AlphaK(k=2, alpha="1/4", values=("C",))
    assert judge(published(), on_grades(model)).passed
    stricter = model.model_copy(update={"alpha": Fraction(1, 5)})
    assert not judge(published(), on_grades(stricter)).passed


def representative(records: Any, grades: Any, key: str = "records") -> dict[str, Any]:
    return {key: records, "representative": {"major": "*", "courses": [{"code": "*", "grade": grades}]}}


REPRESENTATIVES = JudgeRules((GRADE,), ((LevelAlphaK(k=4), None),), recoding="representatives")


def test_representatives_stand_for_their_records() -> None:
    verdict = judge([representative(4, ["A", "A", "B", "C"])], REPRESENTATIVES)
    assert (verdict.passed, verdict.records, verdict.classes, verdict.k) == (True, 4, 1, 4)
    assert judge([representative(4, ["A", "B"])], REPRESENTATIVES).passed, "two values are missing"
    assert not judge([representative(3, ["A", "B", "C"])], REPRESENTATIVES).passed
    assert not judge([representative(4, ["A", "A", "B", "D"])], REPRESENTATIVES).passed
    united = judge([representative(2, ["A", "B"]), representative(2, ["A", "C"])], REPRESENTATIVES)
    assert (united.passed, united.classes, united.k) == (True, 1, 4)


def test_representatives_in_xml() -> None:
    rule = replace(GRADE, keys=("course", "@grade"))
    inner = {"@major": "*", "course": Siblings([{"@code": "*", "grade": Siblings(["A", "A", "B", "C"])}])}
    models = JudgeRules((rule,), ((LevelAlphaK(k=4), None),), recoding="representatives")
    verdict = judge([{"@records": "4", "representative": Siblings([inner])}], models)
    assert verdict.passed
    assert verdict.judgements[0].achieved["alpha_3"] == Fraction(1, 4)


@pytest.mark.parametrize(
    "document",
    [
        {"records": 4},
        {"representative": {}},
        representative(0, []),
        representative(True, ["A"]),
        representative("4.0", ["A"]),
        {**representative(4, ["A", "B"]), "id": "x"},
        representative(4, ["A", "A", "B", "B", "C"]),
    ],
)
def test_what_is_no_representative_fails(document: dict[str, Any]) -> None:
    good = representative(4, ["A", "A", "B", "C"])
    verdict = judge([good, document], REPRESENTATIVES)
    assert verdict.malformed == 1
    assert not verdict.passed


def test_nothing_published_promises_nothing_false() -> None:
    verdict = judge([], ALPHA)
    assert (verdict.passed, verdict.records, verdict.classes, verdict.k) == (True, 0, 0, 0)


def test_the_verdict_is_plain_data() -> None:
    plain = json.loads(json.dumps(judge(published(), replace(ALPHA, exempt=frozenset({("x",)}))).as_dict()))
    assert plain["judgements"][0]["achieved"]["alpha_1"] == {"exact": "1/2", "value": 0.5}
    assert plain["k_exempt"] == 4

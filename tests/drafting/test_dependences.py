"""Fields that determine others: codes with labels, what tells something sensitive, and what only seems to."""

from __future__ import annotations

from collections.abc import Iterable
from random import Random
from typing import Any

import hierdata
from hierdata.drafting.draft import Draft
from hierdata.pipeline.look_over import survey_collection
from hierdata.policy.lint.lint import Finding, lint
from hierdata.policy.load import from_data
from tests.cases import for_each, naming


def rules(draft: Draft) -> dict[str, dict[str, Any]]:
    return {one.path: one.proposal.rule for one in draft.fields}


def people(count: int = 60, seed: int = 1) -> list[dict[str, Any]]:
    """Staff with a department by id and name, a score by number and word, and salaries that hang together."""
    rng = Random(seed)
    found = []
    for _ in range(count):
        place, rank = rng.randrange(3), rng.randrange(3)
        start = rng.randrange(20_000, 60_000, 500)
        found.append(
            {
                "dept_id": f"D{place}",
                "department": ["Sales", "Works", "Care"][place],
                "city": ["Ulm", "Bonn", "Kiel"][place],
                "score_id": rank + 1,
                "performance_score": ["low", "mid", "high"][rank],
                "first_pay": start,
                "salary": start + rng.randrange(0, 3_000),
                "sex": rng.choice("fm"),
                "diagnoses": [_diagnosis(rng) for _ in range(rng.randint(0, 2))],
            }
        )
    return found


def _diagnosis(rng: Random) -> dict[str, Any]:
    code = rng.choice(["J10", "M54", "E11"])
    return {"disease": {"id": code, "label": {"J10": "flu", "M54": "back", "E11": "sugar"}[code]}}


def test_labels_go_with_their_codes() -> None:
    """Where either is sensitive the code is; a field that only happens to agree stays what it is."""
    found = rules(hierdata.init(people()))
    assert found["$.score_id"]["role"] == "sensitive"
    assert found["$.performance_score"] == {"derived": "$.score_id"}
    assert found["$.department"] == {"derived": "$.dept_id"}
    assert found["$.city"]["role"] == "quasi"
    assert found["$.sex"]["role"] == "quasi"
    assert found["$.diagnoses[*].disease.id"]["role"] == "sensitive"
    assert found["$.diagnoses[*].disease.label"] == {"derived": "$.diagnoses[*].disease.id"}


def test_a_number_that_ranks_like_a_sensitive_one_is_sensitive() -> None:
    """Who knows the first salary nearly knows the present one."""
    draft = hierdata.init(people())
    first = next(one for one in draft.fields if one.path == "$.first_pay")
    assert first.proposal.role == "sensitive"
    assert first.proposal.confirm
    rng = Random(3)
    others = [{**row, "first_pay": rng.randrange(1000, 2000, 50)} for row in people()]
    assert rules(hierdata.init(others))["$.first_pay"]["role"] == "quasi"


def test_a_draft_with_labels_publishes_them() -> None:
    """The draft is a policy for its own collection."""
    records = people()
    policy = {**hierdata.init(records).confirmed(), "suppressed": "as_published"}
    release = hierdata.anonymize(records, policy, seed=bytes(32))
    assert hierdata.verify(release, policy, original=records).passed
    shown = {(row.get("dept_id"), row.get("department")) for row in release.records()}
    assert shown <= {("D0", "Sales"), ("D1", "Works"), ("D2", "Care"), ("*", None)}


def test_what_is_unique_or_chance_determines_nothing() -> None:
    """A key, a column of few records, and independent columns leave roles alone."""
    rng = Random(4)
    records = [
        {"town": str(number), "class": rng.choice("ab"), "illness": rng.choice("xy")} for number in range(60)
    ]
    found = rules(hierdata.init(records))
    assert found["$.class"]["role"] == "quasi"
    assert found["$.town"]["role"] != "sensitive"


def names_of_persons() -> Iterable[dict[str, Any]]:
    """Each manager's id goes with one name."""
    names = ["Mary Jones", "John Miller", "Susan Clark"]
    numbers = range(60)
    return [{"manager_code": at % 3, "manager_name": names[at % 3], "age": at % 9} for at in numbers]


def test_a_name_of_a_person_is_never_a_label() -> None:
    """It would be published with the code."""
    assert "derived" not in rules(hierdata.init(names_of_persons()))["$.manager_name"]


def linted(policy: dict[str, Any], records: list[dict[str, Any]]) -> list[Finding]:
    survey, hints = survey_collection(records, policy)
    return lint(from_data(policy), survey, hints)


def policy_of(fields: dict[str, Any]) -> dict[str, Any]:
    models = [{"kind": "k-anonymity", "k": 3}, {"kind": "frequency-l-diversity", "l": 2}]
    return {"version": 1, "models": models, "unlisted": "drop", "fields": fields}


@for_each(
    "fields, expected",
    [
        ({"$.score_id": {"role": "quasi", "flat": True}, "$.performance_score": {"role": "sensitive"}}, True),
        ({"$.sex": {"role": "quasi", "flat": True}, "$.performance_score": {"role": "sensitive"}}, False),
        ({"$.score_id": {"role": "sensitive"}, "$.performance_score": {"derived": "$.score_id"}}, False),
    ],
)
def test_lint_says_what_tells_a_sensitive_field(fields: dict[str, Any], expected: bool) -> None:
    """Over all records, of any policy."""
    found = [one.message for one in linted(policy_of(fields), people(200))]
    assert any("this tells $.performance_score" in message for message in found) == expected


def test_lint_says_where_a_label_does_not_follow() -> None:
    """As anonymize refuses it."""
    records = people()
    records[0]["performance_score"] = "other"
    fields = {"$.score_id": {"role": "sensitive"}, "$.performance_score": {"derived": "$.score_id"}}
    errors = [one for one in linted(policy_of(fields), records) if one.severity == "error"]
    assert [one.path for one in errors] == ["$.performance_score"]
    assert "1 of 3 values of the source have several labels" in errors[0].message


@for_each(
    "sector, sensitive",
    [
        ("education", "G1 G2 health Dalc Walc grade final_grade gpa failures"),
        ("staff", "salary salbegin performance_score absences TermReason EngagementSurvey gehalt"),
        ("health", "diagnosis_code diagnosisName medication condition_concept_id drug_concept_id smoker"),
        ("finance", "income loan_amount creditScore debt balance renda"),
        ("surveys", "life_satisfaction vote religion political_orientation alcohol"),
    ],
)
def test_sensitive_fields_by_sector(sector: str, sensitive: str) -> None:
    """By name; where one wins a place or why someone chose a school is not sensitive."""
    rng = Random(2)
    names = sensitive.split()
    records = [{**{name: rng.randrange(4) for name in names}, "reason": rng.choice("abc")} for _ in range(40)]
    found = rules(hierdata.init(records))
    for name in names:
        with naming(sector=sector, name=name):
            assert found[f"$.{name}"]["role"] == "sensitive"
    assert found["$.reason"]["role"] == "quasi"


def test_structure_is_kept() -> None:
    """Terminologies, profiles and kinds of use are no identifiers, however they are spelled."""
    codes = ["http://loinc.org", "http://snomed.info/sct"]
    records = [
        {
            "resourceType": "Observation",
            "meta": {"profile": ["http://example.org/profile"]},
            "status": ["final", "amended"][number % 2],
            "code": {
                "coding": [{"system": codes[number % 2], "code": f"{number % 4}-5"}],
                "text": "ab"[number % 2],
            },
            "telecom": [{"use": "home", "value": f"0049 30 {number:07}"}],
        }
        for number in range(40)
    ]
    found = rules(hierdata.init(records))
    kept = "resourceType meta.profile[*] status code.coding[*].system telecom[*].use"
    for path in (f"$.{name}" for name in kept.split()):
        with naming(path=path):
            assert found[path]["role"] == "quasi"
    assert found["$.telecom[*].value"]["role"] == "identifier"
    assert found["$.code.coding[*].code"]["role"] == "sensitive"
    assert found["$.code.text"]["role"] == "sensitive"

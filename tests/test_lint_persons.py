"""What lint says of records of persons: whose they are, what leads to one, and what it never advises."""

from __future__ import annotations

from typing import Any

import pytest

import hierdata
from hierdata.ground.errors import PolicyError
from hierdata.pipeline.foresee import foresee_loss
from hierdata.pipeline.look_over import survey_collection
from hierdata.policy.lint.lint import lint
from hierdata.policy.load import from_data

K3 = [{"kind": "k-anonymity", "k": 3}]
FLAT = {"role": "quasi", "flat": True}
GIVEN, FAMILY = ("Anna", "Bernd", "Carla", "David"), ("Abel", "Brandt", "Costa")
Found = list[tuple[str, str, str]]


def told(records: list[dict[str, Any]], fields: dict[str, Any], **more: Any) -> Found:
    """Severity, path and message of what lint finds."""
    policy = from_data({"version": 1, "models": K3, "fields": fields, **more})
    survey, hints = survey_collection(records, policy)
    return [(one.severity, one.path, one.message) for one in lint(policy, survey, hints)]


def errors(found: Found) -> set[str]:
    return {path for severity, path, _ in found if severity == "error"}


def people(count: int = 60) -> list[dict[str, Any]]:
    return [
        {
            "age": 20 + n % 30,
            "birth_date": f"19{40 + n % 50}-0{1 + n % 9}-11",
            "identifier": [{"system": ("a", "b")[k], "value": f"{n:03}-45-{k}{n + 100}"} for k in range(2)],
            "relatives": [{"name": f"{GIVEN[n % 4]} {FAMILY[n % 3]}", "kind": ("mother", "son")[n % 2]}],
        }
        for n in range(count)
    ]


PEOPLE = {
    "$.age": {"role": "quasi", "interval": {"steps": [5, 10]}},
    "$.birth_date": {"role": "quasi", "date": {"steps": ["day", "year"]}},
    "$.identifier[*].system": FLAT,
    "$.identifier[*].value": FLAT,
    "$.relatives[*].name": FLAT,
    "$.relatives[*].kind": FLAT,
}


@pytest.mark.parametrize("rule", [FLAT, {"role": "quasi", "prefix": {"keep": [6, 3]}}, {"role": "sensitive"}])
def test_values_of_one_record_each_and_names_are_errors_without_a_reason(rule: dict[str, Any]) -> None:
    found = told(people(), {**PEOPLE, "$.identifier[*].value": rule})
    assert errors(found) == {"$.identifier[*].value", "$.relatives[*].name"}
    assert any("120 of 120 values belong to one record each" in message for *_, message in found)
    reasons = {
        "$.identifier[*].value": "made up for a course",
        "$.relatives[*].name": "of persons in a novel",
    }
    assert errors(told(people(), PEOPLE, accept={"unique": reasons})) == set()
    stated = {"version": 1, "models": K3, "fields": PEOPLE, "accept": {"unique": reasons}}
    release = hierdata.anonymize(people(), stated, seed=b"a seed of sixteen bytes")
    assert any("made up for a course" in line for line in release.report.limitations)


def test_exact_days_of_birth_are_errors_where_sets_show_them() -> None:
    fields = {path: PEOPLE[path] for path in ("$.age", "$.birth_date")}
    assert errors(told(people(), fields, unlisted="drop")) == set()
    found = told(people(), fields, unlisted="drop", recoding="sets_and_ranges")
    assert errors(found) == {"$.birth_date"}
    months = {**fields, "$.birth_date": {"role": "quasi", "date": {"steps": ["month", "year"]}}}
    assert errors(told(people(), months, unlisted="drop", recoding="sets_and_ranges")) == set()


def test_values_that_several_records_share_are_no_traces() -> None:
    records = [{"visits": [{"ward": f"w{(n + k) % 40}"} for k in range(2)]} for n in range(60)]
    assert errors(told(records, {"$.visits[*].ward": FLAT})) == set()
    few = [{"visits": [{"ward": f"w{n}"}]} for n in range(10)]
    assert errors(told(few, {"$.visits[*].ward": FLAT})) == set()


def test_sets_are_never_advised_where_they_would_show_what_leads_to_one_person() -> None:
    fields = {path: PEOPLE[path] for path in ("$.age", "$.identifier[*].value")}
    shared = [{"age": 20 + n % 30, "identifier": [{"value": f"v{n % 20}"}]} for n in range(60)]
    advised = []
    for records in (shared, people()):
        policy = from_data({"version": 1, "unlisted": "drop", "models": K3, "fields": fields})
        survey, hints = survey_collection(records, policy)
        forecast = foresee_loss(records, policy, survey, hints, remedies=True)
        helps = [one.text for place in forecast.places for one in place.helps]
        advised.append(any("sets_and_ranges" in text for text in helps))
    assert advised == [True, False]


def test_subjects_that_repeat_are_errors_and_other_persons_warnings() -> None:
    rows = [
        {"patient_name": f"P{n // 4}", "manager": f"m{n % 5}x", "email": f"a{n // 2}@example.org"}
        for n in range(60)
    ]
    fields = {path: {"role": "identifier"} for path in ("$.patient_name", "$.manager", "$.email")}
    found = told(rows, {**fields, "$.sex": {**FLAT, "optional": True}})
    assert errors(found) == {"$.patient_name"}
    warned = {path: message for severity, path, message in found if severity == "warning"}
    assert "another person" in warned["$.manager"]
    assert "names a person" in warned["$.email"]
    assert errors(told(rows, fields, individual={"none": "each row is a person"})) == set()
    unique = [{**row, "patient_id": n} for n, row in enumerate(rows)]
    assert errors(told(unique, {**fields, "$.patient_id": {"role": "identifier"}})) == set()


def test_values_that_fill_classes_are_a_warning() -> None:
    rows = [{"x17": f"v{n // 4}", "town": f"t{n // 4}", "ward": "ab"[n % 2]} for n in range(80)]
    found = told(rows, {"$.x17": FLAT, "$.town": FLAT, "$.ward": FLAT})
    assert [path for _, path, message in found if "all of a class may have one" in message] == ["$.x17"]


def test_what_is_accepted_must_be_published() -> None:
    for path, reason in (("$.nobody", "no rule publishes"), ("$.nobody[", r"\$")):
        with pytest.raises(PolicyError, match=reason):
            told(people(), PEOPLE, accept={"unique": {path: "a reason"}})
    with pytest.raises(PolicyError, match="individual"):
        told(people(), PEOPLE, individual={"none": ""})

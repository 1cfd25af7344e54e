"""What FHIR R4 cannot say is refused in one sentence; the rest is written and read back."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest

from hierdata.policy.checks.standard import check_types, typing_of
from hierdata.policy.policy import Policy

TABLES = {
    "Patient": {"key": "id"},
    "Encounter": {"key": "id", "parent": "Patient", "on": "subject.reference"},
    "Observation": {"key": "id", "parent": "Encounter", "on": "encounter.reference"},
    "Condition": {"key": "id", "parent": "Patient", "on": "subject.reference"},
    "Claim": {"key": "id", "parent": "Patient", "on": "patient.reference"},
}
LEVELS = {"by": {"1974": 1}}
CLASS = "$.Encounter[*].class"
HEART = {"*": {"Diseases of the heart": ["I21", "I22"], "Other": ["J45"]}}
CODE = "$.Condition[*].code.coding[*].code"
DISPLAY = "$.Condition[*].code.coding[*].display"
AGE = "$.Condition[*].onsetAge.value"
VALUE = "$.Encounter[*].Observation[*].valueQuantity.value"


def quasi(**domain: Any) -> dict[str, Any]:
    return {"role": "quasi", **domain}


FLAT = quasi(flat=True)


def policy_with(fields: dict[str, Any], **more: Any) -> Policy:
    models = [{"kind": "k-anonymity", "k": 2}]
    return Policy(version=1, models=models, tables=TABLES, fields=fields, **more)


def problems(fields: dict[str, Any], **more: Any) -> list[str]:
    return [
        f"{'.'.join(map(str, where))}: {what}" for where, what in check_types(policy_with(fields, **more))
    ]


GOOD: dict[str, Any] = {
    "$.birthDate": quasi(date={"steps": ["month", "year"]}),
    "$.gender": FLAT,
    "$.address[*].postalCode": quasi(prefix={"keep": [3, 2]}),
    "$.maritalStatus.coding[*].code": quasi(taxonomy={"tree": {"*": {"single": ["S", "D"], "other": ["M"]}}}),
    "$.multipleBirthInteger": quasi(interval={"steps": [1]}),
    "$.Encounter[*].class.code": FLAT,
    "$.Encounter[*].period.start": quasi(date={"steps": ["year"]}),
    VALUE: quasi(interval={"steps": [0.1, 1, 10]}),
    "$.Encounter[*].Observation[*].valueQuantity.unit": FLAT,
    "$.Encounter[*].Observation[*].issued": quasi(date={"steps": ["day", "decade"]}),
    AGE: {"role": "sensitive", "publish": {"interval": 5}},
    CODE: quasi(taxonomy={"tree": HEART}),
    "$.Claim[*].insurance[*].preAuthRef[*]": {"role": "identifier"},
}


def test_a_policy_that_fhir_can_say_passes_and_its_records_come_back() -> None:
    assert problems(GOOD) == []
    typing = typing_of(policy_with(GOOD))
    labels = {
        "birthDate": "1974",
        "gender": "*",
        "address": [{"postalCode": "48***"}],
        "maritalStatus": {"coding": [{"code": "single"}, {"code": "M"}]},
        "multipleBirthInteger": "*",
        "Encounter": [
            {
                "class": {"code": "*"},
                "period": {"start": "2001"},
                "Observation": [
                    {"valueQuantity": {"value": "[70, 80)", "unit": "kg"}, "issued": "2001-03-04"},
                    {"valueQuantity": {"value": "[70.2, 70.3)", "unit": "*"}, "issued": "*"},
                ],
            }
        ],
        "Condition": [
            {"onsetAge": {"value": "[30, 34]"}, "code": {"coding": [{"code": "Diseases of the heart"}]}},
            {"code": {"coding": [{"code": "I21"}]}},
        ],
    }
    typed = typing.to_fhir(labels)
    assert typing.from_fhir(typed) == labels
    observations = typed["Encounter"][0]["Observation"]
    assert observations[0]["valueRange"]["high"] == {"value": Decimal("79.9"), "unit": "kg"}
    assert observations[1]["valueRange"]["low"] == observations[1]["valueRange"]["high"]
    assert typed["Condition"][0]["code"]["coding"] == [{"display": "Diseases of the heart"}]
    # What is above a record is written when resources are taken apart.
    assert "subject" not in typed["Encounter"][0]
    assert "subject" not in typed["Condition"][0]
    assert typed["Encounter"][0].keys() >= {"_status", "class"}


@pytest.mark.parametrize(
    ("fields", "told"),
    [
        ({"$.birthDate": quasi(interval={"steps": [5]})}, "a date of FHIR takes date"),
        ({"$.gender": quasi(taxonomy={"tree": {"*": {"x": ["male"]}}})}, "takes no other codes here"),
        ({"$.multipleBirthInteger": quasi(interval={"steps": [1, 2]})}, "no range in place of this number"),
        ({"$.multipleBirthBoolean": quasi(prefix={"keep": [1]})}, "cannot say the labels of this"),
        ({"$.born": FLAT}, "Patient has no element born in FHIR R4"),
        ({"$.name": FLAT}, "name repeats: write [*] after it"),
        ({"$.birthDate[*]": FLAT}, "birthDate does not repeat"),
        ({"$.maritalStatus": FLAT}, "this is no value but a CodeableConcept"),
        ({"$.extension[*].valueCode": FLAT}, "name extensions by their url"),
        ({"$.Claim[*].insurance[*].sequence": FLAT}, "FHIR wants Claim.insurance"),
        (
            {"$.Encounter[*].class": {"vertex": True}, "$.Encounter[*].class.code": FLAT},
            "FHIR wants",
        ),
        (
            {CODE: quasi(taxonomy={"tree": HEART}), DISPLAY: {"derived": CODE}},
            "drop the display",
        ),
        ({CODE: quasi(prefix={"keep": [2]}), DISPLAY: FLAT}, "drop the display"),
        (
            {VALUE: quasi(interval={"steps": [5]}), VALUE[:-5] + "comparator": FLAT},
            "no comparator",
        ),
        (
            {AGE: quasi(interval={"steps": [5]}), AGE[:-9] + "Range.low.unit": FLAT},
            "as onsetRange",
        ),
        (
            {"$.birthDate": {"role": "sensitive", "levels": LEVELS, "publish": "levels"}},
            "level 3",
        ),
        ({"$.active": {"role": "identifier", "action": {"pseudonym": {}}}}, "takes no pseudonym"),
    ],
)
def test_what_fhir_cannot_say_is_refused(fields: dict[str, Any], told: str) -> None:
    (problem,) = problems(fields)
    assert told in problem
    assert problem.startswith("fields.$.")


def test_filters_tell_codings_by_system_and_extensions_by_url() -> None:
    snomed = "$.Condition[*].code.coding[?@.system == 'http://snomed.info/sct']"
    icd = "$.Condition[*].code.coding[?@.system == 'http://hl7.org/fhir/sid/icd-10']"
    fields = {
        f"{snomed}.code": FLAT,
        f"{icd}.code": quasi(taxonomy={"tree": HEART}),
        f"{icd}.version": FLAT,
        "$.extension[?@.url == 'urn:race'].valueCode": FLAT,
    }
    assert problems(fields) == []
    typing = typing_of(policy_with(fields))
    codings = [
        {"system": "http://snomed.info/sct", "code": "*"},
        {"system": "http://hl7.org/fhir/sid/icd-10", "code": "Diseases of the heart", "version": "*"},
    ]
    labels = {
        "Condition": [{"code": {"coding": codings}}],
        "extension": [{"url": "urn:race", "valueCode": "*"}],
    }
    typed = typing.to_fhir(labels)
    assert typing.from_fhir(typed) == labels
    assert typed["extension"][0].keys() == {"url", "_valueCode"}
    assert typed["Condition"][0]["code"]["coding"] == [
        {"system": "http://snomed.info/sct"},
        {"system": "http://hl7.org/fhir/sid/icd-10", "display": "Diseases of the heart"},
    ]


def test_codes_at_inner_nodes_stay_codes_where_the_policy_takes_them_as_values() -> None:
    fields = {CODE: quasi(taxonomy={"tree": HEART, "inner": True}), DISPLAY: {"derived": CODE}}
    assert problems(fields) == []
    labels = {"Condition": [{"code": {"coding": [{"code": "Diseases of the heart"}]}}]}
    assert typing_of(policy_with(fields)).to_fhir(labels) == labels


@pytest.mark.parametrize("recoding", ["anatomy", "slicing", "representatives", "sets_and_ranges"])
def test_recodings_without_a_resource_for_each_value_are_refused(recoding: str) -> None:
    (problem,) = problems({"$.gender": FLAT}, recoding=recoding)
    assert problem.startswith(f"recoding: {recoding} publishes no resources")

"""Labels become values of FHIR's types and come back; what is published is valid FHIR R4."""

from __future__ import annotations

import json
from copy import deepcopy
from decimal import Decimal
from importlib import import_module
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hierdata.documents.fhir.elements import elements_of
from hierdata.documents.fhir.labels import RangeSpelling, TextLabels
from hierdata.documents.fhir.typed import ANY, PERIOD, TypedField, TypedStep, Typing, absent_element
from tests.cases import examples
from tests.fhir.make_elements import TABLE, spell_table
from tests.fhir.make_elements import elements_of as elements_of_model
from tests.fhir.valid import validate_record

MASKED = absent_element()
WHOLE = RangeSpelling(integral=True)
TENTHS = RangeSpelling(integral=False, places=1, digits={Decimal("0.5"): 1, Decimal(10): 0})
GROUPS = TextLabels(frozenset({"Diseases of the heart"}), "**")
ICD = (("system",), "http://hl7.org/fhir/sid/icd-10")
DATES = True
SPELLINGS = {RangeSpelling: "range", TextLabels: "texts", bool: "dates"}
JOINED = {"Condition": ["subject"], "MedicationRequest": ["subject"]}


def decade(first: str, last: str) -> dict[str, Any]:
    """Return the extensions of a date in a period."""
    period = {"url": PERIOD, "valuePeriod": {"start": first, "end": last}}
    return {"extension": [*MASKED["extension"], period]}


def steps(text: str) -> tuple[TypedStep, ...]:
    """Read a path such as ``name*.given*``; ``=`` begins the items of ICD-10."""
    found = []
    for key in text.split("."):
        coded = key.endswith("=")
        found.append(TypedStep(key.rstrip("*="), key != key.rstrip("*="), (ICD,) if coded else ()))
    return tuple(found)


def typing_of(*fields: tuple[str, bool] | tuple[str, bool, Any]) -> Typing:
    """Build a typing; the third part of a field is how its labels are spelled."""
    found = []
    for path, quasi, *more in fields:
        spelling = {SPELLINGS[type(one)]: one for one in more}
        found.append(TypedField(steps(path), quasi, **spelling))
    return Typing("Patient", found, JOINED)


PATIENT = typing_of(
    ("birthDate", True, DATES),
    ("gender", True),
    ("multipleBirthBoolean", False),
    ("maritalStatus.coding*.code", True, GROUPS),
    ("name*.given*", True),
    ("communication*.language.text", True),
    ("Encounter*.status", True),
    ("Encounter*.class.code", True),
    ("Encounter*.period.start", True, DATES),
    ("Encounter*.Observation*.issued", True, DATES),
    ("Encounter*.Observation*.effectiveTiming.event*", True, DATES),
    ("Encounter*.Observation*.valueQuantity.value", False, TENTHS),
    ("Encounter*.Observation*.valueQuantity.unit", True),
    ("Encounter*.Observation*.code.text", True),
    ("Condition*.code.coding=.code", True, GROUPS),
    ("Condition*.code.coding=.version", True),
    ("Condition*.code.coding*.code", False),
    ("Condition*.onsetAge.value", True, WHOLE),
    ("Condition*.onsetAge.unit", True),
    ("MedicationRequest*.medicationCodeableConcept.text", True),
    ("MedicationRequest*.dosageInstruction*.doseAndRate*.doseQuantity.value", True, TENTHS),
)


@pytest.mark.parametrize(
    ("labels", "typed"),
    [
        ({"birthDate": "1974-05"}, {"birthDate": "1974-05"}),
        ({"birthDate": "*", "gender": None}, {}),
        (
            {"birthDate": "[1970-01-01, 1979-12-31]"},
            {"_birthDate": decade("1970-01-01", "1979-12-31")},
        ),
        (
            {"Encounter": [{"class": {"code": "x"}, "Observation": [{"issued": "1974-05"}]}]},
            {
                "Encounter": [
                    {
                        "_status": MASKED,
                        "class": {"code": "x"},
                        "Observation": [
                            {"_issued": decade("1974-05", "1974-05"), "_status": MASKED, "code": MASKED}
                        ],
                    }
                ]
            },
        ),
        ({"multipleBirthBoolean": True}, {"multipleBirthBoolean": True}),
        ({"maritalStatus": {"coding": []}}, {}),
        ({"maritalStatus": {"coding": [{"code": "M"}]}}, {"maritalStatus": {"coding": [{"code": "M"}]}}),
        (
            {"maritalStatus": {"coding": [{"code": "M**"}, {"code": "*"}]}},
            {"maritalStatus": {"coding": [{"display": "M**"}, MASKED]}},
        ),
        (
            {"name": [{"given": ["*", "Ada", "*"]}, {"given": []}]},
            {"name": [{"given": [None, "Ada", None], "_given": [MASKED, None, MASKED]}, MASKED]},
        ),
        ({"communication": [{"language": {"text": "*"}}]}, {"communication": [{"language": MASKED}]}),
        (
            {"Encounter": [{"status": "*", "class": {"code": "*"}, "period": {"start": "*"}}]},
            {"Encounter": [{"_status": MASKED, "class": MASKED}]},
        ),
        (
            {"Condition": [{"onsetAge": {"value": "[30, 34]", "unit": "a"}}]},
            {
                "Condition": [
                    {"onsetRange": {"low": {"value": 30, "unit": "a"}, "high": {"value": 34, "unit": "a"}}}
                ]
            },
        ),
        (
            {"Condition": [{"onsetAge": {"value": 31, "unit": "*"}}]},
            {"Condition": [{"onsetAge": {"value": 31}}]},
        ),
        (
            {"Condition": [{"code": {"coding": [{"system": ICD[1], "code": "Diseases of the heart"}]}}]},
            {"Condition": [{"code": {"coding": [{"system": ICD[1], "display": "Diseases of the heart"}]}}]},
        ),
        ({"MedicationRequest": [{}]}, {"MedicationRequest": [{
            "_status": MASKED, "_intent": MASKED, "medicationCodeableConcept": MASKED
        }]}),
    ],
)  # fmt: skip
def test_labels_become_values_of_the_types(labels: dict[str, Any], typed: dict[str, Any]) -> None:
    given = deepcopy(labels)
    found = PATIENT.to_fhir(labels)
    assert found == typed
    assert labels == given
    validate_record(found)


def test_decimal_bins_are_disjoint_although_ranges_include_their_ends() -> None:
    bins = ["[-0.5, 0.0)", "[0.0, 0.5)", "[0.5, 1.0)", "[1.0, 1.5)"]
    ends = [TENTHS.ends(label) for label in bins]
    assert ends == [
        (Decimal("-0.5"), Decimal("-0.1")),
        (0, Decimal("0.4")),
        (Decimal("0.5"), Decimal("0.9")),
        (1, Decimal("1.4")),
    ]
    assert [TENTHS.label(*own) for own in ends if own] == bins
    assert TENTHS.ends("[30, 40)") == (30, Decimal("39.9"))
    assert TENTHS.label(30, Decimal("39.9")) == "[30, 40)"
    assert TENTHS.label(30, 39) is None
    assert TENTHS.label("30", Decimal("39.9")) is None
    assert WHOLE.label(30, Decimal("34.5")) is None


numbers = st.sampled_from([ANY, "[30, 34]", "[35, 39]", 31, 7])
decimals = st.sampled_from(["[0.5, 1.0)", "[30, 40)", Decimal("0.7"), None])
texts = st.sampled_from([ANY, "a", "b"])


def objects(**fields: st.SearchStrategy[Any]) -> st.SearchStrategy[dict[str, Any]]:
    return st.fixed_dictionaries(fields)


def lists(items: st.SearchStrategy[Any]) -> st.SearchStrategy[list[Any]]:
    return st.lists(items, min_size=1, max_size=2)


codes = st.sampled_from([ANY, "M", "M**", "Diseases of the heart"])
icd = objects(system=st.just(ICD[1]), code=codes, version=texts)
other = st.builds(dict, st.just({}), code=st.sampled_from(["x", "y"]))
dates = st.sampled_from([ANY, "[1970-01-01, 1979-12-31]", "1974", "1974-05", "1974-05-06"])
quantity = st.fixed_dictionaries({"unit": texts}, optional={"value": decimals.filter(bool)})
timing = objects(event=lists(dates))
observation = st.fixed_dictionaries(
    {"code": objects(text=texts), "issued": dates, "valueQuantity": quantity},
    optional={"effectiveTiming": timing},
)
encounter = st.fixed_dictionaries(
    {
        "status": st.sampled_from([ANY, "finished"]),
        "class": objects(code=texts),
        "period": objects(start=dates),
    },
    optional={"Observation": lists(observation)},
)
condition = st.fixed_dictionaries(
    {"onsetAge": objects(value=numbers, unit=texts)},
    optional={"code": objects(coding=lists(icd | other))},
)
dose = objects(doseQuantity=objects(value=decimals.filter(bool) | st.just(ANY)))
medication = st.fixed_dictionaries(
    {"medicationCodeableConcept": objects(text=texts)},
    optional={"dosageInstruction": lists(objects(doseAndRate=lists(dose)))},
)
record = st.fixed_dictionaries(
    {"birthDate": dates, "gender": st.sampled_from([ANY, "female"])},
    optional={
        "multipleBirthBoolean": st.booleans(),
        "maritalStatus": objects(coding=lists(objects(code=codes))),
        "name": lists(objects(given=lists(texts))),
        "communication": lists(objects(language=objects(text=texts))),
        "Encounter": lists(encounter),
        "Condition": lists(condition),
        "MedicationRequest": lists(medication),
    },
)


@examples(150)
@given(record)
def test_every_record_is_valid_and_comes_back(labels: dict[str, Any]) -> None:
    typed = PATIENT.to_fhir(labels)
    validate_record(typed)
    assert ANY not in json.dumps(typed, default=str).replace("**", "")
    assert PATIENT.from_fhir(typed) == labels


@examples(100)
@given(record)
def test_missing_and_suppressed_are_one(labels: dict[str, Any]) -> None:
    def lose(value: Any) -> Any:
        if isinstance(value, dict):
            return {key: lose(inner) for key, inner in value.items() if inner != ANY}
        if isinstance(value, list):
            return [None if item == ANY else lose(item) for item in value]
        return value

    assert PATIENT.to_fhir(lose(labels)) == PATIENT.to_fhir(labels)


@pytest.mark.parametrize(
    "typed",
    [
        {"extension": MASKED["extension"], "birthDate": "1974"},
        {"_birthDate": MASKED},
        {"birthDate": "1974", "_birthDate": decade("1970-01-01", "1979-12-31")},
        {"_birthDate": decade("1974", "1974")},
        {"Condition": [{"onsetRange": {"low": {"value": 30}, "high": {"value": 34, "unit": "a"}}}]},
        {"Condition": [{"onsetRange": {"low": {"value": 30}, "high": {"value": 34}, "id": "x"}}]},
        {"Condition": [{"code": {"coding": [{"system": ICD[1], "display": "Heart"}]}}]},
        {"Encounter": [{"_status": {"extension": [*MASKED["extension"], *MASKED["extension"]]}}]},
        {"name": [{"given": [None, "a"], "_given": [None, MASKED]}]},
    ],
)
def test_what_is_never_written_is_left_for_the_judge(typed: dict[str, Any]) -> None:
    """A mark or range elsewhere would tell records apart; the judge knows no field of its name."""
    read = PATIENT.from_fhir(typed)

    def keys(value: Any) -> set[str]:
        if isinstance(value, dict):
            return set(value).union(*map(keys, value.values()))
        return set().union(*map(keys, value)) if isinstance(value, list) else set()

    assert keys(read) & {"extension", "_birthDate", "onsetRange", "display", "_status", "_given"}


def test_elements_are_those_of_the_models() -> None:
    table = json.loads(TABLE.read_text("utf-8"))
    assert TABLE.read_text("utf-8") == spell_table(table)
    for name in ("Patient", "Encounter", "Observation", "Condition", "Claim", "Dosage", "Range"):
        model = getattr(import_module(f"fhir.resources.R4B.{name.lower()}"), name)
        assert table[name] == elements_of_model(model)
    wanted = {key for key, own in elements_of("Encounter").items() if own.required}
    assert wanted == {"status", "class"}

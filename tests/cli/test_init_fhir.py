"""Drafts for FHIR resources: roles are right by HL7's elements, in exports, Bundles and other countries."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from hierdata.documents.fhir.elements import elements_of, is_resource
from hierdata.drafting.fhir.draft import QUESTIONS, FhirDraft
from hierdata.drafting.fhir.seen import known_elements
from hierdata.ground.errors import InputError
from hierdata.pipeline.draft_fhir import init_fhir, is_fhir
from hierdata.policy.load import from_data
from hierdata.synth.fhir import write_fhir
from tests.cli.conftest import Run

EXPORT = Path(__file__).parents[2] / "fixtures" / "fhir"
ICD, SNOMED = "http://fhir.de/CodeSystem/bfarm/icd-10-gm", "http://snomed.info/sct"

HL7 = "http://hl7.org/fhir/StructureDefinition/"

GERMAN: list[dict[str, Any]] = [
    {
        "resourceType": "Patient",
        "id": "de1",
        "identifier": [
            {
                "type": {"coding": [{"system": "http://fhir.de/CodeSystem/id", "code": "GKV"}]},
                "system": "http://fhir.de/sid/gkv/kvid-10",
                "value": "A123456789",
            },
            {"system": "https://gematik.de/fhir/sid/telematik-id", "value": "1-2arvtst-ap000000"},
        ],
        "name": [
            {
                "family": "Freifrau von Beispiel",
                "_family": {"extension": [{"url": HL7 + "humanname-own-name", "valueString": "Beispiel"}]},
                "given": ["Musterine"],
                "prefix": ["Dr. med."],
                "_prefix": [{"extension": [{"url": HL7 + "iso21090-EN-qualifier", "valueCode": "AC"}]}],
            }
        ],
        "gender": "other",
        "_gender": {
            "extension": [
                {
                    "url": "http://fhir.de/StructureDefinition/gender-amtlich-de",
                    "valueCoding": {"system": "http://fhir.de/CodeSystem/gender-amtlich-de", "code": "D"},
                }
            ]
        },
        "birthDate": "1971-02-03",
        "address": [
            {
                "line": ["Musterallee 17"],
                "_line": [
                    {"extension": [{"url": HL7 + "iso21090-ADXP-streetName", "valueString": "Musterallee"}]}
                ],
                "city": "Musterhausen",
                "postalCode": "04109",
                "country": "DE",
            }
        ],
    },
    {
        "resourceType": "Condition",
        "id": "dc1",
        "subject": {"reference": "Patient/de1"},
        "code": {
            "coding": [
                {"system": ICD, "version": "2024", "code": "E11.90", "display": "Diabetes"},
                {"system": SNOMED, "code": "44054006"},
            ],
            "text": "Zucker bei Frau von Beispiel",
        },
        "note": [{"text": "Musterine klagt"}],
    },
    {
        "resourceType": "MedicationStatement",
        "id": "dm1",
        "status": "active",
        "subject": {"reference": "Patient/de1"},
        "medicationReference": {"reference": "Medication/dmed"},
    },
    {
        "resourceType": "Medication",
        "id": "dmed",
        "code": {"coding": [{"system": "http://fhir.de/CodeSystem/ifa/pzn", "code": "00000017"}]},
    },
]
AUSTRALIAN: list[dict[str, Any]] = [
    {
        "resourceType": "Patient",
        "id": "au1",
        "extension": [
            {
                "url": "http://hl7.org.au/fhir/StructureDefinition/indigenous-status",
                "valueCoding": {"system": "https://terms.example/x", "code": "1"},
            },
            {"url": "https://house.example/ward-nickname", "valueString": "Bluey"},
        ],
        "identifier": [
            {"system": "http://ns.electronichealth.net.au/id/hi/ihi/1.0", "value": "8003608333647261"},
            {"system": "http://ns.electronichealth.net.au/id/medicare-number", "value": "32788511952"},
        ],
        "name": [{"family": "Wongamurra", "given": ["Talia"], "prefix": ["Aunty"]}],
        "gender": "female",
        "birthDate": "1962-11-30",
        "address": [{"line": ["4 Banksia Way"], "city": "Dubbo", "state": "NSW", "postalCode": "2830"}],
    },
    {
        "resourceType": "Practitioner",
        "id": "ap1",
        "identifier": [
            {"system": "http://hl7.org.au/id/ahpra-registration-number", "value": "MED0000932945"}
        ],
        "name": [{"family": "Cheeseman"}],
    },
    {
        "resourceType": "Immunization",
        "id": "ai1",
        "status": "completed",
        "patient": {"reference": "Patient/au1"},
        "occurrenceDateTime": "2021-05-06",
        "vaccineCode": {"coding": [{"system": "https://www.humanservices.gov.au/air", "code": "COMIRN"}]},
    },
]


def written(folder: Path, resources: list[dict[str, Any]], bundle: bool) -> Path:
    folder.mkdir()
    if bundle:
        entries = [{"fullUrl": f"urn:uuid:{one['id']}", "resource": one} for one in resources]
        text = json.dumps({"resourceType": "Bundle", "type": "collection", "entry": entries})
        (folder / "one.json").write_text(text)
        return folder
    for one in resources:
        with (folder / f"{one['resourceType']}.ndjson").open("a") as file:
            file.write(json.dumps(one) + "\n")
    return folder


def roles(draft: FhirDraft) -> dict[str, tuple[str, bool]]:
    return {path: (role, published) for path, role, _, published in draft.list_roles()}


def texts(value: Any) -> Iterator[str]:
    if isinstance(value, dict):
        for key, inner in value.items():
            if key not in ("system", "url", "resourceType", "code", "gender"):
                yield from texts(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from texts(inner)
    elif isinstance(value, str):
        yield value


def test_the_tables_name_elements_of_fhir_only() -> None:
    for kind, name in known_elements():
        assert is_resource(kind)
        assert not name or name in elements_of(kind), (kind, name)


def test_an_export_is_found_and_its_roles_are_those_of_fhir(run: Run, tmp_path: Path) -> None:
    assert is_fhir(EXPORT)
    assert not is_fhir(EXPORT.parent / "students" / "students.json")
    out = tmp_path / "draft.yaml"
    assert run("init", EXPORT, "--out", out, "--quiet").code == 0
    draft = out.read_text()
    assert "standard: fhir-r4" in draft
    assert draft.count("CONFIRM ") == len(QUESTIONS) <= 10
    ran = run("init", EXPORT, "--as", "fhir-r4", "--json")
    found = {one["path"]: one for one in ran.json["fields"]}
    for path in ("$.name", "$.identifier", "$.telecom", "$.text", "$.id"):
        assert (found[path]["role"], found[path]["published"]) == ("identifier", False)
    for path in ("$.gender", "$.birthDate", "$.Encounter[*].class", "$.Immunization[*].vaccineCode"):
        assert (found[path]["role"], found[path]["published"]) == ("quasi", True)
    for path in ("$.Condition[*].code", "$.MedicationRequest[*].medicationCodeableConcept"):
        assert (found[path]["role"], found[path]["published"]) == ("sensitive", True)
    assert not any(found[path]["published"] for path in found if path.endswith((".subject", ".encounter")))
    assert ran.json["resources"]["Patient"] == 20
    assert run("lint", out).code == 2  # a draft is refused until a person has looked at it


def test_bundles_and_files_give_one_policy(tmp_path: Path) -> None:
    for form in ("ndjson", "bundles"):
        write_fhir(8, tmp_path / form, seed=3, form=form, years=2)
    drafts = [init_fhir(tmp_path / form) for form in ("ndjson", "bundles")]
    assert drafts[0].policy() == drafts[1].policy()
    from_data(drafts[0].confirmed())


@pytest.mark.parametrize("bundle", [False, True])
def test_german_resources(tmp_path: Path, bundle: bool) -> None:
    draft = init_fhir(written(tmp_path / "de", GERMAN, bundle))
    found, policy = roles(draft), draft.policy()
    assert found["$.identifier"] == found["$.name"] == ("identifier", False)
    assert found["$.address"] == ("quasi", False)
    assert found["$.Condition[*].note"] == ("identifier", False)
    assert {path for path in policy["fields"] if ".code.coding" in path} == {
        f"$.Condition[*].code.coding[?@.system == '{system}'].code" for system in (ICD, SNOMED)
    }
    uses = {"MedicationStatement.medicationReference.reference": {"code": "medicationCodeableConcept"}}
    assert policy["tables"]["Medication"] == {"lookup": uses}
    assert [text for text in texts(GERMAN) if len(text) > 3 and text in str(draft)] == []


def test_australian_resources(tmp_path: Path) -> None:
    draft = init_fhir(written(tmp_path / "au", AUSTRALIAN, bundle=False))
    found = roles(draft)
    status = "http://hl7.org.au/fhir/StructureDefinition/indigenous-status"
    assert found[f"$.extension[?@.url == '{status}']"] == ("quasi", False)
    assert found["$.extension[*]"] == ("structure", False)
    assert found["$.identifier"] == found["$.Practitioner[*].identifier"] == ("identifier", False)
    assert found["$.Immunization[*].vaccineCode"] == ("quasi", True)
    assert "Practitioner" not in draft.policy()["tables"]
    assert [text for text in texts(AUSTRALIAN) if len(text) > 3 and text in str(draft)] == []
    assert "ward-nickname" not in str(draft)


def test_what_is_no_resource_is_refused(run: Run, tmp_path: Path) -> None:
    assert run("init", EXPORT, "--as", "fhir-r5").code == 2
    with pytest.raises(InputError, match="no resource of the type Patient"):
        init_fhir(written(tmp_path / "a", AUSTRALIAN[1:], bundle=False))
    mixed = written(tmp_path / "b", AUSTRALIAN, bundle=False)
    (mixed / "Ward.ndjson").write_text('{"resourceType": "Ward"}\n')
    with pytest.raises(InputError, match="no resourceType of FHIR R4"):
        init_fhir(mixed)


def test_few_kinds_of_resources_are_published_by_their_drafts(run: Run, tmp_path: Path) -> None:
    """Dates have FHIR's partial forms, and the promise is one that what lies below the patient allows."""
    patients = [
        {"resourceType": "Patient", "id": f"p{n}", "gender": "mf"[n % 2], "birthDate": f"198{n % 2}{end}"}
        for n, end in enumerate(("", "-03", "-03-04") * 8)
    ]
    conditions = [
        {
            "resourceType": "Condition",
            "id": f"c{n}",
            "subject": {"reference": f"Patient/p{n % 24}", "display": f"Ines Brandt{n % 24}"},
            "code": {"coding": [{"system": SNOMED, "code": ("44054006", "38341003")[n // 2 % 2]}]},
        }
        for n in range(48)
    ]
    for name, own, kept in (
        ("alone", patients, '"198'),
        ("both", patients + conditions, "44054006"),
        ("conditions", conditions, "44054006"),
    ):
        source, policy, out = (tmp_path / f"{name}{end}" for end in (".ndjson", ".yaml", ""))
        source.write_text("".join(json.dumps(one) + "\n" for one in own))
        assert run("init", source, "--out", policy, "--quiet").code == 0
        drafted = policy.read_text().splitlines(keepends=True)
        policy.write_text("".join(line for line in drafted if not line.startswith("draft:")))
        assert "0 errors" in (told := run("lint", policy, "--data", source).out) or "Nothing is wrong" in told
        assert "repeat" not in told  # whose display repeats is united, or left out
        assert run("anonymize", source, "--policy", policy, "--out", out, "--quiet").code == 0
        published = "".join(one.read_text() for one in (out / "public").rglob("*.*json*"))
        assert kept in published
        assert "Brandt" not in published
    assert "individual: {by: $.subject.reference" in policy.read_text()
    assert run("init", source, "--as", "fhir-r4", "--quiet").code == 5  # no patient


@pytest.mark.full
def test_a_confirmed_draft_is_published_as_it_is(run: Run, tmp_path: Path) -> None:
    write_fhir(60, tmp_path / "in", seed=4, years=2)
    out = tmp_path / "policy.yaml"
    assert run("init", tmp_path / "in", "--out", out, "--quiet").code == 0
    lines = out.read_text().splitlines(keepends=True)
    out.write_text("".join(line for line in lines if not line.startswith("draft:")))
    release = tmp_path / "out"
    assert run("anonymize", tmp_path / "in", "--policy", out, "--out", release, "--quiet").code == 0
    published = (release / "public" / "records" / "Condition.ndjson").read_text()
    assert '"system":"http://snomed.info/sct"' in published

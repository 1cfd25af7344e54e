"""The drafted policy, released: no string of the input but codes, and what researchers ask."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from statistics import median
from typing import Any

import pytest

import hierdata
from hierdata.documents.fhir.elements import elements_of
from hierdata.pipeline.draft_fhir import init_fhir
from hierdata.pipeline.measure import measure_release
from hierdata.synth.fhir import write_fhir
from tests.benchmarks.fhir_questions import compare, kept_codes
from tests.fhir.valid import validate

EXPORT = Path(__file__).parents[2] / "fixtures" / "fhir"
CANARY = "canary7319"
SEED = bytes(16)
PUBLISHED = (
    "Patient",
    "Encounter",
    "Immunization",
    "Condition",
    "Procedure",
    "MedicationRequest",
    "AllergyIntolerance",
)
KNOWS_TWO: dict[str, Any] = {"kind": "bounded-knowledge", "k": 2, "m": 2}
CODES = ("code", "vaccineCode", "medicationCodeableConcept")
"""Elements whose codings are published."""


def plant(value: Any, keys: tuple[str, ...]) -> Any:
    """Return a value with a canary in every string that the draft does not publish."""
    if isinstance(value, dict):
        return {key: plant(own, (*keys, key)) for key, own in value.items()}
    if isinstance(value, list):
        return [plant(own, keys) for own in value]
    if not isinstance(value, str) or keys in (("resourceType",), ("gender",), ("birthDate",)):
        return value
    if keys[:1] == ("class",) and keys[-1] in ("code", "system"):
        return value
    if keys[0] in CODES and keys[1:2] == ("coding",) and keys[-1] in ("code", "system"):
        return value
    if keys[-1] == "reference" and "/" in value:
        kind, _, key = value.rpartition("/")
        return f"{kind}/{CANARY}{key}"
    return f"{CANARY}{value}"


def read_planted() -> list[dict[str, Any]]:
    """The resources of the fixture, each with a canary in all strings and in further elements with text."""
    found = []
    for path in sorted(EXPORT.glob("*.ndjson")):
        for line in path.read_text("utf-8").splitlines():
            resource = plant(json.loads(line), ())
            for name, element in elements_of(resource["resourceType"]).items():
                if name not in resource and element.type in ("string", "markdown", "uri"):
                    resource[name] = [CANARY] if element.many else CANARY
            resource["contained"] = [{"resourceType": "Practitioner", "name": [{"text": CANARY}]}]
            resource["modifierExtension"] = [{"url": CANARY, "valueString": CANARY}]
            found.append(resource)
    return found


def write_ndjson(folder: Path, resources: list[dict[str, Any]]) -> Path:
    folder.mkdir()
    for own in resources:
        with (folder / f"{own['resourceType']}.ndjson").open("a", encoding="utf-8") as file:
            file.write(json.dumps(own) + "\n")
    return folder


def write_bundles(folder: Path, resources: list[dict[str, Any]]) -> Path:
    """A file a patient; what belongs to nobody has one of its own."""
    folder.mkdir()
    owned: dict[str, list[dict[str, Any]]] = {}
    for own in resources:
        whose = (own.get("subject") or own.get("patient") or {}).get("reference", "")
        whose = f"Patient/{own['id']}" if own["resourceType"] == "Patient" else whose
        owned.setdefault(whose, []).append(own)
    for number, own in enumerate(owned.values()):
        entries = [{"fullUrl": f"urn:uuid:{one['id']}", "resource": one} for one in own]
        bundle = {"resourceType": "Bundle", "type": "collection", "id": CANARY, "entry": entries}
        (folder / f"{CANARY}{number}.json").write_text(json.dumps(bundle))
    return folder


def published_resources(public: Path) -> Iterator[dict[str, Any]]:
    found = next(public.glob("records*"))
    for path in sorted(found.iterdir()) if found.is_dir() else [found]:
        for line in path.read_text("utf-8").splitlines():
            own = json.loads(line)
            yield from (one["resource"] for one in own["entry"]) if "entry" in own else [own]


def references(value: Any) -> Iterator[str]:
    if isinstance(value, dict):
        yield from [value["reference"]] if "reference" in value else []
        for own in value.values():
            yield from references(own)
    elif isinstance(value, list):
        for own in value:
            yield from references(own)


@pytest.mark.parametrize(
    ("form", "recoding", "model"),
    [
        ("ndjson", "generalization", KNOWS_TWO),
        pytest.param("ndjson", "generalization", {**KNOWS_TWO, "facts": "all"}, marks=pytest.mark.full),
        pytest.param("bundles", "generalization", {**KNOWS_TWO, "m": 3}, marks=pytest.mark.full),
        pytest.param("ndjson", "full_domain", {"kind": "k-anonymity", "k": 2}, marks=pytest.mark.full),
    ],
    ids=["two", "diagnoses", "bundles", "full-domain"],
)
def test_no_string_but_codes_is_published(
    tmp_path: Path, form: str, recoding: str, model: dict[str, Any]
) -> None:
    planted = read_planted()
    write = write_ndjson if form == "ndjson" else write_bundles
    folder = write(tmp_path / "in", planted)
    draft = init_fhir(folder)
    assert CANARY not in str(draft)
    policy = draft.policy(model)
    if recoding != "generalization":
        policy["recoding"] = recoding
    out = tmp_path / "out"
    hierdata.anonymize(folder, policy, out=out, seed=SEED)
    for path in out.rglob("*"):
        if path.is_file() and path.name != "verification.json":
            assert CANARY.encode() not in path.read_bytes(), path.name
    found = list(published_resources(out / "public"))
    assert {own["resourceType"] for own in found} <= set(PUBLISHED)
    ids = {f"{own['resourceType']}/{own['id']}" for own in found}
    assert set(references(found)) <= ids
    for own in found:
        validate(own)
    assert hierdata.verify(out, policy, original=folder).passed


@pytest.mark.full
def test_a_release_is_measured_and_attacked(tmp_path: Path) -> None:
    policy = init_fhir(EXPORT).policy(KNOWS_TWO)
    out = tmp_path / "out"
    release = hierdata.anonymize(EXPORT, policy, out=out, seed=SEED)
    measured = measure_release(out, policy, original=EXPORT)
    kept = measured.metrics["kept"].total
    assert kept == release.report.metrics["kept"].total
    found = hierdata.attack(out, policy, original=EXPORT, facts=2, victims=20)
    assert found.least >= 2


def test_questions_have_the_same_answers_for_the_same_records(tmp_path: Path) -> None:
    shutil.copytree(EXPORT, tmp_path / "public" / "records")
    assert {max(own, default=0) for own in compare(EXPORT, tmp_path).values()} == {0}
    assert set(kept_codes(EXPORT, tmp_path).values()) == {1}
    (tmp_path / "public" / "records" / "Condition.ndjson").write_text("")
    assert set(compare(EXPORT, tmp_path)["conditions of all"]) == {1}
    assert kept_codes(EXPORT, tmp_path)["Condition"] == 0


@pytest.mark.full
def test_what_researchers_ask_is_answered(tmp_path: Path) -> None:
    """The bars of the drafted promise, m = 2, on 600 patients with ten years of history."""
    export = tmp_path / "in"
    write_fhir(600, export, seed=3)
    hierdata.anonymize(export, init_fhir(export).confirmed(), out=tmp_path / "out", seed=SEED)
    kept = kept_codes(export, tmp_path / "out")
    assert kept["Condition"] >= 0.85
    assert kept["MedicationRequest"] >= 0.75
    assert kept["Procedure"] >= 0.75
    errors = compare(export, tmp_path / "out")
    assert median(errors["conditions by sex and decade"]) <= 0.1

"""A small export of FHIR resources, written by hand, in the forms in which servers write them."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

CANARY = "canary7319"
PATIENTS = 12


def reference(kind: str, key: str, at: int) -> dict[str, Any]:
    """A reference in one of its spellings, with a name that must not be published."""
    spelled = (
        f"{kind}/{key}",
        f"{kind}/{key}/_history/2",
        f"https://server.example/fhir/{kind}/{key}",
        f"urn:uuid:{key}",
    )[at % 4]
    return {"reference": spelled, "display": CANARY}


def resources() -> list[dict[str, Any]]:
    """Patients, each with encounters and with observations of these or of their own."""
    found: list[dict[str, Any]] = [
        {"resourceType": "Medication", "id": f"{CANARY}-m{at}", "code": {"text": f"drug {at}"}}
        for at in range(2)
    ]
    found.append({"resourceType": "Organization", "id": f"{CANARY}-o", "name": CANARY})
    for at in range(PATIENTS):
        own = f"{CANARY}-p{at}"
        found.append(
            {
                "resourceType": "Patient",
                "id": own,
                "gender": ("female", "male")[at % 2],
                "name": [{"family": CANARY}],
                "text": {"div": CANARY},
                "meta": {"versionId": CANARY},
            }
        )
        for visit in range(2):
            met = f"{CANARY}-e{at}-{visit}"
            found.append(
                {
                    "resourceType": "Encounter",
                    "id": met,
                    "status": "finished",
                    "class": {"code": "AMB"},
                    "subject": reference("Patient", own, at),
                    "serviceProvider": {"reference": f"Organization/{CANARY}-o"},
                }
            )
            seen = {
                "resourceType": "Observation",
                "id": f"{CANARY}-{at}-{visit}",
                "status": "final",
                "code": {"text": ("weight", "height")[visit]},
                "subject": reference("Patient", own, at + 1),
                "hasMember": [{"reference": f"Observation/{CANARY}-{at}-0"}],
                "note": [{"text": CANARY}],
            }
            if visit:
                seen["encounter"] = reference("Encounter", met, at)
            found.append(seen)
        found.append(
            {
                "resourceType": "MedicationRequest",
                "id": f"{CANARY}-r{at}",
                "status": "active",
                "intent": "order",
                "subject": reference("Patient", own, at),
                "medicationReference": {"reference": f"Medication/{CANARY}-m{at % 2}"}
                if at % 3
                else {"reference": "#inside"},
                "contained": [{"resourceType": "Medication", "id": "inside", "code": {"text": "drug 0"}}],
            }
        )
    return found


POLICY: dict[str, Any] = {
    "version": 1,
    "standard": "fhir-r4",
    "unlisted": "drop",
    "models": [{"kind": "k-anonymity", "k": 3}],
    "tables": {
        "Patient": {},
        "Encounter": {"parent": "Patient", "on": "subject.reference"},
        "Observation": {
            "parent": ["Encounter", "Patient"],
            "on": ["encounter.reference", "subject.reference"],
        },
        "MedicationRequest": {"parent": "Patient", "on": "subject.reference"},
        "Medication": {
            "lookup": {
                "MedicationRequest.medicationReference.reference": {"code": "medicationCodeableConcept"}
            }
        },
    },
    "fields": {
        "$.gender": {"role": "quasi", "flat": True},
        "$.Encounter[*].class.code": {"role": "quasi", "flat": True},
        "$.Encounter[*].Observation[*].code.text": {"role": "quasi", "flat": True},
        "$.Observation[*].code.text": {"role": "sensitive"},
        "$.MedicationRequest[*].medicationCodeableConcept.text": {"role": "sensitive"},
    },
}


def write_ndjson(folder: Path, given: list[dict[str, Any]] | None = None) -> Path:
    """Write a file a type; observations in numbered parts, encounters compressed."""
    folder.mkdir()
    lines: dict[str, list[str]] = {}
    for at, one in enumerate(resources() if given is None else given):
        kind = one["resourceType"]
        name = f"{kind}.{at % 3:03}.ndjson" if kind == "Observation" else f"{kind}.ndjson"
        lines.setdefault(name, []).append(json.dumps(one) + "\n")
    for name, own in lines.items():
        if name.startswith("Encounter"):
            (folder / f"{name}.gz").write_bytes(gzip.compress("".join(own).encode()))
        else:
            (folder / name).write_text("".join(own))
    (folder / "Procedure.ndjson").touch()
    return folder


def bundles() -> list[dict[str, Any]]:
    """A Bundle for each patient, and one of what belongs to nobody; entries are found by ``fullUrl``."""
    found: list[dict[str, Any]] = []
    for one in resources():
        if one["resourceType"] == "Patient" or not found:
            found.append({"resourceType": "Bundle", "type": "collection", "entry": []})
        found[-1]["entry"].append({"fullUrl": f"urn:uuid:{one['id']}", "resource": one})
    return found


def write_bundles(folder: Path) -> Path:
    """Write a file a Bundle."""
    folder.mkdir()
    for at, one in enumerate(bundles()):
        (folder / f"{CANARY}{at:03}.json").write_text(json.dumps(one, indent=1))
    return folder

"""Releases of resources: valid, without what the policy drops, and silent about what was missing."""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from pathlib import Path
from random import Random
from typing import Any

import pytest

from hierdata import anonymize, verify
from tests.fhir.valid import validate

CANARY = "CANARY"
TABLES = {
    "Patient": {},
    "Encounter": {"parent": "Patient", "on": "subject.reference"},
    "Condition": {"parent": "Patient", "on": "subject.reference"},
    "Observation": {
        "parent": ["Encounter", "Patient"],
        "on": ["encounter.reference", "subject.reference"],
    },
}
FLAT = {"role": "quasi", "flat": True}
OBSERVATION = "$.Encounter[*].Observation[*]"
FIELDS: dict[str, Any] = {
    "$.gender": FLAT,
    "$.birthDate": {"role": "quasi", "date": {"steps": ["year", "decade"]}},
    "$.maritalStatus.coding[*].code": FLAT,
    "$.Encounter[*].status": FLAT,
    "$.Encounter[*].class.code": FLAT,
    f"{OBSERVATION}.code.text": FLAT,
    f"{OBSERVATION}.valueQuantity.value": {"role": "quasi", "interval": {"steps": [0.1, 10]}},
    f"{OBSERVATION}.valueQuantity.unit": FLAT,
    "$.Condition[*].onsetAge.value": {"role": "quasi", "interval": {"steps": [1, 10]}},
    "$.Condition[*].code.coding[?@.system == 'urn:a'].code": {"role": "sensitive"},
    "$.Condition[*].code.coding[?@.system == 'urn:b'].code": FLAT,
}


def plant(resource: dict[str, Any]) -> dict[str, Any]:
    """Return a resource with a canary in every kind of field that identifies or is free text."""
    kind = resource["resourceType"]
    return resource | {
        "meta": {"versionId": CANARY, "tag": [{"display": CANARY}]},
        "text": {"status": "generated", "div": f"<div>{CANARY}</div>"},
        "identifier": [{"system": CANARY, "value": CANARY}],
        "extension": [{"url": f"urn:{CANARY}", "valueString": CANARY}],
        "contained": [{"resourceType": "Practitioner", "id": CANARY, "name": [{"family": CANARY}]}],
        "implicitRules": CANARY,
        "language": CANARY,
    } | {
        "Patient": {
            "name": [{"family": CANARY, "given": [CANARY], "text": CANARY}],
            "telecom": [{"system": "phone", "value": CANARY}],
            "address": [{"line": [CANARY], "city": CANARY, "postalCode": CANARY}],
            "photo": [{"title": CANARY, "data": CANARY}],
            "contact": [{"name": {"text": CANARY}}],
        },
        "Encounter": {"participant": [{"individual": {"reference": CANARY, "display": CANARY}}]},
        "Condition": {"note": [{"text": CANARY}], "recorder": {"display": CANARY}},
        "Observation": {"note": [{"text": CANARY}], "performer": [{"display": CANARY}]},
    }.get(kind, {})  # fmt: skip


def some(random: Random, **fields: Any) -> dict[str, Any]:
    """Return some of the fields: the others are missing."""
    return {key: value for key, value in fields.items() if random.random() < 0.8}


def make_export(folder: Path, seed: int, patients: int) -> None:
    """Write a bulk export of a small world, with missing values at every level."""
    random = Random(seed)
    found: defaultdict[str, list[dict[str, Any]]] = defaultdict(list)

    def add(kind: str, **content: Any) -> str:
        own = {"resourceType": kind, "id": f"{CANARY}-{kind}-{len(found[kind])}", **content}
        found[kind].append(plant(own))
        return f"{kind}/{own['id']}"

    for _ in range(patients):
        marital = {"coding": [some(random, code=random.choice("MS"), display=CANARY)], "text": CANARY}
        about = some(
            random,
            gender=random.choice(["male", "female"]),
            birthDate=f"19{random.choice((51, 52, 67))}-0{random.randint(1, 9)}-11",
            maritalStatus=marital,
        )
        patient = {"reference": add("Patient", **about), "display": CANARY}
        for _ in range(random.randint(0, 2)):
            kind = {"code": random.choice(["AMB", "IMP"]), "display": CANARY}
            visit = add("Encounter", subject=patient, **some(random, status="finished"), **{"class": kind})
            for _ in range(random.randint(0, 2)):
                value = some(random, value=random.choice([1.5, 11.7, 12.25]), unit="kg")
                shown = some(random, valueQuantity=value, code={"text": random.choice("xy")}, status="final")
                add("Observation", encounter={"reference": visit}, subject=patient, **shown)
        for _ in range(random.randint(0, 2)):
            codings = [
                {"system": system, "display": CANARY, **some(random, code=random.choice("pq"))}
                for system in random.sample(["urn:a", "urn:b"], random.randint(1, 2))
            ]
            shown = some(random, onsetAge={"value": random.choice([31, 38, 55])}, code={"coding": codings})
            add("Condition", subject=patient, **shown)
    found["Practitioner"].append({"resourceType": "Practitioner", "id": "1", "name": [{"family": CANARY}]})
    folder.mkdir()
    for kind, rows in found.items():
        lines = (f"{json.dumps(row)}\n" for row in rows)
        (folder / f"{kind}.ndjson").write_text("".join(lines), "utf-8")


def read_records(public: Path) -> list[dict[str, Any]]:
    """Join published resources with plain dicts; what joins them is left out."""
    rows = {
        kind: [json.loads(line) for line in (public / f"records/{kind}.ndjson").read_text().splitlines()]
        for kind in TABLES
        if (public / f"records/{kind}.ndjson").exists()
    }
    at = {f"{kind}/{row['id']}": row for kind, own in rows.items() for row in own}
    for kind in reversed(TABLES):
        for row in rows.get(kind, ()):
            links = [row.pop(name, None) for name in ("encounter", "subject")]
            if parent := next((one for one in links if one is not None), None):
                at[parent["reference"]].setdefault(kind, []).append(row)
    for row in at.values():
        del row["id"]
    return rows["Patient"]


def write_form(value: Any, hidden: frozenset[str] = frozenset()) -> str:
    """Return one text for equal values, whatever the order of lists, without the codes of a system."""
    if isinstance(value, dict):
        shown = {key: own for key, own in value.items() if key != "code" or value.get("system") not in hidden}
        return "{" + ",".join(f"{key}:{write_form(own, hidden)}" for key, own in sorted(shown.items())) + "}"
    if isinstance(value, list):
        return "[" + ",".join(sorted(write_form(own, hidden) for own in value)) + "]"
    return json.dumps(value)


def root_of(record: dict[str, Any]) -> str:
    return write_form({key: record.get(key) for key in ("gender", "birthDate", "_birthDate")})


MODELS: list[dict[str, Any]] = [
    {"kind": "k-anonymity", "k": 2},
    {"kind": "bounded-knowledge", "k": 2, "m": 1, "vertex": "off"},
]


@pytest.mark.parametrize("model", MODELS, ids=["classes", "knowledge"])
@pytest.mark.parametrize("seed", range(3))
def test_a_release_is_valid_and_tells_nothing_more(tmp_path: Path, seed: int, model: dict[str, Any]) -> None:
    make_export(tmp_path / "export", seed, 9)
    policy = {
        "version": 1,
        "standard": "fhir-r4",
        "unlisted": "drop",
        "tables": TABLES,
        "models": [model],
        "fields": {path: {**rule, "optional": True} for path, rule in FIELDS.items()},
    }
    out = tmp_path / "release"
    anonymize(tmp_path / "export", policy, out=out, seed=bytes(16))
    public = out / "public"
    for path in public.rglob("*"):
        if path.is_file():
            assert CANARY.encode() not in path.read_bytes(), path.name
    for path in (public / "records").iterdir():
        for line in path.read_text("utf-8").splitlines():
            validate(json.loads(line))
            assert '"*"' not in line
            assert "null" not in line
    told = (public / "codebook.json").read_text("utf-8"), (public / "release.json").read_text("utf-8")
    assert "data-absent-reason" in told[0]
    assert "published as *" not in "".join(told)
    records = read_records(public)
    assert records
    if model["kind"] == "k-anonymity":
        forms = Counter(write_form(record, frozenset({"urn:a"})) for record in records)
        assert min(forms.values()) >= 2
    else:
        check_knowledge(records)
    assert verify(out, policy, original=tmp_path / "export").passed


def check_knowledge(records: list[dict[str, Any]]) -> None:
    """Check k = 2 for the root and one fact: what an encounter, observation or condition shows or lacks."""
    held: Counter[tuple[str, str]] = Counter()
    for record in records:
        facts = {
            "",
            *(f"marital {own.get('code')}" for own in record.get("maritalStatus", {}).get("coding", ())),
        }
        for visit in record.get("Encounter", ()):
            facts |= {f"status {visit.get('status')}", f"class {visit['class'].get('code')}"}
            for seen in visit.get("Observation", ()):
                ends = seen.get("valueRange", {"low": seen.get("valueQuantity", {})})
                facts |= {f"text {seen['code'].get('text')}", f"unit {ends['low'].get('unit')}"}
                facts.add(f"value {[own.get('value') for own in ends.values()]}")
        for condition in record.get("Condition", ()):
            facts.add(f"age {write_form(condition.get('onsetRange', condition.get('onsetAge')))}")
            codings = condition.get("code", {}).get("coding", ())
            facts |= {f"code {own.get('code')}" for own in codings if own["system"] == "urn:b"}
        held.update((root_of(record), fact) for fact in facts)
    assert min(held.values()) >= 2

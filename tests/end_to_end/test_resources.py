"""Exports of FHIR resources through the whole pipeline, judged by plain dictionaries."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import hierdata
from hierdata.ground.errors import HierdataError, InputError, PolicyError
from hierdata.pipeline.join import join_splits
from hierdata.pipeline.resources import Resources
from hierdata.policy.load import from_data
from hierdata.release.release import Release
from hierdata.sources import collect
from hierdata.sources.rows import KeyedRows, group_parts
from hierdata.sources.splits import FileSplit, file_splits
from tests.end_to_end.conftest import SEED
from tests.end_to_end.resource_export import (
    CANARY,
    PATIENTS,
    POLICY,
    bundles,
    resources,
    write_bundles,
    write_ndjson,
)


def published_resources(release: Path) -> list[dict[str, Any]]:
    """All published resources, as any reader of NDJSON or Bundles finds them."""
    records = next((release / "public").glob("records*"))
    files = sorted(records.iterdir()) if records.is_dir() else [records]
    found = [json.loads(line) for file in files for line in file.read_text().splitlines()]
    return [
        inner
        for one in found
        for inner in ([e["resource"] for e in one["entry"]] if one["resourceType"] == "Bundle" else [one])
    ]


def references(value: Any) -> list[str]:
    if isinstance(value, dict):
        own = [value["reference"]] if "reference" in value else []
        return own + [one for inner in value.values() for one in references(inner)]
    return [one for inner in value for one in references(inner)] if isinstance(value, list) else []


def whole(kind: str, found: list[dict[str, Any]], key: str, above: dict[str, str]) -> Any:
    """What a reader sees of a resource and of what refers to it, without ids and sensitive values."""
    own = next(one for one in found if one["resourceType"] == kind and one["id"] == key)
    hidden = {"id", "subject", "encounter", "medicationCodeableConcept"}
    hidden |= {"code"} if kind == "Observation" and "encounter" not in own else set()
    shown = json.dumps({name: own[name] for name in own if name not in hidden}, sort_keys=True)
    to = f"{kind}/{key}"
    below = [one for one in found if one.get("encounter", one.get("subject", {})).get("reference") == to]
    inner = Counter(json.dumps(whole(one["resourceType"], found, one["id"], above)) for one in below)
    return [shown, sorted(inner.items())]


def check_published(release: Path) -> list[dict[str, Any]]:
    """Check a release as a stranger would, with dictionaries."""
    found = published_resources(release)
    ids = {f"{one['resourceType']}/{one['id']}" for one in found}
    assert len(ids) == len(found)
    assert set(references(found)) <= ids  # nothing dangles
    assert CANARY not in json.dumps(found)
    for kind in {one["resourceType"] for one in found}:
        own = [one["id"] for one in found if one["resourceType"] == kind]
        assert sorted(own, key=int) == [str(number) for number in range(1, len(own) + 1)]
    patients = [one["id"] for one in found if one["resourceType"] == "Patient"]
    seen = Counter(json.dumps(whole("Patient", found, key, {})) for key in patients)
    assert min(seen.values()) >= 3
    return found


@pytest.fixture(scope="module")
def from_ndjson(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Release]:
    folder = write_ndjson(tmp_path_factory.mktemp("export") / "in")
    return folder, hierdata.anonymize(folder, from_data(POLICY), seed=SEED, out=folder.parent / "out")


def test_an_export_is_published_as_an_export(from_ndjson: tuple[Path, Release]) -> None:
    folder, release = from_ndjson
    out = folder.parent / "out"
    found = check_published(out)
    assert sorted(file.name for file in (out / "public" / "records").iterdir()) == [
        "Encounter.ndjson",
        "MedicationRequest.ndjson",
        "Observation.ndjson",
        "Patient.ndjson",
    ]
    kinds = Counter(one["resourceType"] for one in found)
    assert kinds["Patient"] == PATIENTS
    assert kinds["Encounter"] == 2 * PATIENTS
    requests = [one for one in found if one["resourceType"] == "MedicationRequest"]
    assert {one["medicationCodeableConcept"]["text"] for one in requests} == {"drug 0", "drug 1"}
    assert all(one.keys() & {"contained", "medicationReference"} == set() for one in requests)
    assert hierdata.verify(out, POLICY).passed
    assert hierdata.verify(out, POLICY, original=folder).passed
    (out / "stranger").mkdir()
    assert hierdata.verify(out / "public", POLICY).passed
    assert len(list(release.records())) == PATIENTS


def test_bundles_are_published_as_bundles_of_the_same_content(
    from_ndjson: tuple[Path, Release], tmp_path: Path
) -> None:
    folder = write_bundles(tmp_path / "in")
    policy = from_data(POLICY)
    release = hierdata.anonymize(folder, policy, seed=SEED, out=tmp_path / "out")
    check_published(tmp_path / "out")
    lines = (tmp_path / "out" / "public" / "records.ndjson").read_text().splitlines()
    assert len(lines) == PATIENTS
    assert all(json.loads(line).keys() == {"resourceType", "type", "entry"} for line in lines)
    assert hierdata.verify(tmp_path / "out", policy).passed
    assert hierdata.verify(tmp_path / "out", policy, original=folder).passed
    assert list(release.records()) == list(from_ndjson[1].records())
    given = hierdata.anonymize(bundles(), policy, seed=SEED)
    assert list(given.records()) == list(release.records())


@pytest.mark.parametrize("change", ["id", "subject", "added", "order"])
def test_a_changed_release_is_refused(from_ndjson: tuple[Path, Release], tmp_path: Path, change: str) -> None:
    release = from_ndjson[1].save(tmp_path / "out")
    file = release / "public" / "records" / "Encounter.ndjson"
    lines = [json.loads(line) for line in file.read_text().splitlines()]
    if change == "id":
        lines[0]["id"] = "90"
    elif change == "subject":
        lines[0]["subject"]["reference"] = "Patient/4"
    elif change == "added":
        lines[0]["contained"] = [{"resourceType": "Patient"}]
    else:
        lines.reverse()
    file.write_text("".join(json.dumps(line, separators=(",", ":")) + "\n" for line in lines))
    try:
        assert not hierdata.verify(release, POLICY).passed
    except HierdataError as error:
        assert error.exit_code in (4, 5)  # noqa: PT017  (any of them is a refusal)


def test_an_id_that_numbers_nothing_is_refused_in_a_file_alone(tmp_path: Path) -> None:
    """No other resource refers to some of them, so that they could say whose the record is."""
    policy = from_data({**POLICY, "models": [{"kind": "k-anonymity", "k": 3}]})
    hierdata.anonymize(write_bundles(tmp_path / "in"), policy, seed=SEED, out=tmp_path / "out")
    records = (tmp_path / "out" / "public" / "records.ndjson").read_text()
    file = tmp_path / "alone.ndjson"
    file.write_text(records)
    hierdata.verify(file, policy)
    for kind, stated, other in (
        ("Encounter", "1", f'"{CANARY}"'),
        ("Encounter", "2", '"7"'),
        ("Observation", "1", '"0"'),
        ("Observation", "1", "null"),
        ("Patient", "1", '"01"'),
    ):
        changed = records.replace(f'"{kind}","id":"{stated}"', f'"{kind}","id":{other}', 1)
        assert changed != records
        file.write_text(changed)
        with pytest.raises(HierdataError, match="its ids must be the numbers of its resources") as caught:
            hierdata.verify(file, policy)
        assert CANARY not in str(caught.value)


def test_a_bundle_may_have_another_key_than_the_id(tmp_path: Path) -> None:
    requests = {"parent": "Patient", "on": "subject.reference", "key": "meta.versionId"}
    policy = from_data({**POLICY, "tables": {**POLICY["tables"], "MedicationRequest": requests}})
    given = bundles()
    for at, bundle in enumerate(given):
        for number, entry in enumerate(bundle["entry"]):
            entry["resource"]["meta"] = {"versionId": f"{CANARY}-{at}-{number}"}
    hierdata.anonymize(given, policy, seed=SEED, out=tmp_path / "out")
    found = published_resources(tmp_path / "out")
    keys = [one["meta"]["versionId"] for one in found if one["resourceType"] == "MedicationRequest"]
    assert keys == [str(number) for number in range(1, PATIENTS + 1)]
    assert hierdata.verify(tmp_path / "out", policy).passed


def broken(change: str) -> list[dict[str, Any]]:
    found = resources()
    by_kind = {kind: [one for one in found if one["resourceType"] == kind] for kind in POLICY["tables"]}
    if change == "nothing":
        by_kind["Encounter"][3]["subject"]["reference"] = f"Patient/{CANARY}"
    elif change == "twice":
        by_kind["Patient"][3]["id"] = by_kind["Patient"][2]["id"]
    elif change == "nobody":
        del by_kind["MedicationRequest"][3]["subject"]
    elif change == "other":
        by_kind["Observation"][1]["subject"] = {"reference": f"Patient/{CANARY}-p5"}
    elif change == "linked":
        by_kind["Patient"][3]["link"] = [{"type": "refer", "other": {"reference": f"Patient/{CANARY}-p5"}}]
    elif change == "R5":
        by_kind["Encounter"][1]["class"] = [{"text": CANARY}]
    elif change == "STU3":
        by_kind["Observation"][1]["meta"] = {
            "profile": ["http://hl7.org/fhir/3.0/StructureDefinition/Observation"]
        }
    elif change == "version":
        found.append({"resourceType": "CapabilityStatement", "fhirVersion": "5.0.0"})
    elif change == "drug":
        by_kind["MedicationRequest"][1]["medicationReference"]["reference"] = f"Medication/{CANARY}"
    return found


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ("nothing", "1 row belongs to no row of Patient, the first is row 4 of Encounter.ndjson.gz"),
        ("twice", "same key"),
        ("nobody", "row 4 has no value in the column subject.reference"),
        ("other", "1 row belongs to no row of Encounter of the same Patient, the first is row 1 of Obs"),
        ("linked", "record 4, .*link.*linked"),
        ("R5", "record 2, .*class.*not FHIR R4"),
        ("STU3", "not FHIR R4"),
        ("version", "fhirVersion.*not FHIR R4"),
        ("drug", "row 2 refers at medicationReference.reference to a row that Medication does not have"),
    ],
)
def test_broken_exports_are_refused_without_values(tmp_path: Path, change: str, words: str) -> None:
    folder = write_ndjson(tmp_path / "in", broken(change))
    with pytest.raises(InputError, match=words) as caught:
        hierdata.anonymize(folder, from_data(POLICY), seed=SEED, out=tmp_path / "out")
    assert CANARY not in str(caught.value)
    assert len(str(caught.value).splitlines()) == 1
    assert not (tmp_path / "out").exists()


def test_broken_files_are_refused_without_values(tmp_path: Path) -> None:
    policy = from_data(POLICY)
    folder = write_ndjson(tmp_path / "in")
    for name, text, words in (
        ("Observation.001.ndjson", '{"resourceType": "Obs', "Observation.001.ndjson: record 1"),
        ("Observation.001.ndjson", '{"resourceType": "Ward"}\n', "none of FHIR R4"),
        ("Observation.001.ndjson", '{"id": "1"}\n', "no resourceType"),
        ("Observation.001.ndjson", '{"resourceType": "Patient", "id": "1"}\n', "name of the file"),
        (f"{CANARY}.ndjson", '{"resourceType": "Bundle", "entry": [{}]}\n', "no resource"),
        (
            "two.ndjson",
            json.dumps(
                {
                    "resourceType": "Bundle",
                    "entry": [{"resource": {"resourceType": "Patient", "id": key}} for key in "ab"],
                }
            ),
            "a Bundle has 2 resources of the type Patient",
        ),
    ):
        before = (folder / name).read_text() if (folder / name).exists() else None
        (folder / name).write_text(text)
        with pytest.raises(InputError, match=words) as caught:
            hierdata.anonymize(folder, policy, seed=SEED)
        assert CANARY not in str(caught.value)
        if before is None:
            (folder / name).unlink()
        else:
            (folder / name).write_text(before)
    packed = (folder / "Encounter.ndjson.gz").read_bytes()
    (folder / "Encounter.ndjson.gz").write_bytes(packed[: len(packed) // 2])
    with pytest.raises(InputError, match=r"Encounter\.ndjson\.gz: the gzip data ends too early"):
        hierdata.anonymize(folder, policy, seed=SEED, out=tmp_path / "out")
    assert not (tmp_path / "out").exists()
    (folder / "Encounter.ndjson.gz").write_bytes(packed)
    with pytest.raises(InputError, match="the type Organization is not among"):
        hierdata.anonymize(folder, from_data(POLICY | {"unlisted": "error"}), seed=SEED)


def test_policies_that_resources_cannot_have() -> None:
    fields = POLICY["fields"]
    for change, words in (
        ({"unlisted": {"keep": "reason"}}, "unlisted"),
        ({"individual": "$.id"}, "individual"),
        ({"tables": None}, "standard"),
        ({"fields": fields | {"$.Encounter[*].subject.reference": {"role": "quasi", "flat": True}}}, "joins"),
        ({"fields": fields | {"$.Encounter[*].id": {"role": "identifier"}}}, "joins"),
        (
            {"fields": fields | {"$.Observation[*].hasMember[*].reference": {"role": "quasi", "flat": True}}},
            "another resource",
        ),
    ):
        with pytest.raises(PolicyError, match=words):
            from_data(POLICY | change)


def cut_small(folder: Path, policy: Any) -> Any:
    """The collection in many splits, in which rows and those they belong to are apart."""
    collection = collect(folder, policy)
    assert collection.rows is not None
    parts = []
    for split in collection.rows.cut():
        for part in split.parts:
            assert isinstance(part.split, FileSplit)
            cuts = file_splits(part.split.source, part.split.format, part.split.layout, 500)
            parts += [replace(part, split=cut, size=500) for cut in cuts]
    rows = KeyedRows(collection.rows.reading, lambda: group_parts(parts, 1000))
    return replace(collection, rows=rows, documents=rows.documents)


@pytest.mark.parametrize("needs_index", [False, True])
@pytest.mark.parametrize("executor", ["serial", "processes"])
def test_rows_beyond_memory_are_joined_as_rows_in_memory(
    tmp_path: Path, executor: str, needs_index: bool
) -> None:
    given = resources()
    for one in given if needs_index else ():
        if one["resourceType"] == "Observation" and "encounter" in one:
            del one["subject"]  # only the encounter says whose it is
    collection = cut_small(write_ndjson(tmp_path / "in", given), from_data(POLICY))
    assert len(collection.rows.cut()) > 10
    expected = list(collection.documents())
    assert len(expected) == PATIENTS
    with Resources(executor, workers=2).open_context(2, tmp_path, lambda *_: None) as spread:
        splits = join_splits(collection, spread)
        assert [document for split in splits for document in split.documents()] == expected


def test_errors_are_numbered_by_the_file_in_whatever_part_they_are(tmp_path: Path) -> None:
    for change, words in (
        ("nothing", "row 4 of Encounter.ndjson.gz"),
        ("nobody", "the table MedicationRequest: row 4 has no value"),
        ("drug", "row 2 refers at"),
        ("linked", "record 4"),
    ):
        collection = cut_small(write_ndjson(tmp_path / change, broken(change)), from_data(POLICY))
        with (
            Resources("serial").open_context(2, tmp_path, lambda *_: None) as spread,
            pytest.raises(InputError, match=words),
        ):
            join_splits(collection, spread)


def test_lines_of_json_with_objects_are_tables_too(tmp_path: Path) -> None:
    policy = {
        "version": 1,
        "models": [{"kind": "k-anonymity", "k": 2}],
        "tables": {
            "people": {"key": "meta.id"},
            "visits": {"parent": "people", "on": "whose.ref"},
        },
        "fields": {
            "$.home.town": {"role": "quasi", "flat": True},
            "$.visits[*].days[*]": {"role": "quasi", "flat": True},
            "$.visits[*].whose.kind": {"role": "quasi", "flat": True},
        },
    }
    folder = tmp_path / "in"
    folder.mkdir()
    people = [{"meta": {"id": f"p{at}"}, "home": {"town": "A"}} for at in range(4)]
    visits = [{"whose": {"ref": f"people/p{at}", "kind": "x"}, "days": ["mo", "tu"]} for at in range(4)]
    (folder / "people.jsonl").write_text("".join(json.dumps(one) + "\n" for one in people))
    for part in range(2):
        own = "".join(json.dumps(one) + "\n" for one in visits[part * 2 : part * 2 + 2])
        (folder / f"visits-{part}.jsonl").write_text(own)
    hierdata.anonymize(folder, policy, seed=SEED, out=tmp_path / "out")
    files = tmp_path / "out" / "public" / "records"
    assert json.loads((files / "people.jsonl").read_text().splitlines()[0]) == {
        "meta": {"id": 1},
        "home": {"town": "A"},
    }
    (visits_file,) = files.glob("visits*")
    assert json.loads(visits_file.read_text().splitlines()[0]) == {
        "whose": {"ref": 1, "kind": "x"},
        "days": ["mo", "tu"],
    }
    assert hierdata.verify(tmp_path / "out", policy).passed
    assert hierdata.verify(tmp_path / "out", policy, original=folder).passed

"""Synthetic FHIR records: valid, with the shares that were fixed, reproducible, no dangling references."""

from __future__ import annotations

import importlib
import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from hierdata.ground.errors import PolicyError, TargetError
from hierdata.synth.fhir import write_fhir
from hierdata.synth.fhir.write import MEANS, MEGABYTES, ORGANIZATIONS, PRACTITIONERS

PATIENTS = 100


@pytest.fixture(scope="module")
def export(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("fhir") / "export"
    write_fhir(PATIENTS, folder, seed=5)
    return folder


@pytest.fixture(scope="module")
def found(export: Path) -> dict[str, list[dict[str, Any]]]:
    return resources(export)


def resources(folder: Path) -> dict[str, list[dict[str, Any]]]:
    return {
        path.stem: [json.loads(line) for line in path.read_text().splitlines()]
        for path in sorted(folder.glob("*.ndjson"))
    }


def references(value: Any) -> Iterator[str]:
    if isinstance(value, dict):
        for key, inner in value.items():
            if key == "reference":
                yield inner
            yield from references(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from references(inner)


def test_shares_are_those_that_were_fixed(export: Path, found: dict[str, list[dict[str, Any]]]) -> None:
    assert len(found["Patient"]) == PATIENTS
    assert (len(found["Organization"]), len(found["Practitioner"])) == (ORGANIZATIONS, PRACTITIONERS)
    for kind, mean in MEANS.items():  # of 1,000 patients within 15 %; of these few a little more
        assert abs(len(found[kind]) / PATIENTS / mean - 1) < 0.3, kind
    size = sum(path.stat().st_size for path in export.iterdir())
    assert abs(size / PATIENTS / 1e6 / MEGABYTES - 1) < 0.2
    assert {len(one) for one in found.values()} != {0}


def test_fewer_years_are_a_smaller_export(export: Path, tmp_path: Path) -> None:
    write_fhir(20, tmp_path / "year", seed=5, years=1)
    days = [one["period"]["start"][:10] for one in resources(tmp_path / "year")["Encounter"]]
    assert 20 <= len(days) < 20 * MEANS["Encounter"] / 4
    assert max(days) <= "2024-12-31"


def test_a_few_patients_have_long_histories_and_many_conditions_are_rare(
    found: dict[str, list[dict[str, Any]]],
) -> None:
    each = sorted(Counter(one["subject"]["reference"] for one in found["Encounter"]).values())
    assert each[0] >= 1
    assert each[-1] > 2 * each[len(each) // 2]
    people = Counter(
        code
        for code, _ in {
            (one["code"]["coding"][0]["code"], one["subject"]["reference"]) for one in found["Condition"]
        }
    )
    assert len(people) > 80
    assert sum(count < 5 for count in people.values()) > len(people) / 3


def test_no_reference_dangles_and_encounters_are_of_their_patient(
    found: dict[str, list[dict[str, Any]]],
) -> None:
    ids = {f"{kind}/{one['id']}": one for kind, ones in found.items() for one in ones}
    assert len(ids) == sum(map(len, found.values()))
    for ones in found.values():
        for one in ones:
            assert set(references(one)) <= ids.keys()
            subject = one.get("subject", one.get("patient"))
            if "encounter" in one:
                assert ids[one["encounter"]["reference"]]["subject"] == subject


def test_resources_are_valid(found: dict[str, list[dict[str, Any]]]) -> None:
    for kind, ones in found.items():
        model = getattr(importlib.import_module(f"fhir.resources.R4B.{kind.lower()}"), kind)
        for one in ones[:40]:
            model.model_validate(one)


def test_bundles_have_the_same_patients_each_complete(
    found: dict[str, list[dict[str, Any]]], tmp_path: Path
) -> None:
    folder = tmp_path / "bundles"
    write_fhir(6, folder, seed=5, form="bundles")
    model = importlib.import_module("fhir.resources.R4B.bundle").Bundle
    patients = {one["id"] for one in found["Patient"][:6]}
    assert {path.stem for path in folder.iterdir()} == patients
    for path in folder.iterdir():
        bundle = json.loads(path.read_text())
        model.model_validate(bundle)
        assert set(references(bundle)) <= {entry["fullUrl"] for entry in bundle["entry"]}
        assert [entry["resource"]["resourceType"] for entry in bundle["entry"]].count("Patient") == 1


def test_the_same_seed_gives_the_same_bytes_and_a_shorter_run_is_the_beginning(
    export: Path, tmp_path: Path
) -> None:
    write_fhir(10, tmp_path / "again", seed=5)
    for path in (tmp_path / "again").iterdir():
        assert (export / path.name).read_bytes().startswith(path.read_bytes())
    write_fhir(10, tmp_path / "other", seed=6)
    first = (tmp_path / "again" / "Patient.ndjson").read_text().splitlines()
    assert not set(first) & set((tmp_path / "other" / "Patient.ndjson").read_text().splitlines())


def test_bad_arguments_and_an_existing_folder_are_refused(tmp_path: Path) -> None:
    with pytest.raises(PolicyError):
        write_fhir(1, tmp_path / "a", seed=-1)
    with pytest.raises(PolicyError):
        write_fhir(1, tmp_path / "a", seed=1, form="xml")
    with pytest.raises(PolicyError):
        write_fhir(1, tmp_path / "a", seed=1, years=0)
    with pytest.raises(TargetError):
        write_fhir(1, tmp_path, seed=1)
    with pytest.raises(TargetError):
        write_fhir(1, tmp_path / "no" / "a", seed=1)
    assert list(tmp_path.iterdir()) == []


def test_what_fails_leaves_nothing(tmp_path: Path) -> None:
    def stop() -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        write_fhir(3, tmp_path / "a", 1, done=stop)
    assert list(tmp_path.iterdir()) == []

"""Collections of one database are keyed tables: joined as the files of an export are, with the same bytes."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path
from typing import Any

import pytest
from bson import ObjectId
from pymongo.database import Database

import hierdata
from hierdata.ground.errors import InputError, PolicyError
from hierdata.pipeline.draft_fhir import init_fhir
from hierdata.sources.stores.mongodb_database import ONE_AFTER_THE_OTHER
from tests.end_to_end.conftest import SEED
from tests.end_to_end.resource_export import CANARY, POLICY, resources, write_ndjson

KEYED: dict[str, Any] = {
    "version": 1,
    "models": [{"kind": "k-anonymity", "k": 3}],
    "tables": {
        "people": {"key": "_id"},
        "visits": {"parent": "people", "on": "person"},
        "wards": {"lookup": {"visits.ward": {"floor": "floor"}}, "key": "code"},
    },
    "unlisted": "drop",
    "fields": {
        "$.born": {"role": "quasi", "date": {"steps": ["year", "decade"]}},
        "$.visits[*].floor": {"role": "quasi", "flat": True},
        "$.visits[*].cost": {"role": "sensitive"},
    },
}


def fill(database: Database) -> str:
    """Put the resources of the export into a collection for each type, among others; return the address."""
    for one in resources():
        database[one["resourceType"]].insert_one(dict(one))
    database["audit"].insert_one({"text": CANARY})
    return database.name


def test_collections_by_type_are_a_bulk_export(mongodb: str, database: Database, tmp_path: Path) -> None:
    address = f"{mongodb}/{fill(database)}"
    release = hierdata.anonymize(address, POLICY, seed=SEED, out=tmp_path / "out")
    assert any(ONE_AFTER_THE_OTHER in one for one in release.report.limitations)
    public = tmp_path / "out" / "public" / "records"
    hierdata.anonymize(write_ndjson(tmp_path / "export"), POLICY, seed=SEED, out=tmp_path / "same")
    expected = tmp_path / "same" / "public" / "records"
    assert {path.name for path in public.iterdir()} == {path.name for path in expected.iterdir()}
    for path in public.iterdir():
        assert sorted(path.read_text()) == sorted((expected / path.name).read_text())
        assert CANARY not in path.read_text()
    assert hierdata.verify(tmp_path / "out", POLICY, original=address).passed


def test_a_draft_from_collections_by_type(mongodb: str, database: Database, tmp_path: Path) -> None:
    found = init_fhir(f"{mongodb}/{fill(database)}", weighed=False)
    expected = init_fhir(write_ndjson(tmp_path / "export"), weighed=False)
    assert found.policy() == expected.policy()


def test_keys_of_mongodb_join_collections(mongodb: str, database: Database, tmp_path: Path) -> None:
    ids = [ObjectId() for _ in range(6)]
    database.people.insert_many(
        {"_id": one, "born": datetime(1980 + at // 3, 2, 1)} for at, one in enumerate(ids)
    )
    database.visits.insert_many(
        {"person": one, "ward": "ab"[at % 2], "cost": at} for at, one in enumerate(ids * 2)
    )
    database.wards.insert_many({"code": code, "floor": at} for at, code in enumerate("ab"))
    address = f"{mongodb}/{database.name}"
    release = hierdata.anonymize(address, KEYED, seed=SEED)
    found = list(release.records())
    assert [len(one["visits"]) for one in found] == [2] * 6
    assert {visit["floor"] for one in found for visit in one["visits"]} <= {0, 1, "*"}
    assert not any(str(one) in str(found) for one in ids)


def test_what_a_database_cannot_be(mongodb: str, database: Database) -> None:
    address = f"{mongodb}/{fill(database)}"
    whole = {key: value for key, value in KEYED.items() if key != "tables"}
    database.empty.insert_one({})
    database.empty.delete_many({})
    lonely = {
        **KEYED,
        "tables": {"empty": {"key": "id"}},
        "fields": {"$.born": {"role": "quasi", "flat": True}},
    }
    cases: list[tuple[type[Exception], str, object]] = [
        (
            PolicyError,
            "the address names a database: name a collection",
            lambda: hierdata.anonymize(address, whole),
        ),
        (PolicyError, "the address names a database: name a collection", lambda: hierdata.init(address)),
        (InputError, "there is no collection people, which", lambda: hierdata.anonymize(address, KEYED)),
        (InputError, "the collection is empty", lambda: hierdata.anonymize(address, lonely)),
        (
            PolicyError,
            "name the new collection",
            lambda: hierdata.anonymize([{"born": 1}], whole, to=address),
        ),
        (
            PolicyError,
            "hold: publish them as files",
            lambda: hierdata.anonymize(address, POLICY, to=f"{address}/new"),
        ),
    ]
    for kind, said, act in cases:
        with pytest.raises(kind, match=said):
            act()  # type: ignore[operator]
    assert "new" not in database.list_collection_names()

"""Bundles in a collection of MongoDB are published as Bundles in a collection."""

from __future__ import annotations

from pymongo.database import Database

import hierdata
from tests.end_to_end.conftest import SEED
from tests.end_to_end.resource_export import CANARY, PATIENTS, POLICY, bundles


def test_bundles_in_a_collection(mongodb: str, database: Database) -> None:
    database["bundles"].insert_many(bundles())
    source, target = (f"{mongodb}/{database.name}/{name}" for name in ("bundles", "release"))
    hierdata.anonymize(source, POLICY, seed=SEED, to=target)
    found = list(database["release"].find())
    assert len(found) == PATIENTS
    assert all(one["resourceType"] == "Bundle" for one in found)
    assert CANARY not in str(found)
    assert hierdata.verify(target, POLICY).passed

"""Drafts from a server: its records in one pass, and its validator for structure."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import psycopg
import pytest
from bson import Int64, ObjectId
from bson.datetime_ms import DatetimeMS
from pymongo.database import Database

import hierdata
from hierdata.cli import main
from hierdata.drafting.structure import stated_fields
from hierdata.ground.errors import InputError, PolicyError
from hierdata.policy.lint.lint import lint
from hierdata.policy.load import from_data
from hierdata.policy.load.yaml import read
from hierdata.records.survey import survey
from hierdata.sources.stores import store_at

MARK = "".join(("Zq", "x7", "319"))

VALIDATOR: dict[str, Any] = {
    "bsonType": "object",
    "required": ["town", "born"],
    "properties": {
        "born": {"bsonType": "date"},
        "town": {"enum": ["north", "south", MARK]},
        "rank": {"bsonType": ["int", "long"], "enum": [1, 2, 3, 4, 5, 6]},
        "card": {"bsonType": "string", "pattern": MARK},
        "home": {"properties": {"floor": {"bsonType": "int"}, "door": {"bsonType": "string"}}},
        "visits": {
            "bsonType": "array",
            "items": {"properties": {"ward": {}, "doctor": {"bsonType": "string"}}},
        },
    },
}


def people() -> list[dict[str, Any]]:
    return [
        {
            "_id": ObjectId(),
            "born": DatetimeMS(86_400_000 * 400 * n),
            "town": ("north", "south")[n % 2],
            "rank": Int64(1 + n % 6),
            "diagnosis": ("flu", "cold", "asthma")[n % 3],
            "home": {"floor": n % 4},
            "visits": [{"ward": "west"}, {"ward": "east"}][: n % 3],
        }
        for n in range(40)
    ]


@pytest.fixture
def collection(database: Database) -> Any:
    """Forty people under a validator."""
    found = database.create_collection("people", validator={"$jsonSchema": VALIDATOR})
    found.insert_many(people())
    return found


def test_the_validator_is_read_for_structure(collection: Any, tmp_path: Path) -> None:
    draft = hierdata.init(collection)
    assert {one.path: one.proposal.rule for one in draft.fields} == {
        "$._id": {"role": "identifier"},
        "$.born": {"role": "quasi", "date": {"steps": ["month", "year", "decade"]}},
        "$.town": {"role": "quasi", "flat": True},
        "$.rank": {"role": "sensitive"},  # it determines the diagnosis
        "$.diagnosis": {"role": "sensitive"},
        "$.home.floor": {"role": "quasi", "flat": True},
        "$.visits[*].ward": {"role": "quasi", "flat": True},
        "$.card": {"action": "drop", "optional": True},
        "$.home.door": {"action": "drop", "optional": True},
        "$.visits[*].doctor": {"action": "drop", "optional": True},
    }
    text = str(draft)
    assert "Its validator says: int or long, 6 choices." in text.replace("\n  # ", " ")
    assert "Its validator says: date, required." in text.replace("\n  # ", " ")
    assert MARK not in text
    path = tmp_path / "draft.yaml"
    draft.save(path)
    stated = read(path)
    stated.pop("draft")
    assert from_data(stated) == from_data(draft.confirmed())


def test_a_confirmed_draft_fits_the_collection(mongodb: str, database: Database, collection: Any) -> None:
    base, _, options = mongodb.partition("/?")
    address = f"{base}/{database.name}/people" + (f"?{options}" if options else "")
    draft = hierdata.init(address)
    assert [one.path for one in draft.fields] == [one.path for one in hierdata.init(collection).fields]
    policy = from_data(draft.confirmed())
    found = survey(store_at(collection).documents(), policy.declared_fields(identifiers=True))
    assert [one for one in lint(policy, found) if one.severity == "error"] == []


def test_what_is_about_files_is_refused(collection: Any, database: Database) -> None:
    with pytest.raises(PolicyError, match="applies to files only"):
        hierdata.init(collection, format="json")
    with pytest.raises(InputError, match="empty"):
        hierdata.init(database["nothing"])


@pytest.mark.parametrize(
    "schema",
    [
        None,
        {},
        {"properties": 1},
        {"properties": {"a": 1, "b": {"items": 2, "bsonType": [1, None]}}, "required": "a"},
        {"anyOf": [{"properties": {"a": {"enum": 3}}}, 4]},
    ],
)
def test_a_schema_of_any_form_is_read(schema: Any) -> None:
    assert all(not one.types for one in stated_fields(schema).values())


def test_a_deep_schema_ends() -> None:
    schema: dict[str, Any] = {}
    for _ in range(500):
        schema = {"properties": {"a": schema}}
    assert len(stated_fields(schema)) < 100


def test_a_table_of_postgresql(address: str, tmp_path: Path) -> None:
    with psycopg.connect(address, autocommit=True) as connection:
        connection.execute(
            "CREATE TABLE people (id serial, age smallint, town text, diagnosis text, seen date)"
        )
        for n in range(40):
            connection.execute(
                "INSERT INTO people (age, town, diagnosis, seen) VALUES (%s, %s, %s, %s)",
                (
                    20 + n % 30,
                    ("north", "south")[n % 2],
                    ("flu", "cold", MARK)[n % 3],
                    f"2001-03-{1 + n % 28:02}",
                ),
            )
    path = tmp_path / "draft.yaml"
    assert main(["init", address, "--table", "people", "--out", str(path), "--quiet"]) == 0
    assert MARK not in path.read_text()
    draft = hierdata.init(hierdata.Rows(address, table="people"))
    assert {one.path: one.proposal.role for one in draft.fields} == {
        "$.id": "identifier",
        "$.age": "quasi",
        "$.town": "quasi",
        "$.diagnosis": "sensitive",
        "$.seen": "quasi",
    }
    hierdata.anonymize(hierdata.Rows(address, table="people"), draft.confirmed())


def test_a_confirmed_draft_publishes_a_collection(collection: Any) -> None:
    hierdata.anonymize(collection, hierdata.init(collection).confirmed())

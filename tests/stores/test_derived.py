"""Derived fields from and to servers: a label goes with its code, in the type that the server has for it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import psycopg
import pytest
from bson import Decimal128, Int64
from psycopg.types.json import Jsonb
from pymongo.database import Database

import hierdata
from hierdata import Rows
from hierdata.ground.errors import InputError

TREE = {"*": {"A": ["a1", "a2"], "B": ["b1", "b2"]}}
NAMES = {"a1": "alpha", "a2": "alpha", "b1": "beta", "b2": "gamma"}
ILLS = {"i1": "flu", "i2": "gout", "i3": "flu"}
LABELS = {"a1": "alpha", "a2": "alpha", "b1": "beta", "b2": "gamma", "A": "alpha"}
"""The label of each published code; B and * have two below them, so none."""
POLICY: dict[str, Any] = {
    "version": 1,
    "models": [{"kind": "k-anonymity", "k": 2}, {"kind": "frequency-l-diversity", "l": "3/2"}],
    "fields": {
        "$.code": {"role": "quasi", "taxonomy": {"tree": TREE}},
        "$.name": {"derived": "$.code"},
        "$.grade": {"derived": "$.code"},
        "$.ill": {"role": "sensitive"},
        "$.illness": {"derived": "$.ill"},
    },
}
GRADES = {"alpha": 1, "beta": 2, "gamma": 3}
SEED = bytes(range(32))


def people() -> list[dict[str, Any]]:
    """People of codes that are published as they are (a1), and of codes that are not."""
    codes = ["a1"] * 4 + ["a2"] + ["b1"] * 4 + ["b2"] * 2
    named = ((code, NAMES[code], ill) for at, code in enumerate(codes) for ill in [f"i{1 + at % 3}"])
    return [
        {"code": code, "name": name, "grade": GRADES[name], "ill": ill, "illness": ILLS[ill]}
        for code, name, ill in named
    ]


def check(published: list[dict[str, Any]]) -> None:
    """Check each label by the published code alone, and that some have one and some have none."""
    assert published
    for record in published:
        label = LABELS.get(record["code"])
        assert record.get("name") == label, record
        grade = record.get("grade")
        assert (grade if grade is None else int(str(grade))) == GRADES.get(label or ""), record
        assert record["illness"] == ILLS[record["ill"]]


CHANGED = people()
CHANGED[0]["name"] = "beta"  # now a1 has two names
NO_FUNCTION = r"\$\.name: this is not derived from \$\.code"


def test_mongodb(database: Database, tmp_path: Path) -> None:
    typed = [{**one, "grade": Int64(one["grade"])} for one in people()]
    database.people.insert_many(typed)
    hierdata.anonymize(database.people, POLICY, to=database.release, out=tmp_path / "out", seed=SEED)
    published = list(database.release.find())
    check(published)
    assert {type(one["grade"]) for one in published if "grade" in one} == {Int64}
    facts = tmp_path / "out" / "steward" / "verification.json"
    witness = facts.with_name("witness.bin")
    stated: dict[str, Any] = {"facts": facts, "original": database.people, "witness": witness}
    assert hierdata.verify(database.release, POLICY, **stated).passed
    database.release.update_one({"name": "alpha"}, {"$set": {"name": "beta"}})
    assert not hierdata.verify(database.release, POLICY, facts=facts).passed
    database.other.insert_many([{**one, "grade": Decimal128(str(one["grade"]))} for one in CHANGED])
    with pytest.raises(InputError, match=NO_FUNCTION):
        hierdata.anonymize(database.other, POLICY, to=database.never)
    assert "never" not in database.list_collection_names()


@pytest.mark.parametrize("column", [None, "doc"], ids=["rows", "documents"])
def test_postgresql(address: str, column: str | None, tmp_path: Path) -> None:
    with psycopg.connect(address) as connection:
        if column:
            connection.execute("CREATE TABLE people (doc jsonb)")
            rows: list[Any] = [(Jsonb(one),) for one in people()]
        else:
            connection.execute(
                "CREATE TABLE people (code text, name text, grade int, ill text, illness text)"
            )
            rows = [tuple(one.values()) for one in people()]
        places = ", ".join(["%s"] * len(rows[0]))
        connection.cursor().executemany(f"INSERT INTO people VALUES ({places})", rows)
    source = Rows(address, table="people", column=column)
    to = Rows(address, table="release", column=column)
    hierdata.anonymize(source, POLICY, to=to, out=tmp_path / "out", seed=SEED)
    with psycopg.connect(address) as connection:
        if column:
            published = [doc for (doc,) in connection.execute("SELECT doc FROM release")]
        else:
            asked = connection.execute("SELECT code, name, grade, ill, illness FROM release")
            names = ["code", "name", "grade", "ill", "illness"]
            published = [dict(zip(names, row, strict=True)) for row in asked]
        check(published)
        facts = tmp_path / "out" / "steward" / "verification.json"
        stated: dict[str, Any] = {
            "facts": facts,
            "original": source,
            "witness": facts.with_name("witness.bin"),
        }
        assert hierdata.verify(to, POLICY, **stated).passed
        change = "doc = jsonb_set(doc, '{name}', '\"beta\"') WHERE doc->>'name' = 'alpha'"
        connection.execute(
            f"UPDATE release SET {change if column else 'name = $$beta$$ WHERE name = $$alpha$$'}"
        )
    assert not hierdata.verify(to, POLICY, facts=facts).passed

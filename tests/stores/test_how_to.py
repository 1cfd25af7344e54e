"""The pages on stores, run on real servers: every command and every line of Python."""

from __future__ import annotations

import contextlib
import io
import os
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pymongo
import pytest
import sqlalchemy
from pymongo.database import Database

from tests.docs import DOCS, ROOT, SEED, WRITE, Shown, blocks, differing, run, write
from tests.stores.postgresql_server import Running
from tests.stores.test_mongodb_store import address_of


def replaced(text: str, words: Mapping[str, str]) -> str:
    for word, by in words.items():
        text = text.replace(word, by)
    return text


def follow(page: Path, words: Mapping[str, str], folder: Path) -> dict[str, Any]:
    """Run all examples of a page in a folder with the fixtures; the names that its Python leaves."""
    shutil.copytree(ROOT / "fixtures", folder / "fixtures")
    known: dict[str, Any] = {}
    shown: list[Shown] = []
    printed = ""
    for block in blocks(page):
        text = replaced(block.text, words)
        if block.file is not None:
            (folder / block.file).write_text(text, "utf-8")
        elif block.language == "sh":
            printed = "".join(run(line, folder) for line in text.splitlines())
        elif block.language == "python":
            out = io.StringIO()
            with contextlib.redirect_stdout(out):
                exec(compile(text, page.name, "exec"), known)
            printed = out.getvalue()
        elif block.language == "text":
            shown.append((block, replaced(printed, {by: word for word, by in words.items()})))
    if os.environ.get(WRITE) == "write":
        assert write(page, shown) == []
    else:
        assert differing(shown) == []
    return known


@pytest.mark.full
def test_the_page_on_postgresql(
    address: str, postgresql: Running, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HIERDATA_SEED", SEED)
    monkeypatch.setenv("PGPASSWORD", postgresql.password)
    place = address.replace(f":{postgresql.password}@", "@").partition("://")[2]
    known = follow(DOCS / "how-to" / "postgresql.md", {"steward@localhost/school": place}, tmp_path)
    with known["engine"].connect() as connection:
        made = set(sqlalchemy.inspect(connection).get_table_names())
    known["engine"].dispose()
    assert made - {"students", "patients", "people", "visits"} == {
        *("released", "patients_released", "study_people", "study_visits")
    }


@pytest.mark.full
def test_the_page_on_mongodb(
    mongodb: str, database: Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HIERDATA_SEED", SEED)
    school, research = database.name, f"{database.name}_research"
    words = {
        "mongodb://localhost:27017/school/students": address_of(mongodb, database, "students"),
        "mongodb://localhost:27017/research/students": address_of(mongodb, database, "released"),
        "mongodb://localhost:27017": mongodb,
        "client.school.": f"client.{school}.",
        "client.research.": f"client.{research}.",
    }
    known = follow(DOCS / "how-to" / "mongodb.md", words, tmp_path)
    client: pymongo.MongoClient[Any] = known["client"]
    try:
        assert set(client[school].list_collection_names()) == {"students", "released"}
        assert client[research].list_collection_names() == ["from_python"]
    finally:
        client.drop_database(research)
        client.close()


@pytest.mark.full
def test_the_page_on_fhir_in_mongodb(
    mongodb: str, database: Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HIERDATA_SEED", SEED)
    hospital, research = database.name, f"{database.name}_research"
    words = {
        "mongodb://localhost:27017/hospital": f"{mongodb}/{hospital}",
        "mongodb://localhost:27017/research": f"{mongodb}/{research}",
        "mongodb://localhost:27017": mongodb,
        "client.hospital": f"client.{hospital}",
    }
    known = follow(DOCS / "how-to" / "fhir-in-mongodb.md", words, tmp_path)
    client: pymongo.MongoClient[Any] = known["client"]
    try:
        assert client[research].bundles.count_documents({"resourceType": "Bundle"}) == 60
        by_type = tmp_path / "by-type" / "public" / "records"
        assert {file.name for file in by_type.iterdir()} == {"Patient.ndjson", "Condition.ndjson"}
    finally:
        client.drop_database(research)
        client.close()

"""The first page where the command names no collection."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from hierdata.studio.guard import Secrets
from hierdata.studio.opening import Entrance, list_collections, list_studies
from hierdata.studio.study import StudyFolder
from tests.studio.client import PORT, Client


@pytest.fixture
def entrance(study: StudyFolder, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Client]:
    """A client of a studio without a study, in a folder with a collection and the study of it."""
    monkeypatch.chdir(tmp_path)
    known = Secrets(PORT)
    made = Entrance(known)
    yield Client(made, known)
    made.close()


def test_the_first_page_offers_collections_and_studies_by_name(entrance: Client) -> None:
    page = entrance.get("/")
    assert "patients.jsonl" in page.text
    assert 'value="study"' in page.text
    assert "P000001" not in page.text
    for path in ("/tree", "/release/report/0001"):
        assert entrance.get(path).headers["location"] == f"{entrance.known.base}/"
    assert entrance.get("/style.css").status == 200


def test_a_study_is_opened_once_and_stays(entrance: Client, tmp_path: Path) -> None:
    assert entrance.post("/start/do/open", {"study": "study"}).status == 303
    assert "60 records with" in entrance.get("/tree").readable
    assert entrance.post("/start/do/open", {"study": "study"}).status == 404
    assert list_studies(tmp_path) == ["study"]


def test_a_collection_begins_a_study_beside_us(entrance: Client, tmp_path: Path) -> None:
    shutil.rmtree(tmp_path / "study")
    assert entrance.post("/start/do/open", {"path": "patients.jsonl"}).status == 303
    assert StudyFolder.is_study(tmp_path / "patients-study")
    assert entrance.get("/tree").status == 200


def test_what_cannot_be_opened_is_said_on_the_page(entrance: Client, tmp_path: Path) -> None:
    (tmp_path / "other-study").mkdir()
    for fields, said in (
        ({"path": "none.json"}, "no such file"),
        ({"path": ""}, "name a file or a folder"),
        ({"path": "a\0b"}, "name a file or a folder"),
        ({"path": "x" * 5000}, "name a file or a folder"),
        ({"study": "../study"}, "no such study"),
        ({"path": "other.json"}, "no study: name another folder"),
    ):
        answer = entrance.post("/start/do/open", fields)
        assert (answer.status, said in answer.readable) == (422, True), fields
    assert entrance.get("/").status == 200


def test_only_files_of_known_formats_are_offered(tmp_path: Path) -> None:
    for name in ("b.csv", "a.JSON.gz", ".hidden.json", "notes.txt", "README"):
        (tmp_path / name).write_text("")
    assert list_collections(tmp_path) == ["a.JSON.gz", "b.csv"]
    assert list_collections(tmp_path / "none") == []


def test_the_entrance_needs_the_cookie_and_the_token(entrance: Client) -> None:
    assert entrance.get("/", Cookie=None).status == 403
    assert (
        entrance.ask("POST", "/start/do/open", b"study=study", {"Origin": "http://evil.example"}).status
        == 403
    )

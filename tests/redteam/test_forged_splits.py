"""A release that is read in many parts: each part is read once, and what is forged in any is refused."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

import hierdata
from hierdata.documents.document import Document
from hierdata.documents.formats import Split
from hierdata.sources import Collection, FileForm
from hierdata.sources.splits import FileSplit
from tests.redteam.forgeries import BY_RECORD, Tree, World, alike, forged
from tests.redteam.test_forgeries import (
    BETWEEN_CLASSES,
    LABEL,
    OF_GROUP,
    OF_RECORDS,
    OF_VISITS,
    SPACES,
    refuse,
)

BYTES = 700
WORLDS = [World(recoding, "jsonl") for recoding in (*BY_RECORD, "representatives", "anatomy", "slicing")]


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("releases")


@pytest.fixture
def small_splits(monkeypatch: pytest.MonkeyPatch) -> None:
    """Files are read in parts of a few records, in this process."""
    monkeypatch.setattr(hierdata.Resources, "kind", lambda self, splits: "serial")
    monkeypatch.setattr(Collection.splits, "__defaults__", (BYTES,))
    assert FileForm.splits.__kwdefaults__ is not None
    monkeypatch.setitem(FileForm.splits.__kwdefaults__, "size", BYTES)


@pytest.mark.parametrize("world", WORLDS, ids=str)
def test_published_records_are_read_once(
    world: World, place: Path, tmp_path: Path, small_splits: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The judge, release.json, the comparison of bytes and the witness take one reading."""
    release = forged(world, place, tmp_path)
    read: Counter[tuple[str, Split]] = Counter()
    documents = FileSplit.documents

    def watch(self: FileSplit) -> Iterator[Document]:
        read[self.source.name, self.split] += 1
        return documents(self)

    monkeypatch.setattr(FileSplit, "documents", watch)
    assert release.verify().passed
    records = {key: times for key, times in read.items() if key[0] == "records.jsonl"}
    assert len(records) > 1
    assert set(records.values()) == {1}
    read.clear()
    assert hierdata.verify(release.release, release.policy).passed
    assert set(read.values()) == {1}


@pytest.mark.parametrize(
    "world",
    [WORLDS[0], *(pytest.param(world, marks=pytest.mark.full) for world in WORLDS[1:3])],
    ids=str,
)
def test_forgeries_in_any_part(world: World, place: Path, tmp_path: Path, small_splits: None) -> None:
    for number, (forge, message) in enumerate({**OF_RECORDS, **OF_VISITS}.items()):
        (folder := tmp_path / str(number)).mkdir()
        release = forged(world, place, folder)
        records = release.read()
        if forge in BETWEEN_CLASSES and len(list(alike(world, records))) == 1:
            continue
        forge(world, records)
        release.write(records)
        release.seal()
        refuse(release, message)


@pytest.mark.parametrize("name", ["jsonl", "jsonl-inside"])
def test_bytes_in_any_part(name: str, place: Path, tmp_path: Path, small_splits: None) -> None:
    release = forged(WORLDS[0], place, tmp_path)
    file = release.files()["records"]
    lines = file.read_bytes().splitlines(keepends=True)
    for at in range(0, len(lines), 5):
        file.write_bytes(b"".join([*lines[:at], SPACES[name](lines[at]), *lines[at + 1 :]]))
        release.seal()
        refuse(release, "not written as hierdata writes")


@pytest.mark.parametrize(("key", "message"), [("income", OF_GROUP), ("town", LABEL)])
def test_classes_in_any_part(key: str, message: str, place: Path, tmp_path: Path, small_splits: None) -> None:
    release = forged(World("representatives", "jsonl"), place, tmp_path)
    classes = release.read()
    inner: Tree = classes[-1]["representative"]
    inner[key] = "Atlantis" if key == "town" else [987654, *inner[key][1:]]
    release.write(classes)
    release.seal()
    refuse(release, message)


def test_a_record_that_does_not_fit_is_named_by_its_number_in_the_release(
    place: Path, tmp_path: Path, small_splits: None
) -> None:
    release = forged(WORLDS[0], place, tmp_path)
    records = release.read()
    records[-1]["note"] = ["n"]
    release.write(records)
    release.seal()
    refuse(release, rf"record {len(records)}, \$\.note: expected a single value")

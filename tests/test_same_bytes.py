"""The comparison of two builds: what it covers, and that it finds what differs."""

from __future__ import annotations

import json
from itertools import combinations
from pathlib import Path

import pytest

from tests.benchmarks.same_bytes import special
from tests.benchmarks.same_bytes.comparing import compare
from tests.benchmarks.same_bytes.factors import FACTORS, OPTIONAL, coverage, covering


@pytest.mark.full
def test_the_combinations_cover_all_valid_pairs() -> None:
    chosen = covering()
    names = [one["name"] for one in [*map(special.of_combination, chosen), *special.jobs()]]
    assert len(names) == len(set(names))
    assert len(chosen) > 60
    counts = dict(part.rsplit(" ", 1) for part in coverage(chosen).split(", "))
    for a, b in combinations(FACTORS, 2):
        found, valid = map(int, counts[f"{a} x {b}"].split("/"))
        assert found == valid or {a, b} in OPTIONAL
    assert coverage([]).startswith("shape x search 0/")


RELEASE = {"promises": [{"statement": "Each record is one of five.", "k": 5}], "format": "csv"}


def folders(tmp_path: Path, old: object, new: object, name: str = "release.json") -> tuple[Path, Path]:
    """Two folders with one file each."""
    for folder, content in (("old", old), ("new", new)):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / name).write_text(json.dumps(content, indent=1))
    return tmp_path / "old", tmp_path / "new"


def test_equal_folders_do_not_differ(tmp_path: Path) -> None:
    found = compare(*folders(tmp_path, RELEASE, RELEASE))
    assert (found.failed, found.compared) == ([], 1)


def test_the_first_line_that_differs_is_shown(tmp_path: Path) -> None:
    found = compare(*folders(tmp_path, {"a": 1, "b": 2}, {"a": 1, "b": 3}))
    assert found.failed == ['release.json: line 3\n  -  "b": 2\n  +  "b": 3']


def test_a_file_too_many_is_found(tmp_path: Path) -> None:
    old, new = folders(tmp_path, 1, 1)
    (new / "more.txt").write_text("")
    assert compare(old, new).failed == [f"more.txt: only in {new}"]


def test_a_folder_that_is_not_there_is_found(tmp_path: Path) -> None:
    assert compare(tmp_path / "old", tmp_path / "new").failed


def test_wording_is_listed(tmp_path: Path) -> None:
    new = {"promises": [{"statement": "Each record is one of 5.", "k": 5}], "format": "csv"}
    found = compare(*folders(tmp_path, RELEASE, new), wording=True)
    assert found.failed == []
    assert list(found.sentences) == [("Each record is one of five.", "Each record is one of 5.")]


@pytest.mark.parametrize(
    "new", [{**RELEASE, "format": "xml"}, {**RELEASE, "more": 1}, {"promises": []}], ids=str
)
def test_wording_excuses_nothing_else(tmp_path: Path, new: object) -> None:
    assert compare(*folders(tmp_path, RELEASE, new), wording=True).failed


def test_wording_does_not_excuse_records(tmp_path: Path) -> None:
    assert compare(*folders(tmp_path, ["an age"], ["the age"], "codebook.json"), wording=True).failed

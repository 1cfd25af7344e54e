"""``hierdata reproduce``: pages of a paper, and one sentence for what cannot be done."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from hierdata.reproduction.study import COLUMNS
from tests.cli.conftest import Run

ROW = "39, State-gov, 77516, Bachelors, 13, Never-married, ?, Husband, White, Male, 2174, 0, 40, Cuba, <=50K"


def test_pages_of_a_paper(run: Run, tmp_path: Path) -> None:
    out = tmp_path / "out"
    ran = run("reproduce", "DR", "--workers", 1, "--out", out)
    assert (ran.code, ran.err) == (0, "")
    assert f"tables and figures are in {out / 'index.html'}." in ran.out
    assert "Adult" not in ran.out + (out / "index.html").read_text("utf-8")
    told = (out / "reproduction.md").read_text("utf-8")
    assert "`hierdata reproduce DR --quick`" in told
    assert "Adult" not in told.split("##")[0]
    assert {path.name for path in out.iterdir()} == {"DR.html", "DR.json", "index.html", "reproduction.md"}
    again = run("reproduce", "DR", "--out", out)
    assert again.code == 6
    assert "name a new folder" in again.err


def test_json_and_quiet(run: Run, tmp_path: Path) -> None:
    ran = run("reproduce", "DR", "--workers", 1, "--out", tmp_path / "a", "--json")
    assert ran.json["page"] == str(tmp_path / "a" / "index.html")
    assert ran.json["exhibits"]["DR"] >= 13
    quiet = run("reproduce", "DR", "--workers", 1, "--out", tmp_path / "b", "--quiet")
    assert (quiet.code, quiet.out, quiet.err) == (0, "", "")


@pytest.mark.parametrize("name", ["adult.data", "adult.csv"])
def test_a_table_is_read_from_a_folder(run: Run, tmp_path: Path, name: str) -> None:
    head = "" if name.endswith("data") else ",".join(COLUMNS[:-1]) + ",income\n"
    (tmp_path / name).write_text(f"{head}{ROW}\n{ROW}\n\n")
    ran = run("reproduce", "DR", "--workers", 1, "--data", tmp_path, "--out", tmp_path / "out")
    assert ran.code == 0
    told = json.loads((tmp_path / "out" / "DR.json").read_text("utf-8"))["run"]["adult"]
    assert f"Adult, 2 rows, read from {name}." in told


@pytest.mark.parametrize(
    ("files", "code", "words"),
    [
        (None, 6, "there is no such folder with the table Adult"),
        ({}, 6, "the folder has neither adult.data nor adult.csv"),
        ({"adult.data": ""}, 5, "the table has no rows"),
        ({"adult.data": "39, State-gov"}, 5, "record 1, {}: the row does not have 15 cells"),
        ({"adult.data": ROW + "\n" + ROW.replace("39", "secret")}, 5, "record 2, {}: one of age, fnlwgt"),
        ({"adult.data": ROW.replace("39", "9" * 5000)}, 5, "is no whole number"),
        ({"adult.csv": "age,income\n39,<=50K\n"}, 5, "the table lacks the columns workclass, fnlwgt"),
        ({"adult.csv": "\xff\xfe"}, 5, "the file is no CSV in UTF-8"),
    ],
)
def test_a_missing_or_broken_table(
    run: Run, tmp_path: Path, files: dict[str, str] | None, code: int, words: str
) -> None:
    data, out = tmp_path / "data", tmp_path / "out"
    for name, text in (files or {}).items():
        data.mkdir()
        (data / name).write_bytes(text.encode("latin-1"))
    if files == {}:
        data.mkdir()
    ran = run("reproduce", "DR", "--data", data, "--out", out)
    assert ran.code == code
    assert words.format(data / "adult.data") in ran.err
    assert len(ran.err.splitlines()) == 1
    assert "secret" not in ran.err
    assert not out.exists()


@pytest.mark.parametrize("paper", ["XX", "ml", ""])
def test_an_unknown_paper(run: Run, tmp_path: Path, paper: str) -> None:
    ran = run("reproduce", paper, "--out", tmp_path / "out")
    assert ran.code == 2
    assert ran.err == "hierdata: there is no such paper here; choose one of ML, LE, DL, TC, DR, or all\n"
    assert not (tmp_path / "out").exists()


def test_without_out(run: Run) -> None:
    ran = run("reproduce", "ML")
    assert ran.code == 2
    assert "--out" in ran.err

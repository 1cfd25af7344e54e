"""``hierdata synth``: collections that the other commands take as they are."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.conftest import Run


@pytest.mark.parametrize("depth", [2, 3])
def test_what_is_written_can_be_published(run: Run, tmp_path: Path, depth: int) -> None:
    file = tmp_path / "students.json"
    options = ("--records", 40, "--depth", depth, "--seed", 3, "--correlation", 1, "--skew", 0.9)
    ran = run("synth", "students", *options, "--out", file)
    assert (ran.code, ran.err) == (0, "")
    assert len(json.loads(file.read_text())) == 40
    policy = tmp_path / "students.policy.yaml"
    assert run("lint", policy, "--data", file, "--quiet").code == 0
    assert run("anonymize", file, "--policy", policy, "--out", tmp_path / "out", "--quiet").code == 0


def test_patients_can_be_published(run: Run, tmp_path: Path) -> None:
    file = tmp_path / "patients.jsonl"
    ran = run("synth", "patients", "--records", 20, "--encounters", "1..4", "--out", file)
    assert (ran.code, ran.err) == (0, "")
    assert {len(json.loads(line)["encounters"]) for line in file.read_text().splitlines()} <= {1, 2, 3, 4}
    policy = tmp_path / "patients.policy.yaml"
    assert run("lint", policy, "--data", file, "--quiet").code == 0
    assert run("anonymize", file, "--policy", policy, "--out", tmp_path / "out", "--quiet").code == 0


def test_json_names_the_file(run: Run, tmp_path: Path) -> None:
    file = tmp_path / "a.jsonl"
    ran = run("synth", "students", "--records", 3, "--out", file, "--json")
    assert ran.json == {"file": str(file), "records": 3}
    assert run("synth", "students", "--records", 3, "--out", tmp_path / "b.jsonl", "--quiet").out == ""


def test_progress_changes_nothing(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stderr.isatty", lambda: True)
    files = [tmp_path / "a.jsonl", tmp_path / "b.jsonl"]
    for file, quiet in zip(files, ((), ("--quiet",)), strict=True):
        assert run("synth", "students", "--records", 300, "--out", file, *quiet).code == 0
    assert files[0].read_bytes() == files[1].read_bytes()


@pytest.mark.parametrize(
    ("options", "code"),
    [
        (("teachers",), 2),
        (("students", "--depth", 4), 2),
        (("students", "--skew", 2), 2),
        (("students", "--levels", "50,a,15,0,0"), 2),
        (("students", "--levels", "50,50"), 2),
        (("students", "--encounters", "1..2"), 2),
        (("patients", "--depth", 2), 2),
        (("patients", "--encounters", "2"), 2),
        (("patients", "--encounters", "2..1"), 2),
        (("patients", "--encounters", "a..b"), 2),
        (("students",), 6),
    ],
)
def test_what_cannot_be_written_is_said(
    run: Run, tmp_path: Path, options: tuple[object, ...], code: int
) -> None:
    file = tmp_path / "students.json"
    if code == 6:
        file.write_text("")
    ran = run("synth", *options, "--records", 3, "--out", file)
    assert (ran.code, ran.out, ran.err.count("\n")) == (code, "", 1)

"""Compiling from the terminal: said once, done once, by one process or by several, or ahead."""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from hierdata.cli import main
from hierdata.engines.jit import announcing_compilation

pytestmark = pytest.mark.full

SENTENCE = "compiling for this machine"
POLICY: dict[str, Any] = {
    "version": 1,
    "models": [{"kind": "k-anonymity", "k": 3}],
    "engine": {"steps": [{"kind": "kaca"}]},
    "fields": {
        "$.age": {"role": "quasi", "interval": {"steps": [1, 10, 60]}},
        "$.job": {"role": "quasi", "flat": True},
        "$.ill": {"role": "sensitive"},
    },
}


@pytest.fixture
def desk(tmp_path: Path) -> Path:
    """More records than are searched without the compiler, and a policy whose kernels are few."""
    rng = random.Random(0)
    people = [
        {"age": rng.randrange(20, 80), "job": rng.choice("abcdef"), "ill": rng.choice("abcd")}
        for _ in range(600)
    ]
    (tmp_path / "people.json").write_text(json.dumps(people))
    (tmp_path / "policy.json").write_text(json.dumps(POLICY))
    return tmp_path


def start(desk: Path, *words: str) -> subprocess.Popen[str]:
    environment = os.environ | {"NUMBA_CACHE_DIR": str(desk / "cache")}
    command = [sys.executable, "-m", "hierdata", *words]
    return subprocess.Popen(command, cwd=desk, env=environment, text=True, stdout=-1, stderr=-1)


def anonymize(desk: Path, out: str) -> subprocess.Popen[str]:
    return start(desk, "anonymize", "people.json", "--policy", "policy.json", "--out", out)


def test_compiling_is_said_once(desk: Path) -> None:
    said = []
    for out in ("first", "second"):
        process = anonymize(desk, out)
        _, errors = process.communicate()
        assert process.returncode == 0, errors
        said.append(SENTENCE in errors)
    assert said == [True, False]


def test_two_processes_share_an_empty_cache(desk: Path) -> None:
    """Both are right whoever writes first, and what they leave is taken by a third without compiling."""
    both = [anonymize(desk, out) for out in ("one", "other")]
    ends = [process.communicate()[1] for process in both]
    assert [process.returncode for process in both] == [0, 0], ends
    assert sum(SENTENCE in errors for errors in ends) == 1
    stamps = {file: file.stat().st_mtime_ns for file in (desk / "cache").rglob("*.nb[ic]")}
    assert stamps
    third = anonymize(desk, "third")
    _, errors = third.communicate()
    assert third.returncode == 0, errors
    assert SENTENCE not in errors
    assert {file: file.stat().st_mtime_ns for file in (desk / "cache").rglob("*.nb[ic]")} == stamps


def test_what_was_compiled_ahead_is_not_compiled_again(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """README's command after ``warmup``, and ``warmup --all`` after itself; code that is here is used."""
    compiled: list[bool] = []
    fixtures = Path(__file__).parents[2] / "fixtures"
    students = [
        str(fixtures / "students" / "students.json"),
        "--policy",
        str(fixtures / "policies" / "students.yaml"),
    ]
    assert main(["warmup"]) == 0
    folder = Path(capsys.readouterr().out.partition(" is in ")[2].strip().removesuffix("."))
    assert any(folder.glob("*.nbc"))
    with announcing_compilation(lambda: compiled.append(True)):
        assert main(["anonymize", *students, "--out", str(tmp_path / "release"), "--quiet"]) == 0
    assert not compiled
    assert main(["warmup", "--all", "--quiet"]) == 0
    with announcing_compilation(lambda: compiled.append(True)):
        assert main(["warmup", "--all", "--quiet"]) == 0
    assert not compiled

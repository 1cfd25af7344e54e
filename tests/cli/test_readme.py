"""README.md: its two commands, its example, and what it says about start-up, hold."""

from __future__ import annotations

import doctest
import os
import shlex
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

import hierdata
from tests.cli.conftest import ROOT

README = (ROOT / "README.md").read_text(encoding="utf-8")
COMMANDS = [line for line in README.splitlines() if line.startswith("pip install ")]


def test_the_two_commands_stand_there_as_promised() -> None:
    assert COMMANDS == [
        "pip install . && hierdata anonymize fixtures/students/students.json"
        " --policy fixtures/policies/students.yaml --out release",
        "pip install '.[test]' && pytest -n auto",
    ]


def test_the_first_command_publishes_and_starts_without_what_it_does_not_need(tmp_path: Path) -> None:
    program = (
        "import sys, hierdata\n"
        "assert not {'numpy', 'pydantic', 'typer'} & set(sys.modules), 'import hierdata'\n"
        "from hierdata.cli import main\n"
        "code = main(sys.argv[1:])\n"
        "assert not {'rich', 'lxml', 'jsonschema', 'scipy.stats'} & set(sys.modules), 'hierdata anonymize'\n"
        "sys.exit(code)\n"
    )
    arguments = shlex.split(COMMANDS[0].partition("&& hierdata ")[2])
    assert arguments[-2:] == ["--out", "release"]
    ran = subprocess.run(
        [sys.executable, "-c", program, *arguments[:-1], tmp_path / "release"],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.returncode == 0, ran.stderr
    assert "Each record is one of at least" in ran.stdout
    assert len(ran.stdout.splitlines()) <= 15
    assert (tmp_path / "release" / "public" / "records.json").is_file()
    assert [path.name for path in tmp_path.iterdir()] == ["release"]


def test_the_example_is_true(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    outcome = doctest.testfile(str(ROOT / "README.md"), module_relative=False, encoding="utf-8")
    assert outcome.attempted > 5
    assert outcome.failed == 0


def test_every_public_name_is_there_and_listed() -> None:
    for name in hierdata.__all__:
        assert getattr(hierdata, name) is not None
    assert dir(hierdata) == hierdata.__all__
    assert not hasattr(hierdata, "no_such_name")


def test_the_version_is_that_of_the_project() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert hierdata.__version__ == project["version"]

"""README.md: its two commands, its example, and what it says about start-up, hold."""

from __future__ import annotations

import json
import os
import re
import shlex
import subprocess
import sys
import tomllib
from collections import Counter
from pathlib import Path

import pytest

import hierdata
from tests.cli.conftest import ROOT
from tests.naive_knowledge import pairs_of

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
        env={**os.environ, "PYTHONPATH": str(ROOT), "HIERDATA_SEED": "the-seed-of-the-documentation"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.returncode == 0, ran.stderr
    assert "any 2 facts, sensitive ones too, still finds at least 5 records" in " ".join(ran.stdout.split())
    assert len(ran.stdout.splitlines()) <= 18
    assert (tmp_path / "release" / "public" / "records.json").is_file()
    assert [path.name for path in tmp_path.iterdir()] == ["release"]
    assert_shows_a_record_of(tmp_path / "release")


def assert_shows_a_record_of(release: Path) -> None:
    """The record before is one of the input, that after is published; any two facts fit five."""
    before, after = map(json.loads, re.findall(r"```json\n(.*?)```", README, re.DOTALL))
    assert before in json.loads((ROOT / "fixtures" / "students" / "students.json").read_text("utf-8"))
    published = json.loads((release / "public" / "records.json").read_text("utf-8"))
    assert after in published
    basic = ("major", "birth_year")
    fitting = Counter((*map(one.get, basic), *two) for one in published for two in pairs_of(one, basic))
    assert len(fitting) > 1000
    assert min(fitting.values()) >= 5


def test_the_python_snippet_publishes_and_says_what_is_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Six lines, in the folder that has the fixtures; the release is saved."""
    (snippet,) = re.findall(r"```python\n(.*?)```", README, re.DOTALL)
    assert len([line for line in snippet.splitlines() if line]) == 6
    (tmp_path / "fixtures").symlink_to(ROOT / "fixtures")
    monkeypatch.chdir(tmp_path)
    exec(snippet, {})  # it is ours
    assert re.search(r"^\d+% of the information is kept$", capsys.readouterr().out, re.MULTILINE)
    assert (tmp_path / "release-from-python" / "public" / "records.json").is_file()


def test_it_fits_three_screens() -> None:
    """Of 40 lines at 130 characters, the picture apart."""
    lines = [line for line in README.splitlines() if not line.startswith("![")]
    assert sum(-(-len(line) // 130) or 1 for line in lines) <= 120


def test_every_public_name_is_there_and_listed() -> None:
    for name in hierdata.__all__:
        assert getattr(hierdata, name) is not None
    assert dir(hierdata) == hierdata.__all__
    assert not hasattr(hierdata, "no_such_name")


def test_the_version_is_that_of_the_project() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert hierdata.__version__ == project["version"]

"""What comes with the package: metadata, schemas, hooks, the container, the citation."""

from __future__ import annotations

import re
import shlex
import tomllib
from importlib.metadata import version
from pathlib import Path

import pytest
import yaml
from packaging.requirements import Requirement
from packaging.version import Version

from hierdata.cli import main
from hierdata.ground.version import __version__
from tests.test_docs import commands

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
HOOKS = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text("utf-8"))
DOCKERFILE = (ROOT / "docs" / "docker" / "Dockerfile").read_text("utf-8")


def test_the_classifiers_name_the_versions_that_are_allowed() -> None:
    allowed = Requirement(f"python{PROJECT['requires-python']}").specifier
    named = {line.rpartition(" :: ")[2] for line in PROJECT["classifiers"] if re.search(r":: 3\.\d+$", line)}
    assert named == {f"3.{minor}" for minor in range(30) if allowed.contains(f"3.{minor}.1")}
    assert PROJECT["version"] == __version__


def test_every_file_of_data_is_installed() -> None:
    """A file that no pattern names is in a checkout only, and commands that read it fail elsewhere."""
    stated = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["tool"]["setuptools"]["package-data"]
    package = ROOT / "hierdata"
    installed = {
        path
        for name, patterns in stated.items()
        for pattern in patterns
        for path in ROOT.joinpath(*name.split(".")).glob(pattern)
    }
    there = {path for path in package.rglob("*") if path.is_file() and path.suffix not in (".py", ".pyc")}
    assert there - installed == set()


NUMBA_TRIED = ("0.62.1", "0.68.1")
"""Versions with which README's first command ran: the oldest that is allowed, and the newest."""


def test_numba_is_bounded_by_the_versions_that_were_tried() -> None:
    """The compiler uses what numba keeps to itself, so a minor version that nobody tried is not allowed."""
    (stated,) = (one for one in PROJECT["dependencies"] if one.startswith("numba"))
    allowed = Requirement(stated).specifier
    oldest, newest = (Version(tried) for tried in NUMBA_TRIED)
    assert allowed.contains(oldest)
    assert allowed.contains(newest)
    assert not allowed.contains(f"{oldest.major}.{oldest.minor - 1}.9")
    assert not allowed.contains(f"{newest.major}.{newest.minor + 1}.0")
    assert allowed.contains(version("numba")), "the version here is another"


@pytest.mark.parametrize("name", ["policy", "release", "codebook", "report", "verification"])
def test_the_command_prints_the_schema_of_the_repository(
    name: str, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    expected = (ROOT / "schemas" / f"{name}.schema.json").read_text("utf-8")
    assert main(["schema", name]) == 0
    assert capsys.readouterr().out == expected
    assert main(["schema", name, "--out", str(tmp_path / "it.json")]) == 0
    assert (tmp_path / "it.json").read_text("utf-8") == expected
    assert ("yaml-language-server: $schema=it.json" in capsys.readouterr().out) == (name == "policy")
    assert main(["schema", name, "--out", str(tmp_path / "it.json")]) == 6
    assert main(["schema", "other"]) == 2


@pytest.mark.full
def test_hooks_are_commands(tmp_path: Path) -> None:
    """With the arguments that the how-to gives them, adapted to the bundled students."""
    policy = ["--policy", str(ROOT / "fixtures" / "policies" / "students.yaml")]
    people = str(ROOT / "fixtures" / "students" / "students.json")
    release = str(tmp_path / "release")
    assert main(["anonymize", people, *policy, "--out", release, "--quiet"]) == 0
    arguments = {"hierdata-lint": [policy[1], "--data", people], "hierdata-verify": [release, *policy]}
    for hook in HOOKS:
        assert {"id", "name", "entry", "language"} <= hook.keys()
        assert not hook["pass_filenames"]
        program, *rest = shlex.split(hook["entry"])
        assert program == "hierdata"
        assert main([*rest, *arguments.pop(hook["id"]), "--quiet"]) == 0
    assert arguments == {}


def test_the_container_runs_as_nobody_special() -> None:
    lines = re.sub(r"\\\n", " ", DOCKERFILE).splitlines()
    steps = [line.split(maxsplit=1) for line in lines if line and not line.startswith("#")]
    last = max(at for at, (word, _) in enumerate(steps) if word == "FROM")
    final = steps[last:]
    words = [word for word, _ in final]
    assert dict(final)["USER"] == "steward"
    assert words.index("USER") < words.index("ENTRYPOINT")
    for word, rest in steps:
        for name in rest.split()[:-1] if word == "COPY" and "--from" not in rest else ():
            assert (ROOT / name).exists(), name
    warm = next(rest for word, rest in final[words.index("USER") :] if word == "RUN")
    used = re.findall(r"hierdata (\w+)", warm)
    assert used
    assert set(used) <= commands().keys()


def test_the_container_copies_what_the_package_needs() -> None:
    ignored = (ROOT / "docs" / "docker" / "Dockerfile.dockerignore").read_text("utf-8").split()
    copied = set(re.findall(r"^COPY (?!--)(.+) \S+$", DOCKERFILE, re.MULTILINE))
    names = {name for line in copied for name in line.split()}
    assert {line[1:] for line in ignored if line[0] == "!"} == names
    assert PROJECT["readme"] in names


def test_the_citation_has_the_five_papers() -> None:
    citation = yaml.safe_load((ROOT / "docs" / "CITATION.cff").read_text("utf-8"))
    assert (citation["cff-version"], citation["version"]) == ("1.2.0", __version__)
    pages = (ROOT / "docs" / "explanation" / "papers").glob("*.md")
    texts = [" ".join(page.read_text("utf-8").split()) for page in pages]
    titles = [paper["title"] for paper in citation["references"]]
    assert len(titles) == len(texts) == 5
    for title in titles:
        assert sum(f"*{title}*" in text for text in texts) == 1, title

"""Exit codes that a scheduler can use, and streams that are closed, full, or whose reader went away."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

import hierdata
from hierdata.cli.session import EXIT_CODES
from hierdata.ground.errors import HierdataError, UnavailableError
from tests.cli.conftest import ROOT, Desk, Run

posix = pytest.mark.skipif(not Path("/dev/full").exists(), reason="this system has no /dev/full")


def test_help_and_the_reference_list_every_code(run: Run) -> None:
    helped = " ".join(run("--help").out.split())
    for code, meaning in EXIT_CODES.items():
        assert f" {code}: {meaning}" in helped
    page = (ROOT / "docs/reference/cli.md").read_text("utf-8").partition("## Exit codes")[2]
    rows = re.findall(r"^\| ([0-9, ]+) \|.*\|(.*)\|$", page, re.MULTILINE)
    assert sorted(int(code) for codes, _ in rows for code in codes.split(",")) == list(EXIT_CODES)
    named = {name: int(codes) for codes, names in rows for name in re.findall(r"`(\w+Error)`", names)}
    kinds = {
        one.__name__: one.exit_code
        for one in vars(hierdata).values()
        if isinstance(one, type) and issubclass(one, HierdataError) and one is not HierdataError
    }
    assert kinds.items() <= named.items()
    assert named["UnavailableError"] == UnavailableError.exit_code == 8


def shell(line: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """A line of a shell, with ``H`` for the command."""
    line = line.replace("H ", f"{sys.executable} -m hierdata ", 1)
    command = ["bash", "-o", "pipefail", "-c", line]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)


LOST = "hierdata: the output was lost ({}) after all was done: {} is complete\n"
FULL = "hierdata: the output cannot be written (No space left on device)\n"
LINES = {
    "H --version >/dev/full": (8, FULL),
    "H schema policy | true": (141, ""),
    "H schema policy --out s.json >/dev/full": (0, LOST.format("No space left on device", "s.json")),
}
MORE_LINES = {
    "H --version >&-": (0, ""),
    "H lint policy.yaml 2>&- >/dev/full": (8, ""),
    "H --help | true": (141, ""),
    "H verify none --policy policy.yaml 2>/dev/full": (6, ""),
    "H synth students --out made.json >/dev/full": (0, LOST.format("No space left on device", "made.json")),
}


@posix
@pytest.mark.parametrize(
    "lines", [LINES, pytest.param(MORE_LINES, marks=pytest.mark.full)], ids=["few", "more"]
)
def test_streams_that_cannot_be_written(desk: Desk, lines: dict[str, tuple[int, str]]) -> None:
    assert {
        line: (ran.returncode, ran.stderr) for line in lines for ran in [shell(line, desk.folder)]
    } == lines


@posix
@pytest.mark.full
def test_a_release_that_is_complete_exits_with_success(compiled: None, desk: Desk) -> None:
    for end, said in {
        ">&- 2>&- --quiet": "",
        ">&- 2>&-": "",
        ">/dev/full": LOST.format("No space left on device", "out"),
        ">/dev/full 2>/dev/full": "",
        "--json | true": LOST.format("Broken pipe", "out"),
    }.items():
        ran = shell(f"H anonymize people.jsonl --policy policy.yaml --out out {end}", desk.folder)
        assert (ran.returncode, ran.stderr) == (0, said), end
        names = {file.name for file in (desk.out / "public").iterdir()}
        assert {"records.jsonl", "release.json", "codebook.json"} <= names
        desk.out.rename(desk.folder / f"out-{len(desk.names())}")

"""Every file of ``fixtures/broken``: one sentence, exit code 5, nothing written, nothing quoted."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.cli.conftest import ROOT, Desk, Run

BROKEN = sorted(
    path for path in (ROOT / "fixtures" / "broken").iterdir() if path.is_file() and path.suffix != ".md"
)


NO_NUMBERS = {"nan.json", "nan.jsonl", "nan.parquet", "infinity.json", "infinity.jsonl", "infinity.parquet"}
"""A policy may read these as missing values, which a draft states."""


def test_there_are_broken_files() -> None:
    assert len(BROKEN) > 40


@pytest.mark.parametrize("broken", BROKEN, ids=lambda path: path.name)
def test_broken_input_is_refused(run: Run, desk: Desk, broken: Path) -> None:
    desk.policy.write_text(
        "{version: 1, unlisted: drop, models: [{kind: k-anonymity, k: 2}], "
        "fields: {id: {role: quasi, flat: true, optional: true}}}"
    )
    ran = run("anonymize", broken, "--policy", desk.policy, "--out", desk.out, "--json")
    assert ran.code == 5, ran.err
    assert ran.err.startswith("hierdata: ")
    assert ran.err.count("\n") == 1
    assert ran.json["error"]["kind"] == "InputError"
    assert "7319" not in ran.out + ran.err
    assert desk.names() == {"people.jsonl", "policy.yaml"}


@pytest.mark.parametrize("name", sorted(NO_NUMBERS))
def test_a_draft_reads_what_is_no_number_as_missing(run: Run, desk: Desk, name: str) -> None:
    ran = run("init", ROOT / "fixtures" / "broken" / name, "--out", desk.folder / "draft.yaml", "--json")
    assert ran.code == 0, ran.err
    draft = (desk.folder / "draft.yaml").read_text("utf-8")
    assert re.search(r'missing: \["?-?(NaN|Infinity)"?\]', draft)


@pytest.mark.parametrize(
    "broken", [path for path in BROKEN if path.name not in NO_NUMBERS], ids=lambda path: path.name
)
def test_no_draft_is_made_of_broken_input(run: Run, desk: Desk, broken: Path) -> None:
    ran = run("init", broken, "--out", desk.folder / "draft.yaml", "--json")
    assert ran.code == 5, ran.err
    assert ran.err.startswith("hierdata: ")
    assert ran.err.count("\n") == 1
    assert "7319" not in ran.out + ran.err
    assert desk.names() == {"people.jsonl", "policy.yaml"}

"""``hierdata verify``: releases, plain files, forged files."""

from __future__ import annotations

import json

import pytest

from hierdata.cli.terminal import fold_row
from tests.cli.conftest import Desk, Run


@pytest.fixture
def released(run: Run, desk: Desk) -> Desk:
    assert run(*desk.command, "--quiet").code == 0
    return desk


def test_a_release_is_confirmed_from_its_files(run: Run, released: Desk) -> None:
    ran = run("verify", released.out, "--policy", released.policy)
    assert (ran.code, ran.err) == (0, "")
    assert "The promise holds" in ran.out
    ran = run("verify", released.out, "--policy", released.policy, "--original", released.people, "--json")
    assert ran.code == 0
    assert ran.json["passed"] is True
    assert ran.json["k"] == 2
    ran = run("verify", released.out, "--policy", released.policy, "--quiet")
    assert (ran.code, ran.out, ran.err) == (0, "", "")


def test_a_file_that_keeps_no_promise_fails(run: Run, desk: Desk) -> None:
    ran = run("verify", desk.people, "--policy", desk.policy, "--json")
    assert ran.code == 4
    assert ran.err == "hierdata: the promise does not hold\n"
    assert ran.json["passed"] is False
    assert ran.json["k"] == 1


def test_at_60_columns_cells_stay_in_one_piece(run: Run, desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    """On a narrow terminal a row goes on between two cells, and nothing is cut."""
    wide = run("verify", desk.people, "--policy", desk.policy).out
    monkeypatch.setattr("hierdata.cli.terminal.line_width", lambda: 60)
    narrow = run("verify", desk.people, "--policy", desk.policy).out
    assert narrow.split() == wide.split()
    assert max(map(len, narrow.splitlines())) <= 60 < max(map(len, wide.splitlines()))
    assert "\n  frequency-l-diversity  $.visits[*].reason\n      FAILED in 4 classes (" in narrow


def test_a_quoted_text_with_two_spaces_is_one_cell(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("hierdata.cli.terminal.line_width", lambda: 20)
    assert fold_row('  k  "a  b of two words"  held') == ["  k", '      "a  b of two words"', "      held"]


def test_a_changed_record_fails(run: Run, released: Desk) -> None:
    records = released.out / "public" / "records.jsonl"
    lines = [json.loads(line) for line in records.read_text().splitlines()]
    lines[0]["age"] = "*"
    records.write_text("".join(json.dumps(line) + "\n" for line in lines))
    ran = run("verify", released.out, "--policy", released.policy)
    assert ran.code == 4
    assert "does NOT hold" in ran.out


def test_facts_of_another_policy_fail_with_one_sentence(run: Run, released: Desk) -> None:
    facts = released.out / "steward" / "verification.json"
    released.policy.write_text(released.policy.read_text().replace("l: 2", "l: 3"))
    ran = run(
        "verify", released.out / "public" / "records.jsonl", "--policy", released.policy, "--facts", facts
    )
    assert (ran.code, ran.out, ran.err.count("\n")) == (4, "", 1)


def test_what_is_not_there_cannot_be_judged(run: Run, desk: Desk) -> None:
    ran = run("verify", desk.folder / "none.json", "--policy", desk.policy)
    assert (ran.code, ran.err.count("\n")) == (6, 1)
    ran = run("verify", desk.people, "--policy", desk.folder / "none.yaml")
    assert (ran.code, ran.err.count("\n")) == (6, 1)

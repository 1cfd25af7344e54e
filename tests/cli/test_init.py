from __future__ import annotations

import json

import pytest

from hierdata.policy.load.yaml import read
from tests.cli.conftest import Desk, Run, person

MANY = [
    person(n, 20 + n % 50, ("west", "east", "north")[n % 3], ("flu", "cold", "asthma", "HIV")[n % 4])
    for n in range(120)
]


@pytest.fixture(autouse=True)
def many(desk: Desk) -> None:
    desk.write(MANY)
    desk.policy.unlink()


def test_a_draft_is_written_refused_confirmed_and_used(desk: Desk, run: Run) -> None:
    done = run("init", desk.people, "--out", desk.policy)
    assert (done.code, done.err) == (0, "")
    assert "Proposed for 120 records" in done.out
    assert "$.visits[*].reason" in done.out
    for command in (
        ("lint", desk.policy, "--data", desk.people),
        desk.command,
        ("verify", desk.people, "--policy", desk.policy),
    ):
        refused = run(*command)
        assert refused.code == 2
        assert "this policy is a draft" in refused.out + refused.err
    text = desk.policy.read_text()
    desk.policy.write_text("".join(line for line in text.splitlines(True) if not line.startswith("draft:")))
    clean = run("lint", desk.policy, "--data", desk.people)
    assert clean.code == 0
    assert clean.out.startswith("Nothing is wrong.\nForeseen: ")
    assert run(*desk.command, "--quiet").code == 0
    assert run("verify", desk.out, "--policy", desk.policy, "--quiet").code == 0


def test_lint_tells_what_else_is_wrong_with_a_draft(desk: Desk, run: Run) -> None:
    run("init", desk.people, "--out", desk.policy)
    desk.policy.write_text(desk.policy.read_text().replace("$.age:", "$.agee:"))
    found = run("lint", desk.policy, "--data", desk.people, "--json").json["findings"]
    assert {finding["path"] for finding in found} == {"", "$.agee", "$.<key>"}


def test_without_a_file_the_draft_is_printed(desk: Desk, run: Run) -> None:
    printed = run("init", desk.people)
    assert printed.code == 0
    desk.policy.write_text(printed.out)
    assert set(read(desk.policy)) == {"draft", "version", "unlisted", "models", "fields"}
    assert desk.names() == {"people.jsonl", "policy.yaml"}


def test_figures_for_machines(desk: Desk, run: Run) -> None:
    found = run("init", desk.people, "--json").json
    assert found["records"] == 120
    assert [field["path"] for field in found["fields"]] == [
        "$.id",
        "$.age",
        "$.visits[*].ward",
        "$.visits[*].reason",
    ]
    age = found["fields"][1]
    assert (age["role"], age["unique"], age["small"], age["exact"]) == ("quasi", 0, 1, True)
    assert len(found["pairs"]) == 3


def test_values_go_to_a_file_for_the_steward_alone(desk: Desk, run: Run) -> None:
    values = desk.folder / "values.txt"
    done = run("init", desk.people, "--out", desk.policy, "--reveal", values)
    assert "asthma" not in done.out + done.err + desk.policy.read_text()
    assert "$.visits[*].reason\tasthma\t30" in values.read_text().splitlines()
    assert values.stat().st_mode & 0o777 == 0o600


def test_what_cannot_be_read_or_written_is_said_in_a_sentence(desk: Desk, run: Run) -> None:
    desk.policy.write_text("there")
    there = run("init", desk.people, "--out", desk.policy)
    assert (there.code, desk.policy.read_text()) == (6, "there")
    assert run("init", desk.folder / "absent.json").code == 6
    assert run("init", desk.people, "--format", "text").code == 2
    assert run("init", desk.folder).code == 2
    assert run("init", desk.people, "--records", "$.people").code == 2
    desk.people.write_text('{"a": 1')
    broken = run("init", desk.people, "--json")
    assert broken.code == 5
    assert broken.json["error"]["record"] == 1


def test_an_envelope_is_named(desk: Desk, run: Run) -> None:
    envelope = desk.folder / "export.json"
    envelope.write_text(json.dumps({"people": MANY, "staff": MANY}))
    assert run("init", envelope).code == 5
    assert "records: $.people" in run("init", envelope, "--records", "$.people").out


def test_a_delimiter_is_stated(desk: Desk, run: Run) -> None:
    table = desk.folder / "people.csv"
    table.write_text("age:ward\n" + "31:west\n32:east\n" * 9)
    assert "$.ward" in run("init", table, "--delimiter", ":").out

"""What lint says of identifiers, references, free text and maps, without any key."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from hierdata.cli import main
from hierdata.pipeline.look_over import survey_collection
from hierdata.policy.lint.lint import Finding, lint
from hierdata.policy.load import from_data
from tests.identifiers.people import people, policy

Document = dict[str, Any]


def findings(records: list[Document], stated: Document) -> list[Finding]:
    survey, hints = survey_collection(records, stated)
    return lint(from_data(stated), survey, hints)


def told(found: list[Finding], path: str, words: str) -> bool:
    return any(one.path == path and words in one.message for one in found)


def pseudonym(domain: str, **more: Any) -> Document:
    return {"role": "identifier", "action": {"pseudonym": {"domain": domain, **more}}}


def test_references_that_the_release_would_break_are_named() -> None:
    for action in ({"role": "identifier"}, pseudonym("others")):
        found = findings(people(), policy({"$.visits[*].who": action}))
        assert told(found, "$.id", "most of its values also occur at $.visits[*].who")
    found = findings(people(), policy())
    assert not [one for one in found if "stand at" in one.message]


def test_fields_of_one_domain_without_a_common_value_are_doubtful() -> None:
    found = findings(people(), policy({"$.name": pseudonym("people")}))
    assert told(found, "$.name", "none of its values occurs at another field of the domain people")
    assert not told(found, "$.id", "none of its values")


def test_free_text_that_stays_is_doubtful() -> None:
    found = findings(people(), policy({"$.note": {"role": "free_text", "exempt": "short codes"}}))
    assert told(found, "$.note", "it may contain names and places")
    assert not told(findings(people(), policy()), "$.note", "names and places")


def test_identifiers_that_repeat_are_told_whatever_becomes_of_them() -> None:
    twice = people()
    twice[1]["id"] = twice[0]["id"]
    for action in (pseudonym("people", identity=True), {"role": "identifier"}):
        found = findings(twice, policy({"$.id": action, "$.seen": {"role": "sensitive"}}))
        assert told(found, "$.id", "k counts records, not individuals")
        (one,) = (one for one in found if "k counts records" in one.message)
        assert one.revealed == (twice[0]["id"],)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({}, None),
        ({"who": "T0"}, "1 pseudonym occurs in more than one record"),
        ({"who": None}, "1 of 24 have no value here"),
    ],
)
def test_the_command_says_what_a_run_would_refuse_and_needs_no_key(
    change: Document, words: str | None, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    records = people()
    records[3]["visits"][1] |= change
    (tmp_path / "in.json").write_text(json.dumps(records))
    (tmp_path / "policy.json").write_text(json.dumps(policy()))
    code = main(["lint", str(tmp_path / "policy.json"), "--data", str(tmp_path / "in.json"), "--json"])
    out = capsys.readouterr().out
    assert code == (2 if words else 0)
    assert words is None or words in out
    assert "T0" not in out


def test_dynamic_keys_are_errors_once_and_without_a_name(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    records = [one | {"stays": {f"2021-03-{10 + n}": 1, "2021-04-01": 2}} for n, one in enumerate(people())]
    (tmp_path / "in.json").write_text(json.dumps(records))
    stated = policy({"$.stays.x": {"role": "sensitive", "optional": True}})
    (tmp_path / "policy.json").write_text(json.dumps(stated))
    assert main(["lint", str(tmp_path / "policy.json"), "--data", str(tmp_path / "in.json"), "--json"]) == 2
    out = capsys.readouterr().out
    assert out.count("look like data") == 1
    assert "2021" not in out

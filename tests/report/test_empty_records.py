"""Records that show nothing but * are counted and named wherever the number of published records stands."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import hierdata
from hierdata.cli import main
from hierdata.release.report.wording import verdict

POLICY = {
    "version": 1,
    "models": [{"kind": "k-anonymity", "k": 3}],
    "fields": {
        "$.town": {"role": "quasi", "flat": True},
        "$.visits[*].ward": {"role": "quasi", "flat": True},
    },
    "engine": {"steps": [{"kind": "clustree"}]},
}
PEOPLE = [{"town": "a", "visits": [{"ward": "w"}]}] * 6 + [{"town": town, "visits": []} for town in "bcde"]


def test_terminal_report_and_release_agree(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    people, policy, out = tmp_path / "people.json", tmp_path / "policy.json", tmp_path / "out"
    people.write_text(json.dumps(PEOPLE))
    policy.write_text(json.dumps(POLICY))
    assert main(["anonymize", str(people), "--policy", str(policy), "--out", str(out)]) == 0
    records = json.loads((out / "public" / "records.json").read_text())
    empty = sum(record in ({"town": "*"}, {"town": "*", "visits": []}) for record in records)
    assert empty > 0
    assert f"of {len(PEOPLE)} records are published" in (told := capsys.readouterr().out)
    assert f"; {empty} of them show nothing but *" in " ".join(told.split())
    assert json.loads((out / "steward" / "report.json").read_text())["counts"]["empty_records"] == empty
    sentence = f"Of the published records, {empty} show nothing but *. They count as published."
    limitations = json.loads((out / "public" / "release.json").read_text())["limitations"]
    assert sum(sentence in one for one in limitations) == 1
    assert "of these, show nothing but *" in (out / "steward" / "report.html").read_text()
    assert hierdata.verify(out, policy).passed


@pytest.mark.parametrize("towns", ["abcd", "abab"])
def test_a_release_that_shows_nothing_but_the_root_says_so(tmp_path: Path, towns: str) -> None:
    """Where a value is shown the sentence would be false, and is not there."""
    rules = {"$.town": {"role": "quasi", "flat": True}}
    people = [{"town": town} for town in towns]
    release = hierdata.anonymize(
        people, {**POLICY, "fields": rules, "models": [{"kind": "k-anonymity", "k": 2}]}
    )
    shown = [record["town"] for record in release.records()]
    assert (set(shown) == {"*"}) == (towns == "abcd")
    assert ("publishes nothing" in verdict(release.report)) == (towns == "abcd")

"""Python refuses what the command line refuses, in the same words and before anything is read."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import hierdata
from hierdata.cli import main

POLICY = {
    "version": 1,
    "models": [{"kind": "k-anonymity", "k": 2}],
    "fields": {"$.id": {"role": "identifier", "action": "pseudonym"}, "$.a": {"role": "quasi", "flat": True}},
}
REPEATED = b"marked" * 8


def test_secrets(tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    import json

    people, policy = tmp_path / "people.json", tmp_path / "policy.json"
    people.write_text(json.dumps([{"id": str(at), "a": "x"} for at in range(4)]))
    policy.write_text(json.dumps(POLICY))
    command = ["anonymize", str(people), "--policy", str(policy), "--out", str(tmp_path / "out")]
    for name, given, short in (
        ("HIERDATA_SEED", {"seed": b"marked"}, "marked"),
        ("HIERDATA_KEY", {"key": REPEATED}, REPEATED.hex()),
        ("HIERDATA_KEY", {"key": bytes(40)}, bytes(40).hex()),
    ):
        with monkeypatch.context() as patch:
            patch.setenv(name, short)
            assert main(command) == 2
        said = capsys.readouterr().err
        key: dict[str, Any] = {"key": bytes(range(40)), **given}
        with pytest.raises(hierdata.PolicyError) as refused:
            hierdata.anonymize(people, policy, **key)
        assert str(refused.value).split(";")[0].replace("the seed", name) in said.replace("hierdata: ", "")
        assert "marked" not in said.replace("HIERDATA", "") + str(refused.value)


@pytest.mark.parametrize(
    ("options", "why"),
    [
        ({"executor": "dask"}, "there is no executor dask"),
        ({"workers": 0}, "at least one worker"),
        ({"executor": "serial", "master": "local[2]"}, "a master is only for Spark"),
        ({"memory": 0}, "a number of bytes"),
    ],
)
def test_resources_are_refused_at_once(options: dict[str, Any], why: str) -> None:
    with pytest.raises(hierdata.PolicyError, match=why):
        hierdata.Resources(**options)

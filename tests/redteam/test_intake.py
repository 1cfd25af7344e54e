"""What comes in by odd ways: pipes, and JSON Schemas that point elsewhere."""

from __future__ import annotations

import json
import os
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import hierdata

POLICY: dict[str, Any] = {
    "version": 1,
    "models": [{"kind": "k-anonymity", "k": 2}],
    "fields": {"$.q": {"role": "quasi", "flat": True}, "$.s": {"role": "sensitive"}},
}
RECORDS = [{"q": 1, "s": "A"}, {"q": 1, "s": "B"}]


def with_schema(folder: Path, schema: dict[str, Any]) -> hierdata.Policy:
    (folder / "records.schema.json").write_text(json.dumps(schema), "utf-8")
    policy = folder / "policy.json"
    policy.write_text(json.dumps({**POLICY, "schema": "records.schema.json"}), "utf-8")
    return hierdata.load_policy(policy)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs named pipes")
def test_a_pipe_is_read_once_and_leaves_no_copy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    copies = tmp_path / "copies"
    copies.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(copies))
    pipe = tmp_path / "records.json"
    os.mkfifo(pipe)
    writer = threading.Thread(target=lambda: pipe.write_text(json.dumps(RECORDS), "utf-8"))
    writer.start()
    release = hierdata.anonymize(pipe, POLICY, staging=tmp_path)
    writer.join()
    assert len(list(release.records())) == 2
    assert not list(copies.iterdir())


def test_what_can_be_read_once_is_kept_beside_the_output_and_closed(tmp_path: Path) -> None:
    seen: list[int] = []

    def records() -> Iterator[dict[str, Any]]:
        yield from RECORDS
        seen.extend(path.stat().st_mode & 0o777 for path in tmp_path.iterdir())

    release = hierdata.anonymize(records(), POLICY, staging=tmp_path)
    assert seen == [0o700]
    del release
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("place", ["#/$defs/none", "other.json", "http://127.0.0.1:9/schema.json"])
def test_a_schema_that_points_elsewhere_is_refused_and_nothing_is_fetched(
    tmp_path: Path, place: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    fetched: list[object] = []
    monkeypatch.setattr("urllib.request.urlopen", lambda *given, **_: fetched.append(given))
    with pytest.raises(hierdata.PolicyError, match="a schema outside the file"):
        hierdata.anonymize(RECORDS, with_schema(tmp_path, {"$ref": place}))
    assert not fetched


def test_a_schema_without_end_is_the_policy_s_fault(tmp_path: Path) -> None:
    with pytest.raises(hierdata.PolicyError, match="endlessly"):
        hierdata.anonymize(RECORDS, with_schema(tmp_path, {"$ref": "#"}))


@pytest.mark.parametrize(
    ("number", "passes"), [("1.0", True), ("1e0", True), ("9" * 40 + ".0", True), ("1.5", False)]
)
def test_a_number_is_an_integer_by_its_value(tmp_path: Path, number: str, passes: bool) -> None:
    file = tmp_path / "records.json"
    file.write_text(f'[{{"q": {number}, "s": "A"}}, {{"q": 1, "s": "B"}}]', "utf-8")
    policy = with_schema(tmp_path, {"properties": {"q": {"type": "integer"}}})
    if passes:
        hierdata.anonymize(file, policy)
    else:
        with pytest.raises(hierdata.InputError, match=r"record 1: .*properties/q/type"):
            hierdata.anonymize(file, policy)


@pytest.mark.parametrize("column", ["q", "s"])
def test_arrow_types_that_cannot_be_published_are_refused_by_name(column: str) -> None:
    pa = pytest.importorskip("pyarrow")
    odd = {
        "time zone": pa.array([1, 1], pa.timestamp("s", "Nowhere/Zembla")),
        r"decimal128\(5, -2\)": pa.array([1000, 1000], pa.decimal128(5, -2)),
    }
    for said, values in odd.items():
        table = pa.table({"q": [1, 1], "s": [1, 2], column: values})
        with pytest.raises(hierdata.InputError, match=said) as refused:
            hierdata.anonymize(table, POLICY)
        assert "Zembla" not in str(refused.value)

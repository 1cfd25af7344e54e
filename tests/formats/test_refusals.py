"""What input is refused for, where a key of the policy or another file helps."""

from __future__ import annotations

import gzip
import json
from decimal import Decimal
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import hierdata
from hierdata.ground.errors import InputError

REFUSED = "the file is an object, not an array: state with `records` where its records are{}; if each"


@pytest.mark.parametrize(
    ("value", "told"),
    [
        ({"total": 2, "people": [{"age": 1}], "visits": [{"day": 2}]}, " ($.people, $.visits)"),
        ({"meta": {"rows": [{"a": [{"b": 1}]}]}, "all": [{}]}, " ($.meta.rows, $.all)"),
        ({"p1": [{"age": 1}], "Anna Weiß": [{"age": 1}], "empty": [], "words": ["x"]}, ""),
        ({f"person{chr(97 + n)}": [{"age": 1}] for n in range(6)}, ""),
    ],
)
@pytest.mark.parametrize("pack", [bytes, gzip.compress])
def test_an_object_names_the_arrays_in_it(value: object, told: str, pack: object, tmp_path: Path) -> None:
    assert callable(pack)
    path = tmp_path / ("all.json" if pack is bytes else "all.json.gz")
    path.write_bytes(pack(json.dumps(value).encode()))
    with pytest.raises(InputError) as refused:
        hierdata.init(path)
    assert str(refused.value).startswith(REFUSED.format(told))


def test_what_is_no_json_names_no_arrays(tmp_path: Path) -> None:
    path = tmp_path / "all.json"
    path.write_text('{"people": [{"age": 1}], "visits": [')
    with pytest.raises(InputError, match=r"where its records are; if each"):
        hierdata.init(path)


def test_lines_of_json_that_end_in_cr_alone_are_named(tmp_path: Path) -> None:
    path = tmp_path / "all.jsonl"
    path.write_bytes(b'{"age": 1}\r{"age": 2}\r')
    with pytest.raises(InputError, match="lines end in CR alone"):
        hierdata.init(path)


def test_nan_in_parquet_is_missing_where_the_policy_says_so(tmp_path: Path) -> None:
    pay = pa.array([30.5, 30.5, float("nan"), float("nan"), float("-inf"), None])
    path = tmp_path / "pay.parquet"
    pq.write_table(pa.table({"pay": pay, "sex": ["f"] * 6}), path)
    fields = {
        "$.pay": {"role": "quasi", "interval": {"steps": ["0.5", 50]}, "missing": ["NaN"]},
        "$.sex": {"role": "quasi", "flat": True},
    }
    policy = {"version": 1, "models": [{"kind": "k-anonymity", "k": 2}], "fields": fields}
    with pytest.raises(InputError, match=r"record 5: a number is NaN or infinite.*`missing: \[-Infinity\]`"):
        hierdata.anonymize(path, policy, seed=bytes(16))
    fields["$.pay"]["missing"] = ["NaN", "-Infinity"]
    release = hierdata.anonymize(path, policy, seed=bytes(16), out=tmp_path / "out")
    assert release.report.counts.records.published == 6
    assert {record.get("pay") for record in release.records()} <= {None, "*", Decimal("30.5"), "[30.5, 31.0)"}
    assert hierdata.verify(tmp_path / "out", policy, original=path).passed

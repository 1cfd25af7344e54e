"""Lists and structs of Arrow, Parquet, polars and DuckDB are trees: read, published, verified, read again."""

from __future__ import annotations

import datetime
import io
from decimal import Decimal
from pathlib import Path
from random import Random
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import hierdata
from hierdata.cli import main
from hierdata.documents.formats.base import Layout
from hierdata.documents.formats.parquet import Parquet
from hierdata.ground.errors import InputError

POLICY: dict[str, Any] = {
    "version": 1,
    "models": [{"kind": "k-anonymity", "k": 2}],
    "fields": {
        "$.id": {"role": "identifier"},
        "$.age": {"role": "quasi", "interval": {"steps": [1, 5, 10]}},
        "$.home.zip": {"role": "quasi", "flat": True},
        "$.home.owner": {"role": "identifier"},
        "$.visits[*].ward": {"role": "quasi", "flat": True},
        "$.visits[*].on": {"role": "sensitive"},
        "$.visits[*].cost": {"role": "sensitive"},
        "$.visits[*].codes[*]": {"role": "sensitive"},
    },
}


def visit(rng: Random) -> dict[str, Any]:
    return {
        "ward": rng.choice("ab"),
        "on": datetime.date(2001, 3, rng.randint(1, 28)),
        "cost": rng.choice([1.5, 2.0]),
        "codes": rng.choice([None, [], ["x"], ["x", "y"]]),
    }


def people(count: int = 40) -> pa.Table:
    """Persons whose lists are null, empty or have items."""
    rng = Random(3)
    records = [
        {
            "id": f"p{at}",
            "age": rng.randint(20, 24),
            "home": {"zip": rng.choice(["480", "481"]), "owner": f"marked-{at}"},
            "visits": rng.choice([None, [], [visit(rng)], [visit(rng), visit(rng)]]),
        }
        for at in range(count)
    ]
    return pa.Table.from_pylist(records)


def test_a_release_of_each_kind_of_table(tmp_path: Path) -> None:
    duckdb, polars = pytest.importorskip("duckdb"), pytest.importorskip("polars")
    data = people()
    pq.write_table(data, tmp_path / "people.parquet")
    given = {
        "parquet": tmp_path / "people.parquet",
        "arrow": data,
        "polars": polars.from_arrow(data),
        "duckdb": duckdb.sql("SELECT * FROM data"),
    }
    published = {}
    for name, source in given.items():
        release = hierdata.anonymize(source, POLICY, seed=bytes(16), out=tmp_path / name)
        assert hierdata.verify(tmp_path / name, POLICY).passed
        if name != "duckdb":  # its relation is used up
            assert hierdata.verify(tmp_path / name, POLICY, original=source).passed
        counts = release.report.counts
        assert counts.k_raw == counts.smallest_class  # null, empty and absent are alike in a class
        assert counts.vertices["$.visits[*]"].published > 0
        published[name] = release.to_arrow()
        (item,) = [field.type.value_type for field in published[name].schema if field.name == "visits"]
        kinds = {item.field(at).name: item.field(at).type for at in range(item.num_fields)}
        assert kinds["on"] == pa.date32()
        assert kinds["cost"] == pa.float64()
        assert pa.types.is_list(kinds["codes"])
        home = published[name].schema.field("home").type
        assert [home.field(at).name for at in range(home.num_fields)] == ["zip"]  # not what is left out
    assert all(one.to_pylist() == published["parquet"].to_pylist() for one in published.values())


def test_what_is_written_is_read_again() -> None:
    table = people().drop_columns("id")
    first, second, third = io.BytesIO(), io.BytesIO(), io.BytesIO()
    pq.write_table(table, first)
    format = Parquet()
    layout = format.layout(first)
    documents = list(format.read(first, layout))
    assert documents[0]["home"] == table.column("home")[0].as_py()
    costs = [one["cost"] for document in documents for one in document.get("visits", ())]  # type: ignore
    assert {type(cost) for cost in costs} == {Decimal}
    format.write(iter(documents), second, layout)
    assert pq.read_schema(second).field("home").type == table.schema.field("home").type
    assert list(format.read(second, format.layout(second))) == documents
    mixed: list[Any] = [{"home": {"zip": "*"}, "visits": [{"cost": "*", "group": 1}]}, {"visits": []}, {}]
    format.write(iter(mixed), third, Layout(columns=("home", "visits"), types=layout.types))
    assert list(format.read(third, format.layout(third))) == mixed


def test_a_number_that_is_none_is_told_with_its_record() -> None:
    stream = io.BytesIO()
    pq.write_table(pa.table({"a": [[1.0, 2.0], None, [], [1.0, float("nan")], [1.0]]}), stream)
    with pytest.raises(InputError, match="NaN") as refused:
        list(Parquet().read(stream, Parquet().layout(stream)))
    assert refused.value.record == 4


def test_the_command_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "people.parquet"
    pq.write_table(people(), file)
    assert main(["init", str(file), "--out", str(tmp_path / "draft.yaml")]) == 0
    drafted = (tmp_path / "draft.yaml").read_text()
    assert "$.visits[*].ward" in drafted
    assert "$.home.zip" in drafted
    asked = ["--key", "$.home.zip", "--key", "$.visits[*].ward", "--sensitive", "$.visits[*].cost"]
    assert main(["measure", str(file), *asked]) == 0
    assert "marked-" not in drafted + capsys.readouterr().out


def test_a_damaged_page_is_found_by_its_checksum() -> None:
    written = io.BytesIO()
    table = pa.table({"a": [f"marked-{at:04}" for at in range(1000)]})
    pq.write_table(table, written, compression="none", use_dictionary=False, write_page_checksum=True)
    damaged = bytearray(written.getvalue())
    damaged[damaged.index(b"marked-0500") + 1] ^= 1
    stream = io.BytesIO(bytes(damaged))
    format = Parquet()
    with pytest.raises(InputError, match="damaged") as refused:
        list(format.read(stream, format.layout(stream)))
    assert "marked" not in str(refused.value)

"""Tables in memory in and out: pandas, Arrow, polars, DuckDB."""

from __future__ import annotations

import html
import os
from datetime import date
from decimal import Decimal
from pathlib import Path
from typing import Any

import duckdb
import pandas
import polars
import pyarrow
import pytest
from lxml import etree

import hierdata
from hierdata.documents.formats.arrow_tables import documents_table, frame_of
from tests.python.small import FLAT, PEOPLE, POLICY, ROWS, SEED

FRAME = polars.DataFrame(ROWS)
SOURCES: dict[str, Any] = {
    "polars": FRAME,
    "arrow": FRAME.to_arrow(),
    "reader": lambda: FRAME.to_arrow().to_reader(),
    "duckdb": lambda: duckdb.from_arrow(FRAME.to_arrow()),
    "pandas": pandas.DataFrame(ROWS),
}


@pytest.mark.parametrize("name", SOURCES)
def test_every_library_gives_the_same_release(name: str) -> None:
    source = SOURCES[name]() if callable(SOURCES[name]) else SOURCES[name]
    release = hierdata.anonymize(source, FLAT, seed=SEED)
    published = [{key: row[key] for key in ("born", "height", "seen")} for row in ROWS]
    assert sorted(release.records(), key=lambda record: record["seen"]) == published
    table = release.to_arrow()
    assert table.schema.field("born").type == pyarrow.date32()
    assert pyarrow.types.is_timestamp(table.schema.field("seen").type)
    assert polars.DataFrame(release)["height"].to_list() == [row["height"] for row in table.to_pylist()]
    assert duckdb.from_arrow(release.to_arrow()).count("*").fetchall() == [(4,)]


def test_duckdb_reads_a_release_by_its_name() -> None:
    release = hierdata.anonymize(FRAME, FLAT, seed=SEED)
    counted = duckdb.sql("select height, count(*) from release group by height order by height")
    assert counted.fetchall() == [(1.5, 2), (2.5, 2)]
    assert release.to_pandas()["height"].tolist() == release.to_arrow()["height"].to_pylist()


def test_texts_of_polars_are_arrow_texts() -> None:
    frame = polars.DataFrame({"a": ["x", "x"], "b": polars.Series(["u", "v"], dtype=polars.Categorical)})
    policy = {
        "version": 1,
        "models": [{"kind": "k-anonymity", "k": 2}],
        "fields": {"a": {"role": "quasi", "flat": True}, "b": {"role": "sensitive"}},
    }
    release = hierdata.anonymize(frame, policy, seed=SEED)
    assert sorted(map(str, release.records())) == ["{'a': 'x', 'b': 'u'}", "{'a': 'x', 'b': 'v'}"]
    assert release.to_arrow().schema.field("a").type == pyarrow.string()


def test_a_table_can_be_measured() -> None:
    found = hierdata.measure(FRAME, keys=["height"], sensitive="born")
    assert float(found.keys[0].rate) == 1.0


@pytest.mark.parametrize(
    ("source", "message"),
    [
        (
            polars.DataFrame({"born": [[b"2001"]]}),
            "column 1 has the type .*list, which is not supported",
        ),
        (polars.DataFrame({"b": [1]}), "none of the [0-9]+ columns in the policy is in the table"),
        (polars.Series("born", [1, 2]), "the Arrow stream has no rows"),
    ],
    ids=["bytes in lists", "other columns", "no rows"],
)
def test_tables_that_are_refused(source: object, message: str) -> None:
    with pytest.raises(hierdata.InputError, match=message):
        hierdata.anonymize(source, FLAT)


def test_a_lazy_frame_is_refused_by_its_type() -> None:
    with pytest.raises(hierdata.PolicyError, match="it has the type LazyFrame"):
        hierdata.anonymize(FRAME.lazy(), FLAT)


def test_nested_records_become_nested_columns() -> None:
    release = hierdata.anonymize(PEOPLE, POLICY, seed=SEED)
    table = release.to_arrow()
    visits = pyarrow.list_(pyarrow.struct({"ward": pyarrow.string(), "cost": pyarrow.float64()}))
    assert table.schema.field("visits").type == visits
    assert table.schema.field("seen").type == pyarrow.timestamp("us", "UTC")
    assert [row["visits"] for row in table.to_pylist()] == [record["visits"] for record in release.records()]
    assert release.to_pandas()["visits"].tolist() == [record["visits"] for record in release.records()]


def test_a_release_is_the_path_of_its_folder(tmp_path: Path) -> None:
    release = hierdata.anonymize(PEOPLE, POLICY, seed=SEED)
    assert hierdata.verify(release, POLICY, original=PEOPLE).passed
    assert (
        hierdata.measure_release(release, POLICY, original=PEOPLE).metrics.keys()
        <= release.report.metrics.keys()
    )
    assert hierdata.attack(release, POLICY, original=PEOPLE, facts=1).victims == len(PEOPLE)
    release.save(tmp_path / "there")
    assert os.fspath(release) == str(tmp_path / "there")
    assert hierdata.verify(release, POLICY).passed


def test_parts_other_than_the_records() -> None:
    policy = {
        "version": 1,
        "models": [{"kind": "k-anonymity", "k": 2}, {"kind": "frequency-l-diversity", "l": 2}],
        "recoding": "anatomy",
        "fields": {"height": {"role": "quasi", "flat": True}, "seen": {"role": "sensitive"}},
        "unlisted": "drop",
    }
    for source in (ROWS, FRAME):
        release = hierdata.anonymize(source, policy, seed=SEED)
        assert release.to_arrow("sensitive").column_names == ["group", "seen", "count"]
        with pytest.raises(hierdata.PolicyError, match="no such part"):
            release.to_pandas("other")


# What no two values of a column have in common is text


@pytest.mark.parametrize(
    ("values", "kind", "read"),
    [
        ([1, None, 3], pyarrow.int64(), [1, None, 3]),
        ([True, None], pyarrow.bool_(), [True, None]),
        ([1, Decimal("2.5")], pyarrow.float64(), [1.0, 2.5]),
        ([31, "[30, 34]"], pyarrow.string(), ["31", "[30, 34]"]),
        ([date(2001, 1, 1), "2001"], pyarrow.string(), ["2001-01-01", "2001"]),
        ([2**70], pyarrow.string(), [str(2**70)]),
        ([Decimal("0.1000000000000000000001")], pyarrow.string(), ["0.1000000000000000000001"]),
        ([0.5, "*"], pyarrow.string(), ["0.5", "*"]),
        ([True, 1], pyarrow.string(), ["true", "1"]),
        ([[1], None, 2, []], pyarrow.list_(pyarrow.int64()), [[1], None, [2], []]),
        ([{"b": 1}, None, {"c": "x"}], None, [{"b": 1, "c": None}, None, {"b": None, "c": "x"}]),
        ([{"b": 1}, "x"], pyarrow.string(), ['{"b":1}', "x"]),
        ([{}, {}], pyarrow.struct([]), [{}, {}]),
        ([b"a", None], pyarrow.binary(), [b"a", None]),
    ],
    ids=repr,
)
def test_a_column_has_the_type_that_all_its_values_have(values: Any, kind: Any, read: Any) -> None:
    table = documents_table([{} if value is None else {"a": value} for value in values])
    assert kind is None or table.schema.field("a").type == kind
    assert table["a"].to_pylist() == read


def test_gaps_do_not_make_numbers_floats() -> None:
    frame = frame_of(documents_table([{"a": 2**60 + 1, "b": True, "c": "x"}, {"c": None}]))
    assert frame["a"].tolist() == [2**60 + 1, pandas.NA]
    assert str(frame.dtypes["b"]) == "boolean"


def test_nothing_published_is_an_empty_table() -> None:
    assert documents_table([]).num_rows == 0
    assert frame_of(documents_table([])).empty


# What a release says of itself


def test_one_line_says_what_was_published(tmp_path: Path) -> None:
    release = hierdata.anonymize(PEOPLE, {**POLICY, "dataset": "a\nb"}, seed=SEED)
    assert repr(release) == r"<Release 'a\\nb': 4 of 4 records in 2 classes of at least 2, not saved>"
    release.save(tmp_path / "there")
    assert repr(release).endswith(f", in {str(tmp_path / 'there')!r}>")


def test_a_notebook_shows_the_summary(tmp_path: Path) -> None:
    release = hierdata.anonymize(PEOPLE, {**POLICY, "dataset": "<script>alert(1)</script>"}, seed=SEED)
    summary = (release.folder / "public" / "summary.html").read_bytes()
    frame = etree.fromstring(release._repr_html_(), etree.HTMLParser()).find(".//iframe")
    assert frame.get("srcdoc").encode() == summary
    assert frame.get("sandbox") == ""
    assert "<script" not in release._repr_html_()
    release.save(tmp_path / "there")
    assert html.escape(summary.decode()) in release._repr_html_()


def test_metrics_have_one_flat_name_each() -> None:
    policy = {**POLICY, "attackers": {"colleague": {"on": "$.token", "keys": ["$.height"]}}}
    release = hierdata.anonymize(PEOPLE, policy, seed=SEED)
    report = release.report
    assert release.metrics["suppression_ratio.records"] == 0.0
    assert release.metrics["discrimination_rate.$.token"] == 0.5
    assert release.metrics["attackers.colleague.discrimination_rate.$.token"] == 0.5
    every = [*report.metrics.values(), *(one for own in report.attackers.values() for one in own.values())]
    assert len(release.metrics) == sum(len(measure.figures) for measure in every)
    assert {type(value) for value in release.metrics.values()} == {float}

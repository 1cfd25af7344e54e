"""Parquet and tables in memory: types in and out, what is missing, what is refused."""

from __future__ import annotations

import io
import sys
import tracemalloc
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hierdata.documents.document import Document
from hierdata.documents.formats import FORMATS, Layout
from hierdata.documents.formats.arrow_tables import to_table
from hierdata.documents.formats.parquet import ROWS, Parquet, documents, table_layout
from hierdata.ground.errors import InputError, PolicyError, VerificationError

pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")


def stored(table: Any, **options: Any) -> bytes:
    stream = io.BytesIO()
    pq.write_table(table, stream, **options)
    return stream.getvalue()


def read(data: bytes, alone: bool = False) -> list[Document]:
    layout = Parquet().layout(io.BytesIO(data))
    return list(Parquet().read(io.BytesIO(data), Layout(layout.records, alone=alone)))


def written(rows: list[Document], layout: Layout) -> bytes:
    stream = io.BytesIO()
    Parquet().write(iter(rows), stream, layout)
    return stream.getvalue()


def one(values: list[Any], kind: Any) -> list[Any]:
    """What a column is read as; None where the key is absent."""
    data = stored(pa.table({"a": pa.array(values, kind)}))
    return [row.get("a") for row in read(data)]


NOON = datetime(2020, 3, 4, 12, 30)
TYPES: list[tuple[Any, list[Any], list[Any]]] = [
    *((kind(), [1, None, 7], [1, None, 7]) for kind in (pa.int8, pa.int64, pa.uint8, pa.uint64)),
    (pa.float64(), [0.1, None, 3.0, 1e22], [Decimal("0.1"), None, Decimal("3.0"), Decimal("1e22")]),
    (pa.float32(), [0.1, None, 3.0], [Decimal("0.1"), None, Decimal("3.0")]),
    (pa.decimal128(5, 2), [Decimal("1.50"), None], [Decimal("1.50"), None]),
    (pa.decimal256(60, 1), [Decimal(f"{10**50}.5")], [Decimal(f"{10**50}.5")]),
    (pa.bool_(), [True, None, False], [True, None, False]),
    *((kind(), ["a", None, ""], ["a", None, ""]) for kind in (pa.string, pa.large_string)),
    (pa.dictionary(pa.int8(), pa.string()), ["a", None, "a"], ["a", None, "a"]),
    (pa.dictionary(pa.int16(), pa.int64()), [5, None, 5], [5, None, 5]),
    (pa.date32(), [date(2001, 2, 3), None], ["2001-02-03", None]),
    (pa.date64(), [date(2001, 2, 3), None], ["2001-02-03", None]),
    *((pa.timestamp(unit), [NOON, None], ["2020-03-04T12:30:00", None]) for unit in ("s", "ms", "us", "ns")),
    (pa.timestamp("us"), [NOON.replace(microsecond=120)], ["2020-03-04T12:30:00.000120"]),
    (pa.timestamp("ns", tz="UTC"), [NOON], ["2020-03-04T12:30:00Z"]),
    (pa.null(), [None, None], [None, None]),
]


@pytest.mark.parametrize(("kind", "values", "expected"), TYPES, ids=lambda value: str(value)[:30])
def test_types_are_read_and_kept(kind: Any, values: list[Any], expected: list[Any]) -> None:
    found = one(values, kind)
    assert found == expected
    assert [type(value) for value in found] == [type(value) for value in expected]
    assert [str(value) for value in found] == [str(value) for value in expected]
    layout = table_layout(pa.schema([("a", kind)]), {})
    rows: list[Document] = [{} if value is None else {"a": value} for value in found]
    data = written(rows, layout)
    back = pq.read_table(io.BytesIO(data))
    # Parquet itself has no seconds, no dates of 64 bits and no dictionaries but of text; the width of a
    # dictionary's index tells how many values the input had.
    if kind not in (pa.timestamp("s"), pa.date64(), pa.dictionary(pa.int16(), pa.int64())):
        narrow = pa.dictionary(pa.int8(), pa.string())
        assert back.schema.field("a").type == (
            pa.dictionary(pa.int32(), pa.string()) if kind == narrow else kind
        )
    assert read(data, alone=True) == rows


@pytest.mark.parametrize(
    ("kind", "values", "name"),
    [
        (pa.list_(pa.binary()), [[b"7319"]], "list"),
        (pa.struct([("marker-7319", pa.binary())]), [{"marker-7319": b"1"}], "struct"),
        (pa.map_(pa.string(), pa.int8()), [[("a", 1)]], "map"),
        (pa.binary(), [b"7319"], "binary"),
        (pa.duration("s"), [timedelta(7319)], "duration"),
        (pa.time64("us"), [time(7, 31, 9)], "time64"),
    ],
)
def test_types_beyond_our_range_are_refused_by_name(kind: Any, values: list[Any], name: str) -> None:
    schema = pa.schema([("x", pa.int8()), ("marker-7319", kind)])
    with pytest.raises(InputError, match=f"column 2 has the type {name}") as caught:
        table_layout(schema, {"x": "$.x"})
    assert str(caught.value).startswith("<key>: ")
    assert "7319" not in str(caught.value)
    with pytest.raises(InputError) as caught:
        table_layout(schema, {"marker-7319": "$.declared"})
    assert str(caught.value).startswith("$.declared: ")
    assert values


@pytest.mark.parametrize("kind", [pa.float32(), pa.float64()])
def test_nan_and_infinity_are_refused_and_null_is_missing(kind: Any) -> None:
    for number in (float("nan"), float("inf")):
        with pytest.raises(InputError, match="record 3: a number is NaN"):
            one([1.0, None, number], kind)


def test_a_column_that_is_generalized_becomes_text_and_the_others_stay() -> None:
    schema = pa.schema(
        [("year", pa.int64()), ("day", pa.date32()), ("gpa", pa.float64()), ("at", pa.timestamp("us"))]
    )
    layout = table_layout(schema, {})
    rows: list[Document] = [
        {"year": 1990, "day": "2001-02-03", "gpa": Decimal("0.1"), "at": "2020-03-04T00:00:00"},
        {"year": "[1985, 1989]", "day": "2001-02", "gpa": Decimal("3.0"), "at": "2020-03-04"},
    ]
    back = pq.read_table(io.BytesIO(written(rows, layout)))
    assert [str(column.type) for column in back.schema] == ["string", "string", "double", "string"]
    assert back.to_pylist()[0] == {
        "year": "1990",
        "day": "2001-02-03",
        "gpa": 0.1,
        "at": "2020-03-04T00:00:00",
    }


def test_what_does_not_fit_its_type_exactly_becomes_text() -> None:
    for kind, value in [
        (pa.int8(), 1000),
        (pa.float32(), Decimal("0.123456789012")),
        (pa.decimal128(3, 1), Decimal("1.55")),
        (pa.bool_(), 1),
        (pa.int64(), True),
        (pa.string(), 5),
    ]:
        back = pq.read_table(io.BytesIO(written([{"a": value}], table_layout(pa.schema([("a", kind)]), {}))))
        assert str(back.schema.field("a").type) == "string"
    (row,) = read(written([{"a": 10**30, "b": 2, "c": False}], Layout(columns=("a", "b", "c"))))
    assert row == {"a": str(10**30), "b": 2, "c": False}


@given(
    st.lists(
        st.fixed_dictionaries(
            {},
            optional={
                "i": st.integers(-(2**63), 2**63 - 1),
                "f": st.floats(allow_nan=False, allow_infinity=False).map(lambda x: Decimal(repr(x))),
                "t": st.text(st.characters(exclude_categories=["Cs"])),
                "b": st.booleans(),
                "d": st.dates().map(str),
            },
        ),
        max_size=20,
    )
)
def test_what_is_written_is_read_back(rows: list[Any]) -> None:
    kinds = [
        ("i", pa.int64()),
        ("f", pa.float64()),
        ("t", pa.string()),
        ("b", pa.bool_()),
        ("d", pa.date32()),
    ]
    data = written(rows, table_layout(pa.schema(kinds), {}))
    assert read(data, alone=True) == rows
    assert [column.type for column in pq.read_schema(io.BytesIO(data))] == [kind for _, kind in kinds]


def test_a_late_value_of_another_type_turns_the_whole_column_into_text() -> None:
    rows: list[Document] = [{"a": number} for number in range(ROWS + 5)]
    data = written([*rows, {"a": "*"}], Layout(columns=("a",), types={"a": pa.int64()}))
    assert read(data) == [{"a": str(number)} for number in range(ROWS + 5)] + [{"a": "*"}]
    assert pq.ParquetFile(io.BytesIO(data)).num_row_groups == 2


@pytest.mark.full
def test_no_more_is_held_than_a_batch_of_rows() -> None:
    data = stored(pa.table({"a": list(range(1_000_000))}), row_group_size=10_000)
    tracemalloc.start()
    try:
        layout = Parquet().layout(io.BytesIO(data))
        for row in Parquet().read(io.BytesIO(data), layout):
            assert row["a"] is not None
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 400 * ROWS


def test_nothing_but_the_rows_is_published() -> None:
    """No value that is gone, no index, no metadata of the input."""
    kind = pa.dictionary(pa.int8(), pa.string())
    metadata = {"pandas": "marker-7319"}
    table = pa.table({"a": pa.array(["x", "marker-7319"], kind)}).replace_schema_metadata(metadata)
    layout = table_layout(table.schema, {})
    data = written([{"a": "x"}], layout)
    assert b"7319" not in data
    assert read(data, alone=True) == [{"a": "x"}]
    with pytest.raises(VerificationError, match="besides the records"):
        read(stored(table), alone=True)
    assert len(read(stored(table))) == 2


def test_the_columns_are_those_of_the_layout() -> None:
    with pytest.raises(InputError, match="not a column") as caught:
        written([{"marker-7319": 1}], Layout(columns=("a",)))
    assert "7319" not in str(caught.value)
    with pytest.raises(InputError, match="a single value"):
        written([{"a": [1]}], Layout(columns=("a",), types={"a": pa.int64()}))
    with pytest.raises(InputError, match="a column of lists must have lists in all rows"):
        written([{"a": [1]}, {"a": "marker-7319"}], Layout(columns=("a",)))
    with pytest.raises(InputError, match="surrogate"):
        written([{"a": "7319\ud800"}], Layout(columns=("a",)))
    with pytest.raises(PolicyError, match="`records`"):
        Parquet().layout(io.BytesIO(), ("a",))


def test_without_pyarrow_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(PolicyError, match=r"hierdata\[parquet\]"):
        FORMATS["parquet"]().layout(io.BytesIO(b""))


# DataFrames


def rows_of(frame: Any) -> list[Document]:
    return list(documents(to_table(frame).to_batches()))


def test_a_frame_without_its_index_and_with_what_is_missing() -> None:
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame(
        {
            "i": pd.array([1, None, 3], "Int64"),
            "f": [0.5, float("nan"), 2.0],
            "t": ["a", None, "marker"],
            "c": pd.Categorical(["x", None, "y"], categories=["y", "x", "unused"], ordered=True),
            "d": pd.to_datetime(["2020-01-02", None, "2021-03-04 05:06:07"], format="ISO8601"),
            "b": pd.array([True, None, False], "boolean"),
            "o": [Decimal("1.50"), None, Decimal("2.25")],
            7: [1, 2, 3],
        },
        index=pd.Index([9, 9, 4], name="marker-7319"),
    )
    assert rows_of(frame) == [
        {
            "i": 1,
            "f": Decimal("0.5"),
            "t": "a",
            "c": "x",
            "d": "2020-01-02T00:00:00",
            "b": True,
            "o": Decimal("1.50"),
            "7": 1,
        },
        {"7": 2},
        {
            "i": 3,
            "f": Decimal("2.0"),
            "t": "marker",
            "c": "y",
            "d": "2021-03-04T05:06:07",
            "b": False,
            "o": Decimal("2.25"),
            "7": 3,
        },
    ]


def test_frames_that_are_no_table_are_refused() -> None:
    pd = pytest.importorskip("pandas")
    with pytest.raises(InputError, match="column 2 of the DataFrame") as caught:
        to_table(pd.DataFrame({"a": [1, 2], "b": [7319, "marker-7319"]}))
    assert "7319" not in str(caught.value)
    twice = pd.DataFrame([[1, 2]], columns=["marker-7319", "marker-7319"])
    with pytest.raises(InputError, match="columns 1 and 2 have the same name"):
        table_layout(to_table(twice).schema, {})
    with pytest.raises(InputError, match="type list"):
        table_layout(to_table(pd.DataFrame({"a": [[b"1"], [b"2"]]})).schema, {})

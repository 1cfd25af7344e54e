"""Tables to trees and back: nothing is lost on the way, and broken keys are refused without their values."""

from __future__ import annotations

import json
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hierdata.documents.document import Document
from hierdata.ground.errors import InputError
from hierdata.records.flatten import joined, split, tables_of
from hierdata.records.joining import nest
from hierdata.records.keyed import Table, places

STUDENTS = Path(__file__).parents[2] / "fixtures" / "students"
TABLES = (
    Table("students", key="sid"),
    Table("courses", key="cid", parent="students", on="sid"),
    Table("books", parent="courses", on="cid"),
    Table("evaluations", parent="courses", on="cid"),
)

scalars = (
    st.integers() | st.text(max_size=3) | st.booleans() | st.decimals(allow_nan=False, allow_infinity=False)
)
flat = st.dictionaries(st.sampled_from(["a", "b", "odd name", "x.y"]), scalars, max_size=3)


def with_arrays(rows: st.SearchStrategy[Document], *names: str) -> st.SearchStrategy[Document]:
    """Objects that may have arrays of these names; empty ones are absent."""
    arrays = st.dictionaries(st.sampled_from(names), st.lists(rows, min_size=1, max_size=3))
    return st.builds(
        lambda own, below: own | {name: below[name] for name in names if name in below}, flat, arrays
    )


students = st.lists(with_arrays(with_arrays(flat, "books", "evaluations"), "courses"), max_size=4)


def apart(documents: list[Document], tables: tuple[Table, ...] = TABLES) -> dict[str, list[Document]]:
    rows: dict[str, list[Document]] = {table.name: [] for table in tables}
    for name, row in split(tables, documents):
        rows[name].append(row)
    return rows


def typed(value: Any) -> Any:
    """A value in which 1, True and Decimal(1) differ, and so does the order of keys."""
    if isinstance(value, dict):
        return [(key, typed(item)) for key, item in value.items()]
    if isinstance(value, list):
        return [typed(item) for item in value]
    return (type(value).__name__, str(value))


def bundled() -> list[Document]:
    text = (STUDENTS / "students.json").read_text("utf-8")
    people: list[Document] = json.loads(text, parse_float=Decimal)
    return people


@given(students)
def test_documents_cut_into_tables_and_joined_are_the_same(documents: list[Document]) -> None:
    assert typed(list(nest(TABLES, apart(documents)))) == typed(documents)


@given(students, st.randoms(use_true_random=False))
def test_tables_joined_and_cut_are_the_same_up_to_their_keys(documents: list[Document], random: Any) -> None:
    rows = apart(documents)
    names = random.sample(range(10_000), 100)  # other keys, the same for the row and what points to it
    for table in TABLES:
        for row in rows[table.name]:
            row.update({column: f"k{names[row[column]]}" for column in table.joins})  # type: ignore[index]
    assert typed(apart(list(nest(TABLES, rows)))) == typed(apart(documents))


@given(students, st.randoms(use_true_random=False))
def test_only_the_order_within_a_parent_matters(documents: list[Document], random: Any) -> None:
    rows = apart(documents)
    for name, above in (("courses", "sid"), ("books", "cid"), ("evaluations", "cid")):
        groups = list(dict.fromkeys(row[above] for row in rows[name]))
        random.shuffle(groups)
        rows[name] = [row for group in groups for row in rows[name] if row[above] == group]
    assert typed(list(nest(TABLES, rows))) == typed(documents)


def test_the_bundled_tables_are_the_bundled_students() -> None:
    rows = apart(bundled())
    for table in TABLES:
        header, *lines = (STUDENTS / "tables" / f"{table.name}.csv").read_text("utf-8").splitlines()
        columns = header.split(",")
        assert [[str(row.get(column, "")) for column in columns] for row in rows[table.name]] == [
            line.split(",") for line in lines
        ]


def test_tables_can_be_told_from_the_documents() -> None:
    tables = tables_of(bundled(), "students")
    assert {table.name: table.parent for table in tables} == {table.name: table.parent for table in TABLES}
    assert list(nest(tables, apart(bundled(), tables))) == bundled()


def leaves(value: Any, above: dict[str, Any], prefix: str) -> list[dict[str, Any]]:
    """The slow twin of ``joined``: every path from the root to a leaf, by definition."""
    own = {**above, **{prefix + k: v for k, v in value.items() if not isinstance(v, list) and v is not None}}
    below = [
        row
        for key, items in value.items()
        if isinstance(items, list)
        for item in items
        for row in leaves(item, own, f"{prefix}{key}.")
    ]
    return below or [own]


@given(students)
def test_one_joined_table_has_a_row_for_each_leaf(documents: list[Document]) -> None:
    expected = [row for document in documents for row in leaves(document, {}, "")]
    assert list(joined(documents)) == expected


def test_objects_scalars_and_missing_values_in_tables() -> None:
    documents: list[Document] = [
        {"a": None, "o": {"x": 1, "y": None, "p": {"z": 2}}, "tags": ["u", None], "e": []}
    ]
    tables = tables_of(documents, "top")
    assert [table.name for table in tables] == ["top", "tags", "e"]
    assert apart(documents, tables) == {
        "top": [{"top_key": 1, "o.x": 1, "o.p.z": 2}],
        "tags": [{"top_key": 1, "value": "u"}, {"top_key": 1}],
        "e": [],
    }
    assert list(joined(documents)) == [{"o.x": 1, "o.p.z": 2, "tags": "u"}, {"o.x": 1, "o.p.z": 2}]


def test_rows_lie_where_their_table_is_named() -> None:
    assert places(TABLES)["books"] == ("courses", "books")


MARK = "marker-7319"


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        (
            {"students": [{"sid": MARK}, {"sid": MARK}]},
            "the table students: row 2 has the same key as an earlier row",
        ),
        ({"students": [{"a": MARK}]}, "the table students: row 1 has no value in the column sid"),
        (
            {"courses": [{"cid": 1, "sid": 1}, {"cid": 2}]},
            "the table courses: row 2 has no value in the column sid",
        ),
        (
            {"courses": [{"cid": 1, "sid": 1}, {"cid": 2, "sid": MARK}, {"cid": 3, "sid": MARK}]},
            "the table courses: 2 rows belong to no row of students, the first is row 2",
        ),
        ({"books": [{"cid": 1}, {"cid": 9}]}, "the table books: 1 row belongs to no row of courses"),
        ({"courses": [{"cid": 1, "sid": "01"}]}, "the table courses: no row matches a row of students"),
        (
            {"students": [{"sid": 1, "courses": MARK}]},
            "row 1 has a column with the name of the table courses",
        ),
    ],
)
def test_broken_keys_are_refused_without_their_values(changes: dict[str, Any], words: str) -> None:
    rows: dict[str, list[Document]] = {
        "students": [{"sid": 1}],
        "courses": [{"cid": 1, "sid": 1}],
        "books": [],
        "evaluations": [],
    }
    assert list(nest(TABLES, rows)) == [{"courses": [{}]}]
    with pytest.raises(InputError) as caught:
        list(nest(TABLES, rows | changes))
    assert words in str(caught.value)
    assert "7319" not in str(caught.value)


@pytest.mark.parametrize(
    ("document", "words"),
    [
        ({"others": [{}]}, "none of the tables"),
        ({"sid": 4}, "one column"),
        ({"o": {"x": 1}, "o.x": 2}, "one column"),
        ({"courses": [[{}]]}, "directly inside an array"),
    ],
)
def test_what_is_no_table_is_refused(document: Document, words: str) -> None:
    with pytest.raises(InputError, match=words):
        list(split(TABLES, [document]))


def test_what_cannot_be_joined_into_one_table_is_refused() -> None:
    with pytest.raises(InputError, match="one column"):
        list(joined([{"a.b": 1, "a": [{"b": 2}]}]))
    with pytest.raises(InputError, match="directly inside an array"):
        list(joined([{"a": [[1]]}]))
    with pytest.raises(InputError, match="two arrays"):
        tables_of([{"a": [{"b": [1]}], "b": [2]}], "top")


def test_a_key_in_csv_is_the_same_number_as_in_parquet() -> None:
    """CSV knows text only; a release of both kinds of files is joined again by verify."""
    tables = (Table("people", key="id"), Table("visits", parent="people", on="person"))
    rows = {"people": [{"id": "1", "a": "x"}], "visits": [{"person": 1, "day": 2}]}
    assert list(nest(tables, rows)) == [{"a": "x", "visits": [{"day": 2}]}]

"""What a policy may say of tables, and what it may not."""

from __future__ import annotations

from typing import Any

import pytest

from hierdata.ground.errors import PolicyError
from hierdata.policy.load import from_data
from hierdata.records.keyed import Table

FIELDS = {"$.a": {"role": "quasi", "flat": True}, "$.visits[*].day": {"role": "quasi", "flat": True}}
TABLES = {
    "drugs": {"parent": "visits", "on": "visit"},
    "visits": {"parent": "people", "on": "person", "key": "visit", "file": "2024.csv"},
    "people": {"key": "id"},
}


def stated(**changes: Any) -> dict[str, Any]:
    base = {"version": 1, "models": [{"kind": "k-anonymity", "k": 2}], "fields": FIELDS, "tables": TABLES}
    return base | changes


def test_tables_stand_in_order_parents_first() -> None:
    assert from_data(stated()).joined_tables == (
        Table("people", key="id"),
        Table("visits", key="visit", parent="people", on="person"),
        Table("drugs", parent="visits", on="visit"),
    )
    assert from_data(stated(tables=None)).joined_tables == ()


@pytest.mark.parametrize(
    ("tables", "line"),
    [
        ({}, "tables: at least 1 must be given"),
        (
            {"a": {}, "b": {}},
            "tables: exactly one table, that of the records, has no parent; here a and b have none",
        ),
        (
            {"a": {"parent": "b", "on": "x", "key": "y"}, "b": {"parent": "a", "on": "x", "key": "y"}},
            "tables: exactly one table, that of the records, has no parent; here all have one",
        ),
        (
            TABLES | {"drugs": {"parent": "visit", "on": "x"}},
            "tables.drugs.parent: visit is not a table; did you mean",
        ),
        (
            TABLES | {"drugs": {"parent": "drugs", "on": "x", "key": "y"}},
            "tables.drugs.parent: the table is its own ancestor",
        ),
        (TABLES | {"drugs": {"parent": "visits"}}, "tables.drugs: on is needed with parent"),
        (TABLES | {"people": {"key": "id", "on": "x"}}, "tables.people: on has no meaning without parent"),
        (TABLES | {"people": {}}, "tables.people: a key is needed"),
        (
            TABLES | {"drugs": {"parent": "visits", "on": "x", "key": "x"}},
            "tables.drugs: key and on must differ",
        ),
        (
            TABLES | {"people": {"key": "id", "file": "../x.csv"}},
            "tables.people.file: must be the name of a file in the folder",
        ),
        (TABLES | {"people": {"key": "id", "name": "x"}}, "tables.people: unknown key 'name'"),
        ({"a/b": {"key": "id"}}, "tables[a/b]: must match"),
    ],
)
def test_tables_that_are_no_trees(tables: dict[str, Any], line: str) -> None:
    with pytest.raises(PolicyError) as caught:
        from_data(stated(tables=tables))
    assert any(found.startswith(line) for found in str(caught.value).splitlines()), str(caught.value)


@pytest.mark.parametrize(
    ("changes", "line"),
    [
        ({"records": "$.export"}, "records: the tables already locate the records"),
        (
            {"fields": {"/a/b/c": {"role": "quasi", "flat": True}}},
            "fields: the tables already locate the records",
        ),
        ({"recoding": "representatives"}, "recoding: a class holds lists"),
        ({"format": "json"}, "format: tables must be CSV, Parquet or JSON Lines"),
        (
            {"fields": FIELDS | {"$.visits[*].person": {"role": "free_text"}}},
            "fields[$.visits[*].person]: the column",
        ),
        ({"fields": FIELDS | {"id": {"role": "identifier"}}}, "fields.id: the column joins tables"),
        (
            {"csv": {"delimiter": ";;"}},
            "csv.delimiter: must be one character other than a quote or a line end",
        ),
        (
            {"csv": {"delimiter": '"'}},
            "csv.delimiter: must be one character other than a quote or a line end",
        ),
        ({"csv": {"for_peopel": True}}, "csv: unknown key 'for_peopel'; did you mean for_people?"),
    ],
)
def test_what_does_not_go_with_tables(changes: dict[str, Any], line: str) -> None:
    with pytest.raises(PolicyError) as caught:
        from_data(stated(**changes))
    assert any(found.startswith(line) for found in str(caught.value).splitlines()), str(caught.value)


@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|", "^", " "])
def test_any_character_may_separate_cells(delimiter: str) -> None:
    options = from_data(stated(csv={"delimiter": delimiter})).csv
    assert options is not None
    assert (options.delimiter, options.for_people) == (delimiter, False)

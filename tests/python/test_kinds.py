"""Values that are published unchanged come back in the type that they had."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable
from datetime import UTC, date, datetime, time
from decimal import Decimal
from typing import Any
from uuid import UUID

import numpy
import pandas
import pytest
from hypothesis import given
from hypothesis import strategies as st

import hierdata
from hierdata.documents.formats import FORMATS, Layout
from hierdata.documents.formats.kinds import Kinds
from hierdata.documents.formats.objects import dumps_exact, from_python
from tests.bytes_source import BytesSource
from tests.python.small import FLAT, PEOPLE, POLICY, SEED


def in_order(records: Iterable[Any]) -> list[Any]:
    return sorted(records, key=lambda record: record["seen"])


def without_ids(records: Iterable[Any]) -> list[Any]:
    return [{key: value for key, value in record.items() if key != "id"} for record in records]


@pytest.mark.parametrize("make", [list, iter])
def test_what_is_published_unchanged_is_what_was_given(make: Any) -> None:
    release = hierdata.anonymize(make(PEOPLE), POLICY, seed=SEED)
    assert in_order(release.records()) == without_ids(PEOPLE)
    assert type(next(release.records())["height"]) is float


def test_what_is_generalized_is_text() -> None:
    people = [{**one, "born": date(2001, 1 + number, 3)} for number, one in enumerate(PEOPLE)]
    release = hierdata.anonymize(people, POLICY, seed=SEED)
    assert {record["born"] for record in release.records()} == {"2001"}


def test_workers_change_nothing() -> None:
    resources = hierdata.Resources("processes", workers=2)
    release = hierdata.anonymize(PEOPLE, POLICY, seed=SEED, resources=resources)
    assert in_order(release.records()) == without_ids(PEOPLE)


def test_replaced_values_are_the_text_that_replaced_them() -> None:
    """Pseudonyms of hexadecimal digits would be UUIDs, and constants Base64."""
    fields = {
        **POLICY["fields"],
        "$.token": {"role": "identifier", "action": "pseudonym"},
        "$.scan": {"role": "free_text", "action": {"redact": {"text": "YWJj"}}},
    }
    policy = {**POLICY, "fields": fields, "key": "per-run"}
    records = list(hierdata.anonymize(PEOPLE, policy, seed=SEED).records())
    assert {type(record["token"]) for record in records} == {str}
    assert {record["scan"] for record in records} == {"YWJj"}


def test_names_of_a_taxonomy_are_not_read_as_bytes() -> None:
    """ "West" is valid Base64."""
    tree = {"*": {"West": {"YQ==": {}, "Yg==": {}}, "East": {"Yw==": {}}}}
    fields = {**POLICY["fields"], "$.scan": {"role": "quasi", "taxonomy": {"tree": tree}}}
    people = [{**one, "scan": b"ab"[number % 2 : number % 2 + 1]} for number, one in enumerate(PEOPLE)]
    records = hierdata.anonymize(people, {**POLICY, "fields": fields}, seed=SEED).records()
    assert {record["scan"] for record in records} == {"West"}


def test_keyed_tables_give_the_types_of_their_columns() -> None:
    tables = {
        "person": [{"id": number, "born": date(2001, 1 + number // 2, 3)} for number in range(4)],
        "visits": [{"person": number, "seen": datetime(2001, 1, 1, number)} for number in range(4)],
    }
    policy = {
        "version": 1,
        "models": [{"kind": "k-anonymity", "k": 2}],
        "tables": {"person": {"key": "id"}, "visits": {"parent": "person", "on": "person"}},
        "fields": {
            "$.born": {"role": "quasi", "date": {"steps": ["day", "year"]}},
            "$.visits[*].seen": {"role": "sensitive"},
        },
    }
    records = list(hierdata.anonymize(tables, policy, seed=SEED).records())
    assert {type(record["born"]) for record in records} == {date}
    assert {type(visit["seen"]) for record in records for visit in record["visits"]} == {datetime}


def test_rows_of_sqlite() -> None:
    with sqlite3.connect(":memory:") as base:
        base.row_factory = sqlite3.Row
        base.execute("create table person (id, born, height, seen)")
        rows = [(number, "2001-03-04", 1.5, b"x%d" % number) for number in range(4)]
        base.executemany("insert into person values (?, ?, ?, ?)", rows)
        release = hierdata.anonymize(base.execute("select * from person"), FLAT, seed=SEED)
        found = sorted(release.records(), key=lambda record: record["seen"])
        assert found == [{"born": "2001-03-04", "height": 1.5, "seen": row[3]} for row in rows]
        with pytest.raises(hierdata.InputError, match="record 1: a row has two columns of one name"):
            hierdata.anonymize(base.execute("select *, height as id from person"), FLAT, seed=SEED)


VALUES: list[Any] = [
    date(2001, 3, 4),
    datetime(2001, 3, 4),
    datetime(2001, 3, 4, 5, 6, 7, 500000, tzinfo=UTC),
    time(5, 6),
    UUID(int=7),
    b"bytes",
    0.1,
    1e300,
    -0.0,
    True,
    7,
    "text",
    Decimal("1.50"),
    None,
    numpy.float32(0.1),
    numpy.datetime64("2001-03-04T05:06"),
    pandas.Timestamp("2001-03-04T05:06:07.000000001"),
]


def read_back(kinds: Kinds, record: dict[str, Any]) -> Any:
    """A record as it comes back from the file that it is written to."""
    written = dumps_exact(from_python(record)).encode()
    with BytesSource(written, "records.jsonl").open() as stream:
        (document,) = FORMATS["jsonl"]().read(stream, Layout())
    restore = kinds.restoring((), ())
    return document if restore is None else restore(document)


@pytest.mark.parametrize("value", VALUES, ids=repr)
def test_each_type_comes_back(value: Any) -> None:
    record = {"a": value, "b": [value, {"c": value}]}
    found = read_back(Kinds.of([record]), record)
    assert found == record
    assert type(found["a"]) in (type(value), float)  # one float of numpy is as good as another


plain = st.none() | st.booleans() | st.integers() | st.text(max_size=8) | st.decimals(-9, 9, places=2)
rich = (
    st.dates()
    | st.datetimes()
    | st.times()
    | st.uuids()
    | st.binary(max_size=8)
    | st.floats(allow_nan=False, allow_infinity=False)
)


@given(
    st.lists(st.fixed_dictionaries({"a": plain | rich, "b": st.lists(plain | rich, max_size=2)}), max_size=4)
)
def test_nothing_becomes_another_value(records: list[dict[str, Any]]) -> None:
    """Where a path had several types, values may stay as they are read, but are never of a wrong type."""
    kinds = Kinds.of(records)
    for record in records:
        found = read_back(kinds, record)
        for got, own in zip([found["a"], *found["b"]], [record["a"], *record["b"]], strict=True):
            assert got == own or from_python({"v": got}) == from_python({"v": own})


def test_what_has_no_depth_or_end_is_no_matter() -> None:
    deep: list[Any] = []
    deep.append(deep)
    assert Kinds.of([{"a": deep}, {str(key): 1.5 for key in range(20_000)}]).restoring((), ()) is not None

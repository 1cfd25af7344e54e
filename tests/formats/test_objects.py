"""Records given as Python objects, and exact JSON text."""

from __future__ import annotations

import json
from datetime import UTC, date, datetime, time, timedelta, timezone
from decimal import Decimal
from uuid import UUID

import numpy
import pandas
import pytest

from hierdata.documents.formats.arrow_tables import to_table
from hierdata.documents.formats.objects import dumps_exact, from_python
from hierdata.documents.formats.parquet import documents
from hierdata.ground.errors import InputError


def cyclic() -> list[object]:
    inner: list[object] = []
    inner.append(inner)
    return inner


@pytest.mark.parametrize(
    ("value", "words"),
    [
        (float("-inf"), "infinite"),
        (Decimal("Infinity"), "infinite"),
        (Decimal("1e401"), "exponent"),
        pytest.param(10**4300, "4300", id="long"),
        ({7319}, "type set"),
        (timedelta(7319), "type timedelta"),
        (7319j, "type complex"),
        (numpy.timedelta64(7319, "s"), "type timedelta64"),
        (numpy.float32("inf"), "infinite"),
        (numpy.complex64(7319), "type complex64"),
        (numpy.void(b"7319"), "type void"),
        (pandas.Timedelta(7319, "s"), "type Timedelta"),
        (pandas.Interval(0, 7319), "type Interval"),
        ({7319: 1}, "key has the type int"),
        ("7319\ud800", "surrogate"),
        (cyclic(), "64 deep"),
    ],
)
def test_what_no_reader_would_accept_is_refused_by_type(value: object, words: str) -> None:
    with pytest.raises(InputError, match=words) as caught:
        from_python({"a": [value]}, record=3)
    assert caught.value.record == 3
    assert "7319" not in str(caught.value)


UTC = UTC


@pytest.mark.parametrize(
    ("value", "plain"),
    [
        (date(2001, 3, 4), "2001-03-04"),
        (datetime(2001, 3, 4), "2001-03-04T00:00:00"),
        (datetime(2001, 3, 4, 5, 6, 7, 120000), "2001-03-04T05:06:07.12"),
        (datetime(2001, 3, 4, 5, 6, 7, tzinfo=UTC), "2001-03-04T05:06:07Z"),
        (datetime(2001, 3, 4, 5, tzinfo=timezone(timedelta(hours=2))), "2001-03-04T05:00:00+02:00"),
        (time(10, 20), "10:20:00"),
        (UUID(int=255), "00000000-0000-0000-0000-0000000000ff"),
        (b"\0\xff", "AP8="),
        (bytearray(b"a"), "YQ=="),
        (float("nan"), None),
        (Decimal("NaN"), None),
        (Decimal("sNaN"), None),
        (Decimal("1.50"), Decimal("1.50")),
        (numpy.int64(3), 3),
        (numpy.uint8(3), 3),
        (numpy.bool_(True), True),
        (numpy.float64(0.1), Decimal("0.1")),
        (numpy.float32(0.1), Decimal("0.1")),
        (numpy.float16("nan"), None),
        (numpy.longdouble("0.5"), Decimal("0.5")),
        (numpy.str_("a"), "a"),
        (numpy.bytes_(b"a"), "YQ=="),
        (numpy.datetime64("2001-03-04"), "2001-03-04"),
        (numpy.datetime64("2001-03-04T05:06:07.500000000", "ns"), "2001-03-04T05:06:07.5"),
        (numpy.datetime64("2001-03-04T05:06:07", "ns"), "2001-03-04T05:06:07"),
        (numpy.datetime64("NaT"), None),
        (numpy.array([1, 2]), [1, 2]),
        (numpy.array([[0.1], [2]], dtype="f4"), [[Decimal("0.1")], [Decimal("2.0")]]),
        (numpy.array(7), 7),
        (pandas.NA, None),
        (pandas.NaT, None),
        (pandas.Timestamp("2001-03-04T05:06:07.000000001"), "2001-03-04T05:06:07.000000001"),
        (pandas.Timestamp("2001-03-04", tz="UTC"), "2001-03-04T00:00:00Z"),
    ],
    ids=repr,
)
def test_values_that_json_lacks_become_plain(value: object, plain: object) -> None:
    found = from_python({"a": value, "b": [value]})
    assert found == {"a": plain, "b": [plain]}
    assert type(found["a"]) is type(plain)
    json.loads(dumps_exact(found))


def test_a_row_of_a_frame_is_read_like_the_frame() -> None:
    """Rows as dicts, and the table as Parquet has it, give the same values."""
    frame = pandas.DataFrame(
        {
            "t": pandas.to_datetime(["2001-03-04T05:06:07", None]),
            "u": pandas.to_datetime(["2001-03-04", "2001-03-05"], utc=True),
            "f": [0.1, numpy.nan],
            "i": pandas.array([1, None], dtype="Int64"),
            "s": ["a", None],
        }
    )
    rows = [from_python(row) for row in frame.to_dict("records")]
    assert [{key: value for key, value in row.items() if value is not None} for row in rows] == [
        *documents(to_table(frame).to_batches())
    ]


def test_a_record_is_a_dict() -> None:
    with pytest.raises(InputError, match="type list"):
        from_python([{"a": 1}])


def test_floats_become_the_decimals_that_they_print() -> None:
    class Loud(float):
        def __repr__(self) -> str:
            return "loud"

    assert from_python({"a": 0.1, "b": 1e22, "c": Loud(2.5)}) == {
        "a": Decimal("0.1"),
        "b": Decimal("1e22"),
        "c": Decimal("2.5"),
    }


def test_types_without_a_spelling_in_json_are_not_written() -> None:
    for value in (0.5, Decimal("Infinity"), object()):
        with pytest.raises(InputError, match="cannot be written"):
            dumps_exact({"a": value})  # type: ignore[dict-item]

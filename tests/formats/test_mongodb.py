"""BSON and Extended JSON: the same values in every form, written back in the form that was read."""

from __future__ import annotations

import gzip
import io
import subprocess
import sys
from functools import cache
from pathlib import Path
from typing import Any

import bson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hierdata.documents.document import Document
from hierdata.documents.formats import FORMATS, WHOLE, Layout
from hierdata.documents.formats.bson import MAX_BYTES, Bson
from hierdata.documents.formats.bson_codec import decode, encode
from hierdata.documents.formats.extended_json import _READ, ExtendedJson, spelling, unwrap_value
from hierdata.documents.scalars import TYPED, WRAPPERS, Code, DateTime, Double, Int64
from hierdata.ground.errors import InputError, PolicyError
from tests.bytes_source import BytesSource
from tests.formats.test_bson_codec import KEYS, VALUES
from tests.mongodb_fixtures import CANONICAL, FIXTURES, RELAXED, TYPES, array, dump, files, lines

MODES = {"relaxed": RELAXED, "canonical": CANONICAL}


def read(name: str, data: bytes) -> tuple[Layout, list[Document]]:
    chosen, source = FORMATS[name](), BytesSource(data, "some")
    with source.open() as stream:
        layout = chosen.layout(stream)
    with source.open() as stream:
        return layout, list(chosen.read(stream, layout))


def rewritten(name: str, data: bytes) -> bytes:
    layout, documents = read(name, data)
    stream = io.BytesIO()
    FORMATS[name]().write(documents, stream, layout)
    return stream.getvalue()


@cache
def written() -> dict[str, bytes]:
    return files()


@pytest.mark.parametrize("name", sorted(written()))
def test_the_bundled_files_are_those_of_pymongo(name: str) -> None:
    assert (FIXTURES / name).read_bytes() == written()[name]


def test_canonical_extended_json_and_bson_say_the_same() -> None:
    documents = [repr(document) for document in read("bson", dump(TYPES))[1]]
    for data in (lines(TYPES, CANONICAL), array(TYPES, CANONICAL), gzip.compress(lines(TYPES, CANONICAL))):
        assert [repr(document) for document in read("extended-json", data)[1]] == documents


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("form", [lines, array])
def test_the_mode_that_was_read_is_written(mode: str, form: Any) -> None:
    data = form(TYPES, MODES[mode])
    layout, _ = read("extended-json", data)
    assert (layout.canonical, layout.array) == (mode == "canonical", form is array)
    again = rewritten("extended-json", data)
    assert again.replace(b"\n", b"") == data.replace(b"\n", b"")
    assert rewritten("extended-json", again) == again


def test_bson_is_written_back_to_the_byte() -> None:
    assert rewritten("bson", dump(TYPES)) == dump(TYPES)


@given(st.lists(st.dictionaries(KEYS, VALUES, max_size=3), max_size=3), st.booleans())
def test_bson_survives_extended_json(values: list[dict[str, Any]], in_array: bool) -> None:
    """Any document through canonical Extended JSON, of keys that are none of a wrapper."""
    documents = [decode(bson.encode(value)) for value in values]
    layout = Layout(array=in_array, canonical=True)
    stream = io.BytesIO()
    ExtendedJson().write(documents, stream, layout)
    back = list(ExtendedJson().read(io.BytesIO(stream.getvalue()), layout))
    assert [encode(document) for document in back] == [encode(document) for document in documents]


@pytest.mark.parametrize(
    ("wrapper", "value"),
    [
        ({"$numberLong": "5"}, "Int64(5)"),
        ({"$date": "2001-03-04T05:06:07.890+0100"}, "DateTime('2001-03-04T04:06:07.890Z')"),
        ({"$date": 0}, "DateTime('1970-01-01T00:00:00Z')"),
        ({"$date": Int64(-1)}, "DateTime('1969-12-31T23:59:59.999Z')"),
        ({"$binary": "AQ==", "$type": "05"}, "Binary('05:AQ==')"),
        ({"$type": "0", "$binary": "AQ=="}, "Binary('AQ==')"),
        ({"$regex": "^a", "$options": "mi"}, "Regex('/^a/im')"),
        ({"$uuid": "00010203-0405-0607-0809-0a0b0c0d0e0f"}, "Uuid('00010203-0405-0607-0809-0a0b0c0d0e0f')"),
        ({"$undefined": True}, "Undefined('undefined')"),
        ({"$symbol": "s"}, "Symbol('s')"),
        ({"$ref": "c", "$id": 1}, "{'$ref': 'c', '$id': 1}"),
        ({"$unknown": 1}, "{'$unknown': 1}"),
    ],
)
def test_wrappers_of_version_1_and_what_is_none(wrapper: Document, value: str) -> None:
    assert repr(unwrap_value(wrapper)) == value


@pytest.mark.parametrize(
    ("text", "canonical"),
    [
        ('{"n":1,"d":{"$date":"2001-03-04T00:00:00Z"}}', False),
        ('{"n":{"$numberLong":"1"},"i":1}', False),  # version 1: only 64 bits are in a wrapper
        ('{"n":{"$numberLong":"1"}}', True),
        ('{ "n" : { "$numberInt" : "1" } }', True),
        ('{"d":{"$date":{"$numberLong":"0"}}}', True),
        ('{"d":{"$date":{"$numberLong":"-1"}}}', False),
        ('{"d":{"$date":{"$numberLong":"253402300800000"}}}', False),
        ('{"n":{"$numberDouble":"NaN"}}', False),
        ('{"s":"{\\"$numberInt\\":\\"1\\"}"}', False),
        ('{"t":{"$timestamp":{"t":1,"i":2}},"m":{"$minKey":1},"n":{"$numberInt":"1"}}', True),
        ("{}", False),
        ("", False),
    ],
)
def test_the_mode_is_told_by_numbers(text: str, canonical: bool) -> None:
    assert ExtendedJson().layout(io.BytesIO(text.encode())).canonical is canonical
    assert ExtendedJson().layout(io.BytesIO(f"\ufeff\n[{text}]".encode())) == Layout(
        array=True, canonical=canonical
    )


@pytest.mark.parametrize("size", [1, 100, 1000, 10**6])
@pytest.mark.parametrize("name", ["bson", "extended-json"])
def test_the_splits_are_the_file(name: str, size: int) -> None:
    chosen, data = FORMATS[name](), dump(TYPES) if name == "bson" else lines(TYPES, CANONICAL)
    layout, documents = read(name, data)
    splits = chosen.splits(io.BytesIO(data), layout, size)
    parts = [one for split in splits for one in chosen.read_split(io.BytesIO(data), layout, split)]
    assert repr(parts) == repr(documents)
    assert len(splits) == (1 if size > len(data) else len(splits)) > 0
    if size == 1 and name == "bson":
        assert len(splits) == len(TYPES)


def test_an_array_is_one_split() -> None:
    assert ExtendedJson().splits(io.BytesIO(), Layout(array=True), 1) == (WHOLE,)


@pytest.mark.parametrize("data", [b"", b"[]", b"\n\n"])
def test_no_record_is_no_error_of_the_format(data: bytes) -> None:
    assert rewritten("extended-json", data) in (b"", b"[]\n")
    assert rewritten("bson", b"") == b""


@pytest.mark.parametrize("name", ["bson", "extended-json"])
def test_records_lie_at_no_path(name: str) -> None:
    with pytest.raises(PolicyError, match="no meaning"):
        FORMATS[name]().layout(io.BytesIO(), ("a",))


@pytest.mark.parametrize("name", ["bson", "extended-json"])
def test_what_cannot_be_held_is_an_error_without_its_data(name: str) -> None:
    with pytest.raises(InputError) as caught:
        FORMATS[name]().write([{"a": 7319**99}], io.BytesIO(), Layout(canonical=True))
    assert "7319" not in f"{caught.value}{caught.value.__context__}"


def test_a_record_longer_than_mongodb_holds_is_not_written() -> None:
    with pytest.raises(InputError, match="16 MiB"):
        Bson().write([{"a": "x" * MAX_BYTES}], io.BytesIO(), Layout())


def test_relaxed_spells_numbers_as_json() -> None:
    spell = spelling(False)
    document: Document = {"a": Int64(2**60), "b": Double("1.0"), "c": DateTime.of(2**62), "d": Code("f")}
    assert spell(document) == (
        '{"a":1152921504606846976,"b":1.0,"c":{"$date":{"$numberLong":"4611686018427387904"}},"d":{"$code":"f"}}'
    )


def test_the_hint_knows_the_wrappers() -> None:
    objects = {"$code", "$dbPointer", "$regex"}  # these come out as objects, or look like a query
    assert {keys[0] for keys in _READ} - objects == WRAPPERS
    assert len(TYPED) == 16


def test_without_pymongo_the_extra_is_named(tmp_path: Path) -> None:
    (tmp_path / "bson.py").write_text("raise ImportError")
    program = (
        "import io; from hierdata.documents.formats.bson import Bson\n"
        "from hierdata.documents.formats import Layout\n"
        "next(Bson().read(io.BytesIO(bytes([5, 0, 0, 0, 0])), Layout()))"
    )
    path = {"PYTHONPATH": f"{tmp_path}:{Path(__file__).parents[2]}"}
    done = subprocess.run([sys.executable, "-c", program], env=path, capture_output=True, text=True)
    assert "PolicyError: BSON needs pymongo; install it with: pip install 'hierdata[mongodb]'" in done.stderr

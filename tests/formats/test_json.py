"""JSON and JSON Lines: windows, the place of the records, exact numbers, what is accepted."""

from __future__ import annotations

import io
import json
import re
import tracemalloc
from collections.abc import Iterator
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

import hierdata
import hierdata.documents.formats.json_reading as json_format
from hierdata.documents.document import Document, Numeral
from hierdata.documents.formats import FORMATS, MAX_DEPTH, Layout
from hierdata.ground.errors import InputError, PolicyError

JSON = FORMATS["json"]()
LINES = FORMATS["jsonl"]()


def read(text: str | bytes, records: tuple[str, ...] = ()) -> list[Document]:
    data = text.encode() if isinstance(text, str) else text
    return list(JSON.read(io.BytesIO(data), JSON.layout(io.BytesIO(data), records)))


class Endless(io.RawIOBase):
    """A JSON array of many records that exists only piece by piece, and counts what was asked of it."""

    def __init__(self, records: int, head: bytes = b"[", tail: bytes = b"]") -> None:
        self.given = 0
        self._pieces = self._make(records, head, tail)
        self._rest = b""

    def _make(self, records: int, head: bytes, tail: bytes) -> Iterator[bytes]:
        yield head
        for number in range(records):
            separator = b"," if number else b""
            yield separator + b'{"id":%d,"text":"%s"}' % (number, b"x" * 1000)
        yield tail

    def read(self, size: int = -1) -> bytes:
        while len(self._rest) < size and (piece := next(self._pieces, b"")):
            self._rest += piece
        taken, self._rest = self._rest[:size], self._rest[size:]
        self.given += len(taken)
        return taken


def test_the_array_reader_holds_no_more_than_a_window() -> None:
    stream = Endless(20_000)
    tracemalloc.start()
    try:
        ahead = 0
        for number, record in enumerate(JSON.read(stream, Layout())):  # type: ignore[arg-type]
            assert record["id"] == number
            ahead = max(ahead, stream.given - 1000 * number)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert stream.given > 20_000_000
    # Bytes read but not yet yielded (each record has some 20 beside its text), and memory at its highest.
    assert ahead < 20 * 20_000 + 2 * json_format.WINDOW
    assert peak < 10 * json_format.WINDOW


def test_a_large_envelope_is_skipped_without_being_held() -> None:
    stream = Endless(10_000, b'{"other":{"deep":[', b']},"records":[{"id":7}]}')
    tracemalloc.start()
    try:
        assert list(JSON.read(stream, Layout(("records",)))) == [{"id": 7}]  # type: ignore[arg-type]
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 10 * json_format.WINDOW


@pytest.mark.parametrize("window", [1, 2, 3, 7, 50])
def test_every_cut_of_the_window_reads_the_same(window: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(json_format, "WINDOW", window)
    text = (
        '\ufeff {"skip": [1.5e3, -12, true, null, "\\u00e9\\ud83d\\ude00", {"a": {}}, []],  '
        '"n": 120, "a": {"b" : [ '
        '{"é": "😀\\"[{", "n": -1.50, "t": [true, false, null, 1e+2]} , '
        '{}\n,{"x":[[],{}]}] , "z": 1}, "y": 12345} '
    )
    assert read(text, ("a", "b")) == json.loads(text[1:], parse_float=Decimal)["a"]["b"]
    assert read("[ ]") == []
    for broken in (
        '[{"a":nul}]',
        '[{"a":1}',
        '[{"a":1}] x',
        '[{"a":1,}]',
        '[{"a":"\\ud83d"}]',
        '{"b":12 3}',
        '[{"a":12',
    ):
        with pytest.raises(InputError):
            read(broken)


def test_numbers_keep_their_value_their_type_and_their_spelling() -> None:
    [record] = read(
        '[{"a": 123456789012345678901234567890, "b": 3.750, "c": 1E2, "d": 1e-400, "e": -0.0, "f": 1}]'
    )
    assert record["a"] == 123456789012345678901234567890
    assert str(record["b"]) == "3.750"
    assert isinstance(record["c"], Numeral)
    assert record["c"].text == "1E2"
    assert record["d"] == Decimal("1e-400")
    assert str(record["e"]) == "-0.0"
    assert type(record["f"]) is int


def test_nesting_is_counted_from_the_record() -> None:
    fits = "[" * (MAX_DEPTH - 1) + "]" * (MAX_DEPTH - 1)
    brackets = '"' + "[{" * 100 + '"'
    assert len(read(f'[{{"a":{fits},"b":{brackets}}}]')) == 1
    assert len(read(f'[{{"a":[{brackets},{brackets}]}}]')) == 1
    with pytest.raises(InputError, match="64 deep"):
        read(f'[{{"a":[{fits}]}}]')
    with pytest.raises(InputError, match="64 deep"):
        read(f'{{"skipped":[{fits}],"a":[]}}', ("a",))


def test_strings_that_look_like_surrogates_are_fine() -> None:
    assert read(r'[{"a":"\\ud83d","b":"\ud83d\ude00"}]') == [{"a": r"\ud83d", "b": "\U0001f600"}]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('{"a":{"x":[]}}', "does not exist"),
        ('{"a":[]}', "not an object"),
        ('{"a":{"b":{}}}', "not in an array"),
        ('{"a":{"b":[]},"a":1}', "same key twice"),
        ('{"a":{"b":[], "c":{"x":1,"x":2}}}', "same key twice"),
        ('{"a":{"b":[]}} {}', "follows the end"),
        ('{"a":{"b":[', "ends too early"),
        ('{"a":{"b":[],}}', "a key is missing"),
    ],
)
def test_a_place_that_is_not_there(text: str, words: str) -> None:
    with pytest.raises(InputError, match=words):
        read(text, ("a", "b"))


def test_bytes_that_are_not_utf8_are_blamed_on_their_record() -> None:
    with pytest.raises(InputError) as caught:
        read(b'[{"a":1},{"a":2},{"a":"\xff"}]')
    assert caught.value.record == 3


def test_written_json_is_one_record_a_line() -> None:
    stream = io.BytesIO()
    JSON.write([{"a": 1}, {"b": [Decimal("1.0")]}], stream, Layout(("students", "all")))
    assert stream.getvalue() == b'{"students":{"all":[\n{"a":1},\n{"b":[1.0]}\n]}}\n'


def test_json_lines_accept_empty_lines_a_mark_and_any_line_end() -> None:
    data = b'\xef\xbb\xbf{"a":1}\r\n\n  {"a":2} \n{"a":3}'
    assert list(LINES.read(io.BytesIO(data), Layout())) == [{"a": 1}, {"a": 2}, {"a": 3}]
    with pytest.raises(InputError, match="record 2"):
        list(LINES.read(io.BytesIO(b'{"a":1}\n\n{"a":}\n'), Layout()))


def test_json_lines_have_no_place_for_records() -> None:
    with pytest.raises(PolicyError, match="every line"):
        LINES.layout(io.BytesIO(b"{}"), ("a",))


def entries(text: str, records: tuple[str, ...] = ()) -> list[Document]:
    return list(JSON.read(io.BytesIO(text.encode()), JSON.layout_of_entries(records)))


def test_the_values_of_an_object_are_records_with_their_keys() -> None:
    found = [{"@key": "a", "x": 1}, {"@key": "b*", "x": {"y": []}}]
    text = '{"a": {"x": 1}, "b*": {"x": {"y": []}}}'
    assert entries(text) == found
    around = f'{{"v": [1, {{"events": 0}}], "in": {{"events": {text}, "z": 1}}}}'
    assert entries(around, ("in", "events")) == found
    assert entries("{}") == []
    for refused, said in (
        ('{"a": {"@key": 1}}', "has a field @key"),
        ('{"a": 1}', "not an object"),
        ('[{"a": 1}]', "leave .* out"),
        ('{"a": {}, "a": {}}', "same key twice"),
        ('{"a": {}} 1', "text follows"),
    ):
        with pytest.raises(InputError, match=re.escape(said)):
            entries(refused)
    with pytest.raises(InputError, match="`records` ends in"):
        read(around, ("in", "events"))
    with pytest.raises(PolicyError, match="leave it out"):
        LINES.layout_of_entries(())


def test_where_records_may_be_in_an_object() -> None:
    person = {"sex": "f", "age": 30, "visits": [{"ward": 1}]}
    people = {f"id{number}": person for number in range(4)}
    for data, places in (
        (people, ["$.*"]),
        ({"version": 3, "events": people}, ["$.events.*"]),
        ({"in": {"events": {"at": people}}}, ["$.in.events.at.*"]),
        (
            {"of": {"us": person, "all": person}, "list": [person]},
            ["$.of.us.visits", "$.of.all.visits", "$.list"],
        ),
        ({"people": [person], "staff": [person], "tags": ["a"]}, ["$.people", "$.staff"]),
        ({"anna": person, "bert": person, "carl": {"sex": "m"}}, ["$.*"]),  # names are not told
        ({"a": {"x": 1}, "b": {"y": 1}, "c": {"z": 1}}, []),
        ({"a": {}, "b": {}, "c": {}}, []),
        ([person], []),
        ({f"list{'abcdefg'[number]}": [person] for number in range(7)}, []),
    ):
        assert JSON.find_records(io.BytesIO(json.dumps(data).encode())) == places, data
    assert JSON.find_records(io.BytesIO(b'{"a": [{}], ')) == []
    assert LINES.find_records(io.BytesIO(json.dumps(people).encode())) == []


@pytest.mark.parametrize("place", ["$.*", "$.events.*"])
def test_a_release_of_the_values_of_an_object_is_an_array(tmp_path: Path, place: str) -> None:
    people = {f"id{number}": {"sex": "fm"[number % 2], "age": 30 + number % 2} for number in range(8)}
    data: Any = people if place == "$.*" else {"version": 3, "events": people}
    (source := tmp_path / "a.json").write_text(json.dumps(data))
    flat = {"role": "quasi", "flat": True}
    fields = {"$['@key']": {"role": "identifier"}, "$.sex": flat, "$.age": flat}
    models = [{"kind": "k-anonymity", "k": 2}]
    stated = {"version": 1, "records": place, "models": models, "fields": fields}
    hierdata.anonymize(source, stated, seed=b"a seed of sixteen bytes").save(tmp_path / "release")
    assert hierdata.verify(tmp_path / "release", stated, original=source).passed
    published = json.loads((tmp_path / "release" / "public" / "records.json").read_text())
    records = published if place == "$.*" else published["events"]
    assert sorted(map(json.dumps, records)) == sorted(map(json.dumps, people.values()))
    (folder := tmp_path / "folder").mkdir()
    (folder / "a.json").write_text(json.dumps(data))
    with pytest.raises(PolicyError, match="this is a folder"):
        hierdata.anonymize(folder, stated)

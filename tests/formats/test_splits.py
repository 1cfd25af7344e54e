"""Files read in parts: one part after the other they hold what the whole file holds, errors included."""

from __future__ import annotations

import gzip
import json
import pickle
from io import BytesIO
from itertools import chain
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hierdata.documents.formats import FORMATS, WHOLE, Layout, Rowwise, detect
from hierdata.documents.formats import parquet as parquet_module
from hierdata.documents.formats.json import JsonLines
from hierdata.documents.formats.source import PathSource
from hierdata.ground.errors import HierdataError, InputError
from hierdata.policy.load import from_data
from hierdata.sources import collect
from hierdata.sources.splits import FileSplit, InputSplit, file_splits, read_file
from tests.bytes_source import BytesSource
from tests.cases import for_each
from tests.formats.test_broken import BROKEN, rows

POLICY = from_data(
    {
        "version": 1,
        "models": [{"kind": "k-anonymity", "k": 2}],
        "fields": {"$.q": {"role": "quasi", "flat": True}, "$.s": {"role": "sensitive"}},
    }
)

line = st.one_of(
    st.sampled_from([b"", b" ", b"\t", b"\r"]),
    st.integers(0, 99).map(lambda n: b'{"q":%d}' % n),
    st.text(max_size=30).map(lambda text: json.dumps({"q": text}).encode()),
    st.integers(0, 400).map(lambda n: b'{"q":"' + b"x" * n + b'"}'),
)
ends = st.sampled_from([b"\n", b"\r\n", b"\n\n", b" \r\n"])
pieces = st.lists(st.tuples(line, ends).map(b"".join), max_size=8)


def in_parts(data: bytes, size: int) -> list[object]:
    format = JsonLines()
    layout = format.layout(BytesIO(data))
    parts = format.splits(BytesIO(data), layout, size)
    assert pickle.loads(pickle.dumps(parts)) == parts
    return [record for part in parts for record in format.read_split(BytesIO(data), layout, part)]


@given(pieces, st.sampled_from([b"", b"\xef\xbb\xbf"]), st.booleans(), st.integers(1, 120))
def test_every_line_is_in_one_part(lines: list[bytes], mark: bytes, ended: bool, size: int) -> None:
    data = mark + b"".join(lines)
    data = data if ended else data.rstrip(b"\r\n")
    whole = list(JsonLines().read(BytesIO(data), JsonLines().layout(BytesIO(data))))
    assert in_parts(data, size) == whole


def test_a_line_longer_than_many_parts_is_read_once() -> None:
    data = b'{"q":1}\n{"q":"' + b"x" * 1000 + b'"}\n{"q":3}'
    assert [len(str(record)) for record in in_parts(data, 7)] == [8, 1009, 8]


@pytest.mark.parametrize("name", ["jsonl", "extended-json", "bson"])
def test_extents_of_parts_are_the_bytes_of_their_records(name: str) -> None:
    """A change of one byte anywhere, or a byte more, is in the extent of one part, which then differs."""
    format = FORMATS[name]()
    assert isinstance(format, Rowwise)
    whole = BytesIO()
    format.write([{"q": "x" * (n * 7 % 40), "n": n} for n in range(30)], whole, Layout())
    data = whole.getvalue()
    for size in (1, 7, 64, 10_000):
        splits = format.splits(BytesIO(data), Layout(), size)
        extents = [format.extent(BytesIO(data), Layout(), split) for split in splits]
        assert [own and own[0] for own in extents] == [0, *(own and own[1] for own in extents[:-1])]
        assert extents[-1] is not None
        assert extents[-1][1] == len(data)
        assert are_rewritten(data, format, size) == {True}
    with BytesSource(gzip.compress(data), "records.gz").open() as packed:
        assert format.extent(packed, Layout(), WHOLE) is None


@pytest.mark.parametrize("size", [1, 20, 10_000])
def test_a_part_with_more_than_its_records_is_not_rewritten(size: int) -> None:
    lines = [b'{"q":%d,"s":"%s"}\n' % (n, b"x" * n) for n in range(12)]
    data = b"".join(lines)
    assert are_rewritten(data, JsonLines(), size) == {True}
    for line in lines:
        for more in (
            b" " + line,
            b"\n" + line,
            line.replace(b":", b": ", 1),
            line[:-1] + b"\r\n",
            line[:-1] + b" \n",
        ):
            assert False in are_rewritten(data.replace(line, more), JsonLines(), size)
    for forged in (data[:-1], data + b"\n", b"\xef\xbb\xbf" + data):
        assert False in are_rewritten(forged, JsonLines(), size)


def are_rewritten(data: bytes, format: Rowwise, size: int) -> set[bool]:
    """Whether the parts of a file have the bytes that are written for their documents."""
    found = set()
    for split in format.splits(BytesIO(data), Layout(), size):
        part = FileSplit(BytesSource(data, f"records{format.extension}"), format, Layout(), split)
        with part.open_rewriting() as rewriting:
            assert rewriting is not None
            for document in part.documents():
                rewriting.add([document])
            found.add(rewriting.are_equal())
    return found


def test_a_byte_order_mark_stands_at_the_beginning_alone() -> None:
    data = b'\xef\xbb\xbf\n\xef\xbb\xbf{"q":1}\n'
    with pytest.raises(InputError, match="record 1: not valid JSON"):
        in_parts(data, 1000)
    with pytest.raises(InputError, match="record 1: not valid JSON"):
        in_parts(data, 1)


def everything(splits: tuple[InputSplit, ...]) -> list[object]:
    """All splits after a journey to another process, one after the other."""
    copies: list[InputSplit] = pickle.loads(pickle.dumps(splits))
    return list(chain.from_iterable(split.documents() for split in copies))


def told(read: object) -> tuple[str, object]:
    with pytest.raises(HierdataError) as caught:
        read()  # type: ignore[operator]
    return str(caught.value), (type(caught.value), caught.value.record, caught.value.path)


@for_each("name", [name for name, _ in rows() if detect(name).name in ("jsonl", "parquet")])
@for_each("size", [1, 9, 40, 1 << 20])
def test_what_is_wrong_is_told_as_by_who_reads_all(name: str, size: int) -> None:
    source, format = PathSource(BROKEN / name), detect(name)

    def layout() -> object:
        with source.open() as stream:
            return format.layout(stream)

    expected = told(lambda: list(read_file(source, format, layout())))  # type: ignore[arg-type]
    assert told(lambda: everything(file_splits(source, format, layout(), size))) == expected  # type: ignore[arg-type]


def test_a_wrong_record_in_a_late_part_has_its_number_in_the_file(tmp_path: Path) -> None:
    file = tmp_path / "records.jsonl"
    file.write_bytes(b'{"q":1}\n\n' * 50 + b'{"q":\n' + b'{"q":1}\n' * 50)
    splits = collect(file, POLICY).splits(64)
    assert len(splits) > 10
    late = next(split for split in splits[5:] if _fails(split))
    with pytest.raises(InputError) as caught:
        list(late.documents())
    assert caught.value.record == 51
    with pytest.raises(InputError) as caught:
        list(late.count_documents())
    assert caught.value.record == 51


def _fails(split: InputSplit) -> bool:
    try:
        list(split.documents())
    except InputError:
        return True
    return False


@pytest.mark.parametrize("groups", [1, 3, 7])
@pytest.mark.parametrize("together", [1, 10, 1 << 16])
def test_row_groups_are_parts(
    groups: int, together: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(parquet_module, "ROWS", together)
    table = pa.table({"q": list(range(40)), "s": [str(n % 3) for n in range(40)]})
    file = tmp_path / "records.parquet"
    pq.write_table(table, file, row_group_size=groups)
    collection = collect(file, POLICY)
    splits = collection.splits()
    assert everything(tuple(splits)) == list(collection.documents()) == table.to_pylist()
    assert len(splits) == -(-40 // max(groups, together // groups * groups))


def test_a_table_without_rows_is_one_part(tmp_path: Path) -> None:
    file = tmp_path / "records.parquet"
    pq.write_table(pa.table({"q": [], "s": []}), file)
    assert everything(tuple(collect(file, POLICY).splits())) == []


@pytest.mark.parametrize("name", ["records.json", "records.csv", "records.jsonl.gz", "records.xml"])
def test_everything_else_is_one_part(name: str, tmp_path: Path) -> None:
    records = [{"q": str(n), "s": "x"} for n in range(9)]
    data = {
        "records.json": str(records).replace("'", '"').encode(),
        "records.csv": b"q,s\n" + b"".join(b"%d,x\n" % n for n in range(9)),
        "records.jsonl.gz": gzip.compress(
            str(records)[1:-1].replace("'", '"').replace("}, ", "}\n").encode()
        ),
        "records.xml": b"<r>" + b"".join(b"<a><q>%d</q><s>x</s></a>" % n for n in range(9)) + b"</r>",
    }[name]
    (tmp_path / name).write_bytes(data)
    collection = collect(tmp_path / name, POLICY)
    assert len(collection.splits(1)) == 1
    assert everything(tuple(collection.splits(1))) == list(collection.documents())
    assert sum(times for split in collection.splits(1) for _, times in split.count_documents()) == 9
    assert len(collect(BytesSource(data, name), POLICY).splits(1)) == 1


def test_splits_of_a_relative_path_are_read_from_any_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "records.jsonl").write_bytes(b'{"q":1}\n{"q":2}\n')
    monkeypatch.chdir(tmp_path)
    splits = tuple(collect("records.jsonl", POLICY).splits(4))
    monkeypatch.chdir(tmp_path.parent)
    assert everything(splits) == [{"q": 1}, {"q": 2}]


def test_what_can_be_read_once_stays_as_long_as_its_splits() -> None:
    splits = collect(iter([{"q": n} for n in range(5)]), POLICY).splits(10)
    assert len(splits) > 2
    folder = splits[0].source.path.parent  # type: ignore[attr-defined]
    assert [record for split in splits for record in split.documents()] == [{"q": n} for n in range(5)]
    assert folder.exists()
    del splits
    assert not folder.exists()


def test_objects_in_memory_are_one_part() -> None:
    (split,) = collect([{"q": 1}, {"q": 2}], POLICY).splits(1)
    assert list(split.documents()) == [{"q": 1}, {"q": 2}]


@pytest.mark.parametrize("name", sorted(FORMATS))
def test_formats_travel(name: str) -> None:
    assert pickle.loads(pickle.dumps(WHOLE)) == WHOLE
    assert type(pickle.loads(pickle.dumps(FORMATS[name]()))) is FORMATS[name]

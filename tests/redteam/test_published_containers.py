"""Containers of published files carry nothing of the input: headers, metadata, dictionaries, times, modes."""

from __future__ import annotations

import gzip
import hashlib
import json
import os
import struct
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import hierdata
from tests.claims import state_claims

SEED = b"sixteen bytes or"
MARK = "Zq7319"
OLD = 986_000_000
ENGINE = {"steps": [{"kind": "clustree", "window": 50, "pairing": "greedy", "grow": False}]}
POLICY: dict[str, Any] = {
    "version": 1,
    "engine": ENGINE,
    "suppressed": "as_published",
    "models": [{"kind": "k-anonymity", "k": 4}],
    "fields": {
        "id": {"role": "identifier"},
        "town": {"role": "quasi", "flat": True},
        "cause": {"role": "sensitive"},
    },
}
XML_POLICY = {**POLICY, "fields": {f"/list/person/{name}": rule for name, rule in POLICY["fields"].items()}}


def people(*, lone: bool) -> list[dict[str, Any]]:
    """Twelve people; and one whom nobody resembles, whose values are marked and who is suppressed."""
    found = [{"id": f"p{at}", "town": f"t{at // 4}", "cause": ("flu", "cold")[at % 2]} for at in range(12)]
    return [*found, {"id": MARK, "town": f"{MARK}-town", "cause": f"{MARK}-cause"}] if lone else found


def as_lines(rows: list[dict[str, Any]]) -> bytes:
    return "\n".join(map(json.dumps, rows)).encode()


def as_csv(rows: list[dict[str, Any]]) -> bytes:
    return "\n".join(map(",".join, [list(rows[0]), *(row.values() for row in rows)])).encode()


def as_xml(rows: list[dict[str, Any]]) -> bytes:
    inner = ["".join(f"<{key}>{value}</{key}>" for key, value in row.items()) for row in rows]
    return f"<list>{''.join(f'<person>{one}</person>' for one in inner)}</list>".encode()


def as_array(rows: list[dict[str, Any]]) -> bytes:
    return json.dumps(rows).encode()


def as_extended(rows: list[dict[str, Any]]) -> bytes:
    """Every document has an ObjectId, whose bytes are a time, a machine and a counter."""
    marked = [{"_id": {"$oid": f"7319{at:020x}"}, **row} for at, row in enumerate(rows)]
    return "\n".join(map(json.dumps, marked)).encode()


def as_bson(rows: list[dict[str, Any]]) -> bytes:
    bson = pytest.importorskip("bson")
    marked = [{"_id": bson.ObjectId(f"7319{at:020x}"), **row} for at, row in enumerate(rows)]
    return b"".join(map(bson.encode, marked))


FILES: dict[str, Callable[[list[dict[str, Any]]], bytes]] = {
    ".jsonl": as_lines,
    ".json": as_array,
    ".csv": as_csv,
    ".xml": as_xml,
    ".ejson": as_extended,
    ".bson": as_bson,
}


def policy_for(suffix: str) -> dict[str, Any]:
    if suffix == ".xml":
        return XML_POLICY
    objects = {"_id": {"role": "identifier"}} if suffix in (".ejson", ".bson") else {}
    return {**POLICY, "fields": {**objects, **POLICY["fields"]}}


def packed(content: bytes, *, members: int = 1) -> bytes:
    """Gzip with a name, a comment, an extra field, a time and an operating system."""
    found = b""
    size = -(-len(content) // members)
    for start in range(0, len(content), size):
        extra = b"Zq\x06\x00" + MARK.encode()
        body = gzip.compress(content[start : start + size], mtime=0)[10:]
        flags = 0x04 | 0x08 | 0x10
        head = b"\x1f\x8b\x08" + bytes([flags]) + struct.pack("<I", OLD) + b"\x02\x0b"
        texts = f"{MARK}.txt".encode() + b"\0" + MARK.encode() + b"\0"
        found += head + struct.pack("<H", len(extra)) + extra + texts + body
    return found


def released(source: object, policy: dict[str, Any], out: Path) -> Path:
    release = hierdata.anonymize(source, policy, seed=SEED)
    assert release.report.counts.records.suppressed == 1
    folder = release.save(out)
    assert hierdata.verify(folder, policy, original=source).passed
    return folder / "public"


def silent(public: Path) -> None:
    for path in public.rglob("*"):
        assert MARK not in path.name
        if path.is_file():
            data = path.read_bytes()
            assert MARK.encode() not in (gzip.decompress(data) if data[:2] == b"\x1f\x8b" else data)
            assert MARK.encode() not in data


@pytest.mark.parametrize("suffix", FILES)
def test_the_header_of_gzip_says_nothing(suffix: str, tmp_path: Path) -> None:
    content = FILES[suffix](people(lone=True))
    written = set()
    for number, data in enumerate((gzip.compress(content), packed(content), packed(content, members=3))):
        source = tmp_path / f"{MARK}-{number}{suffix}.gz"
        source.write_bytes(data)
        public = released(source, policy_for(suffix), tmp_path / str(number))
        silent(public)
        written.add((public / f"records{suffix}.gz").read_bytes())
    (data,) = written
    # One member: no flags, no time, no system; the level is that of the writer.
    assert data[:4] == b"\x1f\x8b\x08\x00"
    assert data[4:8] == bytes(4)
    assert data[9] == 255


@pytest.mark.parametrize("suffix", FILES)
def test_what_a_suppressed_person_has_is_in_no_file(suffix: str, tmp_path: Path) -> None:
    """First, in the middle and last in the input."""
    for at in (0, 6, 12):
        rows = people(lone=False)
        rows.insert(at, people(lone=True)[-1])
        source = tmp_path / f"people{suffix}"
        source.write_bytes(FILES[suffix](rows))
        silent(released(source, policy_for(suffix), tmp_path / str(at)))


def parquet_of(rows: list[dict[str, Any]], **how: Any) -> pa.Table:
    """Columns that are dictionaries with entries that no row has, and metadata everywhere."""
    columns = {}
    for name in rows[0]:
        values = [row[name] for row in rows]
        entries = [
            f"{MARK}-unused",
            *sorted(set(values)),
            *(f"{MARK}-{at}" for at in range(how.get("unused", 0))),
        ]
        index = pa.array([entries.index(value) for value in values], how.get("index", pa.int16()))
        columns[name] = pa.DictionaryArray.from_arrays(index, entries, ordered=how.get("ordered", False))
    fields = [
        pa.field(name, column.type, nullable=False, metadata={MARK: MARK}) for name, column in columns.items()
    ]
    about = {"pandas": json.dumps({"creator": MARK}), MARK: MARK}
    return pa.table(list(columns.values()), schema=pa.schema(fields, metadata=about))


def test_parquet_has_no_metadata_dictionaries_or_statistics_of_the_input(tmp_path: Path) -> None:
    rows, written = people(lone=True), {}
    ways: tuple[dict[str, Any], ...] = (
        {},
        {"unused": 300, "index": pa.int32(), "ordered": True},
        {"unused": 90, "index": pa.int8()},
    )
    for number, how in enumerate(ways):
        table = parquet_of(rows, **how)
        source = tmp_path / f"{MARK}-{number}.parquet"
        options: tuple[dict[str, Any], ...] = (
            {},
            {"compression": "zstd", "row_group_size": 3, "write_page_index": True},
            {"version": "1.0", "use_dictionary": False, "write_statistics": True},
        )
        pq.write_table(table, source, **options[number])
        assert MARK.encode() in source.read_bytes()
        for kind, given in (("file", source), ("table", table)):
            public = released(given, POLICY, tmp_path / f"{kind}-{number}")
            silent(public)
            written[kind, number] = (public / "records.parquet").read_bytes()
    assert len(set(written.values())) == 1
    file = pq.ParquetFile(tmp_path / "file-0" / "public" / "records.parquet")
    assert file.metadata.metadata.keys() == {b"ARROW:schema"}
    assert file.schema_arrow.metadata is None
    assert all(column.metadata is None for column in file.schema_arrow)
    assert file.metadata.created_by.startswith("parquet-cpp-arrow version ")
    shown = {row["town"] for row in file.read().to_pylist()}
    for group in range(file.metadata.num_row_groups):
        for column in range(file.metadata.num_columns):
            statistics = file.metadata.row_group(group).column(column).statistics
            if file.metadata.row_group(group).column(column).path_in_schema == "town":
                assert {statistics.min, statistics.max} <= shown
    for chunk in file.read().column("town").chunks:
        entries = chunk.dictionary.to_pylist() if pa.types.is_dictionary(chunk.type) else []
        assert set(entries) <= shown


def test_a_parquet_file_with_an_unused_entry_is_not_the_release(tmp_path: Path) -> None:
    source = tmp_path / "people.parquet"
    pq.write_table(parquet_of(people(lone=True)), source)
    public = released(source, POLICY, tmp_path / "out")
    table = pq.read_table(public / "records.parquet")
    towns = table.column("town").combine_chunks()
    entries = pa.array([*towns.dictionary.to_pylist(), MARK])
    more = pa.DictionaryArray.from_arrays(towns.indices, entries)
    place = table.schema.get_field_index("town")
    records, stated = public / "records.parquet", public / "release.json"
    before = hashlib.sha256(records.read_bytes()).hexdigest()
    pq.write_table(table.set_column(place, "town", more), records)
    assert MARK.encode() in records.read_bytes()
    after = hashlib.sha256(records.read_bytes()).hexdigest()
    state_claims(public, stated.read_text().replace(before, after))
    with pytest.raises(hierdata.VerificationError, match="not written as hierdata writes"):
        hierdata.verify(public.parent, POLICY)


def test_all_published_files_have_one_time_and_the_modes_of_new_files(tmp_path: Path) -> None:
    """Neither times, modes nor extended attributes of the input, nor how long a step took."""
    folder = tmp_path / "in"
    folder.mkdir()
    for number, row in enumerate(people(lone=True)):
        (folder / f"{MARK}-{number:02}.xml").write_bytes(as_xml([row])[6:-7])
    single = tmp_path / "people.xml"
    single.write_bytes(as_xml(people(lone=True)))
    for path in (single, *folder.iterdir(), folder):
        os.utime(path, (OLD, OLD))
        path.chmod(0o751 if path.is_dir() else 0o741)
        if hasattr(os, "setxattr"):
            with suppress(OSError):  # the file system may have none
                os.setxattr(path, "user.mrn", MARK.encode())
    each = {f"/person/{name}": rule for name, rule in POLICY["fields"].items()}
    mask = os.umask(0o027)
    try:
        for source, policy in (
            (single, XML_POLICY),
            (folder, {**POLICY, "records": "/person", "fields": each}),
        ):
            begun = int(time.time())
            public = released(source, policy, tmp_path / f"out-{source.name}")
            paths = [public, *public.rglob("*")]
            assert len(paths) >= 5
            times = {(path.stat().st_mtime_ns, path.stat().st_mtime) for path in paths}
            ((exact, moment),) = times
            assert exact % 10**9 == 0
            assert begun <= moment <= time.time()
            assert {path.stat().st_mode & 0o7777 for path in paths} == {0o640, 0o750}
            assert {(path.stat().st_uid, path.stat().st_gid) for path in paths} == {
                (os.getuid(), os.getgid())
            }
            if hasattr(os, "listxattr"):
                assert not [path for path in paths if "user.mrn" in os.listxattr(path)]
    finally:
        os.umask(mask)


def test_the_files_of_records_are_created_in_the_order_of_publication(tmp_path: Path) -> None:
    """What inode numbers and unsorted listings show follows from the numbers, not from the input's names."""
    folder = tmp_path / "in"
    folder.mkdir()
    each = {f"/person/{name}": rule for name, rule in POLICY["fields"].items()}
    policy = {**POLICY, "records": "/person", "fields": each}
    listings = []
    for turn in (1, -1):
        for path in folder.iterdir():
            path.unlink()
        for number, row in list(enumerate(people(lone=True)))[::turn]:
            (folder / f"{number:02}.xml").write_bytes(as_xml([row])[6:-7])
        public = released(folder, policy, tmp_path / f"out{turn}")
        listings.append([path.name for path in os.scandir(public / "records")])
        assert sorted(listings[-1]) == [f"{number:09}.xml" for number in range(1, 13)]
    assert listings[0] == listings[1]

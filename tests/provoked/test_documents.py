"""What documents, formats and values are refused for."""

from __future__ import annotations

import gzip
import io
import struct
import zipfile
from decimal import Decimal
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

import hierdata
from hierdata.documents.days import year_month_day
from hierdata.documents.formats import FORMATS
from hierdata.documents.formats.base import Layout
from hierdata.documents.formats.bson_codec import decode
from hierdata.documents.formats.decoder import RefusedTextError
from hierdata.documents.formats.encodings import transcode
from hierdata.documents.formats.objects import encode
from hierdata.documents.limits import RELEASE_SIZE, regular_bytes
from hierdata.documents.scalars import DateTime, Decimal128
from hierdata.domains.similarity import diversity_degree
from hierdata.ground.errors import InputError
from tests.provoked import SECRET, provoke

K = {"version": 1, "models": [{"kind": "k-anonymity", "k": 2}]}
POLICY = {**K, "fields": {"$.a": {"role": "quasi", "flat": True}}}


def test_texts_of_scalars() -> None:
    provoke(
        ValueError,
        ("not an ISO 8601 date", lambda: year_month_day("4.3.2001")),
        ("not an ISO 8601 time with a zone", lambda: DateTime.read("2001-03-04T01:30:00")),
        ("not a time of day", lambda: DateTime.read("2001-03-04T24:30:00Z")),
        ("not a Decimal128", lambda: Decimal128.of("1" * 35)),
        ("is defined from two values on", lambda: diversity_degree([[]])),
    )


def bson_of(*elements: bytes) -> bytes:
    """Return a document of BSON with the length that its elements have."""
    inner = b"".join(elements)
    return struct.pack("<i", len(inner) + 5) + inner + b"\0"


def test_bson_whose_lengths_lie() -> None:
    deep = bson_of()
    for _ in range(5_000):
        deep = bson_of(b"\x03d\0", deep)
    string = struct.pack("<i", 5) + SECRET.encode() + b"\0"
    scoped = b"\x0fc\0" + struct.pack("<i", 99) + string + bson_of()
    provoke(
        RefusedTextError,
        ("a length in the BSON does not fit", lambda: decode(bson_of(b"\x05b\0" + struct.pack("<i", -1)))),
        ("a length in the BSON does not fit", lambda: decode(bson_of(scoped))),
        ("not valid BSON", lambda: decode(bson_of(b"\x0a" + SECRET.encode())[:-1] + b"7")),
        ("values are nested more than", lambda: decode(deep)),
    )


def read(path: Path) -> object:
    return hierdata.anonymize(path, POLICY, seed=bytes(16))


def test_files_that_are_something_else(tmp_path: Path) -> None:
    def write(name: str, content: bytes) -> Path:
        (tmp_path / name).write_bytes(content)
        return tmp_path / name

    table = io.BytesIO()
    pq.write_table(pa.table({"a": [1, 1]}), table)
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("a.csv", "a\n" + "7319\n" * 99)
    at = packed.getvalue().find(b"PK\x01\x02")
    locked, broken = bytearray(packed.getvalue()), bytearray(packed.getvalue())
    locked[6] |= 1
    locked[at + 8] |= 1
    broken[36:44] = b"\xff" * 8  # in what is packed
    headless = bytearray(packed.getvalue())
    headless[at + 42 : at + 46] = b"\x07\0\0\0"  # where the member would begin
    provoke(
        InputError,
        (
            "column 2 has no name: name it in the header",
            lambda: read(write("a.csv", f"a,\n1,{SECRET}\n".encode())),
        ),
        ("has a password", lambda: read(write("locked.zip", bytes(locked)))),
        ("the zip file is damaged", lambda: read(write("broken.zip", bytes(broken)))),
        ("the zip file is damaged", lambda: read(write("headless.zip", bytes(headless)))),
        ("unpack the file", lambda: read(write("a.parquet.gz", gzip.compress(table.getvalue())))),
        (
            "the file has the mark of UTF-8, but the stated encoding is cp1252",
            lambda: transcode(io.BytesIO(b"\xef\xbb\xbfa"), "cp1252").read(),
        ),
        (
            "byte 3 of the file is no text in the encoding ascii",
            lambda: transcode(io.BytesIO(b"ab\xff"), "ascii").read(),
        ),
        ("surrogate", lambda: encode("\ud800")),
    )


def test_numbers_and_files_beyond_all_bounds(tmp_path: Path) -> None:
    with (tmp_path / "large").open("wb") as file:
        file.truncate(RELEASE_SIZE + 1)
    provoke(OSError, ("MiB", lambda: regular_bytes(tmp_path / "large")))
    extended = FORMATS["extended-json"]()
    provoke(
        InputError,
        (
            "a number has more digits than BSON can hold",
            lambda: extended.write([{"a": Decimal("1." + "1" * 40)}], io.BytesIO(), Layout(canonical=True)),
        ),
    )

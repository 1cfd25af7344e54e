"""The bundled files of MongoDB's formats: ``python -m tests.mongodb_fixtures`` writes the same bytes again.

They are made by pymongo and by hand, not by the readers that they test.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from pathlib import Path
from struct import pack
from typing import Any

import bson
from bson import json_util
from bson.binary import Binary
from bson.codec_options import CodecOptions, DatetimeConversion
from bson.datetime_ms import DatetimeMS

FIXTURES = Path(__file__).resolve().parents[1] / "fixtures"
RELAXED = json_util.RELAXED_JSON_OPTIONS.with_options(datetime_conversion=DatetimeConversion.DATETIME_MS)
CANONICAL = json_util.CANONICAL_JSON_OPTIONS.with_options(datetime_conversion=DatetimeConversion.DATETIME_MS)
OPTIONS: CodecOptions[dict[str, Any]] = CodecOptions(datetime_conversion=DatetimeConversion.DATETIME_MS)
OID = bson.ObjectId("5f0c1b2a3d4e5f6071829304")


def students() -> Iterator[dict[str, Any]]:
    """The bundled students as a collection has them: with an ``_id``."""
    for line in (FIXTURES / "students/students.jsonl").read_text("utf-8").splitlines():
        student = json.loads(line)
        own = hashlib.blake2b(student["id"].encode(), digest_size=12).digest()
        yield {"_id": bson.ObjectId(own), **student}


TYPES: list[dict[str, Any]] = [
    {"_id": OID, "int": 1, "long": bson.Int64(1), "double": 1.0, "decimal": bson.Decimal128("1.50")},
    {"_id": OID, "long": bson.Int64(2**62), "double": -0.0, "decimal": bson.Decimal128("-Infinity")},
    {"_id": OID, "double": float("nan"), "decimal": bson.Decimal128("NaN"), "none": None, "yes": True},
    {"_id": OID, "date": DatetimeMS(983664000123), "early": DatetimeMS(-62135596800001)},
    {"_id": OID, "date": DatetimeMS(253402300800000), "earliest": DatetimeMS(-(2**63))},
    {"_id": OID, "bytes": b"\0\xff", "own": Binary(b"\1", 128), "uuid": Binary(bytes(range(16)), 4)},
    {"_id": OID, "time": bson.Timestamp(983664000, 7), "regex": bson.Regex("^a/b", "im")},
    {"_id": OID, "code": bson.Code("f()"), "scoped": bson.Code("f()", {"n": 1})},
    {"_id": OID, "ref": bson.DBRef("c", OID, "d"), "min": bson.MinKey(), "max": bson.MaxKey()},
    {"_id": OID, "text": 'ünï "日本" \n', "array": [1, [2.5, {"a": []}], {}], "object": {"a": {"b": OID}}},
]
"""A document for every few of BSON's types."""


def lines(documents: list[dict[str, Any]], options: Any) -> bytes:
    """Documents as mongoexport writes them."""
    compact = {"ensure_ascii": False, "separators": (",", ":")}
    return "".join(json_util.dumps(one, json_options=options, **compact) + "\n" for one in documents).encode()


def array(documents: list[dict[str, Any]], options: Any) -> bytes:
    """Documents as ``mongoexport --jsonArray`` writes them."""
    return b"[" + lines(documents, options).rstrip().replace(b"\n", b",\n") + b"]\n"


def dump(documents: list[dict[str, Any]]) -> bytes:
    """Documents as mongodump writes them."""
    return b"".join(bson.encode(one, codec_options=OPTIONS) for one in documents)


METADATA = (
    b'{"indexes":[{"v":{"$numberInt":"2"},"key":{"_id":{"$numberInt":"1"}},"name":"_id_"}],'
    b'"uuid":"00112233445566778899aabbccddeeff","collectionName":"students","type":"collection"}\n'
)

GOOD = bson.encode({"a": 1})


def document(*elements: bytes) -> bytes:
    """A BSON document of its elements."""
    content = b"".join(elements)
    return pack("<i", len(content) + 5) + content + b"\0"


def element(kind: int, name: bytes, content: bytes = b"") -> bytes:
    """A BSON element."""
    return bytes([kind]) + name + b"\0" + content


def text(content: bytes) -> bytes:
    """A BSON string."""
    return pack("<i", len(content) + 1) + content + b"\0"


def nested(depth: int) -> bytes:
    """So many documents inside one another, data in the innermost."""
    raw = document(element(0x02, b"a", text(b"marker-7319")))
    for _ in range(depth - 1):
        raw = document(element(0x03, b"a", raw))
    return raw


MARKER = element(0x02, b"m", text(b"marker-7319"))


def broken() -> dict[str, bytes]:
    """Files with one defect each, in their second record unless their name says otherwise."""
    second = {
        "truncated.bson": bson.encode({"a": "marker-7319"})[:-4],
        "no-length.bson": b"\x10\0",
        "negative-length.bson": pack("<i", -7319) + MARKER,
        "short-length.bson": pack("<i", 4) + MARKER,
        "huge-length.bson": pack("<i", 2**31 - 1) + MARKER,
        "string-length.bson": document(MARKER, element(0x02, b"a", pack("<i", 7319) + b"marker-7319\0")),
        "negative-string.bson": document(MARKER, element(0x02, b"a", pack("<i", -1) + b"marker-7319\0")),
        "object-length.bson": document(MARKER, element(0x03, b"a", pack("<i", 7319) + b"\0")),
        "duplicate-keys.bson": document(MARKER, MARKER),
        "unknown-type.bson": document(MARKER, element(0x42, b"a", b"marker-7319")),
        "no-boolean.bson": document(MARKER, element(0x08, b"a", b"\2")),
        "not-utf8.bson": document(MARKER, element(0x02, b"a", text(b"marker-7319\xff"))),
        "not-utf8-key.bson": document(element(0x0A, b"marker-7319\xff")),
        "lone-surrogate.bson": document(MARKER, element(0x02, b"a", text(b"\xed\xa0\x80"))),
        "too-deep.bson": nested(65),
        "far-too-deep.bson": nested(5000),
    }
    values = {
        "bad-object-id.ejson": '{"$oid":"marker-7319"}',
        "bad-date.ejson": '{"$date":"2001-02-30T07:31:09Z"}',
        "bad-date-type.ejson": '{"$date":[7319]}',
        "bad-int.ejson": '{"$numberInt":"73197319731"}',
        "bad-long.ejson": '{"$numberLong":"7319.0"}',
        "bad-double.ejson": '{"$numberDouble":"7319e999"}',
        "bad-decimal.ejson": '{"$numberDecimal":"' + "7319" * 9 + '"}',
        "bad-binary.ejson": '{"$binary":{"base64":"marker-7319","subType":"00"}}',
        "bad-subtype.ejson": '{"$binary":{"base64":"","subType":"7319"}}',
        "bad-uuid.ejson": '{"$uuid":"marker-7319"}',
        "bad-timestamp.ejson": '{"$timestamp":{"t":-7319,"i":0}}',
        "bad-regex.ejson": '{"$regularExpression":{"pattern":"marker-7319"}}',
        "duplicate-keys.ejson": '{"$oid":"marker-7319","$oid":""}',
        "nan.ejson": '{"n":NaN,"m":"marker-7319"}',
        "too-deep.ejson": '{"a":' * 64 + '"marker-7319"' + "}" * 64,
    }
    ours = {name: b'{"a":1}\n{"v":' + value.encode() + b"}\n" for name, value in values.items()}
    return {
        **{name: GOOD + raw for name, raw in second.items()},
        "archive.bson": b"\x6d\xe2\x99\x81" + bson.encode({"m": "marker-7319"}),
        "text.bson": b'{"m":"marker-7319"}\n',
        **ours,
        "not-an-object.ejson": b'{"a":1}\n{"$oid":"5f0c1b2a3d4e5f6071827319"}\n',
        "truncated.ejson": b'{"a":1}\n{"m":"marker-7319","d":{"$date"',
        "truncated-array.ejson": b'[{"a":1},\n{"m":"marker-7319","d":{"$date"',
        "scalar-in-array.ejson": b'[{"a":1},\n{"$oid":"5f0c1b2a3d4e5f6071827319"}]',
    }


def files() -> dict[str, bytes]:
    """The bytes of every file, by its path below ``fixtures``."""
    people = list(students())
    return {
        "students/mongodb/relaxed.ejson": lines(people, RELAXED),
        "students/mongodb/canonical.ejson": lines(people, CANONICAL),
        "students/mongodb/university/students.bson": dump(people),
        "students/mongodb/university/students.metadata.json": METADATA,
        "mongodb/types.bson": dump(TYPES),
        "mongodb/relaxed.ejson": lines(TYPES, RELAXED),
        "mongodb/canonical.ejson": lines(TYPES, CANONICAL),
        "mongodb/array.ejson": array(TYPES, CANONICAL),
        **{f"broken/{name}": data for name, data in broken().items()},
    }


if __name__ == "__main__":
    for name, data in files().items():
        target = FIXTURES / name
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(data)

"""One BSON document: every type comes back as it was, by the library and element by element."""

from __future__ import annotations

import struct
from decimal import Decimal
from typing import Any

import bson
import pytest
from bson import Code as BsonCode
from bson import DBRef, Int64, MaxKey, MinKey, ObjectId, Regex, Timestamp
from bson import Decimal128 as BsonDecimal
from bson.binary import Binary
from bson.datetime_ms import DatetimeMS
from hypothesis import given
from hypothesis import strategies as st

from hierdata.documents import scalars
from hierdata.documents.document import Document
from hierdata.documents.formats.bson_codec import Walker, decode, encode, encode_elements
from hierdata.documents.formats.decoder import RefusedTextError

OID = ObjectId("5f0c1b2a3d4e5f6071829304")

READ: list[tuple[Any, Any, str]] = [
    (1, 1, "int"),
    (Int64(1), 1, "Int64"),
    (2**40, 2**40, "Int64"),
    (1.0, Decimal("1.0"), "Double"),
    (-0.0, Decimal("-0.0"), "Double"),
    (5e-324, Decimal("5e-324"), "Double"),
    (float("nan"), "NaN", "DoubleWord"),
    (float("-inf"), "-Infinity", "DoubleWord"),
    (BsonDecimal("1.50"), Decimal("1.50"), "Decimal128"),
    (BsonDecimal("NaN"), "NaN", "Decimal128Word"),
    (BsonDecimal("Infinity"), "Infinity", "Decimal128Word"),
    (BsonDecimal("-9.99E+6111"), Decimal("-9.99E+6111"), "Decimal128"),
    (OID, "5f0c1b2a3d4e5f6071829304", "ObjectId"),
    (DatetimeMS(983664000123), "2001-03-04T00:00:00.123Z", "DateTime"),
    (DatetimeMS(253402300800000), "+010000-01-01T00:00:00Z", "DateTime"),
    (DatetimeMS(-62135596800001), "0000-12-31T23:59:59.999Z", "DateTime"),
    (DatetimeMS(2**63 - 1), "+292278994-08-17T07:12:55.807Z", "DateTime"),
    (DatetimeMS(-(2**63)), "-292275055-05-16T16:47:04.192Z", "DateTime"),
    (b"\x00\xff", "AP8=", "Binary"),
    (Binary(b"\x01", 128), "80:AQ==", "Binary"),
    (Binary(b"\x01", 2), "02:AQ==", "Binary"),
    (Binary(bytes(range(16)), 4), "00010203-0405-0607-0809-0a0b0c0d0e0f", "Uuid"),
    (Binary(bytes(range(16)), 3), "03:AAECAwQFBgcICQoLDA0ODw==", "Binary"),
    (Binary(b"short", 4), "04:c2hvcnQ=", "Binary"),
    (Timestamp(983664000, 7), "2001-03-04T00:00:00Z,7", "Timestamp"),
    (Regex("^a/b", "im"), "/^a/b/im", "Regex"),
    (BsonCode("f()"), "f()", "Code"),
    (BsonCode("f()", {"n": Int64(1)}), {"$code": "f()", "$scope": {"n": 1}}, "dict"),
    (DBRef("c", OID, "d", other=1), {"$ref": "c", "$id": str(OID), "$db": "d", "other": 1}, "dict"),
    (MinKey(), "MinKey", "MinKey"),
    (MaxKey(), "MaxKey", "MaxKey"),
    (None, None, "NoneType"),
    (True, True, "bool"),
    ("a\0b", "a\0b", "str"),
    ({"x": [{"y": OID}]}, {"x": [{"y": str(OID)}]}, "dict"),
]


@pytest.mark.parametrize(("value", "read", "kind"), READ)
def test_every_type_is_read_and_written_back(value: Any, read: Any, kind: str) -> None:
    raw = bson.encode({"before": 1, "v": value, "behind": "x"})
    found = decode(raw)
    assert (found["v"], type(found["v"]).__name__) == (read, kind)
    assert encode(found) == raw == encode_elements(found)
    assert repr(Walker(raw).document()) == repr(found)


def element(kind: int, name: bytes, content: bytes) -> bytes:
    return bytes([kind]) + name + b"\0" + content


def document(*elements: bytes) -> bytes:
    content = b"".join(elements)
    return struct.pack("<i", len(content) + 5) + content + b"\0"


def text(content: bytes) -> bytes:
    return struct.pack("<i", len(content) + 1) + content + b"\0"


OLD = [
    (element(0x06, b"v", b""), "undefined", "Undefined"),
    (element(0x0E, b"v", text(b"s")), "s", "Symbol"),
    (element(0x0B, b"v", b"a\0iz\0"), "/a/iz", "Regex"),
    (
        element(0x0C, b"v", text(b"db.c") + OID.binary),
        {"$dbPointer": {"$ref": "db.c", "$id": str(OID)}},
        "dict",
    ),
]


@pytest.mark.parametrize(("raw", "read", "kind"), OLD)
def test_types_that_the_library_drops_are_kept(raw: bytes, read: Any, kind: str) -> None:
    scope = document(raw)
    code = element(0x0F, b"f", struct.pack("<i", 4 + 6 + len(scope)) + text(b"g") + scope)
    whole = document(element(0x10, b"n", struct.pack("<i", 5)), raw, element(0x03, b"o", document(raw)), code)
    found = decode(whole)
    assert (found["v"], type(found["v"]).__name__) == (read, kind)
    assert encode(found) == whole


def test_the_sign_of_a_nan_is_the_only_thing_that_is_lost() -> None:
    raw = document(element(0x01, b"v", struct.pack("<d", -float("nan"))))
    assert repr(decode(raw)) == "{'v': DoubleWord('NaN')}"


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (2**31, Int64(2**31)),
        (Decimal("0.1"), 0.1),
        (Decimal("0.1000000000000000000000000001"), BsonDecimal("0.1000000000000000000000000001")),
        (Decimal("1E+400"), BsonDecimal("1E+400")),
    ],
)
def test_plain_numbers_get_the_type_that_holds_them(value: Any, expected: Any) -> None:
    found = bson.decode(encode({"v": value}))["v"]
    assert (found, type(found)) == (expected, type(expected))


@pytest.mark.parametrize(
    "value",
    [2**63, Decimal("1." + "1" * 40), Decimal("1E+9999"), {"a\0b": 1}, "\ud800", {"\ud800": 1}],
)
@pytest.mark.parametrize("beside", [{}, {"old": scalars.Undefined("undefined")}])
def test_what_bson_cannot_hold_is_refused_untold(value: Any, beside: Document) -> None:
    with pytest.raises(RefusedTextError, match="BSON can") as refused:
        encode({**beside, "v": value})
    assert refused.value.__context__ is None


def nested(depth: int) -> bytes:
    """Arrays in arrays; each takes eight bytes more than what it holds."""
    lengths = (struct.pack("<i", 5 + 8 * inner) for inner in range(depth, 0, -1))
    return b"".join(length + b"\x040\0" for length in lengths) + document() + b"\0" * depth


BROKEN = {
    "empty": (b"", "length"),
    "cut": (bson.encode({"a": "secret"})[:-3], "length"),
    "longer": (bson.encode({"a": 1}) + b"\0", "BSON"),
    "negative length": (document(element(0x02, b"a", struct.pack("<i", -5) + b"secret\0")), "length"),
    "string beyond the end": (document(element(0x02, b"a", struct.pack("<i", 99) + b"secret\0")), "length"),
    "inner object beyond the end": (document(element(0x03, b"a", struct.pack("<i", 99) + b"\0")), "length"),
    "no end of a key": (b"\x0c\0\0\0\x10secret\0", "BSON"),
    "no end of a string": (document(element(0x02, b"a", struct.pack("<i", 6) + b"secret")), "length"),
    "unknown type": (document(element(0x20, b"a", b"secret")), "not valid BSON"),
    "boolean 2": (document(element(0x08, b"a", b"\2")), "not valid BSON"),
    "duplicate key": (document(element(0x0A, b"secret", b""), element(0x0A, b"secret", b"")), "twice"),
    "duplicate key below": (
        document(element(0x03, b"a", document(element(0x0A, b"k", b""), element(0x0A, b"k", b"")))),
        "twice",
    ),
    "not UTF-8": (document(element(0x02, b"a", text(b"secret\xff"))), "UTF-8"),
    "key that is not UTF-8": (document(element(0x0A, b"secret\xff", b"")), "UTF-8"),
    "lone surrogate": (document(element(0x02, b"a", text(b"secret\xed\xa0\x80"))), "UTF-8"),
    "too deep": (nested(64), "64 deep"),
    "far too deep": (nested(50_000), "64 deep"),
}


@pytest.mark.parametrize("name", BROKEN)
def test_what_is_broken_is_refused_untold(name: str) -> None:
    raw, message = BROKEN[name]
    with pytest.raises(RefusedTextError, match=message) as refused:
        decode(raw)
    assert "secret" not in str(refused.value)


def test_as_deep_as_may_be() -> None:
    assert encode(decode(nested(63))) == nested(63)


LEAVES = st.one_of(
    st.none(),
    st.booleans(),
    st.text(),
    st.integers(-(2**63), 2**63 - 1),
    st.integers(-(2**63), 2**63 - 1).map(Int64),
    st.floats(allow_nan=False),
    st.binary(),
    st.builds(Binary, st.binary(max_size=20), st.integers(0, 255).filter(lambda kind: kind != 2)),
    st.builds(Timestamp, st.integers(0, 2**32 - 1), st.integers(0, 2**32 - 1)),
    st.integers(-(2**63), 2**63 - 1).map(DatetimeMS),
    st.decimals(allow_nan=False, places=3, min_value=-(10**20), max_value=10**20).map(BsonDecimal),
)
KEYS = st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]), max_size=5)
VALUES = st.recursive(
    LEAVES, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=3)
)


@given(st.dictionaries(KEYS, VALUES, max_size=4))
def test_any_document_comes_back_to_the_byte(values: dict[str, Any]) -> None:
    raw = bson.encode(values)
    found = decode(raw)
    assert encode(found) == raw
    assert repr(Walker(raw).document()) == repr(found)


@given(st.dictionaries(KEYS, VALUES, max_size=3), st.data())
def test_damage_is_refused_or_read_without_loss(values: dict[str, Any], data: st.DataObject) -> None:
    raw = bytearray(bson.encode(values))
    for _ in range(data.draw(st.integers(1, 3))):
        raw[data.draw(st.integers(0, len(raw) - 1))] = data.draw(st.integers(0, 255))
    try:
        found = decode(bytes(raw))
    except RefusedTextError:
        return
    assert repr(decode(encode(found))) == repr(found)

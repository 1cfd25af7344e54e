"""The digest of a value by its content: the order of keys and of the items of lists does not matter."""

from __future__ import annotations

from decimal import Decimal
from hashlib import blake2b

from hierdata.documents.document import Scalar, Value
from hierdata.domains.base import Uncovered
from hierdata.domains.number import exact, plain

SIZE = 16
"""Bytes of a digest."""


def digest_value(value: Value) -> bytes:
    """Return the digest of a value.

    Numbers are equal by value, texts by their characters; a missing field is as one that is null.

    >>> digest_value({"a": 1, "b": [2, 3]}) == digest_value({"b": [3, Decimal("2.0")], "a": 1, "c": None})
    True
    >>> digest_value(1) == digest_value("1")
    False
    """
    if isinstance(value, dict):
        parts = sorted(
            blake2b(key.encode("utf-8", "surrogatepass"), digest_size=SIZE).digest() + digest_value(item)
            for key, item in value.items()
            if item is not None
        )
        return _digest(b"object", b"".join(parts))
    if isinstance(value, list):
        return _digest(b"list", b"".join(sorted(map(digest_value, value))))
    return _digest(*_spell(value))


def _spell(value: Scalar) -> tuple[bytes, bytes]:
    """Return the kind of a value, and its text."""
    if value is None or isinstance(value, bool):
        return b"constant", str(value).encode()
    if isinstance(value, str):
        kind = getattr(value, "kind", "text")
        return str(kind).encode(), str.__str__(value).encode("utf-8", "surrogatepass")
    assert isinstance(value, int | Decimal)
    try:
        return b"number", plain(exact(value)).encode()
    except Uncovered:
        return b"number", str(value).encode()


def _digest(kind: bytes, content: bytes) -> bytes:
    return blake2b(content, digest_size=SIZE, person=kind[:SIZE]).digest()

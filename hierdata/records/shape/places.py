"""Where a step finds lists and fields in a document, and how it writes there; digests of values."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from hashlib import blake2b

from hierdata.documents.document import Document, Scalar, Siblings, Value
from hierdata.domains.base import Uncovered
from hierdata.domains.number import exact, plain
from hierdata.ground.errors import PolicyError
from hierdata.records.path import parse
from hierdata.records.survey import Keys

NOT_A_LIST = "a value is not a list"
SIZE = 16
"""Bytes of a digest."""


@dataclass(frozen=True)
class ShapeNotation:
    """How a policy writes paths, and how its records are written.

    ``namespaces`` and ``depth`` are for XPath (see ``records.path.parse``). In a ``textual`` format every
    value is text; ``elements`` says that children are elements, which may repeat.
    """

    namespaces: Mapping[str, str] = field(default_factory=dict)
    depth: int = 2
    textual: bool = False
    elements: bool = False

    def read(self, text: str) -> Keys:
        """Return the keys of a path. Raises PolicyError, for a filter too: shapes are of whole lists."""
        path = parse(text, self.namespaces, self.depth)
        if any(step.conditions for step in path.steps):
            raise PolicyError(f"{path}: a shape is of whole lists: filters belong to `fields`")
        return path.keys

    def read_field(self, path: str, name: str) -> Keys:
        """Return the keys of a field from the object at a path down, as in ``code`` or ``code.text``.

        Raises PolicyError.

        >>> notation = ShapeNotation()
        >>> notation.read_field("$.visits", "code.text"), notation.read_field("/a/b/visit", "@code")
        (('code', 'text'), ('@code',))
        """
        if path.startswith("/"):
            return self.read(f"{path}/{name}")[len(self.read(path)) :]
        return self.read(name)

    def write_value(self, value: Scalar, key: str) -> Value:
        """Return a new value as the records of this notation have values at a key."""
        if self.textual and isinstance(value, int):
            value = str(value)
        return Siblings([value]) if self.elements and not key.startswith("@") else value

    def make_list(self, items: list[Value]) -> list[Value]:
        """Return items as the records of this notation have lists."""
        return Siblings(items) if self.elements else items


def lists_at(document: Document, keys: Keys) -> Iterator[tuple[Document, list[Value] | None]]:
    """Yield the lists at a path, each with the object that holds it; None for another value than a list."""
    for holder in objects_at(document, keys[:-1]):
        value = holder.get(keys[-1])
        if value is not None:
            yield holder, value if isinstance(value, list) else None


def objects_at(document: Document, keys: Keys) -> Iterator[Document]:
    """Yield the objects at a path, those in lists one by one."""
    if not keys:
        yield document
        return
    for child in children_of(document, keys[0]):
        yield from objects_at(child, keys[1:])


def children_of(document: Document, key: str) -> Iterator[Document]:
    """Yield the object at a key, or those of the list there."""
    value = document.get(key)
    for item in value if isinstance(value, list) else (value,):
        if isinstance(item, dict):
            yield item


def is_scalar(value: Value) -> bool:
    """Return whether a value is neither a list nor an object."""
    return not isinstance(value, list | dict)


def scalar_of(value: Value) -> Scalar:
    """Return a value that is known to be neither a list nor an object."""
    assert not isinstance(value, list | dict)
    return value


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

"""Where a step finds lists and fields in a document, and how it writes a new value there."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from hierdata.documents.document import Document, Scalar, Siblings, Value
from hierdata.records.path import parse
from hierdata.records.survey import Keys

NOT_A_LIST = "a value is not a list"


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
        """Return the keys of a path. Raises PolicyError."""
        return parse(text, self.namespaces, self.depth).keys

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


def field_at(item: Value, keys: Keys) -> Value:
    """Return the value of a field of an item, None if it is missing; an element alone is its own value."""
    for key in keys:
        item = item.get(key) if isinstance(item, dict) else None
        if isinstance(item, Siblings) and len(item) == 1:
            item = item[0]
    return item


def is_scalar(value: Value) -> bool:
    """Return whether a value is neither a list nor an object."""
    return not isinstance(value, list | dict)


def scalar_of(value: Value) -> Scalar:
    """Return a value that is known to be neither a list nor an object."""
    assert not isinstance(value, list | dict)
    return value

"""The content of published XML, element by element: everything that its XSD depends on."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from hierdata.documents.document import COMMENT, INSTRUCTION, TEXT, Document, Value

Keys = tuple[str, ...]


@dataclass
class Outline:
    """The content of one path: attributes and elements ``below`` it, and whether it occurs ``many`` times.

    ``follows`` has the pairs of elements that come directly after each other. ``values`` has the texts if
    they are requested, "" for no text. ``bare`` says that some elements have no attributes and no elements,
    ``seen`` that there is any.
    """

    below: dict[str, Outline] = field(default_factory=dict)
    follows: set[tuple[str, str]] = field(default_factory=set)
    values: set[str] | None = None
    many: bool = False
    bare: bool = False
    seen: bool = False

    @property
    def attributes(self) -> list[str]:
        """The keys of attributes, by name."""
        return sorted(key for key in self._seen_order if key.startswith("@"))

    @property
    def elements(self) -> list[str]:
        """The keys of elements, in an order that all seen elements follow; by name if there is none."""
        left = sorted(key for key in self._seen_order if not _is_no_element(key))
        before = {key: {first for first, second in self.follows if second == key} for key in left}
        found: list[str] = []
        while left:
            ready = next((key for key in left if before[key] <= set(found)), None)
            if ready is None:
                return sorted([*found, *left])
            found.append(ready)
            left.remove(ready)
        return found

    @property
    def is_ordered(self) -> bool:
        """Whether all seen elements follow one order."""
        places = {key: place for place, key in enumerate(self.elements)}
        return all(places[first] < places[second] for first, second in self.follows)

    @property
    def _seen_order(self) -> list[str]:
        return [key for key, below in self.below.items() if below.seen]

    @property
    def has_text(self) -> bool:
        """Whether text occurs together with attributes or elements."""
        return TEXT in self._seen_order

    def add(self, value: Value) -> None:
        """Add one more element or attribute."""
        self.seen = True
        if not isinstance(value, dict):
            self.bare = True
            self._text(value)
            return
        before: str | None = None
        for key, item in value.items():
            below = self.below.setdefault(key, Outline())
            items = item if isinstance(item, list) else [item]
            below.many |= len(items) > 1
            for one in items:
                below.add(one)
            if not _is_no_element(key):
                if before is not None:
                    self.follows.add((before, key))
                before = key
        self._text(value.get(TEXT, ""))

    def _text(self, value: Value) -> None:
        if self.values is not None:
            self.values.add(str(value))


def outline_records(documents: Iterable[Document], asked: Iterable[Keys] = ()) -> Outline:
    """Build the outline of records, with all texts of the fields in ``asked``.

    >>> found = outline_records([{"a": ["x"], "c": [""]}, {"@k": "1", "b": [""], "c": ["", ""]}])
    >>> found.attributes, found.elements, found.below["c"].many
    (['@k'], ['a', 'b', 'c'], True)
    """
    outline = Outline()
    for keys in asked:
        place = outline
        for key in keys[:-1] if keys[-1] == TEXT else keys:
            place = place.below.setdefault(key, Outline())
        place.values = set()
    for document in documents:
        outline.add(document)
    return outline


def _is_no_element(key: str) -> bool:
    return key in (TEXT, COMMENT) or key.startswith(("@", INSTRUCTION))

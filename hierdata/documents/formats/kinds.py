"""Types of Python that a file of records does not have, for values that are published unchanged."""

from __future__ import annotations

import re
from base64 import b64decode
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import date, datetime, time
from decimal import Decimal
from typing import Any, TypeAlias
from uuid import UUID

from hierdata.documents.formats.base import MAX_DEPTH
from hierdata.documents.formats.decoder import RefusedTextError
from hierdata.documents.formats.objects import as_record, is_array, to_plain

Keys: TypeAlias = tuple[str, ...]
Restore: TypeAlias = Callable[[Any], Any]
"""Returns a value that was read, in the type that values of its path had."""

_ZONE = re.compile(r"(?<=[0-9][+-][0-9]{2})(?=[0-9]{2}\Z)")
_MOST_KEYS = 10_000
"""An object with more keys in a collection is taken for a map; values of further keys are left as read."""


@dataclass
class Kinds:
    """The types of the values at one path of a collection of Python objects, and below it.

    >>> kinds = Kinds()
    >>> kinds.note({"born": date(2001, 3, 4), "height": 1.8})
    >>> restore = kinds.restoring((), ())
    >>> restore({"born": "2001-03-04", "height": Decimal("1.8")})
    {'born': datetime.date(2001, 3, 4), 'height': 1.8}
    >>> restore({"born": "2001", "height": "[1.5, 2.0)"})
    {'born': '2001', 'height': '[1.5, 2.0)'}
    """

    types: set[type] = field(default_factory=set)
    below: dict[str, Kinds] = field(default_factory=dict)

    @classmethod
    def of(cls, items: Iterable[object]) -> Kinds:
        """Return the types of all records of a collection."""
        kinds = cls()
        for item in items:
            kinds.note(as_record(item))
        return kinds

    def note(self, value: object, room: int = MAX_DEPTH) -> None:
        """Note the types of a value and of all below it; what no record can contain is left out."""
        if isinstance(value, Mapping):
            for key, item in value.items() if room else ():
                kinds = self.below.get(key) or self.child(key)
                if item.__class__ not in kinds.types:
                    kinds.note(item, room - 1)
        elif isinstance(value, list | tuple) or is_array(value):
            for item in value if room else ():  # type: ignore[attr-defined]  # an array is iterable
                self.note(item, room - 1)
        else:
            self.types.add(value.__class__)

    def child(self, key: str) -> Kinds:
        """Return the types below a key."""
        kinds = self.below.get(key)
        if kinds is None:
            kinds = Kinds()
            if len(self.below) < _MOST_KEYS:
                self.below[key] = kinds
        return kinds

    def restoring(
        self, replaced: Collection[Keys], named: Collection[Keys], keys: Keys = ()
    ) -> Restore | None:
        """Return the function that gives published values, at ``keys``, the type of the originals there.

        A text is read as the only type that a path had, if that type writes the same text for what was read;
        so a generalized value stays text. Texts at the paths ``replaced`` are pseudonyms or constants, those
        at ``named`` may be names of a taxonomy's nodes, which bytes may look like. None where nothing
        differs from what is read.
        """
        restores = {key: kinds.restoring(replaced, named, (*keys, key)) for key, kinds in self.below.items()}
        below = {key: kinds for key, kinds in restores.items() if kinds is not None}
        read_text = None if keys in replaced else _text_reader(self.types, keys in named)
        read_number = _number_reader(self.types)
        if not below and read_text is None and read_number is None:
            return None

        def restore(value: Any) -> Any:
            if isinstance(value, str):
                return value if read_text is None else read_text(value)
            if isinstance(value, dict):
                return {key: below[key](item) if key in below else item for key, item in value.items()}
            if isinstance(value, list):
                return [restore(item) for item in value]
            if read_number is None or value is None or isinstance(value, bool):
                return value
            return read_number(value)

        return restore


def _text_reader(types: Collection[type], named: bool) -> Restore | None:
    """Return what reads a text as the only type that it can be; None where it can be a text."""
    others = [kind for kind in types if not _is_plain(kind)]
    if len(others) != 1 or any(issubclass(kind, str) for kind in types):
        return None
    (kind,) = others
    parse = _parser_of(kind)
    if parse is None or (named and parse is b64decode):
        return None

    def read(text: str) -> object:
        try:
            value = parse(text)
            return value if to_plain(value) == _with_colon(text) else text
        except (ValueError, RefusedTextError):
            return text

    return read


def _with_colon(text: str) -> str:
    """Spell the zone of a time as Python does: tables have +0100, and +0000 for some names of UTC."""
    return _ZONE.sub(":", text).replace("+00:00", "Z") if _ZONE.search(text) else text


def _is_plain(kind: type) -> bool:
    """Return whether values of a type are not written as text, or are texts."""
    if issubclass(kind, str | int | float | Decimal | type(None)):
        return True
    home, name = kind.__module__.partition(".")[0], kind.__name__
    return (home == "numpy" and name != "datetime64") or (home == "pandas" and name in ("NAType", "NaTType"))


def _parser_of(kind: Any) -> Callable[[str], object] | None:
    if kind.__name__ == "datetime64":
        return lambda text: kind(text.removesuffix("Z"))  # its texts have no zone
    if issubclass(kind, UUID) or kind.__name__ == "Timestamp":  # that of pandas has nanoseconds
        return lambda text: kind(text)
    if issubclass(kind, datetime | date | time):
        parse: Callable[[str], object] = kind.fromisoformat
        return parse
    return b64decode if issubclass(kind, bytes | bytearray | memoryview) else None


def _number_reader(types: Collection[type]) -> Restore | None:
    """Return what reads decimals as floats, if the path had floats and no other numbers with a fraction."""
    floats = [kind for kind in types if issubclass(kind, float) or kind.__name__ in ("float32", "float16")]
    if not floats or any(issubclass(kind, Decimal) for kind in types):
        return None
    whole = any(issubclass(kind, int) and not issubclass(kind, bool) for kind in types)

    def read(value: int | Decimal) -> object:
        return value if whole and isinstance(value, int) else float(value)

    return read

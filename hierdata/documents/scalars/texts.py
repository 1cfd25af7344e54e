"""Typed values that are text."""

from __future__ import annotations

from typing import ClassVar


class TypedText(str):
    """A typed value that is text. ``kind`` is the name of its type in MongoDB's ``$type``.

    It equals the plain text; only the type distinguishes them.

    >>> ObjectId("5f0c1b2a3d4e5f6071829304")
    ObjectId('5f0c1b2a3d4e5f6071829304')
    """

    __slots__ = ()
    kind: ClassVar[str]

    def __repr__(self) -> str:
        return f"{type(self).__name__}({str(self)!r})"


class ObjectId(TypedText):
    """The identifier that MongoDB gives a document, as 24 hexadecimal digits; the first 8 are a time."""

    __slots__ = ()
    kind = "objectId"


class Uuid(TypedText):
    """A UUID, written in groups of 8, 4, 4, 4 and 12 digits: binary data of subtype 4 and 16 bytes."""

    __slots__ = ()
    kind = "uuid"


class Binary(TypedText):
    """Binary data in base64, prefixed with a subtype other than 0: ``05:1B2M2Y8AsgTpgAmY7PhCfg==``."""

    __slots__ = ()
    kind = "binData"

    @classmethod
    def of(cls, base64: str, subtype: int) -> Binary:
        """Return the value of a subtype, 0 to 255."""
        return cls(f"{subtype:02x}:{base64}" if subtype else base64)

    @property
    def parts(self) -> tuple[str, int]:
        """The base64 text and the subtype."""
        subtype, _, base64 = self.rpartition(":")
        return base64, int(subtype, 16) if subtype else 0


class Regex(TypedText):
    """A regular expression and its options: ``/^a/i``."""

    __slots__ = ()
    kind = "regex"

    @classmethod
    def of(cls, pattern: str, options: str) -> Regex:
        """Return the expression; options are letters."""
        return cls(f"/{pattern}/{options}")

    @property
    def parts(self) -> tuple[str, str]:
        """The pattern and the options."""
        pattern, _, options = self[1:].rpartition("/")
        return pattern, options


class Code(TypedText):
    """A piece of JavaScript. One with a scope is an object, ``{"$code": "...", "$scope": {...}}``."""

    __slots__ = ()
    kind = "javascript"


class Symbol(TypedText):
    """A text of the deprecated type symbol."""

    __slots__ = ()
    kind = "symbol"


class Undefined(TypedText):
    """The deprecated value undefined; written ``undefined``."""

    __slots__ = ()
    kind = "undefined"


class MinKey(TypedText):
    """The value that sorts before all others; written ``MinKey``."""

    __slots__ = ()
    kind = "minKey"


class MaxKey(TypedText):
    """The value that sorts after all others; written ``MaxKey``."""

    __slots__ = ()
    kind = "maxKey"


NOT_FINITE = ("NaN", "Infinity", "-Infinity")


class DoubleWord(TypedText):
    """A double that is not finite: ``NaN``, ``Infinity``, ``-Infinity``; text is never computed with."""

    __slots__ = ()
    kind = "double"


class Decimal128Word(TypedText):
    """A Decimal128 that is not finite: ``NaN``, ``Infinity``, ``-Infinity``."""

    __slots__ = ()
    kind = "decimal"

"""Pseudonyms that must occur in one record only: whether two records share one."""

from __future__ import annotations

import re
from hashlib import blake2b
from itertools import pairwise
from struct import iter_unpack

from hierdata.documents.document import Siblings, Value
from hierdata.judge.rules import Keys

_DIGITS = 19
"""More digits than any count has; a longer text is not read."""


def single(value: Value) -> Value:
    """Return the content of an element that occurs once, any other value unchanged."""
    return value[0] if isinstance(value, Siblings) and len(value) == 1 else value


def whole(value: Value) -> int | None:
    """Return a value as an integer of at least 0, else None; XML and CSV have only text.

    A number has one spelling: for a reader who joins by text, 07 and 7 would be two groups.

    >>> whole("12"), whole(0), whole("-1"), whole(True), whole("07")
    (12, 0, None, None, None)
    """
    if isinstance(value, str) and value.isascii() and value.isdecimal() and len(value) <= _DIGITS:
        number = int(value)
        return number if str(number) == value else None
    return value if type(value) is int and value >= 0 else None


class Pattern:
    """A regular expression, and the path at which it is required."""

    __slots__ = ("_expression", "path")

    def __init__(self, keys: Keys, expression: str) -> None:
        self.path = ".".join(keys)
        self._expression = re.compile(expression)

    def matches(self, value: Value) -> bool:
        """Return whether a value matches; a missing one does.

        >>> token = Pattern(("id",), "[0-9a-f]{4}")
        >>> token.matches("00ff"), token.matches(None), token.matches("00FF"), token.matches(1234)
        (True, True, False, False)
        """
        return value is None or (isinstance(value, str) and self._expression.fullmatch(value) is not None)


SHARED = "a pseudonym in several records"
"""The name under which shared pseudonyms are counted as forbidden."""

_SIZE = 16
_MARK = f"{_SIZE}s"


class Tokens:
    """The pseudonyms of documents, each by its hash, once for each record that it occurs in.

    >>> tokens = Tokens()
    >>> for record in ({("people", "00ff"), ("people", "01ff")}, {("people", "00ff")}, {("wards", "01ff")}):
    ...     tokens.add(record)
    >>> count_repeated(tokens.take_buckets(1)[0])
    1
    """

    def __init__(self) -> None:
        self._marks = bytearray()

    def add(self, found: set[tuple[str, str]], times: int = 1) -> None:
        """Add the pseudonyms of a record that occurs ``times`` times, each with its domain."""
        for domain, token in found:
            text = f"{domain}\0{token}".encode("utf-8", "surrogatepass")
            self._marks += blake2b(text, digest_size=_SIZE).digest() * min(times, 2)

    def take_buckets(self, buckets: int) -> list[bytes]:
        """Return the hashes added since the last call; equal ones are in one bucket."""
        if buckets == 1:
            parted = [self._marks]
        else:
            parted = [bytearray() for _ in range(buckets)]
            for (mark,) in iter_unpack(_MARK, self._marks):
                parted[int.from_bytes(mark[:8]) % buckets] += mark
        self._marks = bytearray()
        return list(map(bytes, parted))


def count_repeated(marks: bytes | bytearray) -> int:
    """Return how many pseudonyms in a bucket occur in more than one record."""
    ordered = sorted(iter_unpack(_MARK, marks))
    return len({mark for mark, following in pairwise(ordered) if mark == following})

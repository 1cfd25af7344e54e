"""Pseudonyms that must stand in one record alone: whether two records share one."""

from __future__ import annotations

from hashlib import blake2b
from itertools import pairwise
from struct import iter_unpack

SHARED = "a pseudonym in several records"
"""What is counted of these, among what must not be published."""

_SIZE = 16
_MARK = f"{_SIZE}s"


class Tokens:
    """The pseudonyms of documents, each by its hash, once for each record that it stands in.

    >>> tokens = Tokens()
    >>> for record in ({("people", "00ff"), ("people", "01ff")}, {("people", "00ff")}, {("wards", "01ff")}):
    ...     tokens.add(record)
    >>> repeated(tokens.taken(1)[0])
    1
    """

    def __init__(self) -> None:
        self._marks = bytearray()

    def add(self, found: set[tuple[str, str]], times: int = 1) -> None:
        """The pseudonyms of a record that occurs so often, each with its domain."""
        for domain, token in found:
            text = f"{domain}\0{token}".encode("utf-8", "surrogatepass")
            self._marks += blake2b(text, digest_size=_SIZE).digest() * min(times, 2)

    def taken(self, buckets: int) -> list[bytes]:
        """All that were added since the last call, those of one pseudonym in one bucket."""
        if buckets == 1:
            parted = [self._marks]
        else:
            parted = [bytearray() for _ in range(buckets)]
            for (mark,) in iter_unpack(_MARK, self._marks):
                parted[int.from_bytes(mark[:8]) % buckets] += mark
        self._marks = bytearray()
        return list(map(bytes, parted))


def repeated(marks: bytes | bytearray) -> int:
    """How many of the pseudonyms in a bucket stand in more than one record."""
    ordered = sorted(iter_unpack(_MARK, marks))
    return len({mark for mark, following in pairwise(ordered) if mark == following})

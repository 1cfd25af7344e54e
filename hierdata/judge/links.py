"""References between vertices: whether each leads to a vertex that some document shows."""

from __future__ import annotations

from collections.abc import Iterable
from hashlib import blake2b
from struct import iter_unpack
from typing import TypeAlias

DANGLING = "a reference to what is not published"
"""The name under which references without target are counted as forbidden."""

Link: TypeAlias = tuple[str, bool]
"""The domain of a field's pseudonyms, and whether they identify the vertex or refer to one."""
Marks: TypeAlias = tuple[bytes, bytes]
"""The hashes of identities and of references, one after the other."""

_SIZE = 16
_MARK = f"{_SIZE}s"


class Links:
    """The identities and references of documents, each by its hash, once for each record.

    >>> links = Links()
    >>> for token, identifies in (("00ff", True), ("00ff", False), ("01ff", False)):
    ...     links.add({("people", identifies, token)})
    >>> count_dangling(links.take_buckets(1))
    1
    """

    def __init__(self) -> None:
        self._marks = (bytearray(), bytearray())

    def add(self, found: set[tuple[str, bool, str]]) -> None:
        """Add the pseudonyms of a record, each with its domain and whether it identifies a vertex."""
        for domain, identifies, token in found:
            text = f"{domain}\0{token}".encode("utf-8", "surrogatepass")
            self._marks[not identifies].extend(blake2b(text, digest_size=_SIZE).digest())

    def take_buckets(self, buckets: int) -> list[Marks]:
        """Return the hashes added since the last call; equal ones are in one bucket."""
        parted = [(bytearray(), bytearray()) for _ in range(buckets)]
        for at, marks in enumerate(self._marks):
            for (mark,) in iter_unpack(_MARK, marks):
                parted[int.from_bytes(mark[:8]) % buckets][at].extend(mark)
        self._marks = (bytearray(), bytearray())
        return [(bytes(identities), bytes(references)) for identities, references in parted]


def count_dangling(marks: Iterable[Marks]) -> int:
    """Return how many references of a bucket, counted once for each record, lead to no identity."""
    identities: set[bytes] = set()
    references: list[bytes] = []
    for known, asked in marks:
        identities.update(mark for (mark,) in iter_unpack(_MARK, known))
        references += (mark for (mark,) in iter_unpack(_MARK, asked))
    return sum(mark not in identities for mark in references)

"""The digest of a collection's decoded content, whatever files, compression or parts it comes in."""

from __future__ import annotations

import hashlib
import pickle
from collections.abc import Iterable, Iterator
from io import BytesIO

from hierdata.documents.document import Document

RECORD_BYTES = 16
"""Bytes of a record's digest."""


def watch_content(documents: Iterable[Document], digests: bytearray) -> Iterator[Document]:
    """Yield the documents unchanged, and append the digest of each to ``digests`` before it is used."""
    for document in documents:
        digests += digest_record(document)
        yield document


def digest_record(document: Document) -> bytes:
    """Return the digest of a record as it was decoded: keys, their order, types and spellings.

    Equal values give equal digests: without a memo, a pickle does not show which values are one object.
    """
    stream = BytesIO()
    pickler = pickle.Pickler(stream, protocol=5)
    pickler.fast = True
    pickler.dump(document)
    return hashlib.blake2b(stream.getbuffer(), digest_size=RECORD_BYTES).digest()


class ContentDigest:
    """The SHA-256 over the digests of all records, in order; it does not depend on how they are split."""

    def __init__(self) -> None:
        self._hash = hashlib.sha256()

    def add(self, digests: bytes | bytearray) -> None:
        """Add the digests of the next records."""
        self._hash.update(digests)

    def digest(self) -> bytes:
        """Return the digest of the records so far, 32 bytes."""
        return self._hash.digest()

"""One pass over a collection, in batches of raw BSON."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, contextmanager, nullcontext
from functools import partial
from itertools import count
from pathlib import Path
from typing import Any, Literal, TypeAlias

from pymongo import errors
from pymongo.client_session import ClientSession
from pymongo.collection import Collection
from pymongo.cursor import RawBatchCursor

from hierdata.documents.formats.source import write_stream
from hierdata.ground.errors import InputError
from hierdata.sources.stores.mongodb_server import UNKNOWN_USER, Raw, ask_server

Ids: TypeAlias = Literal["kept", "dropped", "numbered"]
"""Treatment of ``_id``; numbered: an ``_id`` that is only the number of its document is dropped."""

_SMALLEST = 5
"""Bytes of an empty document."""
_ID = b"\x07_id\0"
"""First bytes of an ObjectId under ``_id``, which a server puts first in a document."""
_ID_BYTES = len(_ID) + 12


def with_number(raw: bytes, number: int) -> bytes:
    """Return a document with its number as ``_id``: an ObjectId with time 0, which reveals only the order.

    >>> with_number(bytes.fromhex("0500000000"), 7).hex()
    '16000000075f69640000000000000000000000000700'
    """
    size = len(raw) + _ID_BYTES
    return size.to_bytes(4, "little") + _ID + number.to_bytes(12, "big") + raw[4:]


def without_number(raw: bytes, number: int) -> bytes:
    """Return a document without an ``_id`` that is only its number; any other ``_id`` is kept and judged.

    >>> without_number(with_number(bytes.fromhex("0500000000"), 7), 7).hex()
    '0500000000'
    >>> len(without_number(with_number(bytes.fromhex("0500000000"), 7), 8))
    22
    """
    if raw[4 : 4 + _ID_BYTES] != _ID + number.to_bytes(12, "big"):
        return raw
    size = len(raw) - _ID_BYTES
    return size.to_bytes(4, "little") + raw[4 + _ID_BYTES :]


class Batches:
    """Raw batches in order; ``snapshot`` tells whether all come from one snapshot."""

    def __init__(
        self, cursor: RawBatchCursor[Raw], first: bytes | None, location: str, snapshot: bool, ids: Ids
    ) -> None:
        self.snapshot = snapshot
        self._cursor, self._first, self._place, self._ids = cursor, first, location, ids
        self._number = 0

    def __iter__(self) -> Iterator[bytes]:
        batch = self._first
        while batch is not None:
            yield self._strip_number(batch) if self._ids == "numbered" else batch
            batch = ask_server(self._place, partial(next, self._cursor, None))

    def _strip_number(self, batch: bytes) -> bytes:
        documents = list(single([batch], self._place))
        stripped = map(without_number, documents, count(self._number + 1))
        self._number += len(documents)
        return b"".join(stripped)


@contextmanager
def read_collection(
    collection: Collection[Raw],
    location: str,
    size: int,
    ids: Ids = "kept",
    *,
    snapshot: bool = True,
    query: Mapping[str, Any] | None = None,
) -> Iterator[Batches]:
    """Read all documents in batches of ``size``, in a snapshot if the server supports it.

    ``query`` are options of ``find``: those documents only.
    """
    asked = dict(query or {"filter": {}})
    if ids == "numbered":
        asked["sort"] = asked.get("sort") or [("_id", 1)]
    if ids == "dropped":
        asked["projection"] = {**(asked.get("projection") or {}), "_id": False}
    find = partial(collection.find_raw_batches, batch_size=size, **asked)
    begun = ask_server(location, partial(_find_under_snapshot, collection, find)) if snapshot else None
    if begun is None:
        session, cursor = None, find()
        first = ask_server(location, partial(next, cursor, None))
    else:
        session, cursor, first = begun
    with session or nullcontext(), closing(cursor):
        yield Batches(cursor, first, location, session is not None, ids)


def single(batches: Batches | list[bytes], location: str) -> Iterator[bytes]:
    """Yield the documents of batches, one by one."""
    for batch in batches:
        start = 0
        while start < len(batch):
            size = int.from_bytes(batch[start : start + 4], "little")
            if size < _SMALLEST or start + size > len(batch):
                raise InputError("the server sent data that is not BSON", path=location)
            yield batch[start : start + size]
            start += size


def copy(batches: Batches, path: Path, location: str) -> int:
    """Write all documents to a new file that only its owner can read; return its size in bytes."""
    path.touch(mode=0o600)
    written = 0
    with write_stream(path) as stream:
        for batch in batches:
            written += stream.write(batch)
    return written


def _find_under_snapshot(
    collection: Collection[Raw], find: Callable[..., RawBatchCursor[Raw]]
) -> tuple[ClientSession, RawBatchCursor[Raw], Any] | None:
    """Return a session, a cursor in it and its first batch; None if the server refuses a snapshot."""
    session = None
    try:
        session = collection.database.client.start_session(snapshot=True)
        cursor = find(session=session)
        return session, cursor, next(cursor, None)
    except (errors.OperationFailure, errors.ConfigurationError, errors.InvalidOperation) as error:
        # Standalone servers, old ones, views. Any other error occurs again when reading without a snapshot.
        if session is not None:
            session.end_session()
        if isinstance(error, errors.OperationFailure) and error.code in UNKNOWN_USER:
            raise
        return None

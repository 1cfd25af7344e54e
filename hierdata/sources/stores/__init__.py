"""Stores: servers from which records are read and to which they are written. One file each, one line each."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from hierdata.ground.errors import PolicyError
from hierdata.sources.stores.base import BATCH, Exported, Staged, Store
from hierdata.sources.stores.mongodb import MongoStore
from hierdata.sources.stores.postgresql import PostgresStore, Rows

__all__ = ["BATCH", "STORES", "Exported", "Rows", "Staged", "Store", "open_store", "store_at", "store_of"]

STORES: dict[str, type[Store]] = {
    "mongodb": MongoStore,
    "mongodb+srv": MongoStore,
    "postgres": PostgresStore,
    "postgresql": PostgresStore,
}
"""The classes of stores, by the scheme of their addresses."""

_ADDRESS = re.compile(r"([A-Za-z][A-Za-z0-9+.\-]*)://")


def store_of(source: object, *, batch: int = BATCH, options: Mapping[str, str] | None = None) -> Store | None:
    """Return the store of an address or a live object; None for everything else, such as a path.

    ``options`` complete an address (``table``, ``query``, ``column``). An address with an unknown scheme
    raises PolicyError, which never shows it: it may contain a password.

    >>> store_of("students.json") is None, store_of([{"major": "math"}]) is None
    (True, True)
    >>> store_of("mongo://steward:secret@host/school/students")
    Traceback (most recent call last):
    hierdata.ground.errors.PolicyError: an address must begin with ...
    """
    if batch < 1:
        raise PolicyError("batch, the number of records read or written at a time, must be at least 1")
    if isinstance(source, Store):
        return source
    if isinstance(source, str):
        address = _ADDRESS.match(source)
        return None if address is None else _kind(address[1]).from_address(source, batch, options or {})
    for kind in dict.fromkeys(STORES.values()):
        if kind.recognizes(source):
            return kind(source, batch, options or {})
    return None


@contextmanager
def open_store(source: object, *, batch: int = BATCH) -> Iterator[Store | None]:
    """Yield what ``store_of`` returns, and close it in the end, unless the source is a store itself."""
    store = store_of(source, batch=batch)
    try:
        yield store
    finally:
        if store is not None and store is not source:
            store.close()


def store_at(target: object, *, batch: int = BATCH) -> Store:
    """Return the store of a target. Raises PolicyError if it is not an address or a live object."""
    store = store_of(target, batch=batch)
    if store is None:
        raise PolicyError(
            "the target must be an address or a live object of a server, such as a pymongo collection; for "
            f"files use out or Release.save; it has the type {type(target).__name__}"
        )
    return store


def _kind(scheme: str) -> type[Store]:
    if scheme.lower() not in STORES:
        known = ", ".join(f"{known_scheme}://" for known_scheme in STORES)
        raise PolicyError(f"an address must begin with one of {known}")
    return STORES[scheme.lower()]

"""Collections of MongoDB: read in a snapshot if the server supports it, as the server's own bytes.

pymongo is imported on first use.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any, ClassVar

from hierdata.documents.document import Document
from hierdata.ground.errors import InputError, PolicyError, TargetError
from hierdata.records.keyed import Table
from hierdata.sources.stores.base import Exported, Staged, Store

NO_SNAPSHOT = (
    "The server could not hold the collection still while it was read: what was written meanwhile may be in "
    "it in part, and a record that was moved may be in it twice or not at all."
)


class MongoStore(Store):
    """A collection, given by its address ``mongodb://host/database/collection`` or as pymongo's object.

    Or a query: the cursor of a collection's ``find``. It is asked anew from its beginning, so that what was
    read from it before does not matter.
    """

    format: ClassVar[str | None] = "bson"

    @classmethod
    def from_address(cls, address: str, batch: int, options: Mapping[str, str]) -> Store:
        """Return the store of an address, which may name a database alone (see Store.from_address)."""
        from hierdata.sources.stores.mongodb_server import read_address

        if read_address(address).collection:
            return cls(address, batch, options)
        from hierdata.sources.stores.mongodb_database import MongoDatabase

        return MongoDatabase(address, batch, options)

    def __init__(self, source: object, batch: int, options: Mapping[str, str]) -> None:
        from hierdata.sources.stores.mongodb_server import (
            connect,
            find_collection,
            plain,
            read_address,
            read_query,
        )

        if options:
            raise PolicyError(
                f"{next(iter(options))} is for tables: the address of a MongoDB collection is sufficient"
            )
        self._batch = batch
        self._opened = isinstance(source, str)
        self._query = read_query(source)
        if isinstance(source, str):
            address = read_address(source)
            self._collection = find_collection(connect(address), address)
            self.location = address.location
        else:
            self._collection = plain(source)
            called = "a query of the collection" if self._query else "the collection"
            self.location = f"{called} {self._collection.full_name}"

    @classmethod
    def recognizes(cls, source: object) -> bool:
        """Return whether it is a collection or query of pymongo, even asynchronous (to be refused later)."""
        names = {(base.__module__.partition(".")[0], base.__name__) for base in type(source).__mro__}
        known = ("Collection", "AsyncCollection", "Cursor", "AsyncCursor")
        return bool(names & {("pymongo", name) for name in known})

    def documents(self) -> Iterator[Document]:
        """Yield the records, in one pass and in batches. Raises InputError for the first invalid one."""
        from hierdata.documents.formats.bson_codec import decode_all
        from hierdata.sources.stores.mongodb_reading import read_collection, single

        with read_collection(self._collection, self.location, self._batch, query=self._query) as batches:
            yield from decode_all(single(batches, self.location))

    def export(
        self,
        folder: Path,
        *,
        tables: tuple[Table, ...] = (),
        lookups: tuple[str, ...] = (),
        published: bool = False,
        listed: Collection[str] = (),
    ) -> Exported:
        """Copy the collection into a file of BSON (see Store.export)."""
        from hierdata.sources.stores.mongodb_reading import Ids, copy, read_collection

        if tables:
            raise PolicyError(
                "`tables` joins keyed tables, but a MongoDB collection has whole records: remove it, or name "
                "the database alone, whose collections are tables"
            )
        path = folder / "records.bson"
        ids: Ids = "numbered" if published else "kept" if "_id" in listed else "dropped"
        query = self._query
        with read_collection(self._collection, self.location, self._batch, ids, query=query) as batches:
            if not copy(batches, path, self.location):
                empty = "query finds nothing" if query else "collection is empty or does not exist"
                raise InputError(f"the {empty}", path=self.location)
        return Exported(path, () if batches.snapshot else (NO_SNAPSHOT,))

    def structure(self) -> dict[str, Any] | None:
        """Return the ``$jsonSchema`` of the collection's validator, in MongoDB's dialect, or None."""
        schema = self._entry().get("options", {}).get("validator", {}).get("$jsonSchema")
        return schema if isinstance(schema, dict) and not self._query.get("projection") else None

    def indexes(self) -> list[list[tuple[str, Any]]]:
        """Return the keys of the indexes, except those that forbid or remove records (unique, expiring)."""
        from hierdata.sources.stores.mongodb_server import ask_server

        indexes = ask_server(self.location, lambda: list(self._collection.list_indexes()))
        helping = [index for index in indexes if not {"unique", "expireAfterSeconds"} & index.keys()]
        keys = [list(index["key"].items()) for index in helping]
        known = (1, -1, "hashed")
        return [key for key in keys if key != [("_id", 1)] and all(way in known for _, way in key)]

    def refuse(self, source: Store | None) -> None:
        """Raise TargetError for the source itself and for any taken name (see Store.refuse)."""
        if isinstance(source, MongoStore) and source._namespace == self._namespace:
            raise TargetError(
                "this is the source, which a release cannot replace: choose a new name", path=self.location
            )
        if self._entry():
            raise TargetError("is already there; choose a new name", path=self.location)

    def staging(
        self, source: Store | None, *, tables: tuple[Table, ...] = ()
    ) -> AbstractContextManager[Staged]:
        """Return collections with temporary names until they are published (see Store.staging)."""
        from hierdata.sources.stores.mongodb_target import MongoTarget, open_target

        assert not tables, "a release of keyed tables has no form in MongoDB"
        wanted = source.indexes() if isinstance(source, MongoStore) else []
        return open_target(MongoTarget(self._collection, self.location, self._batch, wanted))

    def close(self) -> None:
        """Close the connection that an address opened."""
        if self._opened:
            self._collection.database.client.close()

    @property
    def _namespace(self) -> tuple[object, str]:
        """The client and the full name; clients are equal if their addresses name the same hosts."""
        return self._collection.database.client, self._collection.full_name

    def _entry(self) -> dict[str, Any]:
        """Return the server's catalog entry of the collection; empty if there is none."""
        from hierdata.sources.stores.mongodb_server import ask_server

        database, named = self._collection.database, {"name": self._collection.name}
        infos = ask_server(self.location, lambda: list(database.list_collections(filter=named)))
        return dict(infos[0]) if infos else {}

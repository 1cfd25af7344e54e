"""Collections of MongoDB: read under a snapshot where the server can, byte by byte as it has them.

pymongo is imported once there is something to do for it.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any, ClassVar

from hierdata.documents.document import Document
from hierdata.errors import InputError, PolicyError, TargetError
from hierdata.records.flatten import Table
from hierdata.sources.stores.base import Exported, Staged, Store

NO_SNAPSHOT = (
    "The server could not hold the collection still while it was read: what was written meanwhile may be in "
    "it in part, and a record that was moved may be in it twice or not at all."
)


class MongoStore(Store):
    """A collection, by its address ``mongodb://host/database/collection`` or as pymongo's object."""

    format: ClassVar[str | None] = "bson"

    def __init__(self, source: object, batch: int, options: Mapping[str, str]) -> None:
        from hierdata.sources.stores.mongodb_server import connect, found, plain, read_address

        if options:
            raise PolicyError(
                f"{next(iter(options))} is about tables: the address of a collection of MongoDB says it all"
            )
        self._batch = batch
        self._opened = isinstance(source, str)
        if isinstance(source, str):
            address = read_address(source)
            self._collection = found(connect(address), address)
            self.place = address.place
        else:
            self._collection = plain(source)
            self.place = f"the collection {self._collection.full_name}"

    @classmethod
    def recognizes(cls, source: object) -> bool:
        """Whether something is a collection of pymongo; an asynchronous one is, to be refused."""
        names = {(base.__module__.partition(".")[0], base.__name__) for base in type(source).__mro__}
        return bool(names & {("pymongo", "Collection"), ("pymongo", "AsyncCollection")})

    def documents(self) -> Iterator[Document]:
        """The records, in one pass and in batches; InputError for the first that no record can be."""
        from hierdata.documents.formats.bson_codec import decoded
        from hierdata.sources.stores.mongodb_reading import reading, single

        with reading(self._collection, self.place, self._batch) as batches:
            yield from decoded(single(batches, self.place))

    def export(
        self,
        folder: Path,
        *,
        tables: tuple[Table, ...] = (),
        published: bool = False,
        listed: Collection[str] = (),
    ) -> Exported:
        """Copy the collection into a file of BSON (see Store.export)."""
        from hierdata.sources.stores.mongodb_reading import Ids, copy, reading

        if tables:
            raise PolicyError("`tables` joins keyed tables, and a collection of MongoDB has whole records")
        path = folder / "records.bson"
        ids: Ids = "numbered" if published else "kept" if "_id" in listed else "dropped"
        with reading(self._collection, self.place, self._batch, ids) as batches:
            if not copy(batches, path, self.place):
                raise InputError("the collection is empty, or there is none of this name", path=self.place)
        return Exported(path, () if batches.snapshot else (NO_SNAPSHOT,))

    def structure(self) -> dict[str, Any] | None:
        """The ``$jsonSchema`` of the collection's validator, in MongoDB's dialect; None where it has none."""
        schema = self._entry().get("options", {}).get("validator", {}).get("$jsonSchema")
        return schema if isinstance(schema, dict) else None

    def indexes(self) -> list[list[tuple[str, Any]]]:
        """The keys of the indexes that help to find records; those that forbid or remove any are left out."""
        from hierdata.sources.stores.mongodb_server import asked

        found = asked(self.place, lambda: list(self._collection.list_indexes()))
        helping = [index for index in found if not {"unique", "expireAfterSeconds"} & index.keys()]
        keys = [list(index["key"].items()) for index in helping]
        known = (1, -1, "hashed")
        return [key for key in keys if key != [("_id", 1)] and all(way in known for _, way in key)]

    def refuse(self, source: Store | None) -> None:
        """Refuse the source itself, and any name that is taken (see Store.refuse)."""
        if isinstance(source, MongoStore) and source._namespace == self._namespace:
            raise TargetError(
                "this is the source, which no release replaces: choose a new name", path=self.place
            )
        if self._entry():
            raise TargetError("is already there; choose a new name", path=self.place)

    def staging(
        self, source: Store | None, *, tables: tuple[Table, ...] = ()
    ) -> AbstractContextManager[Staged]:
        """Collections of other names until they are published (see Store.staging)."""
        from hierdata.sources.stores.mongodb_target import Target, unfinished

        if tables:
            raise PolicyError("keyed tables cannot go to MongoDB: publish them as files")
        wanted = source.indexes() if isinstance(source, MongoStore) else []
        return unfinished(Target(self._collection, self.place, self._batch, wanted))

    def close(self) -> None:
        """Close the connection that an address opened."""
        if self._opened:
            self._collection.database.client.close()

    @property
    def _namespace(self) -> tuple[object, str]:
        """The client and the full name; clients are equal where their addresses name the same hosts."""
        return self._collection.database.client, self._collection.full_name

    def _entry(self) -> dict[str, Any]:
        """What the server lists of the collection; empty where there is none."""
        from hierdata.sources.stores.mongodb_server import asked

        named = {"name": self._collection.name}
        found = asked(self.place, lambda: list(self._collection.database.list_collections(filter=named)))
        return dict(found[0]) if found else {}

"""A database of MongoDB whose collections are the keyed tables of a policy, such as FHIR resources by type.

It is read and never written: a release of keyed tables is a folder.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import NoReturn, cast

from hierdata.documents.document import Document, Value
from hierdata.documents.scalars import TypedText
from hierdata.ground.errors import InputError, PolicyError
from hierdata.records.keyed import Table
from hierdata.sources.stores.base import Exported, Staged, Store

ONE_AFTER_THE_OTHER = (
    "The collections were read one after the other: what was written meanwhile may be in one of them and not "
    "in another."
)
_SUFFIX = ".ndjson"


class MongoDatabase(Store):
    """A database, by its address ``mongodb://host/database``; the policy's ``tables`` are its collections."""

    holds_tables = True

    def __init__(self, source: object, batch: int, options: Mapping[str, str]) -> None:
        from hierdata.sources.stores.mongodb_server import connect, find_database, read_address

        if options:
            raise PolicyError(f"{next(iter(options))} is for PostgreSQL")
        address = read_address(str(source))
        self._batch = batch
        self._database = find_database(connect(address), address)
        self.location = address.location

    @classmethod
    def recognizes(cls, source: object) -> bool:
        """Return False: a database is given by its address alone."""
        return False

    def documents(self) -> NoReturn:
        """Raise PolicyError: a database has no records of its own."""
        raise PolicyError(
            "the address names a database: name a collection, mongodb://host/database/collection, or state "
            "the collections as `tables` in the policy",
            path=self.location,
        )

    def rows(self, is_table: Callable[[str], bool]) -> Iterator[Document]:
        """Yield the documents of the tables, by name, without ``_id`` (see Store.rows)."""
        for name in sorted(filter(is_table, self._names())):
            with self._read(name) as (documents, _):
                yield from documents

    def export(
        self,
        folder: Path,
        *,
        tables: tuple[Table, ...] = (),
        lookups: tuple[str, ...] = (),
        published: bool = False,
        listed: Collection[str] = (),
    ) -> Exported:
        """Copy the collections of the tables to NDJSON (see Store.export); types of MongoDB become texts."""
        from hierdata.documents.formats import FORMATS, Layout
        from hierdata.documents.formats.source import write_stream

        if not tables:
            self.documents()
        path, names = folder / "records", self._names()
        path.mkdir(mode=0o700)
        joins = {table.name: table.joins for table in tables}
        for name in (*joins, *lookups):
            if name not in names:
                message = f"there is no collection {name}, which the policy has among its `tables`"
                raise InputError(message, path=self.location)
            keeps_id = "_id" in joins.get(name, ("_id",)) or (name == tables[0].name and "_id" in listed)
            with self._read(name, keeps_id=keeps_id) as (documents, location):
                file = path / f"{name}{_SUFFIX}"
                texts = (cast("Document", _plain(document)) for document in documents)
                file.touch(mode=0o600)
                with write_stream(file) as stream:
                    FORMATS["jsonl"]().write(texts, stream, Layout())
            if name == tables[0].name and not file.stat().st_size:
                raise InputError("the collection is empty", path=location)
        return Exported(path, (ONE_AFTER_THE_OTHER,))

    def refuse(self, source: Store | None) -> None:
        """Raise PolicyError: a release is written to a collection (see Store.refuse)."""
        raise PolicyError("name the new collection: mongodb://host/database/collection", path=self.location)

    def staging(
        self, source: Store | None, *, tables: tuple[Table, ...] = ()
    ) -> AbstractContextManager[Staged]:
        """Fail: ``refuse`` comes first (see Store.staging)."""
        raise AssertionError("refuse comes first")

    def close(self) -> None:
        """Close the connection."""
        self._database.client.close()

    def _names(self) -> set[str]:
        from hierdata.sources.stores.mongodb_server import ask_server

        names = ask_server(self.location, self._database.list_collection_names)
        return {name for name in names if not name.startswith("system.")}

    @contextmanager
    def _read(self, name: str, *, keeps_id: bool = False) -> Iterator[tuple[Iterator[Document], str]]:
        """Open a collection; yield its documents, and their place for errors."""
        from hierdata.documents.formats.bson_codec import decode_all
        from hierdata.sources.stores.mongodb_reading import Ids, read_collection, single

        location = f"{self.location}/{name}"
        ids: Ids = "kept" if keeps_id else "dropped"
        with read_collection(self._database[name], location, self._batch, ids) as batches:
            try:
                yield decode_all(single(batches, location)), location
            except InputError as error:
                raise InputError(error.message, record=error.record, path=error.path or location) from None


def _plain(value: Value) -> Value:
    """Return a value with the texts of the types that JSON lacks, such as dates and ObjectIds."""
    if isinstance(value, dict):
        return {key: _plain(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_plain(item) for item in value]
    return str(value) if isinstance(value, TypedText) else value

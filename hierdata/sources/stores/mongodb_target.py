"""A collection in the making: written in batches under another name, fitted to its records, then renamed."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any

import bson
import pymongo
from bson.raw_bson import RawBSONDocument
from pymongo import errors
from pymongo.collection import Collection

from hierdata.documents.document import Document
from hierdata.documents.formats.bson_codec import encode
from hierdata.documents.formats.bson_elements import OPTIONS
from hierdata.documents.formats.decoder import RefusedError
from hierdata.errors import HierdataError, TargetError
from hierdata.sources.stores.base import RECORDS, Staged
from hierdata.sources.stores.mongodb_reading import copy, reading, with_number
from hierdata.sources.stores.mongodb_server import Raw, asked
from hierdata.sources.stores.mongodb_validator import Shape

UNFINISHED = "hierdata-unfinished-"
"""How the names begin of what is not published yet."""
LARGEST = 16 * 1024 * 1024
"""Bytes of a document that MongoDB holds."""
_PATIENCE = 2
"""Seconds for removing what was begun: the server may be what failed."""
NO_VALIDATOR = "the server takes no validator: the target has none"
_MAJORITY = pymongo.WriteConcern("majority")


class Target(Staged):
    """Collections beside the target, one for each part of a release.

    ``wanted`` are the keys of indexes that the records shall have where they have the fields.
    """

    def __init__(
        self, collection: Collection[Raw], place: str, batch: int, wanted: list[list[tuple[str, Any]]]
    ) -> None:
        self._target, self._place, self._batch, self._wanted = collection, place, batch, wanted
        self._begun: dict[str, Collection[Raw]] = {}
        self._validators: dict[str, Raw] = {}
        self.lacking: list[str] = []

    def write(self, part: str, documents: Iterable[Document]) -> None:
        """Write a part (see Staged.write); a record without an ``_id`` is given its number."""
        # A name before the collection: a signal may come between any two steps.
        database = self._target.database
        self._begun[part] = database.get_collection(
            UNFINISHED + secrets.token_hex(8),
            write_concern=_MAJORITY,
            read_preference=pymongo.ReadPreference.PRIMARY,
        )
        shape = Shape()
        for raw in _numbered(documents):
            shape.see(bson.decode(raw, OPTIONS))
        self._create(part, {"$jsonSchema": shape.schema()})
        following = map(RawBSONDocument, _numbered(documents))
        while batch := list(islice(following, self._batch)):
            asked(self._place, partial(self._begun[part].insert_many, batch))
        self._index(self._begun[part], shape)

    def export(self, part: str, path: Path) -> None:
        """Copy what the server holds of a part (see Staged.export)."""
        # The primary holds what it has taken; a snapshot could be of a moment before.
        with reading(self._begun[part], self._place, self._batch, "numbered", snapshot=False) as batches:
            copy(batches, path, self._place)

    def publish(self) -> None:
        """Rename all parts, the records last (see Staged.publish)."""
        for part in sorted(self._begun, key=RECORDS.__eq__):
            begun = self._begun[part]
            name = self._target.name if part == RECORDS else f"{self._target.name}.{part}"
            asked(self._place, partial(begun.rename, name))
            self._begun[part] = self._target.database[name]
            self._keep(name, self._validators.get(part))
        self._begun.clear()

    def drop(self) -> bool:
        """Remove all that is not published; False where the server does not let us."""
        left = [begun for begun in self._begun.values() if not _gone(begun)]
        return not left

    def _create(self, part: str, validator: Raw) -> None:
        """Make a collection in which the server holds every record against the validator."""
        begun = self._begun[part]
        create = partial(begun.database.create_collection, begun.name)
        if self._takes(partial(create, validator=validator)):
            self._validators[part] = validator
        else:
            asked(self._place, create)
            self.lacking.append(NO_VALIDATOR)

    def _index(self, begun: Collection[Raw], shape: Shape) -> None:
        """Make the indexes of the source whose fields were published."""
        for keys in self._wanted:
            if all(shape.holds(path) for path, _ in keys) and not self._takes(
                partial(begun.create_index, keys)
            ):
                self.lacking.append("the server refused an index that the source has: the target lacks it")

    def _keep(self, name: str, validator: Raw | None) -> None:
        """Give a renamed collection its validator again, where a server forgets it."""
        database = self._target.database
        (entry,) = asked(self._place, lambda: list(database.list_collections(filter={"name": name})))
        forgotten = validator is not None and not entry.get("options", {}).get("validator")
        if forgotten and not self._takes(partial(database.command, "collMod", name, validator=validator)):
            self.lacking.append(NO_VALIDATOR)

    def _takes(self, question: Callable[[], object]) -> bool:
        """Whether the server does what it is asked to; TargetError where it cannot be asked."""

        def answer() -> bool:
            try:
                question()
            except errors.OperationFailure:
                return False
            return True

        return asked(self._place, answer)


@contextmanager
def unfinished(target: Target) -> Iterator[Target]:
    """A target that is removed unless it was published; an error says so where that fails."""
    failed: HierdataError | None = None
    gone = True
    try:
        yield target
    except HierdataError as error:
        failed = error
    finally:
        gone = target.drop()
    if failed is None or gone:
        if failed is not None:
            raise failed
        return
    raise type(failed)(
        f"{failed.message}; what was begun could not be removed: drop the collections {UNFINISHED}*",
        record=failed.record,
        path=failed.path,
        revealed=failed.revealed,
    )


def _gone(begun: Collection[Raw]) -> bool:
    """Drop a collection. Who may not drop it may not have been allowed to make it either."""
    try:
        with pymongo.timeout(_PATIENCE):
            try:
                begun.drop()
            except errors.OperationFailure:
                return begun.name not in begun.database.list_collection_names()
    except errors.PyMongoError:
        return False
    return True


def _numbered(documents: Iterable[Document]) -> Iterator[bytes]:
    """Documents as the server shall have them: one without an ``_id`` is given its number."""
    for number, document in enumerate(documents, 1):
        raw = _bson(document, number)
        if "_id" not in document:
            raw = with_number(raw, number)
        if len(raw) > LARGEST:
            raise TargetError("has more than 16 MiB, which is more than MongoDB holds", record=number)
        yield raw


def _bson(document: Document, number: int) -> bytes:
    try:
        return encode(document)
    except RefusedError as refused:
        message = str(refused)
    raise TargetError(message, record=number)

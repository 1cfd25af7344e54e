"""New collections: written in batches under temporary names, with validator and indexes, then renamed.

The validator of published documents allows every type and key that occurs, and nothing else.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable, Iterable, Iterator
from concurrent import futures
from contextlib import contextmanager
from functools import partial
from itertools import islice
from pathlib import Path
from threading import Thread
from typing import Any

import bson
import pymongo
from bson import Binary, Code, Decimal128, Int64, MaxKey, MinKey, ObjectId, Regex, Timestamp
from bson.datetime_ms import DatetimeMS
from bson.raw_bson import RawBSONDocument
from pymongo import errors
from pymongo.collection import Collection

from hierdata.documents.document import Document
from hierdata.documents.formats.bson_codec import OPTIONS, encode
from hierdata.documents.formats.decoder import RefusedTextError
from hierdata.ground.errors import HierdataError, TargetError
from hierdata.sources.stores.base import RECORDS, Staged, naming
from hierdata.sources.stores.mongodb_reading import copy, read_collection, with_number
from hierdata.sources.stores.mongodb_server import Answer, Raw, ask_server

MOST_KEYS = 1000
"""Maximum number of keys listed for an object; an object with more counts as a map and may have any key."""
_TYPES: dict[type, str] = {
    dict: "object",
    list: "array",
    str: "string",
    bool: "bool",
    int: "int",
    Int64: "long",
    float: "double",
    Decimal128: "decimal",
    ObjectId: "objectId",
    DatetimeMS: "date",
    bytes: "binData",
    Binary: "binData",
    Timestamp: "timestamp",
    Regex: "regex",
    MinKey: "minKey",
    MaxKey: "maxKey",
    type(None): "null",
}
UNFINISHED = "hierdata-unfinished-"
"""Prefix of the names of collections that are not published yet."""
LARGEST = 16 * 1024 * 1024
"""Maximum size of a MongoDB document in bytes."""
_PATIENCE, _OF_REMOVAL = 10, 5
"""Seconds that the last request may take to end, and the removal of a collection: the server may have
failed."""
NO_VALIDATOR = "the server refused the validator: the target has none"
_MAJORITY = pymongo.WriteConcern("majority")


class MongoTarget(Staged):
    """Temporary collections in the target's database, one for each part of a release.

    ``wanted`` are the keys of indexes, each of which is created if the records have its fields.
    """

    def __init__(
        self, collection: Collection[Raw], location: str, batch: int, wanted: list[list[tuple[str, Any]]]
    ) -> None:
        self._target, self._place, self._batch, self._wanted = collection, location, batch, wanted
        self._begun: dict[str, Collection[Raw]] = {}
        self._validators: dict[str, Raw] = {}
        self._request: futures.Future[Any] | None = None
        self.lacking: list[str] = []

    def write(self, part: str, documents: Iterable[Document]) -> None:
        """Write a part (see Staged.write); a record without an ``_id`` is given its number."""
        # Store the name before creating the collection: a signal may arrive between any two steps.
        database = self._target.database
        self._begun[part] = database.get_collection(
            UNFINISHED + secrets.token_hex(8),
            write_concern=_MAJORITY,
            read_preference=pymongo.ReadPreference.PRIMARY,
        )
        shape = ValueTypes()
        for raw in _number_documents(documents):
            shape.see(bson.decode(raw, OPTIONS))
        self._create(part, {"$jsonSchema": shape.schema()})
        following = map(RawBSONDocument, _number_documents(documents))
        while batch := list(islice(following, self._batch)):
            self._ask(partial(self._begun[part].insert_many, batch))
        self._index(self._begun[part], shape)

    def export(self, part: str, path: Path) -> None:
        """Copy a part back from the server (see Staged.export)."""
        # Read from the primary without a snapshot: a snapshot could be older than the last write.
        with read_collection(
            self._begun[part], self._place, self._batch, "numbered", snapshot=False
        ) as batches:
            copy(batches, path, self._place)

    def publish(self) -> None:
        """Rename all parts, the records last (see Staged.publish)."""
        for part in sorted(self._begun, key=RECORDS.__eq__):
            name = self._target.name if part == RECORDS else f"{self._target.name}.{part}"
            with naming(self._place):
                self._ask(partial(self._rename, part, name))
            self._keep(name, self._validators.get(part))
        self._begun.clear()

    def drop(self) -> bool:
        """Remove all collections that are not published; return False if one may remain on the server."""
        if self._request is not None and futures.wait([self._request], _PATIENCE).not_done:
            return False
        remaining = [begun for begun in self._begun.values() if not _drop_collection(begun)]
        return not remaining

    def _ask(self, request: Callable[[], Answer]) -> Answer:
        """Return the server's answer to a request that changes it.

        The request has a thread of its own. A signal ends the wait, but not the request, so that ``drop`` can
        await its end: a collection that is dropped while the server still writes to it would come back.
        """
        self._request = answer = futures.Future[Answer]()
        Thread(target=_fulfil, args=(answer, request), daemon=True).start()
        return ask_server(self._place, answer.result)

    def _rename(self, part: str, name: str) -> None:
        """Rename a part's collection; until all are renamed, ``drop`` removes it by its new name."""
        self._begun[part].rename(name)
        self._begun[part] = self._target.database[name]

    def _create(self, part: str, validator: Raw) -> None:
        """Create a collection in which the server checks every record with the validator."""
        begun = self._begun[part]
        create = partial(begun.database.create_collection, begun.name)
        if self._takes(partial(create, validator=validator)):
            self._validators[part] = validator
        else:
            self._ask(create)
            self.lacking.append(NO_VALIDATOR)

    def _index(self, begun: Collection[Raw], shape: ValueTypes) -> None:
        """Create the indexes of the source that have only published fields."""
        for keys in self._wanted:
            if all(shape.holds(path) for path, _ in keys) and not self._takes(
                partial(begun.create_index, keys)
            ):
                self.lacking.append("the server refused an index of the source: the target lacks it")

    def _keep(self, name: str, validator: Raw | None) -> None:
        """Set the validator of a renamed collection again if the server lost it."""
        database = self._target.database
        (entry,) = self._ask(lambda: list(database.list_collections(filter={"name": name})))
        forgotten = validator is not None and not entry.get("options", {}).get("validator")
        if forgotten and not self._takes(partial(database.command, "collMod", name, validator=validator)):
            self.lacking.append(NO_VALIDATOR)

    def _takes(self, question: Callable[[], object]) -> bool:
        """Return whether the server executes a request. Raises TargetError if it cannot be reached."""

        def answer() -> bool:
            try:
                question()
            except errors.OperationFailure:
                return False
            return True

        return self._ask(answer)


@contextmanager
def open_target(target: MongoTarget) -> Iterator[MongoTarget]:
    """Yield a target that is removed unless it was published; the error says so if that fails."""
    try:
        yield target
    except BaseException as error:
        if target.drop():
            raise
        raise _add_remains(error) from None
    target.drop()


def _add_remains(error: BaseException) -> BaseException:
    """Return the error, which also says that unfinished collections may remain on the server."""
    sentence = f"unfinished collections could not be removed: drop the collections {UNFINISHED}*"
    if not isinstance(error, HierdataError):
        error.add_note(sentence)
        return error
    return type(error)(
        f"{error.message}; {sentence}", record=error.record, path=error.path, revealed=error.revealed
    )


def _fulfil(answer: futures.Future[Answer], request: Callable[[], Answer]) -> None:
    try:
        answer.set_result(request())
    except BaseException as error:  # noqa: BLE001  (raised where the answer is awaited)
        answer.set_exception(error)


def _drop_collection(begun: Collection[Raw]) -> bool:
    """Drop a collection; return whether it is gone. A user who may not drop it may never have created it."""
    try:
        with pymongo.timeout(_OF_REMOVAL):
            try:
                begun.drop()
            except errors.OperationFailure:
                return begun.name not in begun.database.list_collection_names()
    except errors.PyMongoError:
        return False
    return True


def _number_documents(documents: Iterable[Document]) -> Iterator[bytes]:
    """Yield the documents as BSON; one without an ``_id`` is given its number."""
    for number, document in enumerate(documents, 1):
        raw = _bson(document, number)
        if "_id" not in document:
            raw = with_number(raw, number)
        if len(raw) > LARGEST:
            raise TargetError("has more than 16 MiB, the limit of MongoDB", record=number)
        yield raw


class ValueTypes:
    """The types of all values at one path, and the types below it.

    They come only from published documents. The validator of the original (values, limits, patterns,
    descriptions) may reveal more than the published records, so nothing is taken from it.

    >>> shape = ValueTypes()
    >>> shape.see({"age": 31, "visits": [{"ward": "A"}, {}]})
    >>> shape.see({"age": "[30, 40]"})
    >>> shape.schema()["properties"]["age"], shape.schema()["required"]
    ({'bsonType': ['int', 'string']}, ['age'])
    >>> shape.holds("visits.ward"), shape.holds("visits.doctor")
    (True, False)
    """

    def __init__(self) -> None:
        self._types: dict[str, None] = {}
        self._objects = 0
        self._keys: dict[str, ValueTypes] | None = {}
        self._present: dict[str, int] = {}
        self._items: ValueTypes | None = None

    def see(self, value: object) -> None:
        """Add one value, as the library reads it."""
        self._types[_type(value)] = None
        if isinstance(value, dict):
            self._objects += 1
            for key, member in value.items():
                self._member(key, member)
        elif isinstance(value, list):
            self._items = self._items or ValueTypes()
            for item in value:
                self._items.see(item)

    def holds(self, path: str) -> bool:
        """Return whether anything was seen at a dotted path, as an index names it."""
        key, _, rest = path.partition(".")
        below = [shape for shape in (self, self._items) if shape is not None]
        shapes = [shape._keys[key] for shape in below if shape._keys is not None and key in shape._keys]
        return any(not rest or shape.holds(rest) for shape in shapes)

    def schema(self) -> dict[str, Any]:
        """Return the schema that every value seen satisfies, in MongoDB's dialect."""
        types = sorted(self._types)
        schema: dict[str, Any] = {"bsonType": types[0] if len(types) == 1 else types}
        if self._items is not None and self._items._types:
            schema["items"] = self._items.schema()
        if self._objects and self._keys is not None:
            schema["properties"] = {key: shape.schema() for key, shape in self._keys.items()}
            always = [key for key, count in self._present.items() if count == self._objects]
            if always:
                schema["required"] = always
            schema["additionalProperties"] = False
        return schema

    def _member(self, key: str, value: object) -> None:
        if self._keys is None:
            return
        if key not in self._keys:
            # A key that looks like a path or an operator cannot be named in a schema.
            if len(self._keys) == MOST_KEYS or "." in key or key.startswith("$"):
                self._keys = None
                return
            self._keys[key] = ValueTypes()
        self._keys[key].see(value)
        self._present[key] = self._present.get(key, 0) + 1


def _type(value: object) -> str:
    if isinstance(value, Code):
        return "javascript" if value.scope is None else "javascriptWithScope"
    return _TYPES[type(value)]


def _bson(document: Document, number: int) -> bytes:
    try:
        return encode(document)
    except RefusedTextError as refused:
        message = str(refused)
    raise TargetError(message, record=number)

"""MongoDB servers: connections, requests, and error messages without values."""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeAlias, TypeVar
from urllib.parse import unquote, urlsplit

from hierdata.ground.errors import PolicyError, TargetError, UnavailableError, missing_extra
from hierdata.sources.stores.base import LOST

try:
    from bson.codec_options import CodecOptions
    from bson.errors import BSONError
    from pymongo import MongoClient, errors, uri_parser
    from pymongo.collection import Collection
    from pymongo.cursor import Cursor
    from pymongo.database import Database
except ImportError:
    raise missing_extra("MongoDB needs pymongo", "mongodb") from None

Answer = TypeVar("Answer")
Raw: TypeAlias = "dict[str, Any]"
_DICTS: CodecOptions[Raw] = CodecOptions(document_class=dict)

USER, PASSWORD = "HIERDATA_MONGODB_USER", "HIERDATA_MONGODB_PASSWORD"
"""The environment variables for an address without a user."""
PATIENCE = 10_000
"""Timeout in milliseconds for finding a server, if the address states none."""
SILENCE = 600_000
"""Milliseconds without an answer after which the server counts as lost, if the address states none."""

UNKNOWN_USER = (18, 8000)
"""Codes of a server that rejects user and password; it might not answer a second attempt."""
_BY_CODE = {
    8: "the server failed without giving a reason",
    13: "the server's user lacks a privilege: reading needs `find` and `listCollections`, a target needs "
    "`readWrite` on its database",
    26: "the collection does not exist any more",
    43: "the collection was dropped, or the server lost the cursor",
    48: "is already there; choose a new name",
    121: "the server finds a record with types other than those written",
    175: "the collection was dropped or renamed while it was read",
    239: "reading takes longer than the server keeps a snapshot: raise its minSnapshotHistoryWindowInSeconds",
    10107: "this server accepts no writes: name the primary, or all servers of the set",
    10334: "a record of the release has more than 16 MiB, the limit of MongoDB",
    11000: "two records of the release have the same _id, which must be unique in a collection: do not "
    "publish the _id of the records",
    **dict.fromkeys(UNKNOWN_USER, "the server does not accept user and password"),
}
"""What MongoDB's error codes mean here; its own messages quote keys and values."""
_PASSING = frozenset(
    (6, 7, 43, 50, 64, 89, 91, 112, 134, 146, 189, 202, 262, 9001, 11600, 11602, 13435, 13436, 14031)
)
"""Codes of what may be gone later: hosts, cursors, time limits, shutdowns, conflicts, memory, disk."""


@dataclass(frozen=True)
class Address:
    """The parts of an address: ``uri`` for pymongo, and ``location``, which may be shown.

    ``collection`` is empty where it names a database alone.
    """

    uri: str
    database: str
    collection: str
    location: str


def read_address(uri: str) -> Address:
    """Parse ``mongodb://host/database/collection?options``, also without a collection.

    Raises PolicyError, which never shows it.
    """
    try:
        parts = urlsplit(uri)
        names = [unquote(name) for name in parts.path.removeprefix("/").split("/")]
        if len(names) > 2 or not all(names) or "@" in parts.path or parts.fragment:
            raise PolicyError(
                "the address must name a database and a collection (mongodb://host/database/collection), or "
                "the database alone where `tables` are its collections; in a password / and other special "
                "characters are percent-encoded"
            )
        database = parts.path.removeprefix("/").partition("/")[0]
        options = f"?{parts.query}" if parts.query else ""
        connected = f"{parts.scheme.lower()}://{parts.netloc}/{database}{options}"
        uri_parser.parse_uri(connected, validate=True, warn=False, connect_timeout=PATIENCE / 1000)
    except (errors.PyMongoError, ValueError):
        pass
    else:
        hosts = parts.netloc.rpartition("@")[2]
        location = f"{parts.scheme.lower()}://{hosts}/{'/'.join(names)}"
        return Address(connected, names[0], "".join(names[1:]), location)
    raise PolicyError(
        "pymongo cannot use the address: it has an unknown option, or special characters in user or password "
        "that are not percent-encoded, or its hosts cannot be found"
    )


def connect(address: Address) -> MongoClient[Raw]:
    """Return a client, without sending anything yet. Raises PolicyError."""
    options: dict[str, Any] = {"appname": "hierdata"}
    if not re.search("serverSelectionTimeoutMS=", address.uri, re.IGNORECASE):
        options["serverSelectionTimeoutMS"] = PATIENCE
    if not re.search("(socketTimeoutMS|timeoutMS)=", address.uri, re.IGNORECASE):
        options["socketTimeoutMS"] = SILENCE
    if "@" not in address.uri and USER in os.environ:
        options |= {"username": os.environ[USER], "password": os.environ.get(PASSWORD)}
    try:
        return MongoClient(address.uri, **options)
    except (errors.PyMongoError, ValueError, TypeError):
        pass
    raise PolicyError(f"pymongo cannot use the options, or the user, of the address of {address.location}")


def find_database(client: MongoClient[Raw], address: Address) -> Database[Raw]:
    """Return the database of an address, which returns documents as dicts. Raises PolicyError."""
    try:
        return client[address.database].with_options(codec_options=_DICTS)
    except errors.InvalidName:
        client.close()
    raise PolicyError("the address has a name that MongoDB does not allow for a database or a collection")


def find_collection(client: MongoClient[Raw], address: Address) -> Collection[Raw]:
    """Return the collection of an address. Raises PolicyError for an invalid name."""
    try:
        return plain(client[address.database][address.collection])
    except errors.InvalidName:
        client.close()
    raise PolicyError("the address has a name that MongoDB does not allow for a database or a collection")


def read_query(source: object) -> dict[str, Any]:
    """Return what the cursor of a ``find`` asks for, as options of ``find``; empty for a collection."""
    if not isinstance(source, Cursor):
        return {}
    # pymongo has no public way to read a cursor's question; a test notices when these names change.
    held = vars(source)
    names = ("projection", "skip", "limit", "collation", "hint")
    asked = {name: held[f"_{name}"] for name in names}
    order = held["_ordering"]
    return {"filter": dict(held["_spec"]), "sort": [*order.items()] if order else None, **asked}


def plain(collection: object) -> Collection[Raw]:
    """Return the collection, set to return documents as dicts, whatever its client is set to."""
    collection = collection.collection if isinstance(collection, Cursor) else collection
    if not isinstance(collection, Collection):
        raise PolicyError("an asynchronous collection cannot be used: give a collection of a MongoClient")
    database: Database[Raw] = collection.database.with_options(codec_options=_DICTS)
    return database.get_collection(
        collection.name, read_preference=collection.read_preference, read_concern=collection.read_concern
    )


def ask_server(location: str, question: Callable[[], Answer]) -> Answer:
    """Return the server's answer; turn the driver's errors into TargetErrors without value or context."""
    try:
        return question()
    except (errors.PyMongoError, BSONError) as error:
        refused = refusal(location, error)
    raise refused


def refusal(location: str, error: Exception) -> TargetError:
    """Return the TargetError for an error of the driver; an UnavailableError for what may pass."""
    passes = isinstance(error, errors.ConnectionFailure | errors.ExecutionTimeout | errors.WTimeoutError) or (
        isinstance(error, errors.OperationFailure) and _code(error)[0] in _PASSING
    )
    return (UnavailableError if passes else TargetError)(_sentence(error), path=location)


def _sentence(error: Exception) -> str:
    if isinstance(error, errors.DocumentTooLarge):
        return _BY_CODE[10334]
    if isinstance(error, errors.ServerSelectionTimeoutError):
        return "no server answers there"
    if isinstance(error, errors.ConnectionFailure):
        return LOST
    if isinstance(error, errors.OperationFailure):
        code, name = _code(error)
        return _BY_CODE.get(code, f"the server refused (error {code}{name})")
    return f"the driver refused ({type(error).__name__})"


def _code(error: errors.OperationFailure) -> tuple[int, str]:
    """Return the server's error code, and its name if there is one."""
    details: Any = error.details or {}
    if isinstance(error, errors.BulkWriteError):
        wrong = [*details.get("writeErrors", ()), *details.get("writeConcernErrors", ())]
        return (wrong[0].get("code", 8) if wrong else 8), ""
    name = details.get("codeName")
    return error.code or 8, f", {name}" if isinstance(name, str) and name.isalnum() else ""

"""MongoDB servers: how they are found and asked; what their refusals mean, in sentences without values."""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeAlias, TypeVar
from urllib.parse import unquote, urlsplit

from hierdata.errors import HierdataError, PolicyError, TargetError

try:
    from bson.codec_options import CodecOptions
    from bson.errors import BSONError
    from pymongo import MongoClient, errors, uri_parser
    from pymongo.collection import Collection
    from pymongo.database import Database
except ImportError:
    raise PolicyError("MongoDB needs pymongo: install hierdata[mongodb]") from None

Answer = TypeVar("Answer")
Raw: TypeAlias = "dict[str, Any]"
_DICTS: CodecOptions[Raw] = CodecOptions(document_class=dict)

USER, PASSWORD = "HIERDATA_MONGODB_USER", "HIERDATA_MONGODB_PASSWORD"
"""The variables of the environment for an address that names no user."""
PATIENCE = 10_000
"""Milliseconds until a server that does not answer is given up, where the address does not say."""

UNKNOWN_USER = (18, 8000)
"""Codes of a server that does not know user and password; asked again it would not even answer."""
_BY_CODE = {
    8: "the server could not do it, and does not say why",
    13: "the user of the server may not do this: reading takes `find` and `listCollections`, a target takes "
    "`readWrite` on its database",
    26: "the collection is not there any more",
    43: "the collection was dropped, or the server forgot how far it had been read",
    48: "is already there; choose a new name",
    121: "the server finds a record of other types than were written",
    175: "the collection was dropped or renamed while it was read",
    239: "reading takes longer than the server keeps what was: raise its minSnapshotHistoryWindowInSeconds",
    10107: "this server takes no writes: name the primary, or all servers of the set",
    10334: "a record of the release has more than 16 MiB, which is more than MongoDB holds",
    11000: "two records of the release have the same _id, and a collection holds each once: do not publish "
    "the _id of the records",
    **dict.fromkeys(UNKNOWN_USER, "the server does not accept user and password"),
}
"""What MongoDB's error codes mean here; its own messages quote keys and values."""


@dataclass(frozen=True)
class Address:
    """An address taken apart: what pymongo connects to, and what may be shown."""

    uri: str
    database: str
    collection: str
    place: str


def read_address(uri: str) -> Address:
    """Take ``mongodb://host/database/collection?options`` apart. Raises PolicyError, which never shows it."""
    try:
        found = urlsplit(uri)
        names = [unquote(name) for name in found.path.removeprefix("/").split("/")]
        if len(names) != 2 or not all(names) or "@" in found.path or found.fragment:
            raise PolicyError(
                "the address must name a database and a collection (mongodb://host/database/collection); in "
                "a password / and other special characters are percent-encoded"
            )
        database = found.path.removeprefix("/").partition("/")[0]
        options = f"?{found.query}" if found.query else ""
        connected = f"{found.scheme.lower()}://{found.netloc}/{database}{options}"
        uri_parser.parse_uri(connected, validate=True, warn=False, connect_timeout=PATIENCE / 1000)
    except (errors.PyMongoError, ValueError):
        pass
    else:
        hosts = found.netloc.rpartition("@")[2]
        return Address(connected, names[0], names[1], f"{found.scheme.lower()}://{hosts}/{'/'.join(names)}")
    raise PolicyError(
        "pymongo cannot use the address: it has an unknown option, or special characters in user or password "
        "that are not percent-encoded, or its hosts cannot be found"
    )


def connect(address: Address) -> MongoClient[Raw]:
    """A client; nothing is sent yet. Raises PolicyError."""
    given: dict[str, Any] = {"appname": "hierdata"}
    if not re.search("serverSelectionTimeoutMS=", address.uri, re.IGNORECASE):
        given["serverSelectionTimeoutMS"] = PATIENCE
    if "@" not in address.uri and USER in os.environ:
        given |= {"username": os.environ[USER], "password": os.environ.get(PASSWORD)}
    try:
        return MongoClient(address.uri, **given)
    except (errors.PyMongoError, ValueError, TypeError):
        pass
    raise PolicyError(f"pymongo cannot use the options, or the user, of the address of {address.place}")


def found(client: MongoClient[Raw], address: Address) -> Collection[Raw]:
    """The collection of an address. Raises PolicyError for a name that none can have."""
    try:
        return plain(client[address.database][address.collection])
    except errors.InvalidName:
        client.close()
    raise PolicyError("the address names a database or a collection that MongoDB cannot have")


def plain(collection: object) -> Collection[Raw]:
    """A collection whose answers are dicts, whatever its client makes of documents."""
    if not isinstance(collection, Collection):
        raise PolicyError("an asynchronous collection cannot be read here: give one of a MongoClient")
    database: Database[Raw] = collection.database.with_options(codec_options=_DICTS)
    return database.get_collection(
        collection.name, read_preference=collection.read_preference, read_concern=collection.read_concern
    )


def asked(place: str, question: Callable[[], Answer]) -> Answer:
    """The server's answer; what goes wrong is said in a sentence of ours, and the driver's error is gone."""
    try:
        return question()
    except (errors.PyMongoError, BSONError) as error:
        refused = refusal(place, error)
    raise refused


def refusal(place: str, error: Exception) -> HierdataError:
    """What an error of the driver comes to."""
    return TargetError(_sentence(error), path=place)


def _sentence(error: Exception) -> str:
    if isinstance(error, errors.DocumentTooLarge):
        return _BY_CODE[10334]
    if isinstance(error, errors.ServerSelectionTimeoutError):
        return "no server answers there"
    if isinstance(error, errors.ConnectionFailure):
        return "the server has gone, or the connection to it broke"
    if isinstance(error, errors.OperationFailure):
        code, name = _code(error)
        return _BY_CODE.get(code, f"the server refused (error {code}{name})")
    return f"the driver refused ({type(error).__name__})"


def _code(error: errors.OperationFailure) -> tuple[int, str]:
    """The server's number for what went wrong, and its name where it gives one."""
    details: Any = error.details or {}
    if isinstance(error, errors.BulkWriteError):
        wrong = [*details.get("writeErrors", ()), *details.get("writeConcernErrors", ())]
        return (wrong[0].get("code", 8) if wrong else 8), ""
    name = details.get("codeName")
    return error.code or 8, f", {name}" if isinstance(name, str) and name.isalnum() else ""

"""BSON to documents and back, one at a time: the library reads and writes, and nothing is lost on the way.

The library drops what it has no type for (undefined, symbols, pointers) and the first of two equal keys. So
what it read is written again: if that gives the same bytes, nothing was lost. Else the elements are walked
one by one.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import bson
from bson.errors import BSONError

from hierdata.documents.document import Document
from hierdata.documents.formats.bson_elements import OPTIONS, Walker, written
from hierdata.documents.formats.bson_values import OldTypeError, fields, members
from hierdata.documents.formats.decoder import TOO_DEEP, RefusedError
from hierdata.errors import InputError


def decode(raw: bytes) -> Document:
    """Read one document. Raises RefusedError with what is wrong, and no data.

    >>> decode(bson.encode({"_id": bson.ObjectId("5f0c1b2a3d4e5f6071829304"), "n": 1.5}))
    {'_id': ObjectId('5f0c1b2a3d4e5f6071829304'), 'n': Double('1.5')}
    """
    try:
        values = bson.decode(raw, OPTIONS)
        if bson.encode(values, codec_options=OPTIONS) == raw:
            return members(values)
    except RecursionError:
        raise RefusedError(TOO_DEEP) from None
    except (BSONError, OverflowError, ValueError) as error:
        if isinstance(error, RefusedError):
            raise
    return Walker(raw).document()


def decoded(raws: Iterable[bytes]) -> Iterator[Document]:
    """Records one after the other; InputError with the number of the first that is none (see decode)."""
    for record, raw in enumerate(raws, 1):
        try:
            document = decode(raw)
        except RefusedError as refused:
            message = str(refused)
        else:
            yield document
            continue
        raise InputError(message, record=record)


def encode(document: Document) -> bytes:
    """Write one document. Raises RefusedError for what BSON cannot hold.

    A plain integer has 32 bits if these are enough, else 64; a plain decimal number is a double if one is
    equal to it, else a Decimal128.
    """
    try:
        raw = _by_library(document) or written(document)
    except (BSONError, OverflowError, UnicodeError, RecursionError):
        raw = b""
    if not raw:
        raise RefusedError("a record has a key or a value that BSON cannot hold")
    return raw


def _by_library(document: Document) -> bytes | None:
    """The bytes; None where there is a type that the library cannot write."""
    try:
        return bson.encode(fields(document), codec_options=OPTIONS)
    except OldTypeError:
        return None

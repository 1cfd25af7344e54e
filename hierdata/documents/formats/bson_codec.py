"""BSON to documents and back, one at a time, with the library and without loss.

The library drops types that it does not know (undefined, symbols, pointers) and the first of two equal keys.
So its result is encoded again: if that gives the same bytes, nothing was lost. Otherwise the elements are
decoded one by one.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import bson
from bson.errors import BSONError

from hierdata.documents.document import Document
from hierdata.documents.formats.bson_elements import OPTIONS, Walker, encode_elements
from hierdata.documents.formats.bson_values import OldTypeError, fields, members
from hierdata.documents.formats.decoder import TOO_DEEP, RefusedTextError
from hierdata.ground.errors import InputError


def decode(raw: bytes) -> Document:
    """Decode one document. Raises RefusedTextError, whose message contains no data.

    >>> decode(bson.encode({"_id": bson.ObjectId("5f0c1b2a3d4e5f6071829304"), "n": 1.5}))
    {'_id': ObjectId('5f0c1b2a3d4e5f6071829304'), 'n': Double('1.5')}
    """
    try:
        values = bson.decode(raw, OPTIONS)
        if bson.encode(values, codec_options=OPTIONS) == raw:
            return members(values)
    except RecursionError:
        raise RefusedTextError(TOO_DEEP) from None
    except (BSONError, OverflowError, ValueError) as error:
        if isinstance(error, RefusedTextError):
            raise
    return Walker(raw).document()


def decode_all(raws: Iterable[bytes]) -> Iterator[Document]:
    """Yield decoded records. Raises InputError with the number of the first invalid one (see decode)."""
    for record, raw in enumerate(raws, 1):
        try:
            document = decode(raw)
        except RefusedTextError as refused:
            message = str(refused)
        else:
            yield document
            continue
        raise InputError(message, record=record)


def encode(document: Document) -> bytes:
    """Encode one document. Raises RefusedTextError for values that BSON cannot represent.

    A plain integer gets 32 bits if these are enough, otherwise 64; a plain decimal number becomes a double if
    one is equal to it, otherwise a Decimal128.
    """
    try:
        raw = _encode_by_library(document) or encode_elements(document)
    except (BSONError, OverflowError, UnicodeError, RecursionError):
        raw = b""
    if not raw:
        raise RefusedTextError("a record has a key or a value that BSON cannot represent")
    return raw


def _encode_by_library(document: Document) -> bytes | None:
    """Return the bytes, or None if the library cannot write one of the types."""
    try:
        return bson.encode(fields(document), codec_options=OPTIONS)
    except OldTypeError:
        return None

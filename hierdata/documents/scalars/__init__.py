"""Typed values: the types of BSON and MongoDB's Extended JSON other than text, numbers and booleans.

Each is a subclass of str, int or Decimal, and is fully determined by its type and text. So domains, models
and recodings treat it like any other value, and a format writes it back with its type.
"""

from __future__ import annotations

from hierdata.documents.scalars.numbers import KEPT, Decimal128, Double, Int64, TypedDecimal
from hierdata.documents.scalars.texts import (
    NOT_FINITE,
    Binary,
    Code,
    Decimal128Word,
    DoubleWord,
    MaxKey,
    MinKey,
    ObjectId,
    Regex,
    Symbol,
    TypedText,
    Undefined,
    Uuid,
)
from hierdata.documents.scalars.times import DateTime, Timestamp

__all__ = [
    "KEPT",
    "NOT_FINITE",
    "TYPED",
    "TYPED_NUMBERS",
    "TYPED_TEXTS",
    "WRAPPERS",
    "Binary",
    "Code",
    "DateTime",
    "Decimal128",
    "Decimal128Word",
    "Double",
    "DoubleWord",
    "Int64",
    "MaxKey",
    "MinKey",
    "ObjectId",
    "Regex",
    "Symbol",
    "Timestamp",
    "TypedDecimal",
    "TypedText",
    "Undefined",
    "Uuid",
]

TYPED_TEXTS: frozenset[type] = frozenset(
    {
        *(ObjectId, Uuid, Binary, DateTime, Timestamp, Regex, Code, Symbol, Undefined, MinKey, MaxKey),
        *(DoubleWord, Decimal128Word),
    }
)
"""Types that are text."""
TYPED_NUMBERS: frozenset[type] = frozenset({Int64, Double, Decimal128})
"""Types that are numbers."""
TYPED = TYPED_TEXTS | TYPED_NUMBERS

WRAPPERS = frozenset(
    {
        *(
            "$oid",
            "$numberInt",
            "$numberLong",
            "$numberDouble",
            "$numberDecimal",
            "$date",
            "$binary",
            "$uuid",
        ),
        *("$timestamp", "$regularExpression", "$symbol", "$undefined", "$minKey", "$maxKey"),
    }
)
"""Keys of the objects in which Extended JSON writes these values; reading it leaves no such object."""

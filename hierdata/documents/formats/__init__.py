"""Formats: bytes to documents and back, one record at a time. Each format is one file."""

from __future__ import annotations

from typing import BinaryIO

from hierdata.documents.formats.base import MAX_DEPTH, WHOLE, Format, Layout, Order, Rowwise, Split
from hierdata.documents.formats.bson import Bson
from hierdata.documents.formats.csv import Csv
from hierdata.documents.formats.extended_json import ExtendedJson, is_extended
from hierdata.documents.formats.json import Json, JsonLines
from hierdata.documents.formats.parquet import Parquet
from hierdata.documents.formats.xml import Xml
from hierdata.ground import plugins
from hierdata.ground.errors import PolicyError

__all__ = [
    "FORMATS",
    "MAX_DEPTH",
    "WHOLE",
    "Format",
    "Layout",
    "Order",
    "Rowwise",
    "Split",
    "detect",
    "format_named",
    "look_inside",
]

FORMATS: dict[str, type[Format]] = {
    "json": Json,
    "jsonl": JsonLines,
    "extended-json": ExtendedJson,
    "bson": Bson,
    "xml": Xml,
    "csv": Csv,
    "parquet": Parquet,
}


def format_named(name: str) -> type[Format]:
    """Return the format of a name in a policy: built in, or of another distribution.

    Raises PolicyError if it cannot be imported, KeyError if there is none.
    """
    return FORMATS[name] if name in FORMATS else plugins.load("formats", name, Format)  # type: ignore[type-abstract]


_SUFFIXES = {
    suffix: name for name, kind in FORMATS.items() for suffix in (kind.extension, *kind.other_suffixes)
}


def detect(name: str) -> Format:
    """Choose the format by the suffix of a file name; a ``.gz`` after it does not matter.

    >>> detect("students.json.gz").name, detect("STUDENTS.NDJSON").name
    ('json', 'jsonl')
    >>> detect("students.txt")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    hierdata.ground.errors.PolicyError: the file name has no suffix of a known format: state it ...
    """
    suffix = "." + name.lower().removesuffix(".gz").rpartition(".")[2]
    if "." not in name or suffix not in _SUFFIXES:
        raise PolicyError(
            "the file name has no suffix of a known format: state it with --format or `format` in the "
            f"policy; known are {', '.join(FORMATS)}"
        )
    return FORMATS[_SUFFIXES[suffix]]()


def look_inside(format: Format, stream: BinaryIO) -> Format:
    """Return Extended JSON for a file that its suffix calls JSON if it begins with wrapped values."""
    return ExtendedJson() if format.is_wrapped and is_extended(stream) else format

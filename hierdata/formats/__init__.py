"""Formats: bytes to documents and back, both directions in one file each, one record at a time."""

from __future__ import annotations

from hierdata.errors import PolicyError
from hierdata.formats.base import MAX_DEPTH, WHOLE, Format, Layout, Rowwise, Split
from hierdata.formats.csv import Csv
from hierdata.formats.json import Json
from hierdata.formats.jsonl import JsonLines
from hierdata.formats.parquet import Parquet
from hierdata.formats.xml import Xml

__all__ = ["FORMATS", "MAX_DEPTH", "WHOLE", "Format", "Layout", "Rowwise", "Split", "detect"]

FORMATS: dict[str, type[Format]] = {
    "json": Json,
    "jsonl": JsonLines,
    "xml": Xml,
    "csv": Csv,
    "parquet": Parquet,
}

_SUFFIXES = {"ndjson": "jsonl", **{name: name for name in FORMATS}}


def detect(name: str) -> Format:
    """Choose the format by the suffix of a file name; a ``.gz`` after it does not matter.

    >>> detect("students.json.gz").name, detect("STUDENTS.NDJSON").name
    ('json', 'jsonl')
    >>> detect("students.txt")
    Traceback (most recent call last):
    hierdata.errors.PolicyError: the name ends in none of .json, .jsonl, .xml, .csv, .parquet: say which it is
    """
    suffix = name.lower().removesuffix(".gz").rpartition(".")[2]
    if "." not in name or suffix not in _SUFFIXES:
        known = ", ".join(f".{one}" for one in FORMATS)
        raise PolicyError(f"the name ends in none of {known}: say which it is")
    return FORMATS[_SUFFIXES[suffix]]()

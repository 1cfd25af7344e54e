"""Formats: bytes to documents and back, both directions in one file each, one record at a time."""

from __future__ import annotations

from hierdata.errors import PolicyError
from hierdata.formats.base import MAX_DEPTH, Format, Layout
from hierdata.formats.json import Json
from hierdata.formats.jsonl import JsonLines
from hierdata.formats.xml import Xml

__all__ = ["FORMATS", "MAX_DEPTH", "Format", "Layout", "detect"]

FORMATS: dict[str, type[Format]] = {"json": Json, "jsonl": JsonLines, "xml": Xml}

_SUFFIXES = {".json": "json", ".jsonl": "jsonl", ".ndjson": "jsonl", ".xml": "xml"}


def detect(name: str) -> Format:
    """Choose the format by the suffix of a file name; a ``.gz`` after it does not matter.

    >>> detect("students.json.gz").name, detect("STUDENTS.NDJSON").name
    ('json', 'jsonl')
    >>> detect("students.txt")
    Traceback (most recent call last):
    hierdata.errors.PolicyError: the name ends in none of .json, .jsonl, .ndjson, .xml: say which format it is
    """
    bare = name.lower().removesuffix(".gz")
    for suffix, format_name in _SUFFIXES.items():
        if bare.endswith(suffix):
            return FORMATS[format_name]()
    raise PolicyError("the name ends in none of .json, .jsonl, .ndjson, .xml: say which format it is")

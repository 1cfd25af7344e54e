"""The dialect of a CSV file, found in its beginning, for a drafted policy to state."""

from __future__ import annotations

import csv
import re
from collections.abc import Sequence
from itertools import islice
from typing import BinaryIO

from hierdata.documents.formats.csv import DELIMITERS, split_lines

_LINES = 200
"""Lines that are looked at."""
_LONGEST = 1 << 16
_COMMENTS = ("#", "//", "%")
_WHOLE = re.compile(r"[+-]?[0-9]+(?:,[0-9]+)?")


def find_dialect(stream: BinaryIO, delimiter: str | None) -> dict[str, str]:
    """Return what a policy must state of a CSV file: comments above the header, and a decimal comma.

    A decimal comma is found where another delimiter separates cells, and all values of some column are
    numbers with a comma or whole.
    """
    lines = [line[:_LONGEST].decode("utf-8", "replace") for line in islice(split_lines(stream), _LINES)]
    lines = [line.removeprefix("\ufeff") for line in lines[:1]] + lines[1:]
    comment = _find_comment(lines)
    if comment is not None:
        lines = [line for line in lines if not line.startswith(comment)]
    dialect = {} if comment is None else {"comment": comment}
    if lines and _has_decimal_comma(lines, delimiter or _most_frequent(lines[0])):
        dialect["decimal"] = ","
    return dialect


def _find_comment(lines: Sequence[str]) -> str | None:
    """Return what the lines above a header begin with; None if the first line may be the header."""
    if len(lines) < 3:
        return None
    sign = next((sign for sign in _COMMENTS if lines[0].startswith(sign)), None)
    if sign is None:
        return None
    header = next((line for line in lines if not line.startswith(sign)), "")
    mark = _most_frequent(header)
    return sign if header.count(mark) > 0 and lines[0].count(mark) < header.count(mark) else None


def _most_frequent(header: str) -> str:
    return max(DELIMITERS, key=header.count)


def _has_decimal_comma(lines: Sequence[str], delimiter: str) -> bool:
    if delimiter == ",":
        return False
    try:
        rows = [row for row in csv.reader(lines, delimiter=delimiter) if row]
    except csv.Error:
        return False
    width = len(rows[0]) if rows else 0
    for column in range(width):
        cells = [row[column] for row in rows[1:] if len(row) > column and row[column]]
        if cells and all(map(_WHOLE.fullmatch, cells)) and any("," in cell for cell in cells):
            return True
    return False

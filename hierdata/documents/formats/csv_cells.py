"""Cells of CSV: values as text, and text that spreadsheets do not read as a formula."""

from __future__ import annotations

import re

from hierdata.documents.document import Value
from hierdata.documents.formats.objects import literal
from hierdata.ground.errors import InputError, VerificationError

# What spreadsheets read as a formula (OWASP, "CSV Injection"), after any number of apostrophes.
_FORMULA = re.compile("'*[=+\\-@\t\r\n\uff1d\uff0b\uff0d\uff20]")
_NUMBER = re.compile(r"'*[+-]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]+)?")


def spell_cell(value: Value) -> str:
    """Return the cell for a value that is not text."""
    if isinstance(value, dict | list):
        raise InputError(
            "a cell of a table must contain a single value, but this record has objects or arrays: publish "
            "several tables (`tables`), or another format"
        )
    return "" if value is None else literal(value)


def neutralize_cell(cell: str) -> str:
    """Return a cell that spreadsheets show as text."""
    return f"'{cell}" if _FORMULA.match(cell) and not _NUMBER.fullmatch(cell) else cell


def restore_cell(cell: str) -> str:
    """Undo ``neutralize_cell``. Raises VerificationError for a cell that it would not have written."""
    if not _FORMULA.match(cell) or _NUMBER.fullmatch(cell):
        return cell
    if not cell.startswith("'"):
        raise VerificationError("a cell begins like a formula, which a file written for people never does")
    return cell[1:]

"""What the papers print, as data: the numbers of their tables, read from the files in ``data``."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from decimal import Decimal
from fractions import Fraction
from functools import cache
from importlib.resources import files
from typing import Any

from hierdata.reproduction.exhibit import Cell, Grid, write_cell

_RATIO = re.compile(r"\d+/\d+")


@cache
def read_printed(code: str) -> Mapping[str, Any]:
    """Return what the paper of a code prints, by the name of its table or figure.

    >>> read_printed("LE")["table VI"]["rows"][0]
    ['Age', 'Numeric', 74, 5]
    """
    text = files("hierdata.reproduction").joinpath("data", f"{code}.json").read_text("utf-8")
    found: Mapping[str, Any] = json.loads(text)
    return found


def grid_of(table: Mapping[str, Any]) -> Grid:
    """Return a table of a file as a grid; texts such as "1/3" are fractions."""
    return Grid(tuple(table["columns"]), tuple(tuple(map(_read_cell, row)) for row in table["rows"]))


def _read_cell(cell: Any) -> Cell:
    found: Cell = Fraction(cell) if isinstance(cell, str) and _RATIO.fullmatch(cell) else cell
    return found


def describe_differences(printed: Grid, computed: Grid) -> str:
    """Return a sentence on the cells that differ, empty if none does.

    Rows are compared by their first cell, columns by their head, where both grids have a number or text. A
    printed decimal agrees with a number that rounds to it.

    >>> head = ("claim", "value")
    >>> describe_differences(Grid(head, (("risk", 1),)), Grid(head, (("risk", Fraction(3, 4)),)))
    'Risk: printed 1, computed 0.75.'
    >>> describe_differences(Grid(head, (("loss", 0.44),)), Grid(head, (("loss", Fraction(4, 9)),)))
    ''
    """
    rows = {row[0]: dict(zip(computed.columns, row, strict=True)) for row in computed.rows}
    several = len(printed.columns) > 2
    found = [
        f"{write_cell(name)}{f', {column}' if several else ''}: printed {write_cell(cell)}, computed "
        f"{write_cell(other)}"
        for name, *cells in printed.rows
        for column, cell in zip(printed.columns[1:], cells, strict=True)
        for other in [rows.get(name, {}).get(column)]
        if cell is not None and other is not None and not _agree(cell, other)
    ]
    sentence = "; ".join(found)
    return f"{sentence[0].upper()}{sentence[1:]}." if sentence else ""


def _agree(printed: Cell, computed: Cell) -> bool:
    if isinstance(printed, float) and isinstance(computed, int | float | Fraction):
        places = -int(Decimal(str(printed)).as_tuple().exponent)
        return float(round(Fraction(computed), places)) == printed
    return printed == computed

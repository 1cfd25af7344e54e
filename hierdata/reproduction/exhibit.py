"""The nouns of a reproduction: papers, exhibits (numbered tables and figures), grids, and what is printed."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from functools import cache
from importlib.resources import files
from statistics import fmean
from typing import Any

from hierdata.privacy.base import number, round_value
from hierdata.release.charts import Chart, Point
from hierdata.reproduction.study import Study

Cell = str | int | float | Fraction | None
"""A cell of a grid; None where there is no number."""


@dataclass(frozen=True)
class Grid:
    """A table of numbers: its column heads, and rows whose first cell names the row. Raises ValueError."""

    columns: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]

    def __post_init__(self) -> None:
        if not self.columns or any(len(row) != len(self.columns) for row in self.rows):
            raise ValueError("each row of a grid has one cell a column")


@dataclass(frozen=True)
class Exhibit:
    """A numbered table, figure or example of a paper, with what our modules give.

    ``label`` is the paper's ("Table 5", "Figure 5 (a)"), ``title`` says what it shows, ``says`` what the
    paper prints there, both in our words. ``printed`` has the paper's own numbers, None where it has a plot
    only. ``derived`` is what the paper's formulas give for its own example, None for experiments. ``ours`` is
    what hierdata's modules give. ``drawing`` is a tree or another text whose lines and spaces matter.
    ``differs`` is one sentence that is made from the numbers, empty where all agree. ``errata`` are codes
    such as "ML-15".
    """

    label: str
    title: str
    says: str
    printed: Grid | None = None
    derived: Grid | None = None
    ours: Grid | None = None
    charts: tuple[Chart, ...] = ()
    drawing: str = ""
    differs: str = ""
    errata: tuple[str, ...] = ()


@dataclass(frozen=True)
class Paper:
    """A paper: its code, title, authors with year, its page in docs/explanation/papers, and its exhibits.

    ``uses_adult`` says whether some of them are measured on the table Adult.
    """

    code: str
    title: str
    authors: str
    page: str
    exhibits: Callable[[Study], list[Exhibit]]
    uses_adult: bool = False


def write_cell(cell: Cell) -> str:
    """Return a cell as text for people. Numbers that are names, such as years, are texts already.

    >>> [write_cell(cell) for cell in ("A", 12000, 0.123456, Fraction(2, 3), None)]
    ['A', '12,000', '0.1235', '2/3', '-']
    """
    if cell is None:
        return "-"
    if isinstance(cell, Fraction):
        return number(cell)
    if isinstance(cell, float):
        return round_value(cell)
    return f"{cell:,}" if isinstance(cell, int) else cell


_RATIO = re.compile(r"\d+/\d+")


@cache
def read_printed(code: str) -> Mapping[str, Any]:
    """Return what the paper of a code prints, by the name of its table or figure.

    >>> read_printed("LE")["table VI"]["rows"][0]
    ['Age', 'Numeric', 74, 5]
    """
    text = files("hierdata.reproduction").joinpath("data", f"{code}.json").read_text("utf-8")
    printed: Mapping[str, Any] = json.loads(text)
    return printed


def grid_of(table: Mapping[str, Any]) -> Grid:
    """Return a table of a file as a grid; texts such as "1/3" are fractions."""

    def read_cell(cell: Any) -> Any:
        return Fraction(cell) if isinstance(cell, str) and _RATIO.fullmatch(cell) else cell

    return Grid(tuple(table["columns"]), tuple(tuple(map(read_cell, row)) for row in table["rows"]))


def read_grid(code: str, name: str) -> Grid:
    """Return a table or figure as the paper of a code prints it."""
    return grid_of(read_printed(code)[name])


def point_of(x: float, values: Sequence[float]) -> Point:
    """Return the repeats of a figure as a point of a chart: their mean, least and most."""
    return Point(x, fmean(values), min(values), max(values))


def write_sentence(parts: Iterable[str]) -> str:
    """Join parts to a sentence, '' without any.

    >>> write_sentence(["one is 1", "two is 3"])
    'One is 1; two is 3.'
    """
    text = "; ".join(parts)
    return f"{text[0].upper()}{text[1:]}." if text else ""


def yes_or_no(holds: bool) -> str:
    """Return the cell for what holds or does not."""
    return "yes" if holds else "no"


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
    return write_sentence(
        f"{write_cell(name)}{f', {column}' if several else ''}: printed {write_cell(cell)}, computed "
        f"{write_cell(other)}"
        for name, *cells in printed.rows
        for column, cell in zip(printed.columns[1:], cells, strict=True)
        for other in [rows.get(name, {}).get(column)]
        if cell is not None and other is not None and not _agree(cell, other)
    )


def _agree(printed: Cell, computed: Cell) -> bool:
    if isinstance(printed, float) and isinstance(computed, int | float | Fraction):
        places = -int(Decimal(str(printed)).as_tuple().exponent)
        return float(round(Fraction(computed), places)) == printed
    return printed == computed

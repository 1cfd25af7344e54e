"""The nouns of a reproduction: papers, their exhibits (numbered tables and figures), and grids of numbers."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

from hierdata.privacy.wording import number, round_value
from hierdata.release.charts import Chart
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

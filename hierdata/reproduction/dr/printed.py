"""What DR prints: its tables, partitions and rates, as facts (no text of the paper)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from hierdata.reproduction.exhibit import Grid
from hierdata.reproduction.printed import read_printed

Row = Mapping[str, str]


def facts() -> Mapping[str, Any]:
    """Return the data of the paper."""
    return read_printed("DR")


def printed_table(number: str) -> Grid:
    """Return a table as the paper prints it."""
    table = facts()["tables"][number]
    return Grid(tuple(table["columns"]), tuple(map(tuple, table["rows"])))


def rows_of(number: str) -> list[Row]:
    """Return the rows of a table; of ``< 40`` and ``≤ 40`` in one column both are the first (DR-3)."""
    grid = printed_table(number)
    one_label = {"≤ 40": "< 40"} if number == "1" else {}
    return [
        {name: one_label.get(str(cell), str(cell)) for name, cell in zip(grid.columns, row, strict=True)}
        for row in grid.rows
    ]


@dataclass(frozen=True)
class PrintedRate:
    """A rate of a table: the keys, one value of them or None for the keys themselves, and what is printed."""

    keys: tuple[str, ...]
    value: str | None
    printed: str

    @property
    def label(self) -> str:
        """The paper's column Y."""
        return self.value or " & ".join(self.keys)


@dataclass(frozen=True)
class RateBlock:
    """The rates of one table of records, with the sensitive attribute and the semantic partition."""

    name: str
    table: str
    sensitive: str
    partition: str | None
    rates: tuple[PrintedRate, ...]

    @property
    def blocks(self) -> Sequence[Sequence[str]] | None:
        """The semantic domains."""
        found: list[list[str]] | None = (
            None if self.partition is None else facts()["partitions"][self.partition]
        )
        return found


def rate_blocks(number: str) -> list[RateBlock]:
    """Return what a table of rates prints."""
    return [
        RateBlock(
            own["name"],
            own["table"],
            own["sensitive"],
            own["partition"],
            tuple(PrintedRate(tuple(keys), value, text) for keys, value, text in own["rows"]),
        )
        for own in facts()["rates"][number]
    ]

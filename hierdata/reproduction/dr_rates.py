"""DR's printed rates (tables 5 to 8 and 10 to 13): its facts, its formulas, and what the package measures.

The formulas are equations 1, 2, 6 and 7 as they stand; they use no other module of the package.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import fsum, log2
from typing import Any

from hierdata.metrics.rates import ValueRate
from hierdata.pipeline.measure import measure
from hierdata.reproduction.exhibit import Cell, Exhibit, Grid, grid_of, read_printed, write_sentence

Row = Mapping[str, str]


def facts() -> Mapping[str, Any]:
    """Return the data of the paper."""
    return read_printed("DR")


def printed_table(number: str) -> Grid:
    """Return a table as the paper prints it."""
    return grid_of(facts()["tables"][number])


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
        domains: list[list[str]] | None = (
            None if self.partition is None else facts()["partitions"][self.partition]
        )
        return domains


def rate_blocks(number: str) -> list[RateBlock]:
    """Return what a table of rates prints."""
    return [
        RateBlock(
            block["name"],
            block["table"],
            block["sensitive"],
            block["partition"],
            tuple(PrintedRate(tuple(keys), value, text) for keys, value, text in block["rows"]),
        )
        for block in facts()["rates"][number]
    ]


Column = Sequence[Hashable]


def entropy(xs: Column) -> float:
    """Return H(X) in bits."""
    shares = [xs.count(x) / len(xs) for x in set(xs)]
    return fsum(share * log2(1 / share) for share in shares)  # whatever the order of the set


def entropy_given(xs: Column, ys: Column, y: Hashable) -> float:
    """Return H(X|y) in bits."""
    return entropy([x for x, other in zip(xs, ys, strict=True) if other == y])


def remaining_entropy(xs: Column, ys: Column) -> float:
    """Return H(X|Y) in bits (equation 1)."""
    return fsum(ys.count(y) / len(ys) * entropy_given(xs, ys, y) for y in set(ys))


def discrimination_rate(xs: Column, ys: Column) -> float | None:
    """Return DR_X(Y) = 1 - H(X|Y) / H(X) (equation 2); None where that is 0/0 (erratum DR-11)."""
    return 1 - remaining_entropy(xs, ys) / entropy(xs) if entropy(xs) else None


def rate_of_value(xs: Column, ys: Column, y: Hashable) -> float:
    """Return DR_X(y) = 1 - p(y) H(X|y) / H(X), as table 5 has it."""
    return 1 - ys.count(y) / len(ys) * entropy_given(xs, ys, y) / entropy(xs)


def transform(xs: Column, blocks: Sequence[Sequence[Hashable]] | None) -> list[Hashable]:
    """Return sX = f_SP(X) (equation 6): the number of the semantic domain of each value."""
    if blocks is None:
        return list(xs)
    return [next(number for number, domain in enumerate(blocks) if x in domain) for x in xs]


_FIGURES = ("rate", "p(y)", "H(X|y)", "1 - H(X|y)/H(X)")
_SAME = 1e-9


def rate_exhibits() -> list[Exhibit]:
    """Return the tables of rates; that of identity disclosure is table 6."""
    return [
        _exhibit("5", "rates of keys and of their values for the disease in Table 4", _DETAILED, ("DR-2",)),
        _identity(),
        _exhibit(
            "7", "homogeneity: rates of a 3-anonymous and an l-diverse table", _DETAILED, ("DR-1", "DR-2")
        ),
        _exhibit(
            "8",
            "homogeneity and background knowledge: one minus the rates of Table 7",
            "The resistance of the same keys. It is the difference to 1, so it inherits what is wrong there.",
            ("DR-1", "DR-2"),
            resistance=True,
        ),
        _exhibit("10", "semantic rates of the ages in Table 4, with cancers as one domain", _AGE, ("DR-6",)),
        _exhibit("11", "similarity: salaries in three ranges", _ALONE, ("DR-7", "DR-8")),
        _exhibit("12", "similarity: salaries in the classes of the t-close table", _COPIED, ("DR-7", "DR-8")),
        _exhibit("13", "similarity: cancers and other diseases", _VALUES, ("DR-7", "DR-8")),
    ]


_DETAILED = (
    "The paper prints one rate for each value and for the key. Ours have beside it what a value's rate "
    "mixes: how frequent the value is, and what stays unknown given it."
)
_AGE = "All rates are 1: each age belongs to one domain. The text speaks of Age*, the table has Age."
_ALONE = "Single keys: 0.28 of the t-close table against 0.19 of the l-diverse one is the first argument."
_COPIED = "The domains are the classes of the t-close table, so its zip code reaches 1 by construction."
_VALUES = (
    "0.69 of a value with three rows against 0.38 of one with six is the third argument; the share of the "
    "uncertainty that these values remove, in the last column, is the same."
)


def compute_rate(block: RateBlock, rate: PrintedRate) -> float | None:
    """Return what the paper's formulas give."""
    rows = rows_of(block.table)
    xs = transform([row[block.sensitive] for row in rows], block.blocks)
    ys = [tuple(row[key] for key in rate.keys) for row in rows]
    if rate.value is None:
        return discrimination_rate(xs, ys)
    return rate_of_value(xs, ys, (rate.value,))


def measure_keys(block: RateBlock, keys: Sequence[str]) -> tuple[Cell, Cell, dict[str, ValueRate]]:
    """Return the measured rate and entropy of keys together, and those of each value of one key."""
    blocks = block.blocks
    named = None if blocks is None else {f"b{number}": list(domain) for number, domain in enumerate(blocks)}
    measured = measure(
        rows_of(block.table),
        keys=list(keys),
        sensitive=block.sensitive,
        partition=None if named is None else {"blocks": named},
    )
    together = measured.keys[-1]
    if len(keys) > 1:
        return together.rate, together.entropy, {}
    names = measured.names[keys[0]]
    values = {str(names[label]): value for label, value in together.values.items()}
    return together.rate, together.entropy, values


def _measure_rate(block: RateBlock, rate: PrintedRate) -> tuple[Cell, ...]:
    together, entropy, values = measure_keys(block, rate.keys)
    if rate.value is None:
        return together, None, entropy, None
    of_value = values[rate.value]
    return of_value.rate, of_value.share, of_value.entropy, of_value.refinement


def _exhibit(
    number: str, title: str, says: str, errata: tuple[str, ...], resistance: bool = False
) -> Exhibit:
    blocks = rate_blocks(number)
    asked = [(block, rate) for block in blocks for rate in block.rates]
    heads = ("table", "Y") if len(blocks) > 1 else ("Y",)
    names = [((block.name, rate.label) if len(blocks) > 1 else (rate.label,)) for block, rate in asked]
    derived = [_flip(compute_rate(block, rate), resistance) for block, rate in asked]
    ours = [_measure_rate(block, rate) for block, rate in asked]
    rates = [_flip(row[0], resistance) for row in ours]
    printed = [rate.printed for _, rate in asked]
    head = "1 - DR" if resistance else "DR"
    more = [(rate,) if resistance else (rate, *row[1:]) for rate, row in zip(rates, ours, strict=True)]
    return Exhibit(
        f"Table {number}",
        title,
        says,
        printed=Grid((*heads, head), _rows(names, [(cell,) for cell in printed])),
        derived=Grid((*heads, head), _rows(names, [(cell,) for cell in derived])),
        ours=Grid((*heads, head, *(() if resistance else _FIGURES[1:])), _rows(names, more)),
        differs=compare_figures([" ".join(name).strip() for name in names], printed, derived, rates),
        errata=errata,
    )


def _flip(rate: Cell, resistance: bool) -> float | Fraction | None:
    if rate is None or isinstance(rate, str):
        return None
    return 1 - rate if resistance else rate


def _rows(
    names: Sequence[tuple[str, ...]], figures: Sequence[tuple[Cell, ...]]
) -> tuple[tuple[Cell, ...], ...]:
    return tuple((*name, *cells) for name, cells in zip(names, figures, strict=True))


def _identity() -> Exhibit:
    """Table 6: how far a generalized key narrows down its own original."""
    rows = rows_of("1")
    names, printed, derived, ours = [], [], [], []
    for original, key, text in facts()["identity"]:
        measured = measure(rows, keys=[key], sensitive=original).keys[0]
        names.append((original, key))
        printed.append(text)
        derived.append(discrimination_rate([row[original] for row in rows], [row[key] for row in rows]))
        ours.append(measured.rate)
    heads = ("X", "Y", "DR")
    return Exhibit(
        "Table 6",
        "identity disclosure: rates of the generalized keys of Table 1 for their originals",
        "The text compares 0.31 with 0.38 for age; 0.31 is that of the zip code. Age** is read with the two "
        "labels < 40 and ≥ 40.",
        printed=Grid(heads, _rows(names, [(cell,) for cell in printed])),
        derived=Grid(heads, _rows(names, [(cell,) for cell in derived])),
        ours=Grid(heads, _rows(names, [(cell,) for cell in ours])),
        differs=compare_figures([" for ".join(reversed(name)) for name in names], printed, derived, ours),
        errata=("DR-3", "DR-5"),
    )


def compare_figures(
    names: Sequence[str], printed: Sequence[str], derived: Sequence[Cell], ours: Sequence[Cell]
) -> str:
    """Return one sentence on the figures that differ, empty if all agree as far as digits are printed."""
    cut: list[str] = []
    wrong: list[str] = []
    unlike: list[str] = []
    for name, text, formula, measured in zip(names, printed, derived, ours, strict=True):
        if formula is None or isinstance(formula, str) or measured is None or isinstance(measured, str):
            continue
        value, digits = float(formula), len(text.partition(".")[2])
        if abs(value - float(measured)) > _SAME:
            unlike.append(name)
        if f"{value:.{digits}f}" == text:
            continue
        is_cut = digits and f"{int(value * 10**digits) / 10**digits:.{digits}f}" == text
        (cut if is_cut else wrong).append(f"{name} is {value:.3f} where {text} is printed")
    parts = [*wrong]
    if cut:
        parts.append(f"cut instead of rounded: {'; '.join(cut)}")
    if unlike:
        parts.append(f"our modules differ from the formulas at {', '.join(unlike)}")
    return write_sentence(parts)

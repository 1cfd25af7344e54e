"""Compute the rates of a table from its rows."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np

from hierdata.documents.document import Scalar
from hierdata.domains.semantic_partition import SemanticPartition
from hierdata.errors import InputError, PolicyError
from hierdata.measurement.table.figures import KeyRates, Measurement
from hierdata.measurement.table.goal import Goal, load_goal
from hierdata.measurement.table.reading import rows
from hierdata.measurement.table.rows import ContingencyTable, TableColumn, TableRows
from hierdata.metrics.rates import Prior, ValueRate, entropy, rate, split, uncertainty
from hierdata.progress import Progress, silent

_Partition: TypeAlias = str | Path | Mapping[str, Any] | SemanticPartition
_Stated: TypeAlias = tuple[Goal, Path]

MISSING = "missing"
"""The label of a missing value."""


def measure(
    table: object,
    *,
    keys: Sequence[str],
    sensitive: str,
    partition: _Partition | None = None,
    root: str | Path | None = None,
    originals: Mapping[str, str] | None = None,
    format: str | None = None,
    progress: Progress = silent,
) -> Measurement:
    """Measure the discrimination rates of a flat table: how far each key, and all keys, reveal ``sensitive``.

    ``table`` is a path (CSV, JSON, JSON Lines, Parquet), a DataFrame, an Arrow table or an iterable of dicts.
    With a ``partition`` the sensitive attribute is the block of its value (SeDR): a file, or the content of
    one (``blocks``, ``depth`` with ``taxonomy``, or ``levels``); a taxonomy that the file names must be below
    ``root``, by default the folder above its own. ``originals`` names for a key the column that it
    generalizes: then identity risk and skewness are measured too. A missing value of a key is a value; rows
    without a sensitive value are left out. Rates are no promise and judge no release.

    Raises PolicyError for columns and partitions that do not fit, InputError for a broken table.

    >>> people = [{"age": "2*", "illness": "flu"}, {"age": "2*", "illness": "flu"}]
    >>> people += [{"age": "3*", "illness": "flu"}, {"age": "3*", "illness": "cold"}]
    >>> found = measure(people, keys=["age"], sensitive="illness")
    >>> round(found.entropy, 3), round(float(found.keys[0].rate), 3), found.keys[0].values["v1"].refinement
    (0.811, 0.384, Fraction(1, 1))
    """
    originals = originals or {}
    _check(keys, sensitive, originals)
    columns = list(dict.fromkeys([sensitive, *keys, *originals.values()]))
    everything = rows(table, columns, format, progress)
    of = everything.columns[sensitive]
    found = everything.of(np.array([value is not None for value in of.values])[of.codes])
    if not found.total():
        raise InputError("no row has a value of the sensitive attribute", path=sensitive)
    asked = _TableQuestion.of(
        found, sensitive, keys, None if partition is None else load_goal(partition, root)
    )
    measured = [asked.rates((key,), originals.get(key)) for key in keys]
    if len(keys) > 1:
        measured.append(asked.rates(tuple(keys), None))
    return Measurement(
        sensitive,
        found.total(),
        len(asked.values),
        entropy(asked.values.values()),
        tuple(measured),
        tuple(_notes(len(asked.values), everything.total() - found.total())),
        {key: dict(zip(_labels(own.values), own.values, strict=True)) for key, own in asked.keys.items()},
    )


def _check(keys: Sequence[str], sensitive: str, originals: Mapping[str, str]) -> None:
    if not keys or isinstance(keys, str):
        raise PolicyError("name at least one key, in a list")
    if len(set(keys)) < len(keys):
        raise PolicyError("a key is named twice")
    if sensitive in keys:
        raise PolicyError("the sensitive attribute cannot be a key", path=sensitive)
    for key in originals:
        if key not in keys:
            raise PolicyError("an original is given for a column that is not a key", path=key)


def _recode_to_blocks(
    column: TableColumn, counts: Mapping[Scalar, int], sensitive: str, partition: _Stated
) -> TableColumn:
    """Replace each sensitive value by its block (DR equation 6)."""
    goal, folder = partition
    block_of = goal.blocks_of(sensitive, counts, folder)
    blocks = tuple(dict.fromkeys(block_of.values()))
    return column.recode_values(blocks, {value: blocks.index(block) for value, block in block_of.items()})


def _order_column(column: TableColumn, there: Collection[Scalar]) -> TableColumn:
    """Sort the values of a column: numbers ascending, then text, then missing."""
    ordered: list[Scalar] = sorted((value for value in there if value is not None), key=_order)
    values = (*ordered, *([None] if None in there else []))
    return column.recode_values(values, {value: place for place, value in enumerate(values)})


def _labels(values: Sequence[Scalar]) -> list[str]:
    """Return the labels of the values of a key, by position."""
    return [MISSING if value is None else f"v{place}" for place, value in enumerate(values, 1)]


def _order(value: Scalar) -> tuple[bool, int | Decimal, str]:
    return (True, 0, value) if isinstance(value, str) else (False, value or 0, "")


@dataclass(frozen=True)
class _TableQuestion:
    """The rows; the sensitive column and the counts of its codes; the keys, with their values in order."""

    found: TableRows
    sensitive: TableColumn
    keys: Mapping[str, TableColumn]
    values: Mapping[int, int]
    prior: Prior

    @classmethod
    def of(
        cls, found: TableRows, sensitive: str, keys: Sequence[str], partition: _Stated | None
    ) -> _TableQuestion:
        column = found.columns[sensitive]
        if partition is not None:
            column = _recode_to_blocks(column, found.values(sensitive), sensitive, partition)
        counts = _counts(found, column)
        ordered = {key: _order_column(found.columns[key], found.values(key)) for key in keys}
        return cls(found, column, ordered, counts, Prior(split(counts.values())))

    def rates(self, keys: tuple[str, ...], original: str | None) -> KeyRates:
        by = [self.keys[key] for key in keys]
        table = self.found.table(self.sensitive, by)
        left = table.split()
        rate = 1 - self.prior.left_by(left)
        identity: Fraction | float | None = None
        skewness: Fraction | float | None = None
        if original is not None:
            of = self.found.columns[original]
            identity = _rate(self.found, of, by)
            skewness = _rate(self.found, self.sensitive, [of]) - rate
        entropy = uncertainty(left) / self.found.total()
        return KeyRates(keys, rate, entropy, identity, skewness, self._by_value(by, table))

    def _by_value(self, keys: Sequence[TableColumn], table: ContingencyTable) -> dict[str, ValueRate]:
        """Return the figures of each value by label; rows that are equal are computed once."""
        known: dict[bytes, ValueRate] = {}
        shown = []
        for key, codes in zip(keys, table.shown, strict=True):
            labels = _labels(key.values)
            shown.append([labels[code] for code in codes.tolist()])
        found: dict[str, ValueRate] = {}
        for label, row in zip(map(", ".join, zip(*shown, strict=True)), table.rows(), strict=True):
            if row not in known:
                known[row] = self.prior.value_rate(table.cells(row), self.values)
            found[label] = known[row]
        return found


def _counts(found: TableRows, column: TableColumn) -> dict[int, int]:
    """Count each code of a column that occurs."""
    counts = found.sums(column).tolist()
    return {code: count for code, count in enumerate(counts) if count}


def _rate(found: TableRows, of: TableColumn, by: Sequence[TableColumn]) -> Fraction | float:
    """Return DR of one column, given others."""
    return rate(found.table(of, by).split(), split(_counts(found, of).values()))


def _notes(categories: int, left_out: int) -> Iterator[str]:
    if categories == 1:
        yield "the sensitive attribute has one value here: there is nothing to refine, and every rate is 0"
    if left_out:
        yield f"{left_out} rows have no sensitive value and are left out"

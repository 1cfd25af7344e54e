"""Compute the rates of a table from its rows; what is printed of its figures has no raw value."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from pathlib import Path
from typing import Any, Literal, TypeAlias

import numpy as np

from hierdata.documents.document import Scalar
from hierdata.domains.semantic_partition import SemanticPartition
from hierdata.ground.errors import InputError, PolicyError
from hierdata.ground.progress import Progress, silent
from hierdata.measurement.key_values import (
    label_values,
    order_values,
    plain_number,
    plain_values,
    rate_values,
)
from hierdata.measurement.table.goal import Goal, load_goal
from hierdata.measurement.table.rows import (
    OpenTable,
    TableColumn,
    TableRows,
    number_combinations,
    read_rows,
)
from hierdata.metrics.cells import rank_cells
from hierdata.metrics.rates import ValueRate, entropy, uncertainty

_Partition: TypeAlias = str | Path | Mapping[str, Any] | SemanticPartition
_Stated: TypeAlias = tuple[Goal, Path]


def measure_table(
    table: OpenTable,
    *,
    keys: Sequence[str],
    sensitive: str,
    partition: _Partition | None = None,
    root: str | Path | None = None,
    originals: Mapping[str, str] | None = None,
    progress: Progress = silent,
) -> Measurement:
    """Measure the discrimination rates of a flat table (see ``hierdata.measure``).

    Raises PolicyError for columns and partitions that do not fit, InputError for a broken table.
    """
    originals = originals or {}
    check_names(keys, sensitive, originals)
    columns = list(dict.fromkeys([sensitive, *keys, *originals.values()]))
    everything = read_rows(table, columns, progress)
    column = everything.columns[sensitive]
    rows = everything.of(np.array([value is not None for value in column.values])[column.codes])
    if not rows.total():
        raise InputError("no row has a value of the sensitive attribute", path=sensitive)
    stated = None if partition is None else load_goal(partition, root)
    asked = _TableQuestion.of(rows, sensitive, keys, stated)
    measured = [asked.rates((key,), originals.get(key)) for key in keys]
    if len(keys) > 1:
        measured.append(asked.rates(tuple(keys), None))
    return Measurement(
        sensitive,
        rows.total(),
        len(asked.values),
        entropy(asked.values.values()),
        tuple(measured),
        tuple(notes(len(asked.values), everything.total() - rows.total(), "row")),
        asked.names(),
    )


def check_names(keys: Sequence[str], sensitive: str, originals: Mapping[str, str]) -> None:
    """Raise PolicyError for names of columns that contradict each other."""
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


def _order_column(column: TableColumn, kept: Collection[Scalar]) -> TableColumn:
    """Sort the values of a column as they are labelled."""
    values = tuple(order_values(kept))
    return column.recode_values(values, {value: code for code, value in enumerate(values)})


@dataclass(frozen=True)
class _TableQuestion:
    """The rows; the sensitive column; the keys, with their values in order."""

    rows: TableRows
    sensitive: TableColumn
    keys: Mapping[str, TableColumn]

    @classmethod
    def of(
        cls, rows: TableRows, sensitive: str, keys: Sequence[str], partition: _Stated | None
    ) -> _TableQuestion:
        column = rows.columns[sensitive]
        if partition is not None:
            column = _recode_to_blocks(column, rows.values(sensitive), sensitive, partition)
        return cls(rows, column, {key: _order_column(rows.columns[key], rows.values(key)) for key in keys})

    @cached_property
    def values(self) -> dict[int, int]:
        """The count of each code of the sensitive column that occurs."""
        return {code: count for code, count in enumerate(self.rows.sums(self.sensitive).tolist()) if count}

    def names(self) -> dict[str, dict[str, Scalar]]:
        """Return the value behind each label, by key."""
        return {
            key: dict(zip(label_values(column.values), column.values, strict=True))
            for key, column in self.keys.items()
        }

    def rates(self, keys: tuple[str, ...], original: str | None) -> KeyRates:
        columns = [self.keys[key] for key in keys]
        tally = self.rows.tally(self.sensitive, columns)
        identity: Fraction | float | None = None
        skewness: Fraction | float | None = None
        if original is not None:
            before = self.rows.columns[original]
            identity = self.rows.tally(before, columns).rate
            skewness = self.rows.tally(self.sensitive, [before]).rate - tally.rate
        entropy = uncertainty(tally.by_key) / self.rows.total()
        values = rate_values(tally, _label_combinations(columns), self.values)
        return KeyRates(keys, tally.rate, entropy, identity, skewness, values)


def _label_combinations(columns: Sequence[TableColumn]) -> dict[tuple[int, ...], str]:
    """Return the label of each combination of values that occurs, by the lanes of its number."""
    lanes = number_combinations(columns).lanes
    first, _ = rank_cells(lanes)
    labels = []
    for column in columns:
        of_values = label_values(column.values)
        labels.append([of_values[code] for code in column.codes[first].tolist()])
    numbers = zip(*(lane[first].tolist() for lane in lanes), strict=True)
    return dict(zip(numbers, map(", ".join, zip(*labels, strict=True)), strict=True))


@dataclass(frozen=True)
class KeyRates:
    """What keys together reveal of the sensitive attribute X (DR definitions 3, 4 and 7).

    - ``rate``: DR_X(Y), 0..1, lower is better; the paper's homogeneity risk (table 7);
    - ``resistance``: 1 - DR_X(Y), higher is better; against homogeneity and background knowledge (table 8);
    - ``entropy``: H(X|Y) in bits;
    - ``divergence``, ``distance``: the greatest of any value (see ValueRate), since no rate detects a skew
      (erratum DR-10);
    - ``identity``: DR_O(Y), where O is the column that Y generalizes (table 6), else None;
    - ``skewness``: DR_X(O) - DR_X(Y) (section 6.1), 0..1 where each value of O has one of Y: what
      generalizing took away, not what an attacker gains (erratum DR-10);
    - ``values``: the figures of each value, by its label.
    """

    keys: tuple[str, ...]
    rate: Fraction | float
    entropy: float
    identity: Fraction | float | None
    skewness: Fraction | float | None
    values: Mapping[str, ValueRate]

    @property
    def resistance(self) -> Fraction | float:
        """1 - DR_X(Y)."""
        return 1 - self.rate

    @property
    def divergence(self) -> float:
        """The greatest relative entropy in bits."""
        return max(value.divergence for value in self.values.values())

    @property
    def distance(self) -> Fraction | float:
        """The greatest distance."""
        return max(value.distance for value in self.values.values())

    def as_dict(self) -> dict[str, Any]:
        """Return plain data."""
        return {
            "keys": list(self.keys),
            "rate": plain_number(self.rate),
            "resistance": plain_number(self.resistance),
            "entropy": self.entropy,
            "divergence": self.divergence,
            "distance": plain_number(self.distance),
            "identity": plain_number(self.identity),
            "skewness": plain_number(self.skewness),
            "values": plain_values(self.values),
        }


@dataclass(frozen=True)
class Measurement:
    """The rates of a table or of trees: of each key, and of all keys together if there are several (DR-8).

    ``entropy`` is H(X) in bits over ``rows`` rows, ``categories`` the values or blocks of X. In trees
    a row is a person, as ``unit`` says. Values of keys are labelled v1, v2 .. by size, numbers before text;
    ``names`` has the value behind each label.
    """

    sensitive: str
    rows: int
    categories: int
    entropy: float
    keys: tuple[KeyRates, ...]
    notes: tuple[str, ...]
    names: Mapping[str, Mapping[str, Scalar]] = field(repr=False)
    unit: Literal["row", "person"] = "row"

    def as_dict(self) -> dict[str, Any]:
        """Return plain data, without the names."""
        return {
            "sensitive": self.sensitive,
            "rows": self.rows,
            "unit": self.unit,
            "categories": self.categories,
            "entropy": self.entropy,
            "notes": list(self.notes),
            "keys": [rates.as_dict() for rates in self.keys],
        }


def notes(categories: int, left_out: int, unit: str) -> Iterator[str]:
    """Yield what must be said of a measurement."""
    if categories == 1:
        yield "the sensitive attribute has one value here: there is nothing to refine, and every rate is 0"
    if left_out:
        subject = f"1 {unit} has" if left_out == 1 else f"{left_out} {unit}s have"
        yield f"{subject} no sensitive value, and {'is' if left_out == 1 else 'are'} left out"

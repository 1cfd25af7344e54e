"""Compute the rates of a table from its rows; what is printed of its figures has no raw value."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path
from typing import Any, Literal, TypeAlias

import numpy as np

from hierdata.documents.document import Scalar
from hierdata.domains.semantic_partition import SemanticPartition
from hierdata.ground.errors import InputError, PolicyError
from hierdata.ground.progress import Progress, silent
from hierdata.measurement.key_values import label_values, order_values, plain_number, plain_values
from hierdata.measurement.table.goal import Goal, load_goal
from hierdata.measurement.table.rows import ContingencyTable, OpenTable, TableColumn, TableRows, read_rows
from hierdata.metrics.rates import Prior, ValueRate, entropy, rate, split, uncertainty

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
        tuple(notes(len(asked.values), everything.total() - found.total(), "row")),
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
    return column.recode_values(values, {value: place for place, value in enumerate(values)})


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

    def names(self) -> dict[str, dict[str, Scalar]]:
        """Return the value behind each label, by key."""
        return {
            key: dict(zip(label_values(own.values), own.values, strict=True))
            for key, own in self.keys.items()
        }

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
        shown, total = [], self.found.total()
        for key, codes in zip(keys, table.shown, strict=True):
            labels = label_values(key.values)
            shown.append([labels[code] for code in codes.tolist()])
        found: dict[str, ValueRate] = {}
        for label, row in zip(map(", ".join, zip(*shown, strict=True)), table.rows(), strict=True):
            if row not in known:
                known[row] = self.prior.value_rate(table.cells(row), self.values, total)
            found[label] = known[row]
        return found


def _counts(rows: TableRows, column: TableColumn) -> dict[int, int]:
    """Count each code of a column that occurs."""
    counts = rows.sums(column).tolist()
    return {code: count for code, count in enumerate(counts) if count}


def _rate(rows: TableRows, of: TableColumn, by: Sequence[TableColumn]) -> Fraction | float:
    """Return DR of one column, given others."""
    return rate(rows.table(of, by).split(), split(_counts(rows, of).values()))


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
            "keys": [own.as_dict() for own in self.keys],
        }


def notes(categories: int, left_out: int, unit: str) -> Iterator[str]:
    """Yield what must be said of a measurement."""
    if categories == 1:
        yield "the sensitive attribute has one value here: there is nothing to refine, and every rate is 0"
    if left_out:
        subject = f"1 {unit} has" if left_out == 1 else f"{left_out} {unit}s have"
        yield f"{subject} no sensitive value, and {'is' if left_out == 1 else 'are'} left out"

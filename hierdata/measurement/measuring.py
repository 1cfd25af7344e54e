"""From the rows of a table to its rates."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

from hierdata.document import Scalar
from hierdata.domains.semantic_partition import SemanticPartition
from hierdata.errors import InputError, PolicyError
from hierdata.measurement.figures import KeyRates, Measurement
from hierdata.measurement.goal import stated
from hierdata.measurement.reading import Row, rows
from hierdata.metrics.rates import (
    Prior,
    ValueRate,
    discrimination_rate,
    entropy,
    split,
    split_rows,
    uncertainty,
)
from hierdata.progress import Progress, silent

MISSING = "missing"
"""The label of a missing value."""


def measure(
    table: object,
    *,
    keys: Sequence[str],
    sensitive: str,
    partition: str | Path | Mapping[str, Any] | SemanticPartition | None = None,
    originals: Mapping[str, str] | None = None,
    format: str | None = None,
    progress: Progress = silent,
) -> Measurement:
    """The discrimination rates of a flat table: what each key, and all together, tell of ``sensitive``.

    ``table`` is a path (CSV, JSON, JSON Lines, Parquet), a DataFrame, an Arrow table or an iterable of dicts.
    With a ``partition`` the sensitive attribute is the block of its value (SeDR): a file, or what stands in
    one (``blocks``, ``depth`` with ``taxonomy``, or ``levels``). ``originals`` names for a key the column
    that it generalizes: then identity risk and skewness are measured too. A missing value of a key is a
    value; rows without a sensitive value are left out. Nothing is promised: a rate judges no release.

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
    found = Counter({row: count for row, count in everything.items() if row[0] is not None})
    if not found:
        raise InputError("no row has a value of the sensitive attribute", path=sensitive)
    if partition is not None:
        found = _in_blocks(found, sensitive, partition)
    asked = _Asked.of(found, columns, keys)
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
        {key: {label: value for value, label in own.items()} for key, own in asked.labels.items()},
    )


def _check(keys: Sequence[str], sensitive: str, originals: Mapping[str, str]) -> None:
    if not keys or isinstance(keys, str):
        raise PolicyError("name at least one key, in a list")
    if len(set(keys)) < len(keys):
        raise PolicyError("a key is named twice")
    if sensitive in keys:
        raise PolicyError("the sensitive attribute is no key of its own", path=sensitive)
    for key in originals:
        if key not in keys:
            raise PolicyError("an original is given for a column that is no key", path=key)


def _in_blocks(
    found: Counter[Row], sensitive: str, partition: str | Path | Mapping[str, Any] | SemanticPartition
) -> Counter[Row]:
    """The rows with the block of the sensitive value in its place (DR equation 6)."""
    goal, folder = stated(partition)
    block_of = goal.blocks_of(sensitive, _column(found, 0), folder)
    blocks: Counter[Row] = Counter()
    for row, count in found.items():
        blocks[(block_of[row[0]], *row[1:])] += count
    return blocks


def _column(found: Counter[Row], at: int) -> Counter[Scalar]:
    counts: Counter[Scalar] = Counter()
    for row, count in found.items():
        counts[row[at]] += count
    return counts


def _labels(values: Iterable[Scalar]) -> dict[Scalar, str]:
    """Numbers in ascending order, then text, then what is missing."""
    there = set(values)
    missing = {None: MISSING} if None in there else {}
    return {value: f"v{place}" for place, value in enumerate(sorted(there - {None}, key=_order), 1)} | missing


def _order(value: Scalar) -> tuple[bool, int | Decimal, str]:
    return (True, 0, value) if isinstance(value, str) else (False, value or 0, "")


@dataclass(frozen=True)
class _Asked:
    """The rows, the sensitive value first; how often each of these occurs; the labels of values by key."""

    found: Counter[Row]
    columns: Sequence[str]
    values: Counter[Scalar]
    labels: Mapping[str, Mapping[Scalar, str]]
    prior: Prior

    @classmethod
    def of(cls, found: Counter[Row], columns: Sequence[str], keys: Sequence[str]) -> _Asked:
        values = _column(found, 0)
        labels = {key: _labels(_column(found, columns.index(key))) for key in keys}
        return cls(found, columns, values, labels, Prior(split(values.values())))

    def rates(self, keys: tuple[str, ...], original: str | None) -> KeyRates:
        at = [self.columns.index(key) for key in keys]
        table = _table(self.found, 0, at)
        left = split_rows(table.values())
        rate = 1 - self.prior.left_by(left)
        identity: Fraction | float | None = None
        skewness: Fraction | float | None = None
        if original is not None:
            of = self.columns.index(original)
            identity = discrimination_rate(_table(self.found, of, at).values())
            skewness = discrimination_rate(_table(self.found, 0, [of]).values()) - rate
        entropy = uncertainty(left) / self.found.total()
        return KeyRates(keys, rate, entropy, identity, skewness, self._by_value(keys, table))

    def _by_value(self, keys: Sequence[str], table: Mapping[Row, Counter[Scalar]]) -> dict[str, ValueRate]:
        """The figures of each value by label; most values of many keys show the same few rows."""
        known: dict[frozenset[tuple[Scalar, int]], ValueRate] = {}
        named = []
        for shown, row in table.items():
            shape = frozenset(row.items())
            figures = known.get(shape)
            if figures is None:
                figures = known[shape] = self.prior.value_rate(row, self.values)
            named.append(([self.labels[key][one] for key, one in zip(keys, shown, strict=True)], figures))
        named.sort(key=lambda item: [_place(label) for label in item[0]])
        return {", ".join(labels): figures for labels, figures in named}


def _place(label: str) -> tuple[bool, int]:
    return (True, 0) if label == MISSING else (False, int(label[1:]))


def _table(found: Counter[Row], of: int, by: Sequence[int]) -> dict[Row, Counter[Scalar]]:
    """How often each value of one column occurs with each value of the others."""
    table: dict[Row, Counter[Scalar]] = {}
    for row, count in found.items():
        shown = tuple([row[at] for at in by])
        own = table.get(shown)
        if own is None:
            own = table[shown] = Counter()
        own[row[of]] += count
    return table


def _notes(categories: int, left_out: int) -> Iterator[str]:
    if categories == 1:
        yield "the sensitive attribute has one value here: there is nothing to refine, and every rate is 0"
    if left_out:
        yield f"{left_out} rows have no sensitive value and are left out"

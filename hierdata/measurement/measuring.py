"""From the rows of a table to its rates."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from itertools import chain, repeat
from operator import getitem, itemgetter
from pathlib import Path
from typing import Any, TypeAlias

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

_Counts: TypeAlias = "dict[Scalar, int]"

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
        {key: {_label(value, at): value for value, at in own.items()} for key, own in asked.places.items()},
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
    return Counter(_elements(found, at))


def _elements(found: Counter[Row], *at: int) -> Iterator[Any]:
    """What each row shows there: a value, or several."""
    return chain.from_iterable(map(repeat, map(itemgetter(*at), found), found.values()))


def _places(values: Iterable[Scalar]) -> dict[Scalar, int]:
    """The place of each value, from 1: numbers in ascending order, then text, then what is missing."""
    there = set(values)
    ordered: list[Scalar] = sorted(there - {None}, key=_order)
    return {value: at for at, value in enumerate([*ordered, None][: len(there)], 1)}


def _label(value: Scalar, place: int) -> str:
    return MISSING if value is None else f"v{place}"


def _order(value: Scalar) -> tuple[bool, int | Decimal, str]:
    return (True, 0, value) if isinstance(value, str) else (False, value or 0, "")


@dataclass(frozen=True)
class _Asked:
    """The rows, the sensitive value first; how often each of these occurs; the places of values by key."""

    found: Counter[Row]
    columns: Sequence[str]
    values: Counter[Scalar]
    places: Mapping[str, Mapping[Scalar, int]]
    prior: Prior

    @classmethod
    def of(cls, found: Counter[Row], columns: Sequence[str], keys: Sequence[str]) -> _Asked:
        values = _column(found, 0)
        places = {key: _places(_column(found, columns.index(key))) for key in keys}
        return cls(found, columns, values, places, Prior(split(values.values())))

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

    def _by_value(self, keys: Sequence[str], table: Mapping[Row, _Counts]) -> dict[str, ValueRate]:
        """The figures of each value by label; most values of many keys show the same few rows."""
        known: dict[frozenset[tuple[Scalar, int]], ValueRate] = {}
        places = [self.places[key] for key in keys]
        found: dict[str, ValueRate] = {}
        for shown in sorted(table, key=lambda shown: tuple(map(getitem, places, shown))):
            row = table[shown]
            shape = frozenset(row.items())
            if shape not in known:
                known[shape] = self.prior.value_rate(row, self.values)
            labels = map(_label, shown, map(getitem, places, shown))
            found[", ".join(labels)] = known[shape]
        return found


def _table(found: Counter[Row], of: int, by: Sequence[int]) -> dict[Row, _Counts]:
    """How often each value of one column occurs with each value of the others."""
    table: dict[Row, _Counts] = {}
    for (value, *shown), count in Counter(_elements(found, of, *by)).items():
        table.setdefault(tuple(shown), {})[value] = count
    return table


def _notes(categories: int, left_out: int) -> Iterator[str]:
    if categories == 1:
        yield "the sensitive attribute has one value here: there is nothing to refine, and every rate is 0"
    if left_out:
        yield f"{left_out} rows have no sensitive value and are left out"

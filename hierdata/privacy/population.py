"""The population table of k-map and delta-presence: how many of its rows fit what is published.

A row fits a class if, in every compared column, its value equals the published value or is below it in the
hierarchy. Everything fits ``*``, and empty cells fit a missing value. Values outside the domain fit only
``*``.

The judge asks by published labels: ``Population.count``. Engines ask by hierarchy nodes: they call
``at_root`` once per run, then ``Crowd.count(nodes)`` with the root nodes of a class representative, in the
order of the root's quasi-identifiers. The result is ``ClassView.population``.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from pathlib import Path

from hierdata.documents.document import Scalar
from hierdata.documents.formats.csv import Csv
from hierdata.documents.formats.source import PathSource
from hierdata.domains.base import ROOT_LABEL, Hierarchy, QuasiDomain, Uncovered
from hierdata.domains.number import exact, plain
from hierdata.ground.errors import InputError, PolicyError, file_error

Keys = tuple[str, ...]

_KEPT = 1024
"""Cached sets of rows per column, for the labels asked for last."""


@dataclass(frozen=True)
class Compared:
    """A quasi-identifier of the record's root that a column of the table is compared with.

    ``missing`` are the spellings of a missing value.
    """

    keys: Keys
    path: str
    column: str
    domain: QuasiDomain
    missing: frozenset[str] = frozenset()


class PopulationColumn:
    """The rows of the table, indexed by the labels that may be published for them."""

    def __init__(self, compared: Compared, cells: Sequence[Scalar], folder: Path) -> None:
        self.keys = compared.keys
        self._rows = len(cells)
        by_cell: dict[Scalar, list[int]] = {}
        for row, cell in enumerate(cells):
            by_cell.setdefault(None if cell in compared.missing else cell, []).append(row)
        hierarchy = compared.domain.compile(dict.fromkeys(by_cell, 1), folder)
        self._numeric = hierarchy.codebook.get("kind") in ("interval", "taxonomy")
        self._rows_of: dict[str | None, list[int]] = {}
        for cell, rows in by_cell.items():
            for label in {self._spell_label(label) for label in _labels(hierarchy, cell)}:
                self._rows_of.setdefault(label, []).extend(rows)

    @cached_property
    def fitting(self) -> Callable[[Scalar], int]:
        """The rows that fit a published value, as the bits of an integer; answers are cached."""
        return lru_cache(_KEPT, typed=True)(self._matching_rows)

    def __getstate__(self) -> dict[str, object]:
        """Return the state without the cache."""
        return {name: value for name, value in vars(self).items() if name != "fitting"}

    def _spell_label(self, label: Scalar) -> str | None:
        """Return a label in the spelling that is common to all formats."""
        if isinstance(label, bool):
            return "true" if label else "false"
        if label is None or (isinstance(label, str) and not self._numeric):
            return label
        try:
            return plain(exact(label))
        except Uncovered:
            return str(label)

    def _matching_rows(self, label: Scalar) -> int:
        if label == ROOT_LABEL:
            return (1 << self._rows) - 1
        bits = bytearray(self._rows // 8 + 1)
        for row in self._rows_of.get(self._spell_label(label), ()):
            bits[row >> 3] |= 1 << (row & 7)
        return int.from_bytes(bits, "little")


def _labels(hierarchy: Hierarchy, cell: Scalar) -> Iterator[Scalar]:
    """Yield the labels that may be published for a cell, except ``*``; none if it is outside the domain."""
    try:
        node = _node(hierarchy, cell)
    except Uncovered:
        return
    yield from (hierarchy.labels[above] for above in hierarchy.ancestors[node] if above > 0)


def _node(hierarchy: Hierarchy, cell: Scalar) -> int:
    """Return the node of a cell; text without a node of its own may spell a number that has one."""
    try:
        return hierarchy.node_of(cell)
    except Uncovered:
        if not isinstance(cell, str):
            raise
        number = exact(cell)
        return hierarchy.node_of(number if isinstance(number, int) else plain(number))


class Population:
    """A population table, and how many of its rows fit."""

    def __init__(self, rows: int, columns: Sequence[PopulationColumn]) -> None:
        self.rows = rows
        self.columns = tuple(columns)

    def count(self, labels: Sequence[Scalar]) -> int:
        """Return how many rows fit the published values, one per column; None is a missing value."""
        fitting = (1 << self.rows) - 1
        for column, label in zip(self.columns, labels, strict=True):
            fitting &= column.fitting(label)
        return fitting.bit_count()

    def at_root(self, quasi: Sequence[Keys], hierarchies: Sequence[Hierarchy]) -> Crowd:
        """Return the Crowd for the root's quasi-identifiers: their keys and hierarchies, in schema order."""
        positions = tuple(quasi.index(column.keys) for column in self.columns)
        return Crowd(self, positions, tuple(hierarchies[position].labels for position in positions))


@dataclass(frozen=True)
class Crowd:
    """A population that engines query by the hierarchy nodes of a root."""

    population: Population
    positions: tuple[int, ...]
    labels: tuple[tuple[Scalar, ...], ...]

    def count(self, nodes: Sequence[int]) -> int:
        """Return how many rows fit the nodes of a root's quasi-identifiers, in schema order."""
        columns = zip(self.positions, self.labels, strict=True)
        return self.population.count([labels[nodes[position]] for position, labels in columns])


def read_population(
    file: Path, delimiter: str | None, compared: Sequence[Compared], folder: Path
) -> Population:
    """Read a CSV table.

    Raises TargetError if the file cannot be read, InputError if it is broken, PolicyError if a column is
    missing.
    """
    source, format = PathSource(file), Csv(delimiter)
    cells: list[list[Scalar]] = [[] for _ in compared]
    try:
        with source.open() as stream:
            layout = format.layout(stream)
        for field in compared:
            if field.column not in layout.columns:
                raise PolicyError(
                    f"the population table has no column {field.column!r} for this field: name one under "
                    "population.columns",
                    path=field.path,
                )
        rows = 0
        with source.open() as stream:
            for document in format.read(stream, layout):
                rows += 1
                for column, field in zip(cells, compared, strict=True):
                    cell = document.get(field.column)
                    assert not isinstance(cell, list | dict), "a cell of a table holds one value"
                    column.append(cell)
    except InputError as error:
        raise InputError(f"population table {file.name}: {error}", revealed=error.revealed) from None
    except OSError as error:
        raise file_error(error, f"cannot read {file.name}: {error.strerror}") from None
    columns = zip(compared, cells, strict=True)
    return Population(rows, [PopulationColumn(field, column, folder) for field, column in columns])


def fingerprint(file: Path) -> str:
    """Return the SHA-256 of the table's file. Raises TargetError."""
    try:
        with file.open("rb") as stream:
            return hashlib.file_digest(stream, "sha256").hexdigest()
    except OSError as error:
        raise file_error(error, f"cannot read the population table {file.name}: {error.strerror}") from None

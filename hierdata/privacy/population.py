"""The population table of k-map and delta-presence: how many of its rows fit what is published.

A row fits a class when, for every column that is compared, its value is one that the published value stands
for: it itself, or below it in the hierarchy. ``*`` stands for everything, a missing value for empty cells.
Values outside the domain fit ``*`` alone.

The judge asks by published labels, ``Population.count``. Engines ask by hierarchy nodes: ``at_root`` once a
run, then ``Crowd.count(nodes)`` with the nodes of a class representative's root in the order of the root's
quasi-identifiers, which is what ``ClassView.population`` is to be.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from hierdata.documents.document import Scalar
from hierdata.documents.formats.csv import Csv
from hierdata.documents.formats.source import PathSource
from hierdata.domains.base import ROOT_LABEL, Hierarchy, QuasiDomain, Uncovered
from hierdata.domains.number import exact, plain
from hierdata.errors import InputError, PolicyError, TargetError

Keys = tuple[str, ...]

_KEPT = 1024
"""Sets of rows that are remembered, by column: those of the labels asked for last."""


@dataclass(frozen=True)
class Compared:
    """A quasi-identifier of the record itself that a column of the table is compared with.

    ``codebook`` is that of the collection's hierarchy, where it is known: a number domain spells its bins by
    it. ``missing`` are the spellings of a missing value.
    """

    keys: Keys
    path: str
    column: str
    domain: QuasiDomain
    missing: frozenset[str] = frozenset()
    codebook: Mapping[str, Any] | None = None


class Column:
    """The rows of the table by what may be published for them."""

    def __init__(self, compared: Compared, cells: Sequence[Scalar], folder: Path) -> None:
        self.keys = compared.keys
        self._rows = len(cells)
        found: dict[Scalar, list[int]] = {}
        for row, cell in enumerate(cells):
            found.setdefault(None if cell in compared.missing else cell, []).append(row)
        hierarchy = compared.domain.compile(dict.fromkeys(_observed(found, compared), 1), folder)
        self._numeric = hierarchy.codebook.get("kind") in ("interval", "taxonomy")
        self._rows_of: dict[str | None, list[int]] = {}
        for cell, rows in found.items():
            for label in {self._spelled(label) for label in _labels(hierarchy, cell)}:
                self._rows_of.setdefault(label, []).extend(rows)
        self.fitting = lru_cache(_KEPT, typed=True)(self._fitting)

    def __getstate__(self) -> dict[str, object]:
        """All but what is remembered."""
        return {name: value for name, value in vars(self).items() if name != "fitting"}

    def __setstate__(self, state: dict[str, object]) -> None:
        """Take what was kept, and remember anew."""
        vars(self).update(state)
        self.fitting = lru_cache(_KEPT, typed=True)(self._fitting)

    def _spelled(self, label: Scalar) -> str | None:
        """A label in one spelling for all formats."""
        if isinstance(label, bool):
            return "true" if label else "false"
        if label is None or (isinstance(label, str) and not self._numeric):
            return label
        try:
            return plain(exact(label))
        except Uncovered:
            return str(label)

    def _fitting(self, label: Scalar) -> int:
        """The rows that a published value stands for, as the bits of a number."""
        if label == ROOT_LABEL:
            return (1 << self._rows) - 1
        bits = bytearray(self._rows // 8 + 1)
        for row in self._rows_of.get(self._spelled(label), ()):
            bits[row >> 3] |= 1 << (row & 7)
        return int.from_bytes(bits, "little")


def _labels(hierarchy: Hierarchy, cell: Scalar) -> Iterator[Scalar]:
    """What may be published for a cell, ``*`` aside: nothing where it is outside the domain."""
    try:
        node = _node(hierarchy, cell)
    except Uncovered:
        return
    yield from (hierarchy.labels[above] for above in hierarchy.ancestors[node] if above > 0)


def _node(hierarchy: Hierarchy, cell: Scalar) -> int:
    """The node of a cell; text that is none may spell a number that is one."""
    try:
        return hierarchy.node_of(cell)
    except Uncovered:
        if not isinstance(cell, str):
            raise
        number = exact(cell)
        return hierarchy.node_of(number if isinstance(number, int) else plain(number))


def _observed(cells: Iterable[Scalar], compared: Compared) -> Iterator[Scalar]:
    """What the hierarchy is compiled for, so that numbers are spelled as in the collection."""
    form = None if compared.codebook is None else compared.codebook.get("form")
    for cell in cells:
        if form == "integer" and cell is not None:
            try:
                if exact(cell).denominator != 1:
                    continue
            except Uncovered:
                continue
        yield cell
    if form == "decimal":
        least, _ = getattr(compared.domain, "domain", None) or (0, 0)
        yield plain(least + exact("0.5"))  # no row has it; it makes the bins those of decimal numbers


class Population:
    """A population table, and how many of its rows fit."""

    def __init__(self, rows: int, columns: Sequence[Column]) -> None:
        self.rows = rows
        self.columns = tuple(columns)

    def count(self, labels: Sequence[Scalar]) -> int:
        """The rows that fit published values, one for each of ``columns``; None is a missing value."""
        fitting = (1 << self.rows) - 1
        for column, label in zip(self.columns, labels, strict=True):
            fitting &= column.fitting(label)
        return fitting.bit_count()

    def at_root(self, quasi: Sequence[Keys], hierarchies: Sequence[Hierarchy]) -> Crowd:
        """For engines: the keys and hierarchies of the root's quasi-identifiers, in the schema's order."""
        positions = tuple(quasi.index(column.keys) for column in self.columns)
        return Crowd(self, positions, tuple(hierarchies[at].labels for at in positions))


@dataclass(frozen=True)
class Crowd:
    """A population as engines ask for it: by the hierarchy nodes of a root."""

    population: Population
    positions: tuple[int, ...]
    labels: tuple[tuple[Scalar, ...], ...]

    def count(self, nodes: Sequence[int]) -> int:
        """The rows that fit the nodes of a root's quasi-identifiers, in the schema's order."""
        return self.population.count(
            [own[nodes[at]] for at, own in zip(self.positions, self.labels, strict=True)]
        )


def read_population(
    file: Path, delimiter: str | None, compared: Sequence[Compared], folder: Path
) -> Population:
    """Read a CSV table. Raises TargetError, InputError for a broken one, PolicyError without a column."""
    source, format = PathSource(file), Csv(delimiter)
    cells: list[list[Scalar]] = [[] for _ in compared]
    try:
        with source.open() as stream:
            layout = format.layout(stream)
        for one in compared:
            if one.column not in layout.columns:
                raise PolicyError(
                    f"the population table has no column {one.column!r} for this field: name one under "
                    "population.columns",
                    path=one.path,
                )
        rows = 0
        with source.open() as stream:
            for document in format.read(stream, layout):
                rows += 1
                for column, one in zip(cells, compared, strict=True):
                    cell = document.get(one.column)
                    assert not isinstance(cell, list | dict), "a cell of a table holds one value"
                    column.append(cell)
    except InputError as error:
        raise InputError(f"population table {file.name}: {error}", revealed=error.revealed) from None
    except OSError as error:
        raise TargetError(f"cannot read {file.name}: {error.strerror}") from None
    return Population(
        rows, [Column(one, column, folder) for one, column in zip(compared, cells, strict=True)]
    )


def fingerprint(file: Path) -> str:
    """The SHA-256 of the table's file. Raises TargetError."""
    try:
        with file.open("rb") as stream:
            return hashlib.file_digest(stream, "sha256").hexdigest()
    except OSError as error:
        raise TargetError(f"cannot read the population table {file.name}: {error.strerror}") from None

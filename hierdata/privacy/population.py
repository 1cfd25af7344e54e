"""The population table of k-map and delta-presence: how many of its rows fit what is published.

A row fits a class if, in every compared column, its value equals the published value or is below it in the
hierarchy. Everything fits ``*``, and empty cells fit a missing value. Values outside the domain fit only
``*``.

The judge asks by published labels: ``Population.count``. Engines ask by hierarchy nodes: they call
``at_root`` once per run, then ``Crowd.count(nodes)`` with the root nodes of a class representative, in the
order of the root's quasi-identifiers. The result is ``ClassView.population``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from pathlib import Path

from hierdata.domains.base import ROOT_LABEL, Hierarchy, Label, QuasiDomain, Uncovered
from hierdata.domains.number import exact, plain

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

    def __init__(self, compared: Compared, cells: Sequence[Label], folder: Path) -> None:
        self.keys = compared.keys
        self._rows = len(cells)
        by_cell: dict[Label, list[int]] = {}
        for row, cell in enumerate(cells):
            by_cell.setdefault(None if cell in compared.missing else cell, []).append(row)
        hierarchy = compared.domain.compile(dict.fromkeys(by_cell, 1), folder)
        self._numeric = hierarchy.codebook.get("kind") in ("interval", "taxonomy")
        self._rows_of: dict[str | None, list[int]] = {}
        for cell, rows in by_cell.items():
            for label in {self._spell_label(label) for label in _labels(hierarchy, cell)}:
                self._rows_of.setdefault(label, []).extend(rows)

    @cached_property
    def fitting(self) -> Callable[[Label], int]:
        """The rows that fit a published value, as the bits of an integer; answers are cached."""
        return lru_cache(_KEPT, typed=True)(self._matching_rows)

    def __getstate__(self) -> dict[str, object]:
        """Return the state without the cache."""
        return {name: value for name, value in vars(self).items() if name != "fitting"}

    def _spell_label(self, label: Label) -> str | None:
        """Return a label in the spelling that is common to all formats."""
        if isinstance(label, bool):
            return "true" if label else "false"
        if label is None or (isinstance(label, str) and not self._numeric):
            return label
        try:
            return plain(exact(label))
        except Uncovered:
            return str(label)

    def _matching_rows(self, label: Label) -> int:
        if label == ROOT_LABEL:
            return (1 << self._rows) - 1
        bits = bytearray(self._rows // 8 + 1)
        for row in self._rows_of.get(self._spell_label(label), ()):
            bits[row >> 3] |= 1 << (row & 7)
        return int.from_bytes(bits, "little")


def _labels(hierarchy: Hierarchy, cell: Label) -> Iterator[Label]:
    """Yield the labels that may be published for a cell, except ``*``; none if it is outside the domain."""
    try:
        node = _node(hierarchy, cell)
    except Uncovered:
        return
    yield from (hierarchy.labels[above] for above in hierarchy.ancestors[node] if above > 0)


def _node(hierarchy: Hierarchy, cell: Label) -> int:
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

    def count(self, labels: Sequence[Label]) -> int:
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
    labels: tuple[tuple[Label, ...], ...]

    def count(self, nodes: Sequence[int]) -> int:
        """Return how many rows fit the nodes of a root's quasi-identifiers, in schema order."""
        columns = zip(self.positions, self.labels, strict=True)
        return self.population.count([labels[nodes[position]] for position, labels in columns])

"""The different rows of a table, and the tables of all nodes of the lattice."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from math import prod

import numpy as np
from numpy.typing import NDArray

from hierdata.engines.base import Constraints
from hierdata.engines.full_domain.bounds import counted, fits, packed
from hierdata.engines.full_domain.kernel import Near, added_up
from hierdata.engines.full_domain.steps import Steps
from hierdata.engines.rows.table import codes_of, nodes_of
from hierdata.forest.forest import Forest, Scope


@dataclass(frozen=True)
class Table:
    """Groups of rows: what is published of each, its size, and the sums that ``Near`` reads."""

    values: NDArray[np.int32]
    sizes: NDArray[np.int64]
    sums: NDArray[np.int64]

    def recoded(self, column: int, published: NDArray[np.int32]) -> Table:
        """The table with other values in a column, equal rows added up."""
        values = self.values.copy()
        values[:, column] = published[values[:, column]]
        own, sizes, sums, _ = added_up(values, self.sizes, self.sums)
        return Table(own, sizes, sums)


@dataclass(frozen=True)
class Base:
    """The different rows of a scope; ``of[row]`` is the one that a row is."""

    table: Table
    of: NDArray[np.int32]
    near: Near

    @classmethod
    def of_rows(cls, forest: Forest, scope: Scope, constraints: Constraints) -> Base:
        """Count the rows of a scope, their sensitive values by what the bounds ask for."""
        nodes, codes = nodes_of(forest, scope), codes_of(forest, scope)
        stated = constraints.closeness(scope.kind)
        bound = [(position, one) for position, one in stated if fits(one, codes[:, position])]
        # Rows that are equal in all that matters first, so that there are few lines to spread the sums over.
        used = sorted({position for position, _ in bound})
        both = np.ascontiguousarray(np.hstack([nodes, codes[:, used]]))
        alone = np.ones(len(both), np.int64), np.zeros((len(both), 0), np.int64)
        lines, sizes, _, line_of = added_up(both, *alone)
        held = {position: lines[:, nodes.shape[1] + at] for at, position in enumerate(used)}
        sums = [counted(one, held[position]) for position, one in bound]
        spread = np.hstack([np.zeros((len(lines), 0), np.int64), *sums]) * sizes[:, None]
        values, sizes, added, of = added_up(np.ascontiguousarray(lines[:, : nodes.shape[1]]), sizes, spread)
        return cls(Table(values, sizes, added), of[line_of], packed([one for _, one in bound]))


@dataclass(frozen=True)
class Lattice:
    """All combinations of steps; a node is numbered by its steps, those of the last column fastest."""

    steps: tuple[Steps, ...]

    @classmethod
    def of(cls, forest: Forest, kind: int, base: Base) -> Lattice:
        """That of a table."""
        trees = forest.hierarchies[kind]
        return cls(tuple(Steps.of(tree, base.table.values[:, at]) for at, tree in enumerate(trees)))

    @property
    def counts(self) -> tuple[int, ...]:
        """The number of steps of each column."""
        return tuple(len(own.published) for own in self.steps)

    @property
    def size(self) -> int:
        """The number of nodes."""
        return prod(self.counts)

    def published(self, node: int) -> list[NDArray[np.int32]]:
        """For each column what its values are published as at a node."""
        places = np.unravel_index(node, self.counts) if self.counts else ()
        return [own.published[int(at)] for own, at in zip(self.steps, places, strict=True)]

    def tables(self, base: Table) -> Iterator[tuple[int, Table]]:
        """The table of every node, each made from that of a node which has one step less.

        Columns with few values are recoded last: such a step starts from a table that is little larger than
        the one it makes. Memory is that of one table a column and step.
        """
        strides = [prod(self.counts[at + 1 :]) for at in range(len(self.counts))]
        values = [len(np.unique(column)) for column in base.values.T]
        order = sorted(range(len(values)), key=lambda at: -values[at])

        def below(at: int, node: int, table: Table) -> Iterator[tuple[int, Table]]:
            if at == len(order):
                yield node, table
                return
            column = order[at]
            steps, last = self.steps[column], table
            for step, (published, onwards) in enumerate(zip(steps.published, steps.onwards, strict=True)):
                if step:
                    start, way = (table, published) if onwards is None else (last, onwards)
                    last = start.recoded(column, way)
                yield from below(at + 1, node + step * strides[column], last)

        yield from below(0, 0, base)

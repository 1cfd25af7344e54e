"""The different rows of a table, and the tables of all nodes of the lattice."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from math import prod

import numpy as np
from numpy.typing import NDArray

from hierdata.engines.base import Constraints
from hierdata.engines.full_domain.bounds import count_codes, fits, pack_bounds
from hierdata.engines.full_domain.kernel import Near, sum_equal_lines
from hierdata.engines.full_domain.steps import Steps
from hierdata.engines.rows.table import codes_of, nodes_of
from hierdata.forest.forest import Forest, Scope


@dataclass(frozen=True)
class GroupTable:
    """Groups of rows: the published nodes of each, its size, and the sums that ``Near`` reads."""

    values: NDArray[np.int32]
    sizes: NDArray[np.int64]
    sums: NDArray[np.int64]

    def recode_column(self, column: int, published: NDArray[np.int32]) -> GroupTable:
        """Return the table with a column replaced by its published values, and equal rows added up."""
        values = self.values.copy()
        values[:, column] = published[values[:, column]]
        own, sizes, sums, _ = sum_equal_lines(values, self.sizes, self.sums)
        return GroupTable(own, sizes, sums)


@dataclass(frozen=True)
class Base:
    """The different rows of a scope; ``of[row]`` is the position of a row among them."""

    table: GroupTable
    of: NDArray[np.int32]
    near: Near

    @classmethod
    def of_rows(cls, forest: Forest, scope: Scope, constraints: Constraints) -> Base:
        """Count equal rows of a scope, with the sums of sensitive values that the bounds need."""
        nodes, codes = nodes_of(forest, scope), codes_of(forest, scope)
        stated = constraints.closeness(scope.kind)
        bound = [(position, one) for position, one in stated if fits(one, codes[:, position])]
        # Group rows that are equal in all used columns first, so that the sums are computed for few lines.
        used = sorted({position for position, _ in bound})
        both = np.ascontiguousarray(np.hstack([nodes, codes[:, used]]))
        alone = np.ones(len(both), np.int64), np.zeros((len(both), 0), np.int64)
        lines, sizes, _, line_of = sum_equal_lines(both, *alone)
        held = {position: lines[:, nodes.shape[1] + at] for at, position in enumerate(used)}
        sums = [count_codes(one, held[position]) for position, one in bound]
        spread = np.hstack([np.zeros((len(lines), 0), np.int64), *sums]) * sizes[:, None]
        values, sizes, added, of = sum_equal_lines(
            np.ascontiguousarray(lines[:, : nodes.shape[1]]), sizes, spread
        )
        return cls(GroupTable(values, sizes, added), of[line_of], pack_bounds([one for _, one in bound]))


@dataclass(frozen=True)
class Lattice:
    """All combinations of steps; nodes are numbered in row-major order, the last column fastest."""

    steps: tuple[Steps, ...]

    @classmethod
    def of(cls, forest: Forest, kind: int, base: Base) -> Lattice:
        """Build the lattice of a table."""
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

    def published_values(self, node: int) -> list[NDArray[np.int32]]:
        """Return, for each column, the map from values to their published nodes at a lattice node."""
        places = np.unravel_index(node, self.counts) if self.counts else ()
        return [own.published[int(at)] for own, at in zip(self.steps, places, strict=True)]

    def tables(self, base: GroupTable) -> Iterator[tuple[int, GroupTable]]:
        """Iterate over the tables of all nodes, each computed from that of a node with one step less.

        Columns with few values are recoded last, as such a step starts from a table that is little larger
        than its result. Memory: one table per column.
        """
        strides = [prod(self.counts[at + 1 :]) for at in range(len(self.counts))]
        values = [len(np.unique(column)) for column in base.values.T]
        order = sorted(range(len(values)), key=lambda at: -values[at])

        def below(at: int, node: int, table: GroupTable) -> Iterator[tuple[int, GroupTable]]:
            if at == len(order):
                yield node, table
                return
            column = order[at]
            steps, last = self.steps[column], table
            for step, (published, onwards) in enumerate(zip(steps.published, steps.onwards, strict=True)):
                if step:
                    start, way = (table, published) if onwards is None else (last, onwards)
                    last = start.recode_column(column, way)
                yield from below(at + 1, node + step * strides[column], last)

        yield from below(0, 0, base)

"""Composing classes, slow and plain: what a change loses, and whether the models allow it.

Nothing is remembered between two questions: classes are lists of rows, losses sums over cells, distances what
the models themselves say of the values.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from hierdata.domains.base import Hierarchy
from hierdata.engines import Constraints
from hierdata.privacy.base import ClassView

Rows = list[int]
Partition = list[Rows]


@dataclass(frozen=True)
class Records:
    """``nodes[row]`` and ``codes[row]`` (-1 for a missing value), LM' of each hierarchy, and the models."""

    nodes: Sequence[Sequence[int]]
    codes: Sequence[Sequence[int]]
    trees: Sequence[Hierarchy]
    losses: Sequence[Sequence[int]]
    constraints: Constraints
    kind: int = 0

    def loss(self, rows: Rows) -> int:
        """Rows times LM' of the join of all their nodes, summed over the quasi-identifiers."""
        total = 0
        for column, tree in enumerate(self.trees):
            shared = [
                entry
                for entry in tree.ancestors[self.nodes[rows[0]][column]]
                if entry >= 0 and all(entry in tree.ancestors[self.nodes[row][column]] for row in rows)
            ]
            total += self.losses[column][shared[-1]]
        return len(rows) * total

    def lost(self, classes: Partition) -> int:
        """The loss of all classes."""
        return sum(self.loss(rows) for rows in classes if rows)

    def allowed(self, rows: Rows) -> bool:
        """Whether the rows may be a class by all models."""
        if not all(one.holds(ClassView(len(rows), {})) for one in self.constraints.on_records):
            return False
        for at, bound in enumerate(self.constraints.on_values[self.kind]):
            counts = Counter(self.codes[row][at] for row in rows if self.codes[row][at] >= 0)
            if not all(one.holds(ClassView(len(rows), counts)) for one in bound):
                return False
        return len(rows) >= self.constraints.min_class_size

    def least(self) -> int | None:
        """The least loss of any partition into allowed classes; None without one."""
        found = [
            self.lost(classes)
            for classes in partitions(range(len(self.nodes)))
            if all(map(self.allowed, classes))
        ]
        return min(found, default=None)


def exchanged(classes: Partition, row: int, other: int) -> tuple[Rows, Rows]:
    """The classes of two rows after these have changed places."""
    one, two = (next(rows for rows in classes if own in rows) for own in (row, other))
    return [other if own == row else own for own in one], [row if own == other else own for own in two]


def moved(classes: Partition, row: int, to: Rows) -> tuple[Rows, Rows]:
    """The class of a row without it, and another with it."""
    one = next(rows for rows in classes if row in rows)
    return [own for own in one if own != row], [*to, row]


def partitions(rows: Sequence[int]) -> Iterator[Partition]:
    """All partitions of some rows."""
    if not rows:
        yield []
        return
    for classes in partitions(rows[1:]):
        yield [[rows[0]], *classes]
        for at, own in enumerate(classes):
            yield [*classes[:at], [rows[0], *own], *classes[at + 1 :]]

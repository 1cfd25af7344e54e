"""Check constraints on one class during a search, and on all classes after it."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from hierdata.engines.base import Constraints
from hierdata.engines.rows.contents import check_classes
from hierdata.engines.rows.table import codes_of, dense, joins, nodes_of
from hierdata.forest.forest import MISSING, Forest, Scope
from hierdata.forest.partition import SUPPRESSED


@dataclass(frozen=True)
class RowCounts:
    """The number of rows of a class, and by sensitive attribute with constraints how often it has each code.

    ``root`` are the nodes by which a class at the root is published, where a constraint counts a population.
    """

    records: int
    counts: tuple[Counter[int], ...]
    root: tuple[int, ...] = ()

    def __add__(self, other: RowCounts) -> RowCounts:
        """Return the counts of the union of two classes that are published alike."""
        counts = tuple(own + others for own, others in zip(self.counts, other.counts, strict=True))
        return RowCounts(self.records + other.records, counts, self.root)


class ClassConstraints:
    """A predicate: whether a class of some rows satisfies the constraints."""

    def __init__(self, forest: Forest, scope: Scope, constraints: Constraints) -> None:
        self._constraints = constraints
        self._hierarchies = forest.hierarchies[scope.kind]
        self._nodes = nodes_of(forest, scope)
        bound = enumerate(constraints.on_values[scope.kind])
        codes = codes_of(forest, scope)
        self._attributes = [(np.ascontiguousarray(codes[:, at]), own) for at, own in bound if own]

    @property
    def has_constraints(self) -> bool:
        """Whether there is any constraint."""
        return bool(self._constraints.on_records or self._attributes)

    def __call__(self, rows: NDArray[np.int64]) -> bool:
        """Check a class of these rows."""
        return self.hold(self.count_rows(rows))

    def count_rows(self, rows: NDArray[np.int64]) -> RowCounts:
        """Count the rows of a class and their values."""
        root: list[int] = []
        if self._constraints.population is not None:
            alone = np.zeros(len(rows), np.int64)
            root = joins(self._hierarchies, self._nodes[rows], alone)[0].tolist()
        counts = tuple(Counter(codes[rows].tolist()) for codes, _ in self._attributes)
        for own in counts:
            own.pop(MISSING, None)
        return RowCounts(len(rows), counts, tuple(root))

    def hold(self, counted: RowCounts) -> bool:
        """Check a class with these counts."""
        constraints = self._constraints
        if constraints.on_records:
            view = constraints.view(counted.records, {}, counted.root)
            if not all(one.holds(view) for one in constraints.on_records):
                return False
        for counts, (_, bound) in zip(counted.counts, self._attributes, strict=True):
            view = constraints.view(counted.records, counts, counted.root)
            if not all(one.holds(view) for one in bound):
                return False
        return True


def confirm_classes(
    forest: Forest, scope: Scope, constraints: Constraints, classes: NDArray[np.int64]
) -> NDArray[np.int64]:
    """Return the classes that satisfy all constraints, numbered without gaps."""
    classes = dense(classes)
    holds = np.append(check_classes(forest, scope, constraints, classes), False)  # SUPPRESSED is -1: the last
    return dense(np.where(holds[classes], classes, SUPPRESSED))

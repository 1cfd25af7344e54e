"""Check constraints on one class during a search, and on all classes after it."""

from __future__ import annotations

from collections import Counter

import numpy as np
from numpy.typing import NDArray

from hierdata.engines.base import Constraints
from hierdata.engines.rows.contents import check_classes
from hierdata.engines.rows.table import codes_of, dense, joins, nodes_of
from hierdata.forest.forest import Forest, Scope
from hierdata.forest.partition import SUPPRESSED


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
        constraints, root = self._constraints, []
        if constraints.population is not None:
            alone = np.zeros(len(rows), np.int64)
            root = joins(self._hierarchies, self._nodes[rows], alone)[0].tolist()
        if constraints.on_records:
            view = constraints.view(len(rows), {}, root)
            if not all(one.holds(view) for one in constraints.on_records):
                return False
        for codes, bound in self._attributes:
            counts = Counter(codes[rows].tolist())
            counts.pop(-1, None)
            view = constraints.view(len(rows), counts, root)
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

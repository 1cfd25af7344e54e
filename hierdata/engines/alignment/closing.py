"""Check a class representative against the models that its growth has not settled already."""

from __future__ import annotations

from collections import Counter

import numpy as np
from numpy.typing import NDArray

from hierdata.engines.alignment.arrays import first_nodes
from hierdata.engines.alignment.kernels.arrays import CHILD_COUNT, FIRST_CHILD, FIRST_NODE, KIND
from hierdata.engines.base import Constraints
from hierdata.forest.forest import Forest
from hierdata.privacy.base import Constraint

Rows = NDArray[np.int32]
Members = NDArray[np.int64]


class Closing:
    """Checks classes of at least ``size`` records against the models.

    ``rows`` are the rows of a representative; ``members[m, v]`` is member m's vertex for its v-th vertex.
    """

    def __init__(self, forest: Forest, constraints: Constraints, size: int) -> None:
        self._forest = forest
        self._constraints = constraints
        self._attributes = _undecided_constraints(forest, constraints, size)
        self._root_nodes = np.array(first_nodes(forest)[0], np.int64)

    @property
    def asks(self) -> bool:
        """Whether a model must be asked about the values of a class of the right size."""
        return bool(self._attributes)

    @property
    def asks_at_root(self) -> bool:
        """Whether a class of the right size may still fail as a whole."""
        return 0 in self._attributes or self._constraints.population is not None

    def holds_at_root(self, rows: Rows, members: Members) -> bool:
        """Return whether the class as a whole may be published."""
        view = self._constraints.view(len(members), {}, self._root(rows))
        return all(one.holds(view) for one in self._constraints.on_records) and self._holds(0, rows, members)

    def find_safe_vertices(self, rows: Rows, members: Members) -> NDArray[np.bool_]:
        """Mark the vertices where, and above which, all models hold; the root must be safe."""
        kept = np.ones(len(rows), np.bool_)
        if not self._attributes:
            return kept
        for v in range(len(rows)):
            if kept[v] and v > 0:
                kept[v] = self._holds(v, rows, members)
            if not kept[v]:
                first = rows[v, FIRST_CHILD]
                kept[first : first + rows[v, CHILD_COUNT]] = False
        return kept

    def _holds(self, v: int, rows: Rows, members: Members) -> bool:
        forest = self._forest
        for position, constraints in self._attributes.get(int(rows[v, KIND]), ()):
            codes = forest.sensitive[forest.first_sensitive[members[:, v]] + position].tolist()
            counts = Counter(code for code in codes if code >= 0)
            view = self._constraints.view(len(members), counts, self._root(rows))
            if not all(constraint.holds(view) for constraint in constraints):
                return False
        return True

    def _root(self, rows: Rows) -> list[int]:
        own = rows[0, FIRST_NODE : FIRST_NODE + len(self._root_nodes)]
        nodes: list[int] = (own - self._root_nodes).tolist()
        return nodes


def _undecided_constraints(
    forest: Forest, constraints: Constraints, size: int
) -> dict[int, list[tuple[int, tuple[Constraint, ...]]]]:
    """Return by vertex type the sensitive attributes that must be checked, each with its models.

    Sufficient caps are settled if every record has a value (erratum ML-8) and a second record has joined; a
    single record is never checked against them. Presence below the root is a matter of all vertices that will
    look alike, which ``coalesce`` judges.
    """
    unsettled: dict[int, list[tuple[int, tuple[Constraint, ...]]]] = {}
    for kind, attributes in enumerate(constraints.on_values):
        vertices = np.flatnonzero(forest.type == kind)
        for position, bound in enumerate(attributes):
            some_missing = bool((forest.sensitive[forest.first_sensitive[vertices] + position] < 0).any())
            open_ = size == 1 or some_missing
            asked = tuple(
                one
                for one in bound
                if (open_ or one.caps is None or not one.caps.sufficient)
                and (kind == 0 or one.reading.asks == "value")
            )
            if asked:
                unsettled.setdefault(kind, []).append((position, asked))
    return unsettled

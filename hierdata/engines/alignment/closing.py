"""Check a class representative against the models that its growth has not settled already."""

from __future__ import annotations

from collections import Counter

import numpy as np
from numpy.typing import NDArray

from hierdata.engines.alignment.arrays import first_nodes
from hierdata.engines.alignment.closeness import AskedModels, pack_checks
from hierdata.engines.alignment.kernels.arrays import CHILD_COUNT, FIRST_CHILD, FIRST_NODE, KIND
from hierdata.engines.alignment.kernels.closeness import find_close
from hierdata.engines.base import Constraints
from hierdata.forest.forest import Forest
from hierdata.privacy.base import Constraint

Rows = NDArray[np.int32]
Members = NDArray[np.int64]

_REMEMBERED = 2**15


class Closing:
    """Checks classes of at least ``size`` records against the models.

    ``rows`` are the rows of a representative; ``members[m, v]`` is member m's vertex for its v-th vertex.
    Models with a closeness are compiled ``checks``. Of the ``others``, answers are remembered by the values
    that were asked about: two classes that differ by an exchange have the same values at most vertices.

    ``undecided`` are by vertex type the sensitive attributes that must be checked, each with its models.
    """

    def __init__(self, forest: Forest, constraints: Constraints, size: int) -> None:
        self._forest = forest
        self._constraints = constraints
        self.undecided = _undecided_constraints(forest, constraints, size)
        self.checks, self.others = pack_checks(forest, self.undecided)
        self._root_nodes = np.array(first_nodes(forest)[0], np.int64)
        self._answers: dict[tuple[int, int, bytes, tuple[int, ...]], bool] = {}

    @property
    def asks(self) -> bool:
        """Whether a model must be asked about the values of a class of the right size."""
        return bool(self.undecided)

    @property
    def asks_at_root(self) -> bool:
        """Whether a class of the right size may still fail as a whole."""
        return 0 in self.undecided or self._constraints.population is not None

    def holds_at_root(self, rows: Rows, members: Members) -> bool:
        """Return whether the class as a whole may be published."""
        root = self._root(rows)
        view = self._constraints.view(len(members), {}, root)
        if not all(one.holds(view) for one in self._constraints.on_records):
            return False
        at_root = self.others.get(0, ())
        return bool(self._find_close(rows[:1], members[:, :1])[0]) and all(
            self._holds(0, *one, self._codes(one[0], members[:, :1])[0], root) for one in at_root
        )

    def find_safe_vertices(self, rows: Rows, members: Members) -> NDArray[np.bool_]:
        """Mark the vertices where, and above which, all models hold; the root must be safe."""
        kept = self._find_close(rows, members)
        if not self.others:
            return kept
        root = self._root(rows)
        for kind in range(1, len(self._constraints.on_values)):  # above comes before below
            at = np.flatnonzero((rows[:, KIND] == kind) & kept)
            for position, asked in self.others.get(kind, ()):
                for v, codes in zip(at.tolist(), self._codes(position, members[:, at]), strict=True):
                    kept[v] = kept[v] and self._holds(kind, position, asked, codes, root)
            for v in np.flatnonzero((rows[:, KIND] == kind) & ~kept).tolist():
                first = rows[v, FIRST_CHILD]
                kept[first : first + rows[v, CHILD_COUNT]] = False
        return kept

    def _find_close(self, rows: Rows, members: Members) -> NDArray[np.bool_]:
        """Mark the vertices where, and above which, all models with a closeness hold."""
        kept = np.ones(len(rows), np.bool_)
        if self.checks.words:
            find_close(rows, len(rows), len(members), np.ascontiguousarray(members), self.checks, kept)
        return kept

    def _codes(self, position: int, members: Members) -> NDArray[np.int32]:
        """Return the sensitive values of the members at each vertex, a row for each vertex, sorted."""
        codes = self._forest.sensitive[self._forest.first_sensitive[members] + position]
        return np.sort(codes.T, axis=1)

    def _holds(
        self,
        kind: int,
        position: int,
        asked: tuple[Constraint, ...],
        codes: NDArray[np.int32],
        root: tuple[int, ...],
    ) -> bool:
        key = (kind, position, codes.tobytes(), root)
        found = self._answers.get(key)
        if found is None:
            if len(self._answers) >= _REMEMBERED:
                self._answers.clear()
            counts = Counter(codes[codes >= 0].tolist())
            view = self._constraints.view(len(codes), counts, root)
            found = self._answers[key] = all(constraint.holds(view) for constraint in asked)
        return found

    def _root(self, rows: Rows) -> tuple[int, ...]:
        """Return the nodes of the root that a population is asked about, none without a population."""
        if self._constraints.population is None:
            return ()
        own = rows[0, FIRST_NODE : FIRST_NODE + len(self._root_nodes)]
        return tuple((own - self._root_nodes).tolist())


def _undecided_constraints(forest: Forest, constraints: Constraints, size: int) -> AskedModels:
    """Return by vertex type the sensitive attributes that must be checked, each with its models.

    Sufficient caps are settled if every record has a value (erratum ML-8) and a second record has joined; a
    single record is never checked against them. Presence below the root is a matter of all vertices that will
    look alike, which ``coalesce`` judges.
    """
    unsettled: AskedModels = {}
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

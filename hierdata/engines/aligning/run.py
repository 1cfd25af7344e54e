"""One run of Algorithm 2 (ML section 4): class after class, closed and entered into a partition."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from hierdata.engines.aligning.alignment import Alignment, Pairing
from hierdata.engines.aligning.arrays import first_nodes
from hierdata.engines.base import Constraints
from hierdata.forest import Forest
from hierdata.kernels.arrays import CHILD_COUNT, FIRST_CHILD, FIRST_NODE, KIND
from hierdata.kernels.growth import grow
from hierdata.partition import Partition
from hierdata.privacy.base import ClassView, Constraint


class Run(Alignment):
    """One run over one forest: packed arrays, buffers and what has been found so far."""

    def __init__(self, forest: Forest, constraints: Constraints, window: int, pairing: Pairing) -> None:
        size = constraints.min_class_size
        super().__init__(forest, constraints, size, pairing)
        vertices = self.representative.shape[0]
        self._size = size
        self._window = max(window, size - 1)
        self._queue = np.empty((vertices, 2), np.int64)
        self._joined = np.empty(size, np.int64)
        self._new, self._new_members = np.empty_like(self.representative), np.empty_like(self.members)
        self._first_nodes = first_nodes(forest)
        self._closing = _closing_attributes(forest, constraints)
        self._class_of = np.full(forest.record_count, -1, np.int64)
        self._stands_for = np.full(forest.vertex_count, -1, np.int64)
        self._nodes = forest.nodes.copy()
        self._costs: Counter[str] = Counter()
        self._classes = 0

    def run(self, rng: np.random.Generator, progress: Callable[[int], None]) -> Partition:
        """Grow classes until fewer records remain than a class holds."""
        forest, size = self.forest, self._size
        remaining = np.arange(forest.record_count, dtype=np.int64)
        draws = rng.integers(0, 2**63 - 1, size=forest.record_count // size + 1)
        for draw in draws:
            if len(remaining) < size:
                break
            seed = remaining[int(draw) % len(remaining)]
            count, lost_at, evaluated = grow(
                seed,
                remaining,
                self._window,
                self.settings,
                self.scratch,
                self._queue,
                self._joined,
                self.representative,
                self.members,
                self._new,
                self._new_members,
                forest.roots,
                self.rows,
                self.rules,
            )
            self._costs["pair_losses"] += evaluated
            remaining = remaining[~np.isin(remaining, self._joined)]
            progress(forest.record_count - len(remaining))
            if lost_at == 1:
                self._costs["seeds_without_room"] += 1
                self._costs["records_lost_with_a_seed"] += size
            elif lost_at > 1:
                self._costs["records_lost_in_a_dead_end"] += size
            else:
                self._close(count)
        self._costs["records_left_over"] += len(remaining)
        published = np.repeat(self._class_of >= 0, np.diff(forest.roots))
        gone = int((published & (self._stands_for < 0)).sum())
        self._costs["vertices_without_partner"] = gone - self._costs["vertices_lost_at_closing"]
        return Partition(self._class_of, self._stands_for, self._nodes, self._costs)

    def _close(self, count: int) -> None:
        """Ask the models, suppress what fails, and enter the class into the partition."""
        rows, members = self.representative[:count], self.members[:, :count]
        kept = np.ones(count, np.bool_)
        if self._closing:
            self._suppress_failing(kept, rows, members)
        if not kept[0]:
            self._costs["records_lost_at_closing"] += self._size
            return
        self._costs["vertices_lost_at_closing"] += int((~kept).sum()) * self._size
        self._stands_for[members[:, kept]] = members[0, kept]
        for kind, starts in enumerate(self._first_nodes):
            chosen = np.flatnonzero(kept & (rows[:, KIND] == kind))
            for position, start in enumerate(starts):
                at = self.forest.first_node[members[0, chosen]] + position
                self._nodes[at] = rows[chosen, FIRST_NODE + position] - start
        self._class_of[self._joined] = self._classes
        self._classes += 1

    def _suppress_failing(
        self, kept: NDArray[np.bool_], rows: NDArray[np.int32], members: NDArray[np.int64]
    ) -> None:
        """Clear ``kept`` at every vertex where a model fails, and below it."""
        forest = self.forest
        for v in range(len(kept)):
            for position, constraints in self._closing.get(int(rows[v, KIND]), ()):
                codes = forest.sensitive[forest.first_sensitive[members[:, v]] + position].tolist()
                view = ClassView(self._size, Counter(code for code in codes if code >= 0))
                if kept[v] and not all(constraint.holds(view) for constraint in constraints):
                    kept[v] = False
            if not kept[v]:
                first = rows[v, FIRST_CHILD]
                kept[first : first + rows[v, CHILD_COUNT]] = False


def _closing_attributes(
    forest: Forest, constraints: Constraints
) -> dict[int, list[tuple[int, tuple[Constraint, ...]]]]:
    """The sensitive attributes that must be looked at when a class closes, by vertex type.

    A share cap is settled by its growth check when every record has a value (erratum ML-8).
    """
    closing: dict[int, list[tuple[int, tuple[Constraint, ...]]]] = {}
    for kind, attributes in enumerate(constraints.on_values):
        vertices = np.flatnonzero(forest.type == kind)
        for position, bound in enumerate(attributes):
            some_missing = bool((forest.sensitive[forest.first_sensitive[vertices] + position] < 0).any())
            asked = tuple(one for one in bound if one.caps is None or some_missing)
            if asked:
                closing.setdefault(kind, []).append((position, asked))
    return closing

"""One run of Algorithm 2 (ML section 4), and Algorithm 1 on two records alone."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from hierdata.engines.alignment.alignment import Alignment, Pairing, find_unpaired, first_nodes, write_nodes
from hierdata.engines.alignment.closing import Closing
from hierdata.engines.alignment.kernels.representative import begin, grow, take_out
from hierdata.engines.alignment.lower_bounds import histograms
from hierdata.engines.base import Constraints
from hierdata.forest.forest import Forest
from hierdata.forest.partition import SUPPRESSED, Partition


class ClusTreeRun(Alignment):
    """One run over one forest: packed arrays, buffers and the classes found so far.

    Classes have ``size`` records. With ``growing`` a class whose root is not safe takes in more of its window
    until it is.
    """

    def __init__(
        self,
        forest: Forest,
        constraints: Constraints,
        size: int,
        window: int,
        pairing: Pairing,
        growing: bool,
    ) -> None:
        window = max(min(window, forest.record_count), size - 1)
        self._closing = Closing(forest, constraints, size)
        largest = window + 1 if growing and self._closing.asks_at_root else size
        super().__init__(forest, constraints, size, pairing, largest)
        self._size = size
        self._near, self._near_bounds = np.empty(window, np.int64), np.empty(window, np.int64)
        alone = find_unpaired(forest, self.rows, self.settings.first_slot, self.rules.caps)
        self._histograms = histograms(forest, alone)
        self._joined = np.empty(largest, np.int64)
        self._first_nodes = first_nodes(forest)
        self._class_of = np.full(forest.record_count, -1, np.int64)
        self._stands_for = np.full(forest.vertex_count, -1, np.int64)
        self._nodes = forest.nodes.copy()
        self._costs: Counter[str] = Counter()
        self._classes = 0

    def run(
        self, records: NDArray[np.int64], rng: np.random.Generator, progress: Callable[[int], None]
    ) -> Partition:
        """Form classes until fewer records remain than a class holds; ties follow the order of records."""
        forest, size = self.forest, self._size
        remaining = records.copy()
        taken = np.zeros(forest.record_count, np.bool_)
        draws = rng.integers(0, 2**63 - 1, size=forest.record_count // size + 1)
        for draw in draws:
            if len(remaining) < size:
                break
            used = self._class_around(remaining[int(draw) % len(remaining)], remaining)
            remaining = remaining[: take_out(self._joined[:used], taken, remaining)]
            progress(forest.record_count - len(remaining))
        self._costs["records_left_over"] += len(remaining)
        published = np.repeat(self._class_of >= 0, np.diff(forest.roots))
        gone = int((published & (self._stands_for < 0)).sum())
        self._costs["vertices_without_partner"] = gone - self._costs["vertices_lost_at_closing"]
        return Partition(self._class_of, self._stands_for, self._nodes, self._costs)

    def _class_around(self, seed: int, remaining: NDArray[np.int64]) -> int:
        """Form one class; return how many records it has used, the first of ``self._joined``."""
        size = self._size
        self._joined[0] = seed
        near_count, evaluated = begin(
            seed, remaining, self._near, self._near_bounds, self._histograms, self.buffers, self.arrays
        )
        self._costs["pair_losses"] += evaluated
        count = int(self.forest.roots[seed + 1] - self.forest.roots[seed])
        count, lost_at = self._grow(count, 1, size, near_count)
        if lost_at == 1:
            self._costs["seeds_without_room"] += 1
            self._costs["records_lost_with_a_seed"] += size
        elif lost_at > 1:
            self._costs["records_lost_in_a_dead_end"] += size
        if lost_at:
            return size
        have = size
        while not self._closing.holds_at_root(self.representative[:count], self.members[:have, :count]):
            lost_at = have
            if have < min(len(self._joined), near_count + 1):
                self.fit_caps(have + 1)
                count, lost_at = self._grow(count, have, have + 1, near_count)
            if lost_at:  # records that joined after the class was full stay available
                self._costs["records_lost_at_closing"] += size
                break
            have += 1
        if len(self._joined) > size:
            self.fit_caps(size)
        if lost_at:
            return size
        self._enter(count, have)
        return have

    def _grow(self, count: int, have: int, until: int, near_count: int) -> tuple[int, int]:
        """Grow a class of ``have`` records; return its number of vertices and the size at which it failed."""
        count, lost_at, evaluated = grow(
            count,
            have,
            until,
            have >= self._size,
            self._near,
            self._near_bounds,
            near_count - (have - 1),
            self._joined,
            self._histograms,
            self.buffers,
            self.arrays,
        )
        self._costs["pair_losses"] += evaluated
        return count, lost_at

    def _enter(self, count: int, size: int) -> None:
        """Add the class to the partition, without the vertices at which a model fails."""
        rows, members = self.representative[:count], self.members[:size, :count]
        kept = self._closing.find_safe_vertices(rows, members)
        self._costs["vertices_lost_at_closing"] += int((~kept).sum()) * size
        self._stands_for[members[:, kept]] = members[0, kept]
        write_nodes(self.forest, self._first_nodes, rows[kept], members[0, kept], self._nodes)
        self._class_of[self._joined[:size]] = self._classes
        self._classes += 1


def align_pair(forest: Forest, constraints: Constraints, size: int) -> Partition:
    """Align the two records of a forest by greedy pairing, under the caps of classes of ``size`` records.

    The partition has one class of both, or none if a model does not allow their roots in one class. Nothing
    but the caps is checked: see ``check_cons`` in ML section 4.
    """
    aligned = Alignment(forest, constraints, size, "greedy", largest=2)
    unpaired = find_unpaired(forest, aligned.rows, aligned.settings.first_slot, aligned.rules.caps)
    bounds = histograms(forest, unpaired)
    near, near_losses, joined = np.empty(1, np.int64), np.empty(1, np.int64), np.zeros(2, np.int64)
    both = np.arange(2)
    begin(0, both, near, near_losses, bounds, aligned.buffers, aligned.arrays)
    count, lost_at, _ = grow(
        int(forest.roots[1]),
        1,
        2,
        False,
        near,
        near_losses,
        1,
        joined,
        bounds,
        aligned.buffers,
        aligned.arrays,
    )
    shown = np.full(forest.vertex_count, SUPPRESSED)
    nodes = forest.nodes.copy()
    if lost_at:
        return Partition(np.full(2, SUPPRESSED), shown, nodes)
    rows, members = aligned.representative[:count], aligned.members[:2, :count]
    shown[members] = members[0]
    write_nodes(forest, first_nodes(forest), rows, members[0], nodes)
    return Partition(np.zeros(2, np.int64), shown, nodes)

"""Classes that grow record by record, with their representatives."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from hierdata.engines.alignment.alignment import Alignment
from hierdata.engines.alignment.arrays import find_unpaired, pack_caps, pack_values
from hierdata.engines.alignment.closing import Closing
from hierdata.engines.alignment.kernels.representative import representative_saving
from hierdata.engines.alignment.lower_bounds import histograms
from hierdata.engines.base import Constraints
from hierdata.engines.k_member.kernel import build, grow
from hierdata.forest.forest import Forest

Numbers = NDArray[np.int64]

_EVERYBODY = 2**62


@dataclass(frozen=True)
class Grown:
    """A class: its records in the order they joined, and its representative.

    ``rows`` are the vertices of the representative with the groups of all members; ``members[m, v]`` is the
    vertex of member m at the v-th of them. ``kept`` marks the vertices where all models hold. Each member
    keeps ``saved`` of its values, times the scale.
    """

    records: Numbers
    rows: NDArray[np.int32]
    members: Numbers
    kept: NDArray[np.bool_]
    saved: int


class Growing(Alignment):
    """Grow classes of ``least`` to ``room`` records of one forest.

    ``evaluated`` counts the alignments.
    """

    def __init__(self, forest: Forest, constraints: Constraints, least: int, room: int) -> None:
        super().__init__(forest, constraints, least, "optimal", room)
        self.room = max(room, least)
        self.evaluated = 0
        self.closing = Closing(forest, constraints, least)
        self.histograms = histograms(forest)
        self.values = pack_values(forest, self._caps, self.rows, self.settings.first_slot)
        self._heaviest = int(forest.weight[forest.roots[:-1]].max(initial=1)) * forest.scale
        # The low bits that losses drop, so that the losses of a class fit into 64 bits.
        self.dropped = max(0, ((self.room + 1) * self._heaviest).bit_length() - 62)
        self._packed: dict[int, Numbers] = {}
        self._fitted = -1

    def fit_caps(self, size: int) -> None:
        """Set the caps of a class size, from a cache (see ``Alignment.fit_caps``)."""
        if size == self._fitted:
            return
        if size not in self._packed:
            self._packed[size] = pack_caps(self._caps, size)
        self.rules.caps[:] = self._packed[size]
        self._fitted = size

    def find_unpublishable(self, size: int) -> NDArray[np.bool_]:
        """Mark vertices that no class of this size can publish: a value there, or above, exceeds its cap."""
        self.fit_caps(size)
        return find_unpaired(self.forest, self.rows, self.settings.first_slot, self.rules.caps)

    def grow_class(self, records: Numbers, others: Numbers) -> Grown | None:
        """Build the class of ``records``, joined in this order, as proposed; None if it cannot be published.

        If a model fails at the root, records of ``others`` join one by one, the one that raises the total
        loss least first, until all models hold.
        """
        size = len(records)
        joined = np.empty(self.room, np.int64)
        joined[:size] = records
        self.fit_caps(size)
        count = int(build(records, self.buffers, self.arrays))
        self.evaluated += size - 1
        others = others[~np.isin(others, records)]
        while not self._holds(count, size):
            count, have = self._grow(count, size, size + 1, others, joined)
            if have == size:
                return None
            others = others[others != joined[size]]
            size = have
        return self._close_class(joined[:size], count)

    def with_one_more(self, one: Grown, record: int) -> Grown | None:
        """Return the class with one more record; None if it does not fit or a model fails at the root."""
        count, size = len(one.rows), len(one.records)
        self.representative[:count] = one.rows
        self.members[:size, :count] = one.members
        joined = np.append(one.records, record)
        count, have = self._grow(count, size, size + 1, np.array([record]), joined)
        if have == size or not self._holds(count, have):
            return None
        return self._close_class(joined, count)

    def _grow(self, count: int, size: int, until: int, others: Numbers, joined: Numbers) -> tuple[int, int]:
        """Add the best of ``others`` to the class in the buffers; return its vertices and records."""
        if until > self.room:
            return count, size
        self.fit_caps(until)
        count, have, evaluated = grow(
            count,
            size,
            until,
            self.dropped,
            _EVERYBODY,
            others,
            np.full(len(others), self._heaviest),
            joined,
            self.histograms,
            self.values,
            self.buffers,
            self.arrays,
        )
        self.evaluated += evaluated
        return count, have

    def _holds(self, count: int, size: int) -> bool:
        return self.closing.holds_at_root(self.representative[:count], self.members[:size, :count])

    def _close_class(self, records: Numbers, count: int) -> Grown:
        rows, members = self.representative[:count], self.members[: len(records), :count]
        kept = self.closing.find_safe_vertices(rows, members)
        saved = representative_saving(rows[kept], int(kept.sum()), self.settings.scale, self.rules.losses)
        return Grown(records.copy(), rows.copy(), members.copy(), kept, int(saved))

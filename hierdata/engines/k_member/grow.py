"""Classes that grow record by record, records that join finished classes, and the resulting partition."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from hierdata.engines.alignment.alignment import (
    Alignment,
    find_unpaired,
    first_nodes,
    pack_caps,
    pack_values,
    write_nodes,
)
from hierdata.engines.alignment.closing import Closing
from hierdata.engines.alignment.kernels.arrays import WEIGHT
from hierdata.engines.alignment.kernels.lower_bounds import bounds_to, histogram_of
from hierdata.engines.alignment.kernels.representative import build, representative_saving
from hierdata.engines.alignment.lower_bounds import histograms
from hierdata.engines.base import Constraints
from hierdata.engines.k_member.kernel import grow
from hierdata.engines.rows.kernel import Numbers
from hierdata.forest.forest import Forest
from hierdata.forest.partition import SUPPRESSED, Partition

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
        count = int(build(records, 0, size, -1, 0, 0, self.buffers, self.arrays))
        self.evaluated += size - 1
        others = others[~np.isin(others, records)]
        while not self._holds(count, size):
            count, have = self._grow(count, size, size + 1, others, joined)
            if have == size:
                return None
            others = others[others != joined[size]]
            size = have
        return self._close_class(joined[:size], count)

    def with_one_more(self, grown: Grown, record: int) -> Grown | None:
        """Return the class with one more record; None if it does not fit or a model fails at the root."""
        count, size = len(grown.rows), len(grown.records)
        self.representative[:count] = grown.rows
        self.members[:size, :count] = grown.members
        joined = np.append(grown.records, record)
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


_LOOKED_AT = 10
"""The number of classes that a record tries to join."""


def join_late(growing: Growing, classes: list[Grown], records: Numbers) -> list[int]:
    """Add each of some records to a class, one after the other; return those that cannot join any.

    Joining a class of s records raises what is kept of all values by (s + 1) a - s b, where each member keeps
    b without the record and a with it. A record tries the ten classes with the highest bounds of that gain,
    and joins the class with the highest gain, if it is above 0; the first tried of equal ones.
    """
    if not classes:
        return [*records]
    counts = np.stack([_vector(growing, grown)[0] for grown in classes])
    totals = np.array([_vector(growing, grown)[1] for grown in classes])
    by_class = growing.histograms._replace(counts=counts, totals=totals)
    every = np.arange(len(classes))
    bounds = np.empty(len(classes), np.int64)
    staying: list[int] = []
    for record in records.tolist():
        vector, total = growing.histograms.counts[record], growing.histograms.totals[record]
        bounds_to(vector, total, every, by_class, bounds)
        joined = _best(growing, classes, record, bounds)
        if joined is None:
            staying.append(record)
            continue
        number, grown = joined
        classes[number] = grown
        counts[number], totals[number] = _vector(growing, grown)
    return staying


def _best(growing: Growing, classes: list[Grown], record: int, bounds: Numbers) -> tuple[int, Grown] | None:
    """Return the position of the class with the highest gain, and that class with the record added."""
    scale, root = growing.settings.scale, growing.forest.roots[record]
    weight = int(growing.rows[root, WEIGHT])
    most = [
        (len(grown.records) + 1) * ((scale * (int(grown.rows[0, WEIGHT]) + weight) - bound) // 2)
        - len(grown.records) * grown.saved
        for grown, bound in zip(classes, bounds.tolist(), strict=True)
    ]
    best, joined = 0, None
    for number in sorted(range(len(classes)), key=lambda number: -most[number])[:_LOOKED_AT]:
        if most[number] <= best:
            break
        grown = growing.with_one_more(classes[number], record)
        if grown is None:
            continue
        gained = len(grown.records) * grown.saved - len(classes[number].records) * classes[number].saved
        if gained > best:
            best, joined = gained, (number, grown)
    return joined


def _vector(growing: Growing, grown: Grown) -> tuple[NDArray[np.uint8], int]:
    vector = np.zeros(len(growing.histograms.weights), np.uint8)
    total = histogram_of(grown.rows, len(grown.rows), growing.histograms, vector)
    return vector, int(total)


def partition_of(forest: Forest, classes: Sequence[Grown], records: int, evaluated: int) -> Partition:
    """Build the partition of these classes; the vertices of a class's first member are the representatives.

    ``records`` is the number of records to cluster, ``evaluated`` the number of alignments, for the costs.
    """
    class_of = np.full(forest.record_count, SUPPRESSED, np.int64)
    stands_for = np.full(forest.vertex_count, SUPPRESSED, np.int64)
    nodes = forest.nodes.copy()
    starts = first_nodes(forest)
    lost_at_closing = 0
    for number, grown in enumerate(classes):
        class_of[grown.records] = number
        stands_for[grown.members[:, grown.kept]] = grown.members[0, grown.kept]
        lost_at_closing += int((~grown.kept).sum()) * len(grown.records)
        write_nodes(forest, starts, grown.rows[grown.kept], grown.members[0, grown.kept], nodes)
    published = class_of >= 0
    gone = int((np.repeat(published, np.diff(forest.roots)) & (stands_for < 0)).sum())
    costs = Counter(
        {
            "pair_losses": evaluated,
            "records_that_no_class_accepts": records - int(published.sum()),
            "vertices_lost_at_closing": lost_at_closing,
            "vertices_without_partner": gone - lost_at_closing,
        }
    )
    return Partition(class_of, stands_for, nodes, costs)

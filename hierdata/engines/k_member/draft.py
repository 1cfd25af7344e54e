"""One draft of a partition: records propose classes, and those that keep most are accepted first."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from hierdata.engines.alignment.lower_bounds import histograms
from hierdata.engines.k_member.begun import Begun
from hierdata.engines.k_member.grow import Growing, Grown
from hierdata.engines.k_member.kernel import Proposals, first_class
from hierdata.engines.k_member.sizes import Plan, Reach

Numbers = NDArray[np.int64]


class ClassDraft:
    """The classes of some records by a plan of sizes; ``left`` are the records in no class.

    The classes around records that come ``first`` (a mask over all records) are accepted before all others.
    ``begun`` has by size the proposals of other drafts, which are not built again where the same records are
    free; it receives those of this one, if proposals are bounded.
    """

    def __init__(
        self,
        growing: Growing,
        records: Numbers,
        plan: Plan,
        reach: Reach,
        first: NDArray[np.bool_],
        begun: dict[int, Begun],
        progress: Callable[[int], None],
    ) -> None:
        self.classes: list[Grown] = []
        self._growing = growing
        self._reach = reach
        self._begun = begun
        self._progress = progress
        self._there = np.zeros(growing.forest.record_count, np.bool_)
        self._there[records] = True
        alone = {size: growing.find_unpublishable(size) for size in plan}
        roots = growing.forest.roots[:-1]
        for at, size in enumerate(plan):
            fit = ~alone[size][roots]
            needy = fit & alone[plan[at + 1]][roots] if at + 1 < len(plan) else fit
            if first.any():
                self._round(size, fit, needy & first, alone[size])
            self._round(size, fit, needy, alone[size])
        self.left = np.flatnonzero(self._there)
        weight = growing.forest.weight[roots]
        whole = sum(weight[records].tolist()) * growing.forest.scale
        self.loss = whole - sum(len(one.records) * one.saved for one in self.classes)

    def find_losers(self) -> NDArray[np.bool_]:
        """Mark the records of classes whose members keep less than a quarter of what they are worth."""
        forest = self._growing.forest
        found = np.zeros(forest.record_count, np.bool_)
        for one in self.classes:
            found[one.records] = 4 * one.saved < forest.weight[forest.roots[one.records]] * forest.scale
        return found

    def _round(
        self, size: int, fit: NDArray[np.bool_], seeds: NDArray[np.bool_], alone: NDArray[np.bool_]
    ) -> None:
        """Build classes of one size from the records in ``fit``, each around a record in ``seeds``."""
        growing, forest = self._growing, self._growing.forest
        there = self._there & fit
        bounds = histograms(forest, alone)
        width = max(self._reach.candidates, size - 1)
        proposals = _empty_proposals(forest.record_count, max(size, growing.room), width)
        arguments = (
            size, growing.dropped, self._reach.aligned, there, proposals, bounds,
            np.ascontiguousarray(bounds.counts.T), growing.values, growing.buffers, growing.arrays,
        )  # fmt: skip
        may = np.flatnonzero(there & seeds)
        stride = self._reach.stride_for(size)
        portion = np.s_[:: stride if self._reach.bounded else 1]
        fresh, others = may[::stride].copy(), np.delete(may, np.s_[::stride])
        before = -1  # classes before the last portion of others
        ready: dict[int, Grown] = {}
        begun = Begun(there, np.isin(np.arange(len(there)), fresh), proposals, ready)
        if size in self._begun:
            fresh = fresh[~begun.take_up(self._begun[size])[fresh]]
        is_first = self._reach.bounded
        while np.count_nonzero(there) >= size:
            growing.fit_caps(size)
            found, evaluated = first_class(fresh, *arguments)
            seed = int(found)
            fresh = fresh[:0]
            growing.evaluated += evaluated
            if seed < 0:
                others = others[there[others]]
                if not len(others) or len(self.classes) == before:
                    break
                before = len(self.classes)
                fresh, others = others[portion].copy(), np.delete(others, portion)
                continue
            if proposals.closed[seed]:
                if is_first:
                    self._begun[size] = begun.copy()
                    is_first = False
                self._accept(ready.pop(seed), there, proposals)
                continue
            window = proposals.windows[seed, : proposals.window_sizes[seed]]
            one = growing.grow_class(proposals.members[seed, : proposals.sizes[seed]], window[there[window]])
            proposals.saved[seed] = -1 if one is None else one.saved
            if one is None:
                continue
            proposals.closed[seed] = True
            proposals.sizes[seed] = len(one.records)
            proposals.members[seed, : len(one.records)] = one.records
            ready[seed] = one

    def _accept(self, one: Grown, there: NDArray[np.bool_], proposals: Proposals) -> None:
        self.classes.append(one)
        there[one.records] = self._there[one.records] = False
        proposals.saved[one.records] = -1
        self._progress(len(one.records))


def _empty_proposals(records: int, room: int, window: int) -> Proposals:
    return Proposals(
        saved=np.full(records, -1, np.int64),
        sizes=np.zeros(records, np.int64),
        members=np.empty((records, room), np.int64),
        windows=np.empty((records, window), np.int64),
        window_sizes=np.zeros(records, np.int64),
        closed=np.zeros(records, np.bool_),
    )

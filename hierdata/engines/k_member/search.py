"""The search of k-member: choose class sizes by trials, then draft classes of all records by the best.

In a draft, records propose classes, and those that keep most are accepted first. Proposals that several
drafts have in common, those before a draft accepts its first class, are made once.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from hierdata.engines.alignment.lower_bounds import histograms
from hierdata.engines.base import Constraints, Trial, silent
from hierdata.engines.k_member.grow import Growing, Grown, join_late, partition_of
from hierdata.engines.k_member.kernel import Proposals, first_class
from hierdata.engines.k_member.sizes import SAMPLE, Choice, Plan, Reach, best, choices, plan_of, useful_sizes
from hierdata.engines.rows.kernel import Numbers
from hierdata.forest.forest import Forest
from hierdata.forest.partition import Partition

Mask = NDArray[np.bool_]


class Begun(NamedTuple):
    """The proposals of the ``seeds`` while the records ``there`` are free.

    ``ready`` are the classes of those about which all models have been asked, by seed.
    """

    there: Mask
    seeds: Mask
    proposals: Proposals
    ready: dict[int, Grown]

    def copy(self) -> Begun:
        """Return a copy that stays as it is."""
        columns: dict[str, Any] = {name: column.copy() for name, column in self.proposals._asdict().items()}
        return Begun(self.there.copy(), self.seeds.copy(), Proposals(**columns), self.ready.copy())

    def take_up(self, other: Begun) -> Mask:
        """Take up the proposals of another draft if the same records were free; mark the seeds that have one.

        A seed around which no class could be built has one too.
        """
        if not np.array_equal(self.there, other.there):
            return np.zeros_like(self.seeds)
        both = self.seeds & other.seeds
        for column, known in zip(self.proposals, other.proposals, strict=True):
            column[both] = known[both]
        self.ready.update((seed, grown) for seed, grown in other.ready.items() if both[seed])
        return both


class ClassDraft:
    """The classes of some records by a plan of sizes; ``staying`` are the records in no class.

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
        for position, size in enumerate(plan):
            fit = ~alone[size][roots]
            needy = fit & alone[plan[position + 1]][roots] if position + 1 < len(plan) else fit
            if first.any():
                self._round(size, fit, needy & first, alone[size])
            self._round(size, fit, needy, alone[size])
        self.staying = np.flatnonzero(self._there)
        weight = growing.forest.weight[roots]
        whole = sum(weight[records].tolist()) * growing.forest.scale
        self.loss = whole - sum(len(grown.records) * grown.saved for grown in self.classes)

    def find_losers(self) -> NDArray[np.bool_]:
        """Mark the records of classes whose members keep less than a quarter of what they are worth."""
        forest = self._growing.forest
        losers = np.zeros(forest.record_count, np.bool_)
        for grown in self.classes:
            losers[grown.records] = (
                4 * grown.saved < forest.weight[forest.roots[grown.records]] * forest.scale
            )
        return losers

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
            record, evaluated = first_class(fresh, *arguments)
            seed = int(record)
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
            grown = growing.grow_class(
                proposals.members[seed, : proposals.sizes[seed]], window[there[window]]
            )
            proposals.saved[seed] = -1 if grown is None else grown.saved
            if grown is None:
                continue
            proposals.closed[seed] = True
            proposals.sizes[seed] = len(grown.records)
            proposals.members[seed, : len(grown.records)] = grown.records
            ready[seed] = grown

    def _accept(self, grown: Grown, there: NDArray[np.bool_], proposals: Proposals) -> None:
        self.classes.append(grown)
        there[grown.records] = self._there[grown.records] = False
        proposals.saved[grown.records] = -1
        self._progress(len(grown.records))


def _empty_proposals(records: int, room: int, window: int) -> Proposals:
    return Proposals(
        saved=np.full(records, -1, np.int64),
        sizes=np.zeros(records, np.int64),
        members=np.empty((records, room), np.int64),
        windows=np.empty((records, window), np.int64),
        window_sizes=np.zeros(records, np.int64),
        closed=np.zeros(records, np.bool_),
    )


_FEW = 20
"""No other draft is made if fewer than one in 20 records lost most of what they are worth."""


class KMemberSearch:
    """K-member clustering of some records into classes of ``least`` to ``largest`` (see ``KMember``)."""

    def __init__(
        self,
        forest: Forest,
        records: Numbers,
        constraints: Constraints,
        least: int,
        largest: int,
        reach: Reach,
    ) -> None:
        self._growing = Growing(forest, constraints, least, 2 * largest)
        self._records = records
        self._reach = reach
        self._sizes = useful_sizes(constraints, least, largest, self._growing.closing.asks)
        self._needs = _needs(self._growing, records, self._sizes)
        self._drafts: dict[Plan, ClassDraft] = {}
        self._begun: dict[int, Begun] = {}

    def trials(self, rng: np.random.Generator) -> dict[Choice, Trial]:
        """Return the loss of each choice of class sizes, on a sample if there are many records."""
        plans = {choice: plan_of(choice, self._needs) for choice in choices(self._sizes)}
        sample = self._records
        if len(sample) > SAMPLE:
            sample = np.sort(rng.choice(sample, SAMPLE, replace=False))
        drafts = {plan: self._draft(sample, plan) for plan in dict.fromkeys(plans.values())}
        if len(sample) == len(self._records):
            self._drafts = drafts
        trials = {plan: Trial(draft.loss, len(draft.staying)) for plan, draft in drafts.items()}
        return {choice: trials[plan] for choice, plan in plans.items()}

    def partition(
        self, choice: Choice | None, rng: np.random.Generator, progress: Callable[[int], None]
    ) -> Partition:
        """Cluster all records by a choice of sizes; by the best choice if it is None."""
        if choice is None:
            choice = self._best(rng)
        plan = plan_of(choice, self._needs)
        draft = self._drafts.get(plan) or self._draft(self._records, plan, progress)
        draft = self._draft_again(draft, plan)
        staying = join_late(self._growing, draft.classes, draft.staying)
        progress(len(self._records) - len(staying))
        return partition_of(self._growing.forest, draft.classes, len(self._records), self._growing.evaluated)

    def _best(self, rng: np.random.Generator) -> Choice:
        first, *others = choices(self._sizes)
        if all(plan_of(other, self._needs) == plan_of(first, self._needs) for other in others):
            return first
        return best(self.trials(rng))

    def _draft(self, records: Numbers, plan: Plan, progress: Callable[[int], None] = silent) -> ClassDraft:
        nobody = np.zeros(self._growing.forest.record_count, np.bool_)
        return ClassDraft(self._growing, records, plan, self._reach, nobody, self._begun, progress)

    def _draft_again(self, draft: ClassDraft, plan: Plan) -> ClassDraft:
        """Return the best of this draft and others in which those who lost most come first."""
        best = last = draft
        first = np.zeros(self._growing.forest.record_count, np.bool_)
        for _ in range(self._reach.again):
            losers = last.find_losers() & ~first
            first |= losers
            if not losers.any() or _FEW * int(first.sum()) < len(self._records):
                break
            last = ClassDraft(self._growing, self._records, plan, self._reach, first, self._begun, silent)
            if last.loss < best.loss:
                best = last
        return best


def _needs(growing: Growing, records: Numbers, sizes: list[int]) -> list[int]:
    """The smallest sizes that records need, over the records that can be published in any size."""
    roots = growing.forest.roots[records]
    needs = np.zeros(len(records), np.int64)
    for size in reversed(sizes):
        needs[~growing.find_unpublishable(size)[roots]] = size
    return [need for need in np.unique(needs).tolist() if need]

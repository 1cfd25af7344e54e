"""The search of k-member: try class sizes, then cluster all records by the best."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from hierdata.engines.base import Constraints, Trial, silent
from hierdata.engines.k_member.begun import Begun
from hierdata.engines.k_member.draft import ClassDraft
from hierdata.engines.k_member.grow import Growing
from hierdata.engines.k_member.joining import join_late
from hierdata.engines.k_member.partition import partition_of
from hierdata.engines.k_member.sizes import (
    SAMPLE,
    Choice,
    Plan,
    Reach,
    best,
    choices,
    plan_of,
    useful_sizes,
)
from hierdata.forest.forest import Forest
from hierdata.forest.partition import Partition

Numbers = NDArray[np.int64]

_FEW = 20
"""If fewer than one in so many records lost most of what they are worth, no other draft is made."""


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
        found = {plan: Trial(draft.loss, len(draft.left)) for plan, draft in drafts.items()}
        return {choice: found[plan] for choice, plan in plans.items()}

    def partition(
        self, choice: Choice | None, rng: np.random.Generator, progress: Callable[[int], None]
    ) -> Partition:
        """Cluster all records by a choice of sizes; by the best choice if it is None."""
        if choice is None:
            choice = self._best(rng)
        plan = plan_of(choice, self._needs)
        draft = self._drafts.get(plan) or self._draft(self._records, plan, progress)
        draft = self._draft_again(draft, plan)
        staying = join_late(self._growing, draft.classes, draft.left)
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

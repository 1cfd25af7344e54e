"""The search of k-member: the plan that loses least on a sample, carried out on all records."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from hierdata.engines.base import Constraints, silent
from hierdata.engines.growing.draft import Draft
from hierdata.engines.growing.growing import Growing
from hierdata.engines.growing.joining import join_late
from hierdata.engines.growing.partition import partition_of
from hierdata.engines.growing.sizes import plans, useful_sizes
from hierdata.forest import Forest
from hierdata.partition import Partition

_SAMPLE = 1000


def search(
    forest: Forest,
    records: NDArray[np.int64],
    constraints: Constraints,
    least: int,
    largest: int,
    candidates: int,
    rng: np.random.Generator,
    progress: Callable[[int], None],
) -> Partition:
    """See KMember."""
    growing = Growing(forest, constraints, least, 2 * largest)
    sizes = useful_sizes(constraints, least, largest, growing.closing.asks)
    tried = plans(sizes, _needs(growing, records, sizes))
    sample = records
    if len(tried) > 1 and len(records) > _SAMPLE:
        sample = np.sort(rng.choice(records, _SAMPLE, replace=False))
    drafts = {plan: Draft(growing, sample, plan, candidates, silent) for plan in tried}
    best = min(drafts, key=lambda plan: drafts[plan].loss)  # the first of equals
    draft = drafts[best]
    if len(sample) < len(records):
        draft = Draft(growing, records, best, candidates, progress)
    staying = join_late(growing, draft.classes, draft.left)
    progress(len(records) - len(staying))
    return partition_of(forest, draft.classes, len(records), growing.evaluated)


def _needs(growing: Growing, records: NDArray[np.int64], sizes: list[int]) -> list[int]:
    """The size that each record needs, of those that can be published in any."""
    roots = growing.forest.roots[records]
    needs = np.zeros(len(records), np.int64)
    for size in reversed(sizes):
        needs[~growing.alone(size)[roots]] = size
    return [need for need in np.unique(needs).tolist() if need]

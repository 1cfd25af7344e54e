"""The memory that a run may take, held against what its blocks need."""

from __future__ import annotations

from collections.abc import Sequence

from hierdata.errors import PolicyError
from hierdata.pipeline.block import Load
from hierdata.pipeline.resources import Spread

_PROCESS = 200 * 2**20
"""Bytes that a process takes before the first record: interpreter, libraries, compiled code."""
_RECORD = 6_000
_VERTEX = 1_400
"""Bytes that a record and a vertex take at the most while their block is clustered, measured and written."""
_COUNTED = 8
"""Bytes that a vertex of any block takes, at the most, in the counts that metrics make of all."""


def require(loads: Sequence[Load], spread: Spread) -> None:
    """Raise PolicyError where the memory that was allowed does not hold the largest block of every worker."""
    if spread.memory is None:
        return
    largest = max(_RECORD * load.records + _VERTEX * load.vertices for load in loads)
    workers = 0 if spread.at_home else min(spread.executor.workers, len(loads))
    counts = _COUNTED * sum(load.vertices for load in loads) if len(loads) > 1 else 0
    need = _PROCESS + max(workers, 1) * largest + workers * _PROCESS + counts
    if need <= spread.memory:
        return
    mebibytes = -(-need // 2**20)
    fewer = "" if workers < 2 else ", or take fewer workers"
    smaller = (
        "smaller `blocks` in the policy need less" if len(loads) > 1 else "cut the records into `blocks`"
    )
    raise PolicyError(
        f"the largest block does not fit into the memory that is allowed: {mebibytes} MiB are enough"
        f"{fewer}; {smaller}"
    )

"""Check the memory that a run may use against the needs of its blocks."""

from __future__ import annotations

from collections.abc import Sequence

from hierdata.ground.errors import PolicyError
from hierdata.pipeline.block import Load
from hierdata.pipeline.resources import RunContext

_PROCESS = 200 * 2**20
"""Bytes that a process uses before the first record: interpreter, libraries, compiled code."""
_RECORD = 6_000
_VERTEX = 1_400
"""The most bytes that a record and a vertex use while their block is clustered, measured and written."""
_COUNTED = 8
"""The most bytes that a vertex of any block uses in the metrics' counts of all blocks."""


def require(loads: Sequence[Load], spread: RunContext) -> None:
    """Raise PolicyError unless the allowed memory holds the largest block in every worker."""
    if spread.memory is None:
        return
    largest = max(_RECORD * load.records + _VERTEX * load.vertices for load in loads)
    workers = 0 if spread.is_local else min(spread.executor.workers, len(loads))
    counts = _COUNTED * sum(load.vertices for load in loads) if len(loads) > 1 else 0
    need = _PROCESS + max(workers, 1) * largest + workers * _PROCESS + counts
    if need <= spread.memory:
        return
    mebibytes = -(-need // 2**20)
    fewer = "" if workers < 2 else ", or use fewer workers"
    smaller = (
        "or state smaller `blocks` in the policy" if len(loads) > 1 else "or cut the records into `blocks`"
    )
    raise PolicyError(
        f"the largest block does not fit into the allowed memory: allow {mebibytes} MiB{fewer}, {smaller}"
    )

"""A block of records that is clustered together, its size, and the memory that it needs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import reduce
from typing import Any

from hierdata.forest.encoded import Encoded, Frame
from hierdata.forest.forest import Forest
from hierdata.forest.partition import Partition
from hierdata.forest.sensitive_facts import hide
from hierdata.forest.worth import NOTHING, Heaviest
from hierdata.ground.errors import PolicyError
from hierdata.pipeline.resources import RunContext


@dataclass
class Block:
    """Records and the classes that were found for them.

    ``number`` tells blocks apart: the first record that was clustered in it, which may be in another block
    now; -1 for a part on its way to another block. ``forest`` is built from the records where it is needed,
    and is not pickled: every process already has what it shares with all other blocks.
    """

    encoded: Encoded
    partitions: tuple[Partition, ...]
    number: int
    forest: Forest | None = field(default=None, repr=False)

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "forest": None}

    def open_forest(self, frame: Frame, heaviest: Heaviest) -> Forest:
        """Return the forest of the records, built if needed; a recoding may have added nodes to it."""
        if self.forest is None:
            self.forest = hide(frame.forest(self.encoded, heaviest), self.partitions)
        return self.forest


@dataclass(frozen=True)
class Load:
    """The size of a block: first record, records, vertices, and the most of any record."""

    first: int
    records: int
    vertices: int
    heaviest: Heaviest


def weigh_block(frame: Frame, pieces: list[Encoded]) -> Load:
    """Return the load of a block by its pieces, before anything is clustered."""
    return Load(
        int(pieces[0].ordinals[0]) if pieces else -1,
        sum(piece.record_count for piece in pieces),
        sum(len(piece.type) for piece in pieces),
        reduce(Heaviest.most, map(frame.heaviest, pieces), NOTHING),
    )


_PROCESS = 200 * 2**20
"""Bytes that a process uses before the first record: interpreter, libraries, compiled code."""
_RECORD = 6_000
_VERTEX = 1_400
"""The most bytes that a record and a vertex use while their block is clustered, measured and written."""
_COUNTED = 8
"""The most bytes that a vertex of any block uses in the metrics' counts of all blocks."""


def require_memory(loads: Sequence[Load], spread: RunContext) -> None:
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

"""Clustering: one block of records becomes classes."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from hierdata.forest.encoded import Encoded, Frame
from hierdata.forest.forest import Forest
from hierdata.forest.partition import Partition


@dataclass
class Block:
    """Records and the classes that were found for them.

    ``forest`` is made of the records wherever it is asked for and does not travel: what it shares with all
    other blocks is there already.
    """

    encoded: Encoded
    partitions: tuple[Partition, ...]
    forest: Forest | None = field(default=None, repr=False)

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "forest": None}

    def at(self, frame: Frame, heaviest: int) -> Forest:
        """The forest of the records, or the one that a recoding gave nodes of its own."""
        if self.forest is None:
            self.forest = frame.forest(self.encoded, heaviest)
        return self.forest


@dataclass(frozen=True)
class Load:
    """What a block holds: its first record, all records, vertices, the most quasi-identifiers of one."""

    first: int
    records: int
    vertices: int
    heaviest: int


@dataclass(frozen=True)
class WeighBlock:
    """Weigh the pieces of a block, before anything is clustered."""

    frame: Frame

    def __call__(self, pieces: list[Encoded]) -> Load:
        """What the pieces hold together."""
        quasi = np.array([len(own) for own in self.frame.hierarchies], np.int64)
        heaviest = 1
        for piece in pieces:
            starts = np.cumsum(piece.size) - piece.size
            heaviest = max(heaviest, int(np.add.reduceat(quasi[piece.type], starts).max(initial=1)))
        return Load(
            int(pieces[0].ordinals[0]) if pieces else -1,
            sum(piece.record_count for piece in pieces),
            sum(len(piece.type) for piece in pieces),
            heaviest,
        )

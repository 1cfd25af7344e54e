"""Clustering: one block of records becomes classes."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from hierdata.engines.base import Trial
from hierdata.forest import Forest
from hierdata.partition import Partition
from hierdata.pieces import Encoded, Frame, joined
from hierdata.prepare import Prepared
from hierdata.progress import Progress, silent
from hierdata.recodings import Recoding
from hierdata.search import search, tried
from hierdata.seeds import generator


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


@dataclass(frozen=True)
class TryBlock:
    """Let the engines try on a block what they choose from, if it is one of those asked, by its first record.

    Answers by stage what each way would lose; nothing for other blocks.
    """

    prepared: Prepared
    seed: bytes
    heaviest: int
    asked: frozenset[int]

    def __call__(self, pieces: list[Encoded]) -> list[Mapping[Hashable, Trial]]:
        """What would be lost, by stage and way."""
        if not pieces or int(pieces[0].ordinals[0]) not in self.asked:
            return []
        records = joined(pieces)
        forest = self.prepared.frame.forest(records, self.heaviest)
        rng = generator(self.seed, int(records.ordinals[0]))
        return [tried(forest, stage, rng) for stage in self.prepared.stages]


@dataclass(frozen=True)
class ClusterBlock:
    """Run the engines' steps on a block; ``alone`` it is all of the collection.

    Random numbers are those of the block, whose number is its first record's.
    """

    prepared: Prepared
    recoding: Recoding
    seed: bytes
    heaviest: int
    alone: bool
    progress: Progress = silent
    notice: Callable[[str], None] | None = None

    def __call__(self, pieces: list[Encoded]) -> Block:
        """The classes of one block. Raises PromiseError where the only block has none."""
        records = joined(pieces)
        forest = self.prepared.frame.forest(records, self.heaviest)
        rng = generator(self.seed, int(records.ordinals[0]))
        forest, partitions = search(
            forest, self.prepared, self.recoding, rng, self.alone, self.progress, self.notice
        )
        return Block(records, partitions, forest)

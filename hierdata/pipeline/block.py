"""A block of records that is clustered together."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import reduce
from typing import Any

from hierdata.forest.encoded import Encoded, Frame
from hierdata.forest.forest import Forest
from hierdata.forest.partition import Partition
from hierdata.forest.worth import NOTHING, Heaviest


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

    def at(self, frame: Frame, heaviest: Heaviest) -> Forest:
        """Return the forest of the records, built if needed; a recoding may have added nodes to it."""
        if self.forest is None:
            self.forest = frame.forest(self.encoded, heaviest)
        return self.forest


@dataclass(frozen=True)
class Load:
    """The size of a block: first record, records, vertices, and the most of any record."""

    first: int
    records: int
    vertices: int
    heaviest: Heaviest


@dataclass(frozen=True)
class WeighBlock:
    """Compute the load of a block from its pieces, before anything is clustered."""

    frame: Frame

    def __call__(self, pieces: list[Encoded]) -> Load:
        """Return the load of all pieces together."""
        return Load(
            int(pieces[0].ordinals[0]) if pieces else -1,
            sum(piece.record_count for piece in pieces),
            sum(len(piece.type) for piece in pieces),
            reduce(Heaviest.most, map(self.frame.heaviest, pieces), NOTHING),
        )

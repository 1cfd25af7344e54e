"""Bring documents that were made in bins back to the order of the input, into parts of the usual size."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from tempfile import mkdtemp
from typing import NamedTuple, Protocol, TypeVar

from hierdata.executors import Held
from hierdata.ground.private_folder import explain_full_disk
from hierdata.pipeline.resources import RunContext
from hierdata.sources.splits import SIZE, SpilledSplit, spill_split

BINS = 64
"""The least number of bins: one of them fits into memory, also where the input cannot be cut."""


class PlacedDocument(NamedTuple):
    """A pickled document, by the number of the split that it comes from and its place there."""

    split: int
    place: int
    pickled: bytes


class MadeBin(Protocol):
    """What has the documents of a bin."""

    @property
    def pieces(self) -> Sequence[PlacedDocument]:
        """The documents."""


BinType = TypeVar("BinType", bound=MadeBin)


@dataclass(frozen=True)
class ReturnPieces:
    """Send documents to parts of the collection, in the order of the input."""

    befores: tuple[int, ...]
    parts: int

    def __call__(self, made: MadeBin) -> Iterator[tuple[int, tuple[int, int, bytes]]]:
        """Yield (part, (part, number of the first document, document))."""
        for piece in made.pieces:
            number = self.befores[piece.split] + piece.place
            part = number * self.parts // self.befores[-1]
            yield part, (part, number, piece.pickled)


def return_in_order(
    made: Held[BinType], befores: tuple[int, ...], size: int, spread: RunContext, name: str
) -> list[SpilledSplit]:
    """Return splits of the documents of all bins, in private files; release the bins.

    ``befores`` are the documents before each split of the input and of all, ``size`` is that of all.
    """
    with explain_full_disk():
        folder = Path(mkdtemp(prefix=f"{name}-", dir=spread.folder))  # a control has files of its own
    parts = max(1, -(-size // SIZE))
    returned = made.exchange(ReturnPieces(befores, parts), parts)
    made.release()
    found = [*returned.map(partial(_spill_part, folder=folder)).collect()]
    returned.release()
    return [split for split in found if split is not None]


def _spill_part(pieces: list[tuple[int, int, bytes]], folder: Path) -> SpilledSplit | None:
    """Write the documents of a part in their order; None if there are none."""
    if not pieces:
        return None
    return spill_split((pickled for *_, pickled in sorted(pieces)), folder / str(pieces[0][0]))

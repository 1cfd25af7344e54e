"""Bring documents that were made in bins back to the order of the input, into parts of the usual size."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from tempfile import mkdtemp
from typing import NamedTuple, Protocol, TypeVar

from hierdata.executors import Held
from hierdata.ground.private_folder import explain_full_disk
from hierdata.pipeline.resources import RunContext, ask_all
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


def send_back(
    befores: tuple[int, ...], parts: int, made: MadeBin
) -> Iterator[tuple[int, tuple[int, int, bytes]]]:
    """Send documents to parts of the collection, in the order of the input.

    Yields (part, (part, number of the document, document)).
    """
    for piece in made.pieces:
        number = befores[piece.split] + piece.place
        part = number * parts // befores[-1]
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
    returned = made.exchange(partial(send_back, befores, parts), parts)
    made.release()
    splits = ask_all(returned, partial(_spill_part, folder=folder))
    returned.release()
    return [split for split in splits if split is not None]


def _spill_part(pieces: list[tuple[int, int, bytes]], folder: Path) -> SpilledSplit | None:
    """Write the documents of a part in their order; None if there are none."""
    if not pieces:
        return None
    return spill_split((pickled for *_, pickled in sorted(pieces)), folder / str(pieces[0][0]))

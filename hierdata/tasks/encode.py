"""Encoding: the records of one split on their way to their blocks, and the sample for the cut."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from hierdata.cut import Cut
from hierdata.encoding import encoded
from hierdata.histograms import Histograms, histograms
from hierdata.identifiers.treatment import UNTREATED, Treatment
from hierdata.intake import InputSplit
from hierdata.pieces import Encoded, Frame, part
from hierdata.progress import Progress, counted, silent
from hierdata.records.binding import Binding, bound
from hierdata.tasks.survey import Surveyed

_BATCH = 8192
"""Records that are brought to their blocks at once."""
_ANY = 2**62
"""Records as heavy as this may come: histograms have one scale before anybody knows the heaviest."""


@dataclass(frozen=True)
class Sampled:
    """Histograms of some records of a split, and their places in it."""

    histograms: Histograms
    ordinals: NDArray[np.int64]


@dataclass(frozen=True)
class SampleSplit:
    """The histograms of a split's sample, thinned to a ``stride`` that all splits have in common."""

    binding: Binding
    frame: Frame
    stride: int

    def __call__(self, surveyed: Surveyed) -> Sampled:
        """The histograms of these records."""
        documents = surveyed.sample.documents(self.stride)
        (sample,) = encoded(bound(documents, self.binding), self.frame)
        return Sampled(histograms(self.frame.forest(sample, _ANY)), self.stride * sample.ordinals)


@dataclass(frozen=True)
class Located:
    """A split and the number of records that come before it."""

    split: InputSplit
    before: int


@dataclass(frozen=True)
class EncodeSplit:
    """Encode the records of a split, for the leaves of a ``cut``; without one all go to 0, in one piece."""

    binding: Binding
    frame: Frame
    cut: Cut | None
    total: int
    treatment: Treatment = UNTREATED
    progress: Progress = silent

    def __call__(self, located: Located) -> Iterator[tuple[int, Encoded]]:
        """Pieces of leaves. Raises InputError with the record's number in the collection."""
        documents = counted(located.split.documents(), "encoding", self.total, self.progress)
        documents = self.treatment.documents(documents, located.before)
        records = bound(documents, self.binding, located.before)
        cut = self.cut
        batches = encoded(records, self.frame, located.before, None if cut is None else _BATCH)
        for batch in batches:
            if cut is None:
                yield 0, batch
            else:
                yield from _apart(batch, self.frame, cut.leaf_of)


@dataclass(frozen=True)
class Settle:
    """Bring the records of a leaf to the blocks of a cut that is settled."""

    frame: Frame
    cut: Cut

    def __call__(self, pieces: list[Encoded]) -> Iterator[tuple[int, Encoded]]:
        """Pieces of blocks."""
        for piece in pieces:
            yield from _apart(piece, self.frame, self.cut.block_of)


def _apart(
    records: Encoded,
    frame: Frame,
    place_of: Callable[[NDArray[np.uint8], NDArray[np.int64]], NDArray[np.int64]],
) -> Iterator[tuple[int, Encoded]]:
    """Encoded records by the place that their histograms and ordinals have."""
    forest = frame.forest(records, _ANY)
    places = place_of(histograms(forest).counts, records.ordinals)
    order = np.argsort(places, kind="stable")
    found, starts = np.unique(places[order], return_index=True)
    for place, own in zip(found.tolist(), np.split(order, starts[1:]), strict=True):
        yield place, part(forest, records.ordinals, own)

"""From splits to blocks: every record is encoded, and goes to the block that the cut says."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from hierdata.engines.alignment.lower_bounds import Histograms, histograms
from hierdata.engines.blocking import Cut, Sizes, cut
from hierdata.errors import InputError, PromiseError
from hierdata.executors import Held
from hierdata.forest.encoded import Encoded, Frame, joined, part
from hierdata.forest.encoding import encoded
from hierdata.forest.forest import Forest
from hierdata.pipeline.block import Load, WeighBlock
from hierdata.pipeline.resources import Spread
from hierdata.pipeline.seeds import salt_of
from hierdata.pipeline.survey import Located, Overview, Surveyed
from hierdata.policy.lint.attainable import largest
from hierdata.policy.plan.block_size import block_size, least
from hierdata.policy.plan.plan import Prepared
from hierdata.progress import Progress, counted, silent
from hierdata.records.binding import Binding, bound
from hierdata.records.identifiers.treatment import UNTREATED, Treatment

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


@dataclass(frozen=True)
class Blocks:
    """All records of a collection in pieces, by block, with what each block holds."""

    pieces: Held[list[Encoded]]
    loads: tuple[Load, ...]


def in_blocks(overview: Overview, prepared: Prepared, seed: bytes, spread: Spread) -> Blocks:
    """All records encoded and brought to their blocks. Raises InputError, PromiseError, PolicyError."""
    total = overview.survey.records
    fewest = prepared.constraints.min_class_size
    if total < fewest:
        asking = " and ".join(largest(prepared.policy, prepared.survey, fewest))
        raise PromiseError(
            f"under {asking} a class needs at least {fewest} records and the collection has {total}: collect "
            "more records or ask for less"
        )
    size = block_size(prepared.policy, prepared.schema, prepared.constraints)
    made = None
    if size is not None and total >= 2 * size:
        made = _cut(overview, prepared, size, salt_of(seed))
    overview.held.release()
    leaves = _encoded(overview, prepared, spread, made)
    blocks = _weighed(leaves, prepared)
    return blocks if made is None else _settled(blocks, made, prepared)


def whole(overview: Overview, prepared: Prepared, spread: Spread) -> Forest:
    """All records as one forest, in this process."""
    overview.held.release()
    pieces = _encoded(overview, prepared, spread, None)
    (all_of_them,) = pieces.collect()
    pieces.release()
    return prepared.frame.forest(joined(all_of_them))


def _cut(overview: Overview, prepared: Prepared, size: int, salt: int) -> Cut | None:
    """Where a sample of the records is cut into blocks of about ``size``.

    None where one of them does not fit: encoding meets it too, and knows its number.
    """
    stride = max(overview.held.map(_stride).collect())
    sampling = SampleSplit(prepared.binding, prepared.frame, stride)
    try:
        samples = list(overview.held.map(sampling).collect())
    except InputError:
        return None
    return cut(
        np.concatenate([sample.histograms.counts for sample in samples]),
        samples[0].histograms.weights,
        np.concatenate(
            [
                sample.ordinals + located.before
                for sample, located in zip(samples, overview.splits, strict=True)
            ]
        ),
        Sizes(
            overview.survey.records, size, least(prepared.constraints), prepared.constraints.min_class_size
        ),
        salt,
    )


def _stride(surveyed: Surveyed) -> int:
    return surveyed.sample.stride


def _encoded(overview: Overview, prepared: Prepared, spread: Spread, made: Cut | None) -> Held[list[Encoded]]:
    """The records by the leaves of a cut."""
    total = overview.survey.records
    inner, watch = spread.telling("encoding", total, len(overview.splits))
    scatter = EncodeSplit(prepared.binding, prepared.frame, made, total, overview.treatment, inner)
    try:
        located = spread.executor.hold(overview.splits)
        return located.exchange(scatter, 1 if made is None else made.leaves, watch)
    except InputError as error:
        raise _all_outside(error, prepared) from None


def _weighed(pieces: Held[list[Encoded]], prepared: Prepared) -> Blocks:
    return Blocks(pieces, tuple(pieces.map(WeighBlock(prepared.frame)).collect()))


def _settled(leaves: Blocks, made: Cut, prepared: Prepared) -> Blocks:
    """The leaves of a cut as blocks: a sample does not tell how many records each has."""
    settled = made.settled(np.array([load.records for load in leaves.loads], np.int64))
    if settled.blocks == made.leaves and (settled.parts == 1).all():
        return leaves
    pieces = leaves.pieces.exchange(Settle(prepared.frame, settled), settled.blocks)
    leaves.pieces.release()
    return _weighed(pieces, prepared)


def _all_outside(error: InputError, prepared: Prepared) -> InputError:
    """The error, with all values of the collection that are outside their domains where it is about one."""
    from hierdata.policy.lint.lint import lint

    outside = [
        finding
        for finding in lint(prepared.policy, prepared.survey)
        if finding.severity == "error" and finding.revealed
    ]
    if error.path not in [finding.path for finding in outside]:
        return error
    counts = "; ".join(f"{finding.path}: {finding.message}" for finding in outside)
    revealed = [value for finding in outside for value in finding.revealed]
    message = f"{error.message}; in the whole collection {counts}"
    return InputError(message, record=error.record, path=error.path, revealed=revealed)

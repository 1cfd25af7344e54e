"""From splits to blocks: encode every record, and send it to its block of the cut."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from operator import attrgetter

import numpy as np
from numpy.typing import NDArray

from hierdata.engines.alignment.lower_bounds import Histograms, histograms
from hierdata.engines.base import Constraints
from hierdata.engines.blocking import Cut, Sizes, grow_cut
from hierdata.engines.blocking.growing import ValueShares, no_shares, shares
from hierdata.engines.blocking.roots import RootNodes, below_nodes, grow_root_cut, root_nodes
from hierdata.executors import Held
from hierdata.forest.encoded import Encoded, Frame, join_encoded, part
from hierdata.forest.encoding import encode_records
from hierdata.forest.forest import Forest
from hierdata.forest.worth import UNKNOWN
from hierdata.ground.errors import InputError, PromiseError
from hierdata.ground.progress import Progress, count_items, silent
from hierdata.pipeline.block import Load, weigh_block
from hierdata.pipeline.look_over import LookedOver
from hierdata.pipeline.resources import RunContext
from hierdata.pipeline.seeds import salt_of
from hierdata.pipeline.survey import Located, Overview, Surveyed
from hierdata.policy.lint.attainable import largest
from hierdata.policy.plan.plan import Prepared
from hierdata.policy.plan.stages import block_size, least_block_size
from hierdata.records.binding import Binding, bind_records
from hierdata.records.identifiers.treatment import UNTREATED, Treatment

_BATCH = 8192
"""The number of records that are sent to their blocks together."""


@dataclass(frozen=True)
class Sampled:
    """Histograms and shares of some records of a split, and the ordinals of these records in it."""

    histograms: Histograms
    shares: ValueShares
    ordinals: NDArray[np.int64]


@dataclass(frozen=True)
class SampleReading:
    """Encodes the sample of a split, thinned to a ``stride`` common to all splits."""

    binding: Binding
    frame: Frame
    stride: int

    def _encode(self, surveyed: Surveyed) -> tuple[Encoded, Forest]:
        documents = surveyed.sample.documents(self.stride)
        (sample,) = encode_records(bind_records(documents, self.binding), self.frame)
        return sample, self.frame.forest(sample, UNKNOWN)

    def find_histograms(self, constraints: Constraints, surveyed: Surveyed) -> Sampled:
        """Return the histograms of a sample; with a preset its values have no shares."""
        sample, forest = self._encode(surveyed)
        of_values = no_shares(forest.record_count) if forest.sought is None else shares(forest, constraints)
        return Sampled(histograms(forest), of_values, self.stride * sample.ordinals)

    def find_roots(self, surveyed: Surveyed) -> tuple[NDArray[np.uint8], RootNodes]:
        """Return which nodes the root values of a sample lie below, and the nodes."""
        _, forest = self._encode(surveyed)
        return below_nodes(forest), root_nodes(forest)


@dataclass(frozen=True)
class EncodeSplit:
    """Encode the records of a split by leaves of a cut; without a cut, all as one piece of leaf 0."""

    binding: Binding
    frame: Frame
    cut: Cut | None
    total: int
    treatment: Treatment = UNTREATED
    progress: Progress = silent

    def __call__(self, located: Located) -> Iterator[tuple[int, Encoded]]:
        """Yield pieces by leaf. Raises InputError with the record's number in the collection."""
        documents = count_items(located.split.documents(), "encoding", self.total, self.progress)
        documents = self.treatment.documents(documents, located.before)
        records = bind_records(documents, self.binding, located.before)
        cut = self.cut
        batches = encode_records(records, self.frame, located.before, None if cut is None else _BATCH)
        for batch in batches:
            if cut is None:
                yield 0, batch
            else:
                yield from _split_by_bin(batch, self.frame, cut, cut.leaf_of)


def settle(frame: Frame, cut: Cut, pieces: list[Encoded]) -> Iterator[tuple[int, Encoded]]:
    """Send the records of a leaf to the blocks of a settled cut."""
    for piece in pieces:
        yield from _split_by_bin(piece, frame, cut, cut.block_of)


def _split_by_bin(
    records: Encoded,
    frame: Frame,
    cut: Cut,
    bin_of: Callable[[NDArray[np.uint8], NDArray[np.int64]], NDArray[np.int64]],
) -> Iterator[tuple[int, Encoded]]:
    """Split encoded records by the leaf or block of what the cut counts, and of their ordinals."""
    forest = frame.forest(records, UNKNOWN)
    bins = bin_of(cut.counts_of(forest), records.ordinals)
    order = np.argsort(bins, kind="stable")
    numbers, starts = np.unique(bins[order], return_index=True)
    for number, members in zip(numbers.tolist(), np.split(order, starts[1:]), strict=True):
        yield number, part(forest, records.ordinals, members)


@dataclass(frozen=True)
class Blocks:
    """All records of a collection in pieces by block, with the load of each block."""

    pieces: Held[list[Encoded]]
    loads: tuple[Load, ...]


def encode_blocks(overview: Overview, prepared: Prepared, seed: bytes, spread: RunContext) -> Blocks:
    """Encode all records and send them to their blocks. Raises InputError, PromiseError, PolicyError."""
    total = overview.survey.records
    fewest = prepared.constraints.min_class_size
    if not total:
        raise InputError("there are no records: the input has nothing to anonymize")
    if total < fewest:
        asking = " and ".join(largest(prepared.policy, prepared.survey, fewest))
        added = prepared.policy.models_of_preset
        raise PromiseError(
            f"under {asking} a class needs at least {fewest} records, but the collection has {total}: "
            f"collect more records or ask for less{f'; models {added}' if added else ''}"
        )
    size = block_size(prepared.policy, prepared.schema, prepared.constraints)
    made = None
    if size is not None and total >= 2 * size:
        made = _cut_sample(overview, prepared, size, salt_of(seed))
    overview.held.release()
    leaves = _encode_leaves(overview, prepared, spread, made)
    blocks = _weigh_pieces(leaves, prepared)
    return blocks if made is None else _form_blocks(blocks, made, prepared)


def encode_whole(looked: LookedOver) -> Forest:
    """Encode all records of a collection as one forest, in this process."""
    looked.overview.held.release()
    pieces = _encode_leaves(looked.overview, looked.prepared, looked.spread, None)
    (all_of_them,) = pieces.collect()
    pieces.release()
    return looked.prepared.frame.forest(join_encoded(all_of_them))


def _cut_sample(overview: Overview, prepared: Prepared, size: int, salt: int) -> Cut | None:
    """Grow the cut into blocks of about ``size`` records from a sample.

    None if a record of the sample has a value outside its domain: encoding will find it too, and then knows
    the record's number.
    """
    stride = max(overview.held.map(attrgetter("sample.stride")).collect())
    reading = SampleReading(prepared.binding, prepared.frame, stride)
    constraints = prepared.constraints
    sizes = Sizes(overview.survey.records, size, least_block_size(constraints), constraints.min_class_size)
    try:
        if constraints.knowledge is not None:
            # Bounded knowledge is kept by all records of one root vector together.
            counts, columns = zip(*overview.held.map(reading.find_roots).collect(), strict=True)
            return grow_root_cut(np.concatenate(counts), columns[0], sizes, salt)
        samples = list(overview.held.map(partial(reading.find_histograms, constraints)).collect())
    except InputError:
        return None
    located = zip(samples, overview.splits, strict=True)
    ordinals = [sample.ordinals + split.before for sample, split in located]
    return grow_cut(
        np.concatenate([sample.histograms.counts for sample in samples]),
        samples[0].histograms.weights,
        np.concatenate(ordinals),
        sizes,
        salt,
        ValueShares(*map(np.concatenate, zip(*(sample.shares for sample in samples), strict=True))),
    )


def _encode_leaves(
    overview: Overview, prepared: Prepared, spread: RunContext, made: Cut | None
) -> Held[list[Encoded]]:
    """Encode the records by the leaves of a cut."""
    total = overview.survey.records
    inner, watch = spread.progress_callbacks("encoding", total, len(overview.splits))
    scatter = EncodeSplit(prepared.binding, prepared.frame, made, total, overview.treatment, inner)
    try:
        located = spread.executor.hold(overview.splits)
        return located.exchange(scatter, 1 if made is None else made.leaves, watch)
    except InputError as error:
        raise _list_uncovered(error, prepared) from None


def _weigh_pieces(pieces: Held[list[Encoded]], prepared: Prepared) -> Blocks:
    return Blocks(pieces, tuple(pieces.map(partial(weigh_block, prepared.frame)).collect()))


def _form_blocks(leaves: Blocks, made: Cut, prepared: Prepared) -> Blocks:
    """Turn leaves into blocks by their true numbers of records, which the sample only estimates."""
    settled = made.settle_counts(np.array([load.records for load in leaves.loads], np.int64))
    if settled.blocks == made.leaves and (settled.parts == 1).all():
        return leaves
    pieces = leaves.pieces.exchange(partial(settle, prepared.frame, settled), settled.blocks)
    leaves.pieces.release()
    return _weigh_pieces(pieces, prepared)


def _list_uncovered(error: InputError, prepared: Prepared) -> InputError:
    """Extend an error about a value outside its domain by all such values of the collection."""
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

"""From splits to blocks: every record is encoded, and goes to the block that the cut says."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from hierdata.blocks import block_size, least
from hierdata.cut import Cut, Sizes, cut
from hierdata.errors import InputError, PromiseError
from hierdata.executors import Held
from hierdata.forest import Forest
from hierdata.pieces import Encoded, joined
from hierdata.prepare import Prepared
from hierdata.run.overview import Overview
from hierdata.run.spread import Spread
from hierdata.seeds import salt_of
from hierdata.shortfalls import largest
from hierdata.tasks.cluster import Load, WeighBlock
from hierdata.tasks.encode import EncodeSplit, SampleSplit, Settle
from hierdata.tasks.survey import Surveyed


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
    from hierdata.lint import lint

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

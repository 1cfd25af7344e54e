"""From blocks to classes: cluster every block, then unite classes of several blocks that look alike.

A search that will take long is announced first.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial, reduce
from operator import add

from hierdata.engines.base import Trial
from hierdata.engines.compiler.plain import run_small
from hierdata.executors import Held
from hierdata.forest.encoded import Encoded, join_encoded
from hierdata.forest.worth import Heaviest
from hierdata.ground.errors import PromiseError
from hierdata.ground.progress import Progress, silent
from hierdata.pipeline.block import Block, Load, require_memory
from hierdata.pipeline.encode import Blocks
from hierdata.pipeline.guard_blocks import Guard, explain_unguarded
from hierdata.pipeline.merge_blocks import (
    drop_dangling,
    find_root_forms,
    find_shared_forms,
    send_forms,
    split_block,
    stand_apart,
    unite_parts,
)
from hierdata.pipeline.resources import RunContext, ask_all
from hierdata.pipeline.search import (
    NO_CLASS,
    announcing,
    nothing_holds,
    search,
    search_tables,
    try_first_step,
)
from hierdata.pipeline.seeds import generator
from hierdata.policy.lint.attainable import estimate_patterns
from hierdata.policy.plan.plan import Prepared
from hierdata.release.recodings import Recoding


def try_block(
    prepared: Prepared, seed: bytes, heaviest: Heaviest, asked: frozenset[int], pieces: list[Encoded]
) -> list[Mapping[Hashable, Trial]]:
    """Let engines try their alternatives on a block, if its first record is in ``asked``.

    Returns by stage the loss of each alternative; empty for other blocks.
    """
    if not pieces or int(pieces[0].ordinals[0]) not in asked:
        return []
    records = join_encoded(pieces)
    forest = prepared.frame.forest(records, heaviest)
    rng = generator(seed, int(records.ordinals[0]))
    return [try_first_step(forest, stage, rng) for stage in prepared.stages]


@dataclass(frozen=True)
class ClusterBlock:
    """Run the engines' steps on a block; ``alone``: it is the whole collection.

    Random numbers are keyed by the number of the block's first record.
    """

    prepared: Prepared
    recoding: Recoding
    seed: bytes
    heaviest: Heaviest
    alone: bool
    progress: Progress = silent
    notice: Callable[[str], None] | None = None

    def __call__(self, pieces: list[Encoded]) -> Block:
        """Cluster one block. Raises PromiseError if it is the only block and has no class."""
        records = join_encoded(pieces)
        find_classes = partial(self._find_classes, records, _ReportOnce(self.progress))
        with announcing(self.notice):
            try:
                return run_small(len(records.type), find_classes)
            except PromiseError as error:
                raise _with_preset(self.prepared, error) from None

    def _find_classes(self, records: Encoded, progress: _ReportOnce) -> Block:
        progress.begin()
        forest = self.prepared.frame.forest(records, self.heaviest)
        rng = generator(self.seed, int(records.ordinals[0]))
        block = Block(records, (), int(records.ordinals[0]), forest)
        if self.prepared.policy.recoding_traits.groups_each_table:
            forest, partitions = search_tables(forest, self.prepared, self.recoding, rng, progress)
            return replace(block, forest=forest, partitions=partitions)
        return search(block, self.prepared, self.recoding, rng, self.alone, progress)


def _with_preset(prepared: Prepared, error: PromiseError) -> PromiseError:
    """Return the error with the models that the preset added, so that nobody looks for them in the policy."""
    added = prepared.policy.models_of_preset
    message = f"{error.message}; models {added}" if added else error.message
    return PromiseError(message, path=error.path, record=error.record, revealed=error.revealed)


class _ReportOnce:
    """The progress of a search that may begin again: what it reports a second time is not passed on."""

    def __init__(self, progress: Progress) -> None:
        self._progress = progress
        self._calls = self._passed_on = 0

    def begin(self) -> None:
        """Expect the reports from the first one."""
        self._calls = 0

    def __call__(self, stage: str, done: int, total: int | None) -> None:
        self._calls += 1
        if self._calls > self._passed_on:
            self._passed_on = self._calls
            self._progress(stage, done, total)


_HEARD = 64
"""About how many blocks send their forms to one task, so that no process gets those of all blocks."""
TRIED = 4
"""The number of blocks on which engines try their alternatives, evenly spaced."""


@dataclass(frozen=True)
class ClusteredBlocks:
    """The clustered blocks, held by the executor; no two of them have classes that look the same.

    ``heaviest`` is the most of any record, which decides the scale of losses.
    """

    blocks: Held[Block]
    heaviest: Heaviest
    spread: RunContext


def cluster_blocks(
    blocks: Blocks,
    prepared: Prepared,
    recoding: Recoding,
    seed: bytes,
    spread: RunContext,
    notice: Callable[[str], None] | None,
) -> ClusteredBlocks:
    """Cluster every block. Raises PromiseError if no class is found."""
    pieces, loads = blocks.pieces, blocks.loads
    heaviest = reduce(Heaviest.most, (load.heaviest for load in loads))
    alone = len(loads) == 1
    require_memory(loads, spread)
    announce_search(loads, prepared, spread.executor.workers, notice)
    if alone:  # the whole collection; later steps need it in this process
        pieces, spread = spread.collect_locally(pieces)
    else:
        prepared = _choose_engines(blocks, prepared, seed, heaviest)
    inner, watch = spread.progress_callbacks("clustering", sum(load.records for load in loads), len(loads))
    cluster = ClusterBlock(
        prepared, recoding, seed, heaviest, alone, inner, notice if spread.is_local else None
    )
    clustered = pieces.map(cluster, watch)
    if prepared.constraints.knowledge is not None:
        find_forms = partial(find_root_forms, prepared.frame, heaviest)
        if not alone and not stand_apart(ask_all(clustered, find_forms)):
            clustered.release()
            return cluster_blocks(_join_blocks(blocks), prepared, recoding, seed, spread, notice)
        pieces.release()
        return ClusteredBlocks(drop_dangling(clustered, prepared, heaviest), heaviest, spread)
    pieces.release()
    if not alone:
        firsts = [load.first for load in loads]
        clustered = _unite_blocks(clustered, firsts, prepared, heaviest)
        guard = Guard(prepared.frame, heaviest, prepared.constraints, prepared.policy.recoding_traits)
        mended = guard.mend(clustered)
        if mended is None:
            raise PromiseError(explain_unguarded(prepared, guard.count(clustered, every=True)))
        if mended is not clustered:  # several blocks may publish suppressed records, by one form
            clustered = _unite_blocks(mended, firsts, prepared, heaviest)
    clustered = drop_dangling(clustered, prepared, heaviest)
    return ClusteredBlocks(clustered, heaviest, spread)


def send_to_first(pieces: list[Encoded]) -> Iterator[tuple[int, Encoded]]:
    """Yield the pieces of a block for the only bin."""
    for piece in pieces:
        yield 0, piece


def _join_blocks(blocks: Blocks) -> Blocks:
    """Return all records as one block: what cannot be kept in a block may be kept in the whole."""
    loads = [load for load in blocks.loads if load.records]
    pieces = blocks.pieces.exchange(send_to_first, 1)
    blocks.pieces.release()
    return Blocks(
        pieces,
        (
            Load(
                min(load.first for load in loads),
                sum(load.records for load in loads),
                sum(load.vertices for load in loads),
                reduce(Heaviest.most, (load.heaviest for load in loads)),
            ),
        ),
    )


def _choose_engines(blocks: Blocks, prepared: Prepared, seed: bytes, heaviest: Heaviest) -> Prepared:
    """Choose the engines' alternatives by trials in some blocks, the same for all blocks."""
    firsts = [load.first for load in blocks.loads if load.records]
    if not any(stage.chooses(len(firsts)) for stage in prepared.stages):
        return prepared
    asked = frozenset(firsts[len(firsts) * number // TRIED] for number in range(TRIED))
    answers = ask_all(blocks.pieces, partial(try_block, prepared, seed, heaviest, asked))
    by_stage = zip(*filter(None, answers), strict=True)
    stages = [
        stage.choose_by_trials(add_trials(trials))
        for stage, trials in zip(prepared.stages, by_stage, strict=True)
    ]
    return replace(prepared, stages=tuple(stages))


def add_trials(trials: Sequence[Mapping[Hashable, Trial]]) -> dict[Hashable, Trial]:
    """Sum the losses of each alternative that was tried in all blocks in which any was."""
    tried = [losses for losses in trials if losses]
    return {
        way: reduce(add, (losses[way] for losses in tried))
        for way in next(iter(tried), {})
        if all(way in losses for losses in tried)
    }


def _unite_blocks(
    clustered: Held[Block], firsts: list[int], prepared: Prepared, heaviest: Heaviest
) -> Held[Block]:
    """Exchange records so that all classes of one form are in one block."""
    number_of = {first: number for number, first in enumerate(firsts)}
    bins = 1 + clustered.count // _HEARD
    heard = clustered.exchange(partial(send_forms, prepared.frame, heaviest, number_of, bins), bins)
    answers = ask_all(heard, find_shared_forms)
    heard.release()
    if not any(answer.has_forms for answer in answers):
        raise PromiseError(nothing_holds(prepared) or f"{NO_CLASS}: ask for less, or for larger `blocks`")
    homes = {form: home for answer in answers for form, home in answer.homes.items()}
    if not homes:
        return clustered
    split = partial(split_block, prepared.frame, heaviest, homes, number_of)
    apart = clustered.exchange(split, clustered.count)
    clustered.release()
    together = apart.map(unite_parts)
    apart.release()
    return together


_SECONDS = 6e-9
"""Seconds for each pair of vertices of two aligned trees, as measured with 20 to 230 vertices a tree."""
_LONG = 60.0
"""Searches that take fewer seconds are not announced."""


def announce_search(
    loads: Iterable[Load], prepared: Prepared, workers: int, notice: Callable[[str], None] | None
) -> None:
    """Call ``notice`` with an estimate if the search, or judging patterns, will take more than a minute."""
    if notice is None:
        return
    for _, warning in estimate_patterns(prepared.policy, prepared.survey):
        notice(warning)
    loads = [load for load in loads if load.records]
    seconds = estimate_seconds(loads, prepared) / max(1, min(workers, len(loads)))
    if seconds < _LONG:
        return
    records, vertices = sum(load.records for load in loads), sum(load.vertices for load in loads)
    notice(
        f"the search will take about {spell_duration(seconds)}: records have {vertices // records} vertices "
        "on average, and its time grows with the square of that. Shorter: 'shape' in the policy (take, cap, "
        "distinct), 'aligned: 4' for the engine k-member, or the preset ClusTree, which loses more"
    )


def estimate_seconds(loads: Iterable[Load], prepared: Prepared) -> float:
    """Return about how long one processor searches, by the number of alignments and the sizes of records."""
    return sum(
        _SECONDS
        * engine.estimate_work(load.records, load.vertices, constraints)
        * (load.vertices / load.records) ** 2
        for load in loads
        for stage in prepared.stages
        for engine, constraints in stage.work()
    )


def spell_duration(seconds: float) -> str:
    """Return a duration in words, rounded as an estimate is.

    >>> spell_duration(100), spell_duration(3000), spell_duration(30000)
    ('2 minutes', '50 minutes', '8 hours')
    """
    if seconds < 5400:
        return f"{max(2, round(seconds / 60))} minutes"
    return f"{round(seconds / 3600)} hours"

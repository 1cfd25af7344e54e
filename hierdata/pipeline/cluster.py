"""From blocks to classes: every block is clustered, and what came out alike is brought together."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from operator import add

from hierdata.engines.base import Trial
from hierdata.errors import PromiseError
from hierdata.executors import Held
from hierdata.forest.encoded import Encoded, joined
from hierdata.pipeline.block import Block
from hierdata.pipeline.encode import Blocks
from hierdata.pipeline.memory import require
from hierdata.pipeline.merge_blocks import FormsOfBlock, SplitBlock, shared, united
from hierdata.pipeline.resources import Spread
from hierdata.pipeline.search import NO_CLASS, announcing, nothing_holds, search, tried
from hierdata.pipeline.seeds import generator
from hierdata.policy.plan.plan import Prepared
from hierdata.progress import Progress, silent
from hierdata.release.recodings import Recoding


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
        with announcing(self.notice):
            forest, partitions = search(forest, self.prepared, self.recoding, rng, self.alone, self.progress)
        return Block(records, partitions, forest)


_HEARD = 64
"""Blocks whose forms one task compares, about: no process hears those of all."""
TRIED = 4
"""Blocks on which is tried how all are clustered: a fourth part of the way apart."""


@dataclass(frozen=True)
class Classes:
    """The clustered blocks, where they are; no two of them have a class that looks the same.

    ``heaviest`` is the most quasi-identifiers of any record, which decides the scale of losses.
    """

    blocks: Held[Block]
    heaviest: int
    spread: Spread


def clustered(
    blocks: Blocks,
    prepared: Prepared,
    recoding: Recoding,
    seed: bytes,
    spread: Spread,
    notice: Callable[[str], None] | None,
) -> Classes:
    """Cluster every block. Raises PromiseError where no class is found."""
    pieces, loads = blocks.pieces, blocks.loads
    heaviest = max(load.heaviest for load in loads)
    alone = len(loads) == 1
    require(loads, spread)
    if alone:  # it is all of the collection, and what follows needs it here
        pieces, spread = spread.brought_home(pieces)
    else:
        prepared = _settled(blocks, prepared, seed, heaviest)
    inner, watch = spread.telling("clustering", sum(load.records for load in loads), len(loads))
    cluster = ClusterBlock(
        prepared, recoding, seed, heaviest, alone, inner, notice if spread.at_home else None
    )
    found = pieces.map(cluster, watch)
    pieces.release()
    if not alone:
        found = _united(found, [load.first for load in loads], prepared, heaviest)
    return Classes(found, heaviest, spread)


def _settled(blocks: Blocks, prepared: Prepared, seed: bytes, heaviest: int) -> Prepared:
    """The engines go the same way in every block: the one they choose by trials in some of them."""
    if not any(stage.steps[0].chooses for stage in prepared.stages):
        return prepared
    firsts = [load.first for load in blocks.loads if load.records]
    asked = frozenset(firsts[len(firsts) * at // TRIED] for at in range(TRIED))
    found = blocks.pieces.map(TryBlock(prepared, seed, heaviest, asked))
    answers = [answer for answer in found.collect() if answer]
    found.release()
    stages = [
        stage.settled(added(own))
        for stage, own in zip(prepared.stages, zip(*answers, strict=True), strict=True)
    ]
    return replace(prepared, stages=tuple(stages))


def added(trials: Sequence[Mapping[Hashable, Trial]]) -> dict[Hashable, Trial]:
    """What each way that was tried in all blocks loses in them together."""
    everywhere = set(trials[0]).intersection(*trials)
    return {way: reduce(add, (own[way] for own in trials)) for way in trials[0] if way in everywhere}


def _united(found: Held[Block], firsts: list[int], prepared: Prepared, heaviest: int) -> Held[Block]:
    """The blocks, classes of one form all in one of them."""
    place_of = {first: place for place, first in enumerate(firsts)}
    bins = 1 + found.count // _HEARD
    heard = found.exchange(FormsOfBlock(prepared.frame, heaviest, place_of, bins), bins)
    forms = heard.map(shared)
    answers = list(forms.collect())
    heard.release()
    forms.release()
    if not any(answer.has_forms for answer in answers):
        raise PromiseError(nothing_holds(prepared) or f"{NO_CLASS}: ask for less, or for larger `blocks`")
    homes = {form: home for answer in answers for form, home in answer.homes.items()}
    if not homes:
        return found
    apart = found.exchange(SplitBlock(prepared.frame, heaviest, homes, place_of), found.count)
    found.release()
    together = apart.map(united)
    apart.release()
    return together

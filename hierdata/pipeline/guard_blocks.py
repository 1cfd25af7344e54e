"""Guard the suppressed of a collection in blocks: decided for the whole, carried out block by block."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, replace
from functools import reduce
from operator import add
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from hierdata.engines.guarding.choice import Candidate, choose_classes
from hierdata.engines.guarding.contents import LARGEST, GroupContents, uncovered_records
from hierdata.engines.guarding.guard import (
    contents_of,
    dissolve,
    holds_at_roots,
    is_safe,
    publish_at_roots,
    suppressed_rows,
    weigh_classes,
)
from hierdata.executors import Held
from hierdata.forest.encoded import Encoded, join_encoded, part
from hierdata.forest.worth import Heaviest
from hierdata.ground.errors import PromiseError
from hierdata.pipeline.block import Block
from hierdata.pipeline.unguarded import explain_unguarded
from hierdata.policy.plan.plan import Prepared

Answer = TypeVar("Answer")


@dataclass(frozen=True)
class _Task:
    """What every task on a block needs."""

    prepared: Prepared
    heaviest: Heaviest


@dataclass(frozen=True)
class CountSuppressed(_Task):
    """Count what the suppressed records of a block hold."""

    def __call__(self, block: Block) -> tuple[GroupContents, int]:
        """Return their contents, and the number of classes of the block."""
        (partition,) = block.partitions
        forest = block.at(self.prepared.frame, self.heaviest)
        held = contents_of(forest, 0, self.prepared.constraints, suppressed_rows(partition))
        return held, partition.class_count


@dataclass(frozen=True)
class WeighClasses(_Task):
    """Weigh the classes of a block."""

    def __call__(self, block: Block) -> tuple[int, list[Candidate]]:
        """Return the number of the block, and a candidate for each class."""
        (partition,) = block.partitions
        forest = block.at(self.prepared.frame, self.heaviest)
        traits = self.prepared.policy.recoding_traits
        return block.number, weigh_classes(forest, partition, self.prepared.constraints, traits)


@dataclass(frozen=True)
class DissolveClasses(_Task):
    """Dissolve the chosen classes of a block; ``chosen`` maps the number of a block to its classes."""

    chosen: Mapping[int, list[int]]

    def __call__(self, block: Block) -> Block:
        """Return the block without them."""
        (partition,) = block.partitions
        forest = block.at(self.prepared.frame, self.heaviest)
        left = dissolve(forest, partition, self.chosen.get(block.number, []))
        return replace(block, partitions=(left,))


@dataclass(frozen=True)
class TakeSuppressed(_Task):
    """Take the suppressed records out of a block."""

    def __call__(self, block: Block) -> Encoded:
        """Return them."""
        (partition,) = block.partitions
        forest = block.at(self.prepared.frame, self.heaviest)
        return part(forest, block.encoded.ordinals, np.flatnonzero(suppressed_rows(partition)))


@dataclass(frozen=True)
class FindUncovered(_Task):
    """Find which of the suppressed records of the whole collection no class of a block fits."""

    suppressed: Encoded

    def __call__(self, block: Block) -> NDArray[np.bool_]:
        """Return one answer for each of these records."""
        (partition,) = block.partitions
        forest = block.at(self.prepared.frame, self.heaviest)
        left = self.prepared.frame.forest(self.suppressed, self.heaviest)
        every = np.arange(left.record_count)
        return uncovered_records(left, every, forest, partition.representative, partition.nodes)


@dataclass(frozen=True)
class PublishSuppressed(_Task):
    """Publish the suppressed records of a block by their roots alone."""

    def __call__(self, block: Block) -> Block:
        """Return the block with one more class, if it has such records."""
        (partition,) = block.partitions
        if not suppressed_rows(partition).any():
            return block
        forest = block.at(self.prepared.frame, self.heaviest)
        return replace(block, partitions=(publish_at_roots(forest, partition),))


def guard_blocks(found: Held[Block], prepared: Prepared, heaviest: Heaviest) -> tuple[Held[Block], bool]:
    """Guard the suppressed of all blocks as ``guard_suppressed`` does those of a whole collection.

    Returns the blocks, and whether suppressed records were published: several blocks may then have classes of
    their form. Raises PromiseError if no choice of classes is enough.
    """
    constraints = prepared.constraints
    counted = _ask(found, CountSuppressed(prepared, heaviest)) if constraints.guarded else []
    if not any(held.records for held, _ in counted):
        return found, False
    left = reduce(add, (held for held, _ in counted))
    classes = sum(own for _, own in counted)
    if left.satisfies(constraints) and _may_stay(found, classes, prepared, heaviest):
        return found, False
    if chosen := _choose(found, left, prepared, heaviest):
        found = _replace(found, DissolveClasses(prepared, heaviest, chosen))
    return _replace(found, PublishSuppressed(prepared, heaviest)), True


def _choose(
    found: Held[Block], left: GroupContents, prepared: Prepared, heaviest: Heaviest
) -> dict[int, list[int]]:
    """Return the classes to dissolve, by the number of their block."""
    weighed = _ask(found, WeighClasses(prepared, heaviest))
    places = [(block, own) for block, candidates in weighed for own in range(len(candidates))]
    every = [candidate for _, candidates in weighed for candidate in candidates]
    root = len(prepared.hierarchies[0])

    def accept(whole: GroupContents, classes: Collection[int]) -> bool:
        return holds_at_roots(whole, root, prepared.constraints)

    numbers = choose_classes(left, every, prepared.constraints, accept)
    if numbers is None:
        whole = reduce(add, (candidate.contents for candidate in every), left)
        raise PromiseError(explain_unguarded(prepared, whole))
    chosen: defaultdict[int, list[int]] = defaultdict(list)
    for number in numbers:
        block, own = places[number]
        chosen[block].append(own)
    return dict(chosen)


def _may_stay(found: Held[Block], classes: int, prepared: Prepared, heaviest: Heaviest) -> bool:
    """Whether something is published, and the records that it does not cover are none or satisfy all."""
    taken = join_encoded(_ask(found, TakeSuppressed(prepared, heaviest)))
    if taken.record_count == prepared.survey.records or taken.record_count * classes > LARGEST:
        return False
    alone = np.logical_and.reduce(_ask(found, FindUncovered(prepared, heaviest, taken)))
    return is_safe(prepared.frame.forest(taken, heaviest), 0, prepared.constraints, alone)


def _ask(found: Held[Block], task: Callable[[Block], Answer]) -> list[Answer]:
    """Return the answer of each block."""
    answers = found.map(task)
    collected = list(answers.collect())
    answers.release()
    return collected


def _replace(found: Held[Block], task: Callable[[Block], Block]) -> Held[Block]:
    changed = found.map(task)
    found.release()
    return changed

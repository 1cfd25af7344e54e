"""Guard the suppressed of a collection in blocks: decided for the whole, carried out block by block.

Also the message of exit code 3: why the suppressed cannot satisfy the models.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
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
from hierdata.policy.plan.plan import Prepared
from hierdata.privacy.base import ClassView, Constraint, describe_achieved, number
from hierdata.privacy.presence import GroupPresence, PresenceConstraint

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


def guard_blocks(clustered: Held[Block], prepared: Prepared, heaviest: Heaviest) -> tuple[Held[Block], bool]:
    """Guard the suppressed of all blocks as ``guard_suppressed`` does those of a whole collection.

    Returns the blocks, and whether suppressed records were published: several blocks may then have classes of
    their form. Raises PromiseError if no choice of classes is enough.
    """
    constraints = prepared.constraints
    counted = _ask(clustered, CountSuppressed(prepared, heaviest)) if constraints.guarded else []
    if not any(held.records for held, _ in counted):
        return clustered, False
    left = reduce(add, (held for held, _ in counted))
    classes = sum(own for _, own in counted)
    if left.satisfies(constraints) and _may_stay(clustered, classes, prepared, heaviest):
        return clustered, False
    if chosen := _choose(clustered, left, prepared, heaviest):
        clustered = _replace(clustered, DissolveClasses(prepared, heaviest, chosen))
    return _replace(clustered, PublishSuppressed(prepared, heaviest)), True


def _choose(
    clustered: Held[Block], left: GroupContents, prepared: Prepared, heaviest: Heaviest
) -> dict[int, list[int]]:
    """Return the classes to dissolve, by the number of their block."""
    weighed = _ask(clustered, WeighClasses(prepared, heaviest))
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
    for candidate in numbers:
        block, own = places[candidate]
        chosen[block].append(own)
    return dict(chosen)


def _may_stay(clustered: Held[Block], classes: int, prepared: Prepared, heaviest: Heaviest) -> bool:
    """Return whether something is published, and the records not covered are none or satisfy all models."""
    taken = join_encoded(_ask(clustered, TakeSuppressed(prepared, heaviest)))
    if taken.record_count == prepared.survey.records or taken.record_count * classes > LARGEST:
        return False
    alone = np.logical_and.reduce(_ask(clustered, FindUncovered(prepared, heaviest, taken)))
    return is_safe(prepared.frame.forest(taken, heaviest), 0, prepared.constraints, alone)


def _ask(clustered: Held[Block], task: Callable[[Block], Answer]) -> list[Answer]:
    """Return the answer of each block."""
    answers = clustered.map(task)
    collected = list(answers.collect())
    answers.release()
    return collected


def _replace(clustered: Held[Block], task: Callable[[Block], Block]) -> Held[Block]:
    changed = clustered.map(task)
    clustered.release()
    return changed


def explain_unguarded(prepared: Prepared, whole: GroupContents) -> str:
    """Say which models all records together break, and how to accept that; ``whole`` is what they hold."""
    found = dict.fromkeys(_excesses(prepared, whole))
    return (
        "records must be suppressed, and no choice that was tried satisfies the models as a whole"
        f"{': ' if found else ''}{'; '.join(found)}; ask for less, or write `suppressed: as_published` to "
        "promise something about published records only"
    )


def _excesses(prepared: Prepared, whole: GroupContents) -> Iterator[str]:
    """Yield for each constraint that all records together break: attribute, share and limit."""
    for kind, held, attributes in zip(
        prepared.schema.types, whole.held, prepared.constraints.on_values, strict=True
    ):
        for attribute, values, bound in zip(kind.sensitive, held, attributes, strict=True):
            view = ClassView(whole.records, values.counts, sets=values.sets)
            for constraint in bound:
                if not constraint.holds(view):
                    yield f"{attribute.path}: {_describe_excess(constraint, view)}"


def _describe_excess(constraint: Constraint, view: ClassView) -> str:
    """Name the share of a group that exceeds its limit the most, and the limit, where the model has these."""
    whose, (sizes, total) = "values are", _sizes(constraint, view)
    if isinstance(constraint, GroupPresence):
        whose, (sizes, total) = "records show one", constraint.count_records(view)
    shares = {} if constraint.caps is None else dict(enumerate(constraint.caps.share))
    over = {own: Fraction(size, total) - shares[own] for own, size in sizes.items() if own in shares}
    own = max(over, key=over.__getitem__, default=-1)
    if own < 0 or over[own] <= 0:
        reached = describe_achieved(constraint.achieved_parameters(view))
        return f"all records together reach {reached}" if reached else "all records together break a model"
    share, limit = number(Fraction(sizes[own], total)), number(shares[own])
    return f"{share} of all {whose} of one value or group of values, and {limit} is allowed"


def _sizes(constraint: Constraint, view: ClassView) -> tuple[dict[int, int], int]:
    """Return the number of values of each group of the caps, and of all; empty without such groups."""
    caps = constraint.caps
    if caps is None or caps.reach is not None or isinstance(constraint, PresenceConstraint):
        return {}, 1
    sizes: dict[int, int] = {}
    for code, count in view.counts.items():
        sizes[caps.group_of[code]] = sizes.get(caps.group_of[code], 0) + count
    return sizes, view.present

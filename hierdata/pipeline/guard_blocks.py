"""Guard the suppressed of a collection: decided for the whole, carried out block by block.

Also where the collection is one block, or each vertex type has a partition: then that is a list of one.

Also the message of exit code 3: why the suppressed cannot satisfy the models.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial, reduce
from operator import add
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from hierdata.engines import Constraints
from hierdata.engines.guarding.contents import LARGEST, GroupContents, uncovered_records
from hierdata.engines.guarding.guard import (
    Candidate,
    choose_classes,
    contents_of,
    dissolve,
    holds_at_roots,
    is_safe,
    publish_as_group,
    publish_at_roots,
    suppressed_rows,
    weigh_classes,
)
from hierdata.executors import Held
from hierdata.forest.encoded import Encoded, Frame, join_encoded, part
from hierdata.forest.forest import Forest
from hierdata.forest.partition import Partition
from hierdata.forest.worth import Heaviest
from hierdata.ground.recodings import RecodingTraits
from hierdata.pipeline.block import Block
from hierdata.pipeline.resources import ask_all
from hierdata.policy.plan.plan import Prepared
from hierdata.privacy.base import ClassView, Constraint, describe_achieved, number
from hierdata.privacy.presence import GroupPresence, PresenceConstraint

Place: TypeAlias = tuple[int, int]
"""The number of a block, and one of its classes."""


@dataclass(frozen=True)
class Guard:
    """Mends who is suppressed in one stage of a search; methods that take a block run where the block is.

    ``constraints`` are those of the stage. ``aligned``: its classes are those of whole records with all
    vertices, not of the rows of one vertex type. ``rows`` are those that no earlier stage suppressed, None
    for all; they are needed where each vertex type has a partition, whose records are always one block.
    """

    frame: Frame
    heaviest: Heaviest
    constraints: Constraints
    traits: RecodingTraits
    aligned: bool = True
    rows: NDArray[np.int64] | None = None

    def mend(self, blocks: Held[Block]) -> Held[Block] | None:
        """Return blocks whose suppressed rows are none, or satisfy all constraints as a whole.

        So do those suppressed records that no published form covers: somebody who knows a person's
        quasi-identifiers and finds no class that fits knows that she is one of these. If this does not hold,
        classes are dissolved until the suppressed satisfy the constraints (``choose_classes``), and all
        suppressed records are published as one class a block, by the roots of all hierarchies and no vertices
        below: a form that covers everybody. A recoding with one depth for all records cannot publish that.
        Where quasi-identifiers are published unchanged, the suppressed rows become a group, unless several
        belong to one record. Constraints on a population ask about published records only.

        Returns ``blocks`` itself if nothing is to do, else releases them; None if no choice of classes is
        enough. ``costs`` counts ``records_of_classes_given_up``, ``records_published_at_roots`` and
        ``rows_published_as_one_group``.
        """
        if not self.constraints.guarded:
            return blocks
        suppressed = self.count(blocks)
        if not suppressed.records or (suppressed.satisfies(self.constraints) and self._may_stay(blocks)):
            return blocks
        weighed = ask_all(blocks, self.weigh_classes)
        places = [(block, index) for block, candidates in weighed for index in range(len(candidates))]
        every = [candidate for _, candidates in weighed for candidate in candidates]

        def accept(whole: GroupContents, classes: Collection[int]) -> bool:
            return self._accepts(blocks, whole, [places[index] for index in classes])

        chosen = choose_classes(suppressed, every, self.constraints, accept)
        if chosen is None:
            return None
        whole = reduce(add, (every[index].contents for index in chosen), suppressed)
        dissolved = self._dissolve(blocks, [places[index] for index in chosen])
        mended = self._publish(dissolved, whole)
        for former in (blocks, dissolved):
            if former is not mended:
                former.release()
        return mended

    def count(self, blocks: Held[Block], *, every: bool = False) -> GroupContents:
        """Return what all suppressed rows hold together, or ``every`` row."""
        return reduce(add, ask_all(blocks, partial(self.count_rows, every=every)))

    def _accepts(self, blocks: Held[Block], suppressed: GroupContents, classes: Sequence[Place]) -> bool:
        """Whether the suppressed rows can be published or may stay if these classes are dissolved."""
        if self._holds_at_roots(suppressed):
            return True
        dissolved = self._dissolve(blocks, classes)
        # Rows of one record may be in several groups, so contents cannot be added up.
        fits = not self.traits.partitions_each_type or self.count(dissolved).satisfies(self.constraints)
        accepted = fits and (self._can_be_a_group(dissolved) or self._may_stay(dissolved))
        if dissolved is not blocks:
            dissolved.release()
        return accepted

    def _dissolve(self, blocks: Held[Block], classes: Sequence[Place]) -> Held[Block]:
        chosen: defaultdict[int, list[int]] = defaultdict(list)
        for block, class_ in classes:
            chosen[block].append(class_)
        return blocks.map(partial(self.dissolve_classes, dict(chosen))) if chosen else blocks

    def _publish(self, dissolved: Held[Block], suppressed: GroupContents) -> Held[Block]:
        """Return the blocks with the suppressed rows published, if they can be."""
        if self._holds_at_roots(suppressed):
            return dissolved.map(self.publish_roots)
        return dissolved.map(self.publish_group) if self._can_be_a_group(dissolved) else dissolved

    def _holds_at_roots(self, suppressed: GroupContents) -> bool:
        """Whether these records can be published by the roots of all hierarchies."""
        if self.traits.partitions_each_type or self.traits.uses_one_depth:
            return False
        return holds_at_roots(suppressed, len(self.frame.hierarchies[0]), self.constraints)

    def _may_stay(self, blocks: Held[Block]) -> bool:
        """Whether something is published, and the records that it does not cover are none or satisfy all.

        Unchanged quasi-identifiers cover only their own record; single rows of it may stay suppressed.
        """
        if self.traits.partitions_each_type:
            return all(ask_all(blocks, _has_groups_below_records))
        taken = ask_all(blocks, self.take_suppressed)
        suppressed, classes = join_encoded([rows for rows, _ in taken]), sum(count for _, count in taken)
        if not classes or suppressed.record_count * classes > LARGEST:
            return False
        alone = np.logical_and.reduce(ask_all(blocks, partial(self.find_uncovered, suppressed)))
        return is_safe(self.frame.forest(suppressed, self.heaviest), 0, self.constraints, alone)

    def _can_be_a_group(self, blocks: Held[Block]) -> bool:
        return self.traits.partitions_each_type and all(ask_all(blocks, self.fits_group))

    def count_rows(self, block: Block, *, every: bool) -> GroupContents:
        """Return what the suppressed rows of a block hold, or ``every`` row."""
        forest, partition = self._open(block)
        return contents_of(forest, partition.kind, self.constraints, suppressed_rows(partition) | every)

    def weigh_classes(self, block: Block) -> tuple[int, list[Candidate]]:
        """Return the number of a block, and a candidate for each of its classes."""
        return block.number, weigh_classes(*self._open(block), self.constraints, self.traits)

    def dissolve_classes(self, chosen: Mapping[int, list[int]], block: Block) -> Block:
        """Return a block without the chosen classes, which are by the number of their block."""
        return self._change(block, dissolve(*self._open(block), chosen.get(block.number, [])))

    def take_suppressed(self, block: Block) -> tuple[Encoded, int]:
        """Return the suppressed records of a block, and the number of its classes."""
        forest, partition = self._open(block)
        rows = np.flatnonzero(suppressed_rows(partition))
        return part(forest, block.encoded.ordinals, rows), partition.class_count

    def find_uncovered(self, suppressed: Encoded, block: Block) -> NDArray[np.bool_]:
        """Return for each of the collection's suppressed records whether no class of a block fits it."""
        forest, partition = self._open(block)
        candidates = self.frame.forest(suppressed, self.heaviest)
        every = np.arange(candidates.record_count)
        return uncovered_records(candidates, every, forest, partition.representative, partition.nodes)

    def fits_group(self, block: Block) -> bool:
        """Whether suppressed rows can be published as a group: one a record, nothing above suppressed."""
        forest, partition = self._open(block)
        rows = np.flatnonzero(suppressed_rows(partition))
        records = forest.record_of[np.flatnonzero(forest.type == partition.kind)[rows]]
        is_open = self.rows is None or bool(np.isin(rows, self.rows).all())
        return len(np.unique(records)) == len(rows) and is_open

    def publish_roots(self, block: Block) -> Block:
        """Return a block with its suppressed records, if any, in one more class."""
        forest, partition = self._open(block)
        if not suppressed_rows(partition).any():
            return block
        return self._change(block, publish_at_roots(forest, partition))

    def publish_group(self, block: Block) -> Block:
        """Return a block with its suppressed rows in one more group."""
        return self._change(block, publish_as_group(*self._open(block), with_subtrees=not self.aligned))

    def _open(self, block: Block) -> tuple[Forest, Partition]:
        """Return the forest of a block, and the partition of the stage."""
        (partition,) = block.partitions
        return block.open_forest(self.frame, self.heaviest), partition

    def _change(self, block: Block, partition: Partition) -> Block:
        return replace(block, partitions=(partition,))


def _has_groups_below_records(block: Block) -> bool:
    (partition,) = block.partitions
    return partition.kind > 0 and partition.class_count > 0


def explain_unguarded(prepared: Prepared, whole: GroupContents) -> str:
    """Say which models all records together break, and how to accept that; ``whole`` is what they hold."""
    broken = dict.fromkeys(_excesses(prepared, whole))
    return (
        "records must be suppressed, and no choice that was tried satisfies the models as a whole"
        f"{': ' if broken else ''}{'; '.join(broken)}; ask for less, or write `suppressed: as_published` to "
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
    over = {group: Fraction(size, total) - shares[group] for group, size in sizes.items() if group in shares}
    group = max(over, key=over.__getitem__, default=-1)
    if group < 0 or over[group] <= 0:
        reached = describe_achieved(constraint.achieved_parameters(view))
        return f"all records together reach {reached}" if reached else "all records together break a model"
    share, limit = number(Fraction(sizes[group], total)), number(shares[group])
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

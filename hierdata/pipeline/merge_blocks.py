"""What looks alike is one class, whatever block it was found in: such classes are brought together.

Blocks know nothing of each other, and classes of two may come out equal. To every reader they are one, so
metrics must see them as one. Each constraint that blocks are made under is monotone: the union holds.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from hierdata.forest.encoded import Frame, joined, part
from hierdata.forest.forest import Forest
from hierdata.forest.isomorphism import digests
from hierdata.forest.partition import SUPPRESSED, Partition
from hierdata.pipeline.block import Block

Heard = tuple[int, list[bytes]]
"""The place of a block among all, and digests of published forms of its classes."""


@dataclass(frozen=True)
class FormsOfBlock:
    """Send the digests of the published forms of a block's classes to bins, equal ones to the same."""

    frame: Frame
    heaviest: int
    place_of: Mapping[int, int]
    bins: int

    def __call__(self, block: Block) -> Iterator[tuple[int, Heard]]:
        """Each form once, in ascending order in its bin."""
        found: list[list[bytes]] = [[] for _ in range(self.bins)]
        for form in sorted(set(_forms(block, self.frame, self.heaviest).values())):
            found[int.from_bytes(form[:4], "big") % self.bins].append(form)
        own = self.place_of[int(block.encoded.ordinals[0])]
        for at, forms in enumerate(found):
            if forms:
                yield at, (own, forms)


def _forms(block: Block, frame: Frame, heaviest: int) -> dict[int, bytes]:
    """The digest of each class, by its root."""
    (partition,) = block.partitions
    forest = block.at(frame, heaviest)
    found = digests(forest, partition.representative, partition.nodes)
    return {root: found[root] for root in forest.roots[:-1].tolist() if root in found}


class Shared(NamedTuple):
    """What a bin heard: whether there are forms at all, and the first block of each that several have."""

    has_forms: bool
    homes: dict[bytes, int]


def shared(heard: Iterable[Heard]) -> Shared:
    """What the forms of several blocks, in the order of blocks, have in common."""
    first: dict[bytes, int] = {}
    homes: dict[bytes, int] = {}
    for block, own in heard:
        for form in own:
            if first.setdefault(form, block) != block:
                homes[form] = first[form]
    return Shared(bool(first), homes)


@dataclass(frozen=True)
class SplitBlock:
    """Send classes whose form several blocks have to the first of these; the rest stays where it is.

    The rest goes to the bin of the block's place among all, found by its first record.
    """

    frame: Frame
    heaviest: int
    homes: Mapping[bytes, int]
    place_of: Mapping[int, int]

    def __call__(self, block: Block) -> Iterator[tuple[int, Block]]:
        """The parts of a block, with the bins that they belong to."""
        (partition,) = block.partitions
        own = self.place_of[int(block.encoded.ordinals[0])]
        forest = block.at(self.frame, self.heaviest)
        home = np.full(forest.record_count, own)
        for root, form in _forms(block, self.frame, self.heaviest).items():
            if form in self.homes:
                members = partition.class_of == partition.class_of[forest.record_of[root]]
                home[members] = self.homes[form]
        # The first part goes home even if nothing is left of it: it has what the search gave up.
        for place in (own, *np.unique(home[home != own]).tolist()):
            records = np.flatnonzero(home == place)
            encoded = part(forest, block.encoded.ordinals, records)
            costs = partition.costs if place == own else Counter[str]()
            yield place, Block(encoded, (replace(_taken(partition, forest, records), costs=costs),))


def _taken(partition: Partition, forest: Forest, records: NDArray[np.int64]) -> Partition:
    """The classes of some records, all of whose members are among them."""
    kept = np.zeros(forest.record_count, np.bool_)
    kept[records] = True
    vertices = np.flatnonzero(kept[forest.record_of])
    number = np.full(forest.vertex_count + 1, SUPPRESSED)
    number[vertices] = np.arange(len(vertices))
    widths = np.array([len(own) for own in forest.hierarchies], np.int64)
    nodes = np.repeat(kept[forest.record_of], widths[forest.type])
    classes = partition.class_of[records]
    published = classes >= 0
    classes[published] = np.unique(classes[published], return_inverse=True)[1].reshape(-1)
    return replace(
        partition,
        class_of=classes,
        representative=number[partition.representative[vertices]],
        nodes=partition.nodes[nodes],
    )


def united(blocks: list[Block]) -> Block:
    """Several parts as one block."""
    if len(blocks) == 1:
        return blocks[0]
    vertices = classes = 0
    class_of, representative = [], []
    for block in blocks:
        (partition,) = block.partitions
        class_of.append(np.where(partition.class_of >= 0, partition.class_of + classes, SUPPRESSED))
        own = partition.representative
        representative.append(np.where(own >= 0, own + vertices, SUPPRESSED))
        classes += partition.class_count
        vertices += len(own)
    first = blocks[0].partitions[0]
    together = replace(
        first,
        class_of=np.concatenate(class_of),
        representative=np.concatenate(representative),
        nodes=np.concatenate([block.partitions[0].nodes for block in blocks]),
        costs=sum((block.partitions[0].costs for block in blocks), Counter[str]()),
    )
    return Block(joined([block.encoded for block in blocks]), (together,))

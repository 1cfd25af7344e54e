"""Unite classes of different blocks that look alike.

Blocks are clustered independently, so classes of two blocks may look the same. To every reader they are one
class, so metrics must count them as one. All constraints used with blocks are closed under unions,
so they hold for the union. Bounded knowledge is not: there blocks are cut so that no two of them publish one
root vector (``engines.blocking.roots``), and this is checked.

Then references that lead to nothing published are dropped: decided for the whole, carried out block by block.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import chain
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from hierdata.executors import Held
from hierdata.forest.encoded import Frame, join_encoded, part
from hierdata.forest.forest import Forest
from hierdata.forest.isomorphism import digests
from hierdata.forest.partition import SUPPRESSED, Partition
from hierdata.forest.references import LinkFields, drop_references, published_marks
from hierdata.forest.worth import Heaviest
from hierdata.pipeline.block import Block
from hierdata.policy.plan.plan import Prepared
from hierdata.policy.plan.treatment import link_fields

Heard = tuple[int, list[bytes]]
"""The index of a block, and the digests of the published forms of its classes."""


@dataclass(frozen=True)
class FormsOfBlock:
    """Send the digests of the published forms of a block's classes to bins, equal ones to the same bin."""

    frame: Frame
    heaviest: Heaviest
    place_of: Mapping[int, int]
    bins: int

    def __call__(self, block: Block) -> Iterator[tuple[int, Heard]]:
        """Yield the forms by bin, each once, in ascending order."""
        found: list[list[bytes]] = [[] for _ in range(self.bins)]
        for form in sorted(set(_forms(block, self.frame, self.heaviest).values())):
            found[int.from_bytes(form[:4], "big") % self.bins].append(form)
        own = self.place_of[block.number]
        for at, forms in enumerate(found):
            if forms:
                yield at, (own, forms)


def _forms(block: Block, frame: Frame, heaviest: Heaviest) -> dict[int, bytes]:
    """Return the digest of each class, by the root of its representative."""
    (partition,) = block.partitions
    forest = block.at(frame, heaviest)
    found = digests(forest, partition.representative, partition.nodes)
    return {root: found[root] for root in forest.roots[:-1].tolist() if root in found}


@dataclass(frozen=True)
class RootFormsOfBlock:
    """Find the published root vectors of a block's classes, which are by root."""

    frame: Frame
    heaviest: Heaviest

    def __call__(self, block: Block) -> list[bytes]:
        """Return the digest of each, once; none if a class was not found."""
        (partition,) = block.partitions
        forest = block.at(self.frame, self.heaviest)
        classes, firsts = np.unique(partition.equivalence_class, return_index=True)
        if not len(classes) or classes[0] < 0:
            return []
        roots = np.full(forest.vertex_count, SUPPRESSED)
        roots[forest.roots[firsts]] = forest.roots[firsts]
        return list(digests(forest, roots, partition.nodes).values())


def stand_apart(forms: Iterable[list[bytes]]) -> bool:
    """Whether every block has classes, and no two publish one root vector; ``forms`` are by block."""
    found = list(forms)
    return all(found) and len(set(chain.from_iterable(found))) == sum(map(len, found))


class Shared(NamedTuple):
    """The result of a bin: whether it has any forms, and the first block of each form of several blocks."""

    has_forms: bool
    homes: dict[bytes, int]


def find_shared_forms(heard: Iterable[Heard]) -> Shared:
    """Find the forms that several blocks share; ``heard`` is in the order of blocks."""
    first: dict[bytes, int] = {}
    homes: dict[bytes, int] = {}
    for block, own in heard:
        for form in own:
            if first.setdefault(form, block) != block:
                homes[form] = first[form]
    return Shared(bool(first), homes)


@dataclass(frozen=True)
class SplitBlock:
    """Send classes whose form several blocks share to the first of these; the rest stays in its block.

    The rest goes to the bin of the block's index, found by the block's number.
    """

    frame: Frame
    heaviest: Heaviest
    homes: Mapping[bytes, int]
    place_of: Mapping[int, int]

    def __call__(self, block: Block) -> Iterator[tuple[int, Block]]:
        """Yield the parts of a block by bin."""
        (partition,) = block.partitions
        own = self.place_of[block.number]
        forest = block.at(self.frame, self.heaviest)
        home = np.full(forest.record_count, own)
        for root, form in _forms(block, self.frame, self.heaviest).items():
            if form in self.homes:
                members = partition.equivalence_class == partition.equivalence_class[forest.record_of[root]]
                home[members] = self.homes[form]
        # The first part is sent even without records, since it has the costs of the search.
        for place in (own, *np.unique(home[home != own]).tolist()):
            records = np.flatnonzero(home == place)
            encoded = part(forest, block.encoded.ordinals, records)
            costs = partition.costs if place == own else Counter[str]()
            taken = replace(_take_classes(partition, forest, records), costs=costs)
            yield place, Block(encoded, (taken,), block.number if place == own else -1)


def _take_classes(partition: Partition, forest: Forest, records: NDArray[np.int64]) -> Partition:
    """Restrict a partition to some records, which must include all members of their classes."""
    kept = np.zeros(forest.record_count, np.bool_)
    kept[records] = True
    vertices = np.flatnonzero(kept[forest.record_of])
    number = np.full(forest.vertex_count + 1, SUPPRESSED)
    number[vertices] = np.arange(len(vertices))
    widths = np.array([len(own) for own in forest.hierarchies], np.int64)
    nodes = np.repeat(kept[forest.record_of], widths[forest.type])
    classes = partition.equivalence_class[records]
    published = classes >= 0
    classes[published] = np.unique(classes[published], return_inverse=True)[1].reshape(-1)
    return replace(
        partition,
        equivalence_class=classes,
        representative=number[partition.representative[vertices]],
        nodes=partition.nodes[nodes],
    )


def unite_parts(blocks: list[Block]) -> Block:
    """Join several parts into one block."""
    if len(blocks) == 1:
        return blocks[0]
    vertices = classes = 0
    class_of, representative = [], []
    for block in blocks:
        (partition,) = block.partitions
        class_of.append(
            np.where(partition.equivalence_class >= 0, partition.equivalence_class + classes, SUPPRESSED)
        )
        own = partition.representative
        representative.append(np.where(own >= 0, own + vertices, SUPPRESSED))
        classes += partition.class_count
        vertices += len(own)
    first = blocks[0].partitions[0]
    together = replace(
        first,
        equivalence_class=np.concatenate(class_of),
        representative=np.concatenate(representative),
        nodes=np.concatenate([block.partitions[0].nodes for block in blocks]),
        costs=sum((block.partitions[0].costs for block in blocks), Counter[str]()),
    )
    encoded = join_encoded([block.encoded for block in blocks])
    return Block(encoded, (together,), max(block.number for block in blocks))


def drop_dangling(clustered: Held[Block], prepared: Prepared, heaviest: Heaviest) -> Held[Block]:
    """Drop references to what is not published, now that this is settled for all blocks.

    References are dropped by place and never make anything else dangle, so once is enough. No two classes
    that look alike may be in different blocks.
    """
    fields = link_fields(prepared.policy, prepared.schema)
    if not fields.references:
        return clustered
    bins = clustered.count
    sent = clustered.exchange(SendMarks(prepared, fields, heaviest, bins), bins)
    answers = sent.map(find_dangling)
    sent.release()
    dangling = frozenset[bytes]().union(*answers.collect())
    answers.release()
    if not dangling:
        return clustered
    changed = clustered.map(DropReferences(prepared, fields, heaviest, dangling))
    clustered.release()
    return changed


Marks = tuple[set[bytes], set[bytes]]
"""The marks of identities and of references."""


@dataclass(frozen=True)
class SendMarks:
    """Send the marks of published identities and references of a block to bins, equal ones to the same bin.

    A reference that the block itself resolves is not sent.
    """

    prepared: Prepared
    fields: LinkFields
    heaviest: Heaviest
    bins: int

    def __call__(self, block: Block) -> Iterator[tuple[int, Marks]]:
        """Yield the marks by bin."""
        partition = block.partitions[0]  # of the records; groups of tables follow
        forest = block.at(self.prepared.frame, self.heaviest)
        identities = published_marks(forest, partition.representative, self.fields.identities)
        references = published_marks(forest, partition.representative, self.fields.references)
        found: list[Marks] = [(set(), set()) for _ in range(self.bins)]
        for at, marks in enumerate((identities, references - identities)):
            for mark in marks:
                found[int.from_bytes(mark[:4]) % self.bins][at].add(mark)
        yield from enumerate(found)


def find_dangling(marks: list[Marks]) -> set[bytes]:
    """Return the marks of references to what no block publishes."""
    identities = set[bytes]().union(*(own for own, _ in marks))
    return set[bytes]().union(*(own for _, own in marks)) - identities


@dataclass(frozen=True)
class DropReferences:
    """Drop the ``dangling`` references of a block, which has all records of its classes."""

    prepared: Prepared
    fields: LinkFields
    heaviest: Heaviest
    dangling: frozenset[bytes]

    def __call__(self, block: Block) -> Block:
        """Return the block without them."""
        partition, *groups = block.partitions
        forest = block.at(self.prepared.frame, self.heaviest)
        carried, left = drop_references(forest, partition, self.fields.references, self.dangling)
        return replace(
            block,
            encoded=replace(block.encoded, carried=carried),
            partitions=(left, *groups),
            forest=replace(forest, carried=carried),
        )

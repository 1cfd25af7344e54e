"""Unite classes of different blocks that look alike.

Blocks are clustered independently, so classes of two blocks may look the same. To every reader they are one
class, so metrics must count them as one. All constraints used with blocks are closed under unions,
so they hold for the union. Bounded knowledge is not: there blocks are cut so that no two of them publish one
root vector (``engines.blocking.roots``), and this is checked.

Then references that lead to nothing published are dropped: decided for the whole, carried out block by block.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
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
from hierdata.pipeline.resources import ask_all
from hierdata.policy.plan.plan import Prepared
from hierdata.policy.plan.treatment import link_fields

Heard = tuple[int, list[bytes]]
"""The index of a block, and the digests of the published forms of its classes."""


def send_forms(
    frame: Frame, heaviest: Heaviest, number_of: Mapping[int, int], bins: int, block: Block
) -> Iterator[tuple[int, Heard]]:
    """Send the digests of the published forms of a block's classes to bins, equal ones to the same bin.

    Yields the forms by bin, each once, in ascending order.
    """
    by_bin: list[list[bytes]] = [[] for _ in range(bins)]
    for form in sorted(set(_forms(block, frame, heaviest).values())):
        by_bin[int.from_bytes(form[:4], "big") % bins].append(form)
    for bin_, forms in enumerate(by_bin):
        if forms:
            yield bin_, (number_of[block.number], forms)


def _forms(block: Block, frame: Frame, heaviest: Heaviest) -> dict[int, bytes]:
    """Return the digest of each class, by the root of its representative."""
    (partition,) = block.partitions
    forest = block.open_forest(frame, heaviest)
    forms = digests(forest, partition.representative, partition.nodes)
    return {root: forms[root] for root in forest.roots[:-1].tolist() if root in forms}


def find_root_forms(frame: Frame, heaviest: Heaviest, block: Block) -> list[bytes]:
    """Return the digest of each published root vector of a block, whose classes are by root.

    The list is empty where some record has no class.
    """
    (partition,) = block.partitions
    forest = block.open_forest(frame, heaviest)
    classes, firsts = np.unique(partition.equivalence_class, return_index=True)
    if not len(classes) or classes[0] < 0:
        return []
    roots = np.full(forest.vertex_count, SUPPRESSED)
    roots[forest.roots[firsts]] = forest.roots[firsts]
    return list(digests(forest, roots, partition.nodes).values())


def stand_apart(forms: Sequence[list[bytes]]) -> bool:
    """Whether every block has classes, and no two publish one root vector; ``forms`` are by block."""
    return all(forms) and len(set(chain.from_iterable(forms))) == sum(map(len, forms))


class Shared(NamedTuple):
    """The result of a bin: whether it has any forms, and the first block of each form of several blocks."""

    has_forms: bool
    homes: dict[bytes, int]


def find_shared_forms(heard: Iterable[Heard]) -> Shared:
    """Find the forms that several blocks share; ``heard`` is in the order of blocks."""
    first: dict[bytes, int] = {}
    homes: dict[bytes, int] = {}
    for block, forms in heard:
        for form in forms:
            if first.setdefault(form, block) != block:
                homes[form] = first[form]
    return Shared(bool(first), homes)


def split_block(
    frame: Frame, heaviest: Heaviest, homes: Mapping[bytes, int], number_of: Mapping[int, int], block: Block
) -> Iterator[tuple[int, Block]]:
    """Send classes whose form several blocks share to the first of these; the rest stays in its block.

    Yields the parts by bin. The rest goes to the bin of the block's index, found by the block's number.
    """
    (partition,) = block.partitions
    own_bin = number_of[block.number]
    forest = block.open_forest(frame, heaviest)
    home = np.full(forest.record_count, own_bin)
    for root, form in _forms(block, frame, heaviest).items():
        if form in homes:
            members = partition.equivalence_class == partition.equivalence_class[forest.record_of[root]]
            home[members] = homes[form]
    # The first part is sent even without records, since it has the costs of the search.
    for bin_ in (own_bin, *np.unique(home[home != own_bin]).tolist()):
        records = np.flatnonzero(home == bin_)
        encoded = part(forest, block.encoded.ordinals, records)
        costs = partition.costs if bin_ == own_bin else Counter[str]()
        taken = replace(_take_classes(partition, forest, records), costs=costs)
        yield bin_, Block(encoded, (taken,), block.number if bin_ == own_bin else -1)


def _take_classes(partition: Partition, forest: Forest, records: NDArray[np.int64]) -> Partition:
    """Restrict a partition to some records, which must include all members of their classes."""
    kept = np.zeros(forest.record_count, np.bool_)
    kept[records] = True
    vertices = np.flatnonzero(kept[forest.record_of])
    number = np.full(forest.vertex_count + 1, SUPPRESSED)
    number[vertices] = np.arange(len(vertices))
    widths = np.array([len(hierarchies) for hierarchies in forest.hierarchies], np.int64)
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
        shown = partition.representative
        representative.append(np.where(shown >= 0, shown + vertices, SUPPRESSED))
        classes += partition.class_count
        vertices += len(shown)
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
    sent = clustered.exchange(partial(send_marks, prepared.frame, fields, heaviest, bins), bins)
    dangling = frozenset[bytes]().union(*ask_all(sent, find_dangling))
    sent.release()
    if not dangling:
        return clustered
    changed = clustered.map(partial(drop_from_block, prepared.frame, fields, heaviest, dangling))
    clustered.release()
    return changed


Marks = tuple[set[bytes], set[bytes]]
"""The marks of identities and of references."""


def send_marks(
    frame: Frame, fields: LinkFields, heaviest: Heaviest, bins: int, block: Block
) -> Iterator[tuple[int, Marks]]:
    """Send the marks of published identities and references of a block to bins, equal ones to the same bin.

    Yields the marks by bin. A reference that the block itself resolves is not sent.
    """
    partition = block.partitions[0]  # of the records; groups of tables follow
    forest = block.open_forest(frame, heaviest)
    identities = published_marks(forest, partition.representative, fields.identities)
    references = published_marks(forest, partition.representative, fields.references)
    by_bin: list[Marks] = [(set(), set()) for _ in range(bins)]
    for kind, marks in enumerate((identities, references - identities)):
        for mark in marks:
            by_bin[int.from_bytes(mark[:4]) % bins][kind].add(mark)
    yield from enumerate(by_bin)


def find_dangling(sent: list[Marks]) -> set[bytes]:
    """Return the marks of references to what no block publishes."""
    identities = set[bytes]().union(*(marks for marks, _ in sent))
    return set[bytes]().union(*(marks for _, marks in sent)) - identities


def drop_from_block(
    frame: Frame, fields: LinkFields, heaviest: Heaviest, dangling: frozenset[bytes], block: Block
) -> Block:
    """Return a block, which has all records of its classes, without its ``dangling`` references."""
    partition, *groups = block.partitions
    forest = block.open_forest(frame, heaviest)
    carried, changed = drop_references(forest, partition, fields.references, dangling)
    return replace(
        block,
        encoded=replace(block.encoded, carried=carried),
        partitions=(changed, *groups),
        forest=replace(forest, carried=carried),
    )

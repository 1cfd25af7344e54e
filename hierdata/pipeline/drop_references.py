"""Drop references that lead to nothing published: decided for the whole, carried out block by block."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from hierdata.executors import Held
from hierdata.forest.references import LinkFields, drop_references, published_marks
from hierdata.forest.worth import Heaviest
from hierdata.pipeline.block import Block
from hierdata.policy.plan.links import link_fields
from hierdata.policy.plan.plan import Prepared

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


def drop_dangling(found: Held[Block], prepared: Prepared, heaviest: Heaviest) -> Held[Block]:
    """Drop references to what is not published, now that this is settled for all blocks.

    References are dropped by place and never make anything else dangle, so once is enough. No two classes
    that look alike may be in different blocks.
    """
    fields = link_fields(prepared.policy, prepared.schema)
    if not fields.references:
        return found
    bins = found.count
    sent = found.exchange(SendMarks(prepared, fields, heaviest, bins), bins)
    answers = sent.map(find_dangling)
    sent.release()
    dangling = frozenset[bytes]().union(*answers.collect())
    answers.release()
    if not dangling:
        return found
    changed = found.map(DropReferences(prepared, fields, heaviest, dangling))
    found.release()
    return changed

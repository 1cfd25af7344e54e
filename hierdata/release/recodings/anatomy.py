"""Quasi-identifiers in their finest form, sensitive values apart by group (Xiao and Tao, Anatomy, VLDB 2006).

The paper's two tables, also for trees: each vertex type with sensitive attributes has its own table of them;
quasi-identifiers stay in the records, joined to it by group.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import ClassVar

from hierdata.documents.document import sensitive_part
from hierdata.forest.forest import Forest
from hierdata.forest.partition import Partition
from hierdata.forest.publication import Publication, publish_grouped
from hierdata.ground.recodings import TRAITS, RecodingTraits
from hierdata.records.schema import VertexType
from hierdata.release.recodings.groups import ByGroup


class Anatomy(ByGroup):
    """Publish records with their own quasi-identifiers in finest form, and the sensitive values by group.

    Each vertex type with sensitive attributes has one table with all of them (see ByGroup). Groups of
    different types are independent.
    """

    traits: ClassVar[RecodingTraits] = TRAITS["anatomy"]

    def arrange_publication(self, forest: Forest, partitions: Sequence[Partition]) -> Publication:
        """See ByGroup.arrange_publication."""
        return publish_grouped(forest, tuple(partitions), ())

    def tables(self, forest: Forest, kind: VertexType) -> Iterator[tuple[str, tuple[int, ...]]]:
        """See ByGroup.tables."""
        every = tuple(range(len(kind.sensitive)))
        yield sensitive_part(forest.schema.keys(kind.index)), every

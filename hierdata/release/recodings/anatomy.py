"""Quasi-identifiers as they are, sensitive values apart by group (Xiao and Tao, Anatomy, VLDB 2006).

The paper's two tables, for trees too: one pair of them for each vertex type with sensitive attributes, the
quasi-identifier tables joined to the records they come from.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import ClassVar

from hierdata.documents.document import sensitive_part
from hierdata.forest.forest import Forest
from hierdata.forest.partition import Partition
from hierdata.forest.publication import Publication, grouped
from hierdata.recodings import TRAITS, RecodingTraits
from hierdata.records.schema import Role, VertexType
from hierdata.release.recodings.groups import ByGroup


class Anatomy(ByGroup):
    """Every record with its own quasi-identifiers; beside it, what sensitive values each group has.

    For each vertex type with sensitive attributes there is one table, with all of them (see ByGroup). Groups
    of different types have nothing to do with each other.
    """

    traits: ClassVar[RecodingTraits] = TRAITS["anatomy"]

    def arranged(self, forest: Forest, partitions: Sequence[Partition]) -> Publication:
        """See ByGroup.arranged."""
        return grouped(forest, tuple(partitions), ())

    def tables(self, forest: Forest, kind: VertexType) -> Iterator[tuple[str, tuple[int, ...]]]:
        """See ByGroup.tables."""
        every = tuple(range(len(kind.of_role(Role.SENSITIVE))))
        yield sensitive_part(forest.schema.keys(kind.index)), every

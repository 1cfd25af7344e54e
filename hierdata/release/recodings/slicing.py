"""Generalized quasi-identifiers, sensitive values in several tables by group (TC section 3, SLOMS; slicing).

TC takes the vertical cut from slicing (Li, Li, Zhang, Molloy, IEEE TKDE 24(3), 2012): correlated sensitive
attributes share a table, and within a group nothing ties the rows of two tables, nor a row to a record.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import ClassVar

from hierdata.documents.document import sensitive_part
from hierdata.forest.forest import Forest
from hierdata.forest.partition import Partition
from hierdata.forest.publication import Publication, sliced
from hierdata.recodings import TRAITS, RecodingTraits
from hierdata.records.schema import Role, VertexType
from hierdata.release.recodings.base import whole
from hierdata.release.recodings.correlation import tables
from hierdata.release.recodings.groups import ByGroup


class Slicing(ByGroup):
    """Every record with the labels of its class; beside it, tables of the sensitive values of each group.

    A group is one vertex of each record of one class, so that all tables of a vertex type share its id: with
    an id for each table, as in TC, nearly every record would be alone with its combination of ids. Which
    attributes share a table is as the policy writes it down; or as they go together, in at most so many
    tables for each vertex type (see correlation); or by default each has a table of its own, which keeps no
    link between the values of one vertex.
    """

    traits: ClassVar[RecodingTraits] = TRAITS["slicing"]

    def arranged(self, forest: Forest, partitions: Sequence[Partition]) -> Publication:
        """See ByGroup.arranged."""
        return sliced(forest, whole(partitions))

    def tables(self, forest: Forest, kind: VertexType) -> Iterator[tuple[str, tuple[int, ...]]]:
        """See ByGroup.tables."""
        keys = forest.schema.keys(kind.index)
        for number, own in enumerate(self._divided(forest, kind), 1):
            yield sensitive_part(keys, number), own

    def _divided(self, forest: Forest, kind: VertexType) -> tuple[tuple[int, ...], ...]:
        paths = [attribute.path for attribute in kind.of_role(Role.SENSITIVE)]
        stated = self.stated
        if not isinstance(stated, tuple):
            return tables(forest, kind.index, len(paths) if stated is None else stated)
        found = (tuple(at for at, path in enumerate(paths) if path in table) for table in stated)
        return tuple(own for own in found if own)

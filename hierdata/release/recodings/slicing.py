"""Generalized quasi-identifiers, sensitive values in several tables by group (TC section 3, SLOMS; slicing).

TC takes the vertical cut from slicing (Li, Li, Zhang, Molloy, IEEE TKDE 24(3), 2012): correlated sensitive
attributes share a table, and within a group nothing links the rows of two tables, or a row to a record.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import ClassVar

from hierdata.documents.document import sensitive_part
from hierdata.forest.forest import Forest
from hierdata.forest.partition import Partition
from hierdata.forest.publication import Publication, publish_sliced
from hierdata.recodings import TRAITS, RecodingTraits
from hierdata.records.schema import Role, VertexType
from hierdata.release.recodings.base import whole
from hierdata.release.recodings.correlation import tables
from hierdata.release.recodings.groups import ByGroup


class Slicing(ByGroup):
    """Publish every record with the labels of its class, and tables of the sensitive values of each group.

    A group is one vertex of each record of one class, and all tables of a vertex type share its id: with an
    id for each table, as in TC, nearly every record would have a unique combination of ids. The policy
    states which attributes share a table, or a largest number of tables for each vertex type, which are
    then divided by correlation (see correlation). By default each attribute has its own table, which keeps
    no link between the values of one vertex.
    """

    traits: ClassVar[RecodingTraits] = TRAITS["slicing"]

    def arrange_publication(self, forest: Forest, partitions: Sequence[Partition]) -> Publication:
        """See ByGroup.arrange_publication."""
        return publish_sliced(forest, whole(partitions))

    def tables(self, forest: Forest, kind: VertexType) -> Iterator[tuple[str, tuple[int, ...]]]:
        """See ByGroup.tables."""
        keys = forest.schema.keys(kind.index)
        for number, own in enumerate(self._divide_attributes(forest, kind), 1):
            yield sensitive_part(keys, number), own

    def _divide_attributes(self, forest: Forest, kind: VertexType) -> tuple[tuple[int, ...], ...]:
        paths = [attribute.path for attribute in kind.of_role(Role.SENSITIVE)]
        stated = self.stated
        if not isinstance(stated, tuple):
            return tables(forest, kind.index, len(paths) if stated is None else stated)
        found = (tuple(at for at, path in enumerate(paths) if path in table) for table in stated)
        return tuple(own for own in found if own)

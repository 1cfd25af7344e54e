"""Generalized quasi-identifiers, sensitive values in several tables by group (TC section 3, SLOMS; slicing).

TC takes the vertical cut from slicing (Li, Li, Zhang, Molloy, IEEE TKDE 24(3), 2012): correlated sensitive
attributes share a table, and within a group nothing links the rows of two tables, or a row to a record.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from hierdata.forest.forest import Forest
from hierdata.forest.partition import Partition
from hierdata.forest.publication import Publication, publish_sliced
from hierdata.ground.recodings import TRAITS, RecodingTraits
from hierdata.release.recodings.base import whole
from hierdata.release.recodings.groups import InTables


class Slicing(InTables):
    """Publish every record with the labels of its class, and tables of the sensitive values of each group.

    A group is one vertex of each record of one class, and all tables of a vertex type share its id: with an
    id for each table, as in TC, nearly every record would have a unique combination of ids.
    """

    traits: ClassVar[RecodingTraits] = TRAITS["slicing"]

    def arrange_publication(self, forest: Forest, partitions: Sequence[Partition]) -> Publication:
        """See ByGroup.arrange_publication."""
        return publish_sliced(forest, whole(partitions))

"""Generalized quasi-identifiers, sensitive tables with groups of their own (TC section 3; erratum TC-11)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from hierdata.forest.forest import Forest
from hierdata.forest.partition import Partition
from hierdata.forest.publication import Publication, publish_by_table
from hierdata.ground.recodings import TRAITS, RecodingTraits
from hierdata.release.recodings.groups import InTables


class SlicingByTable(InTables):
    """Publish records with the labels of their class and one group id for each sensitive table.

    As TC section 3.1, step 3, and formula 8 have it: each table is divided into groups by itself, so that
    quasi-identifiers are generalized for k alone. The price is that the ids of a record together may single
    it out. Tables are divided as by ``slicing``. Only records without vertices below them can be published,
    by one partition for the classes and one for each table.
    """

    traits: ClassVar[RecodingTraits] = TRAITS["slicing_by_table"]

    def arrange_publication(self, forest: Forest, partitions: Sequence[Partition]) -> Publication:
        """See ByGroup.arrange_publication."""
        classes, *groups = partitions
        tables = (name for name, _ in self.tables(forest, forest.schema.root))
        return publish_by_table(forest, classes, dict(zip(tables, groups, strict=True)))

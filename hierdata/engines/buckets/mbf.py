"""Maximal bucket first: classes of rows whose sensitive values are far apart (LE algorithm 1)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from hierdata.engines.base import Engine, StepInput

if TYPE_CHECKING:
    from hierdata.forest.partition import Partition


class MBF(Engine):
    """Repeatedly take one row from each of the largest buckets; leftovers join the classes.

    The groups of every share cap on an attribute of the scope are its buckets: for (l,e)-diversity the
    connected components of "distance <= e" (erratum LE-2), for frequency l-diversity the values. The buckets
    of an attribute whose models have no caps are its values; an attribute without models has none. With
    several attributes, the paper's open question, a bucket is the vector of the groups, and rows of a class
    share no coordinate. A class has the least size that all models allow (l), and takes from a group at most
    what the group's cap allows at that size: one, under the models named.

    The steps: (i) Rows are put into buckets and shuffled, so that nothing depends on the order of the input;
    a row with a missing value is in no bucket. (ii) While buckets of enough groups are left, a class takes a
    row from each of the largest; ties are broken at random. A second vertex of a record is skipped, a few
    rows deep. (iii) Classes that fail a constraint are dissolved; (l,e) classes never fail. (iv) Every other
    row joins the nearest class that accepts it (LE-4, ``rows.leftovers``), else it is suppressed.

    With one attribute whose distances are transitive, at the root, no method publishes more (LE-3). If rows
    are suppressed, ``Partition.reason`` states the bound and the bucket that causes it; with several
    attributes, ragged taxonomies or several rows of a record the bound may not be attainable.

    O(n log m) for n rows in m buckets. With several attributes a class skips the buckets that share a
    coordinate with it, all buckets of one coordinate at once. With two attributes at most l - 1 buckets in
    each of its groups remain to be skipped one by one; with more it may be all: O(n/l m log m), the paper's
    own bound (LE-11).
    """

    kind: Literal["mbf"] = "mbf"

    def find_classes(self, given: StepInput) -> Partition:
        """Partition the rows of the scope; this engine starts from rows, not from an earlier partition."""
        from hierdata.engines.buckets.draw import bucketize_rows

        return bucketize_rows(given)

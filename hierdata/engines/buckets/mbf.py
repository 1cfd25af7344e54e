"""Maximal bucket first: classes of rows whose sensitive values are far apart (LE algorithm 1)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from hierdata.engines.base import Engine, StepInput

if TYPE_CHECKING:
    from hierdata.forest.partition import Partition


class MBF(Engine):
    """Take one row from each of the largest buckets, again and again; leftovers join the classes.

    The groups of every share cap on an attribute of the scope are its buckets: for (l,e)-diversity the
    connected components of "distance <= e" (erratum LE-2), for frequency l-diversity the values. An attribute
    with models that have no caps has its values for buckets, one without models has none. With several
    attributes, the paper's open question, a bucket is the vector of the groups, and rows of a class share
    no coordinate. A class has the least size that all models allow (l), and takes from a group as many as the
    group's cap has room for at that size: one, under the models named.

    The steps: (i) buckets, shuffled, so that nothing follows from the order of the input; a row with a value
    missing belongs to none. (ii) While buckets of enough groups are left, a class takes a row from each of
    the largest; ties are broken at random. A record's second vertex is passed over, a few places deep.
    (iii) Classes that fail a constraint are dissolved; (l,e) classes never do. (iv) Every other row joins the
    nearest class that accepts it (LE-4, ``rows.leftovers``), else it is suppressed.

    With one attribute whose distances are transitive, at the root, no method publishes more (LE-3). What
    bound there is, and by which bucket, tells ``Partition.reason`` wherever rows are suppressed; with
    several attributes, ragged taxonomies or several rows of a record it may be out of reach.

    O(n log m) for n rows in m buckets. With several attributes a class passes over the buckets that share a
    coordinate with it, those of one coordinate all at once. With two attributes at most l - 1 in each of its
    groups are left to pass over one by one; with more it may be all: O(n/l m log m), the paper's own bound
    (LE-11).
    """

    kind: Literal["mbf"] = "mbf"

    def find_classes(self, given: StepInput) -> Partition:
        """Partition the rows of the scope; this engine starts from rows, not from an earlier partition."""
        from hierdata.engines.buckets.run import bucketized

        return bucketized(given)

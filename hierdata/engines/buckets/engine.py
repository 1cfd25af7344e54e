"""Engines that draw classes from buckets: MBF (LE algorithm 1) and multi-sensitive MSB (TC section 3.1)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from pydantic import Field

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

    def find_classes(self, step: StepInput) -> Partition:
        """Partition the rows of the scope; this engine starts from rows, not from an earlier partition."""
        from hierdata.engines.buckets.draw import bucketize_rows

        return bucketize_rows(step)


class MSB(Engine):
    """Draw each class from the buckets of the greatest capacity that share no coordinate; then the leftovers.

    A bucket holds the rows with one vector of sensitive values, or of groups of values, with one coordinate
    for each sensitive attribute with a model: as in ``mbf``, the groups of its share caps. So a model with
    ``by: partition`` gives continuous attributes discretized coordinates. A class takes l rows, the least
    size that the models of the step allow (if ``kaca`` follows, k is not among these). After each draw the
    buckets that share a group with the class are masked until the class is full, once the group has as many
    rows as its cap allows at that size: one under the models of l-diversity.

    The capacity of a group of values is the number of rows left with it. ``order`` states which bucket is
    drawn from next: ``bucket``, the one with the most rows left (maximal bucket first, the order of ``mbf``);
    ``single``, the one of the largest capacity among its coordinates (maximal single-dimension capacity
    first); ``multi``, the one of the largest sum of the capacities of its coordinates (maximal
    multi-dimension capacity first, MMDCF, the order of TC). TC names MMDCF without a formula (erratum TC-10),
    and we could read no other source: the sum is our choice. So are the ties, which go to the bucket with
    more rows, then to a random one; the row that is drawn from a bucket is random too.

    A class that cannot be filled returns its rows, and the bucket that it began with begins no other class; a
    second vertex of a record is skipped. Classes that fail a constraint are dissolved. Every other row joins
    the nearest class that accepts it, else it is suppressed.

    O(n m d) for n rows, m buckets and d coordinates in the orders by capacity, in compiled code; that of
    ``mbf`` in the order by size.
    """

    kind: Literal["msb"] = "msb"
    order: Literal["bucket", "single", "multi"] = Field(
        default="multi", description="which bucket is drawn from next"
    )

    def find_classes(self, step: StepInput) -> Partition:
        """Partition the rows of the scope; this engine starts from rows, not from an earlier partition."""
        from hierdata.engines.buckets.draw import bucketize_rows

        return bucketize_rows(step, self.order)

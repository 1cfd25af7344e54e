"""Multi-sensitive bucketization: classes whose rows differ in every sensitive attribute (TC section 3.1)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from pydantic import Field

from hierdata.engines.base import Engine, StepInput

if TYPE_CHECKING:
    from hierdata.forest.partition import Partition


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

    def find_classes(self, given: StepInput) -> Partition:
        """Partition the rows of the scope; this engine starts from rows, not from an earlier partition."""
        from hierdata.engines.buckets.draw import bucketize_rows

        return bucketize_rows(given, self.order)

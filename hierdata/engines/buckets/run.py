"""Draw classes from buckets, then attach the leftovers: the common search of mbf and msb."""

from __future__ import annotations

from hierdata.engines.base import StepInput
from hierdata.engines.buckets.bound import reason
from hierdata.engines.buckets.buckets import Buckets
from hierdata.engines.buckets.draw import Order, draw
from hierdata.engines.rows.finishing import finish_partition
from hierdata.forest.partition import Partition


def bucketize_rows(given: StepInput, order: Order = "bucket") -> Partition:
    """Draw classes, dissolve those that fail a constraint, attach leftovers to classes that accept them."""
    forest, scope, constraints = given.problem
    buckets = Buckets.of(forest, scope, constraints)
    classes = draw(buckets, scope.records, given.rng, given.progress, order)
    partition = finish_partition(
        forest, scope, constraints, classes, given.rng, lambda published: reason(buckets, published)
    )
    given.progress(len(classes))
    return partition

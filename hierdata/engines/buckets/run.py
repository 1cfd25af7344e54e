"""A search that draws classes from buckets and then attaches the rest: mbf and msb but for the order."""

from __future__ import annotations

from hierdata.engines.base import StepInput
from hierdata.engines.buckets.bound import reason
from hierdata.engines.buckets.buckets import Buckets
from hierdata.engines.buckets.draw import Order, draw
from hierdata.engines.rows.finishing import finished
from hierdata.forest.partition import Partition


def bucketized(given: StepInput, order: Order = "bucket") -> Partition:
    """Draw classes; dissolve those that fail a constraint; attach what is left where it is accepted."""
    forest, scope, constraints = given.problem
    buckets = Buckets.of(forest, scope, constraints)
    classes = draw(buckets, scope.records, given.rng, given.progress, order)
    partition = finished(
        forest, scope, constraints, classes, given.rng, lambda published: reason(buckets, published)
    )
    given.progress(len(classes))
    return partition

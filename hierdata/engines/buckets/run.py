"""A search that draws classes from buckets and then attaches the rest: mbf and msb but for the order."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from hierdata.engines.base import Constraints
from hierdata.engines.buckets.bound import reason
from hierdata.engines.buckets.buckets import Buckets
from hierdata.engines.buckets.draw import Order, draw
from hierdata.engines.rows.finishing import finished
from hierdata.forest.forest import Forest, Scope
from hierdata.forest.partition import Partition


def bucketized(
    forest: Forest,
    scope: Scope,
    constraints: Constraints,
    rng: np.random.Generator,
    progress: Callable[[int], None],
    order: Order = "bucket",
) -> Partition:
    """Draw classes; dissolve those that fail a constraint; attach what is left where it is accepted."""
    buckets = Buckets.of(forest, scope, constraints)
    classes = draw(buckets, scope.records, rng, progress, order)
    partition = finished(
        forest, scope, constraints, classes, rng, lambda published: reason(buckets, published)
    )
    progress(len(classes))
    return partition

"""The end of a search over rows: dissolve failing classes, and attach their rows to others."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from hierdata.engines.base import Constraints
from hierdata.engines.rows.contents import check_classes
from hierdata.engines.rows.leftovers import attach
from hierdata.engines.rows.table import dissolve_failing, partition_of, unaccepted_cost
from hierdata.forest.forest import Forest, Scope
from hierdata.forest.partition import SUPPRESSED, Partition


def finish_partition(
    forest: Forest,
    scope: Scope,
    constraints: Constraints,
    classes: NDArray[np.int64],
    rng: np.random.Generator,
    reason: Callable[[int], str],
) -> Partition:
    """Build the partition into these classes; rows without a class join the nearest that accepts them.

    Classes that violate a constraint are dissolved first. ``reason`` is called with the number of published
    rows if rows are suppressed, and explains why no more are published.
    """
    failing = ~check_classes(forest, scope, constraints, classes)
    costs: Counter[str] = Counter()
    if failing.any():
        costs["classes_dissolved"] = int(failing.sum())
        classes = dissolve_failing(classes, failing)
    classes = attach(forest, scope, constraints, classes, np.flatnonzero(classes == SUPPRESSED), rng)
    published = int((classes != SUPPRESSED).sum())
    gone = costs[unaccepted_cost(scope)] = len(classes) - published
    why = reason(published) if gone else ""
    return partition_of(forest, scope, classes, costs, why)

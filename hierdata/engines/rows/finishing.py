"""How a search of rows ends: classes that fail are dissolved, and what is left joins the others."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from hierdata.engines.base import Constraints
from hierdata.engines.rows.contents import satisfied
from hierdata.engines.rows.leftovers import attach
from hierdata.engines.rows.table import dissolved, partition_of, unaccepted
from hierdata.forest.forest import Forest, Scope
from hierdata.forest.partition import SUPPRESSED, Partition


def finished(
    forest: Forest,
    scope: Scope,
    constraints: Constraints,
    classes: NDArray[np.int64],
    rng: np.random.Generator,
    reason: Callable[[int], str],
) -> Partition:
    """The partition into these classes; rows without one are attached where a class accepts them.

    ``reason`` says for a number of rows that are published why there are no more; it is asked where rows are
    suppressed.
    """
    failing = ~satisfied(forest, scope, constraints, classes)
    costs: Counter[str] = Counter()
    if failing.any():
        costs["classes_dissolved"] = int(failing.sum())
        classes = dissolved(classes, failing)
    classes = attach(forest, scope, constraints, classes, np.flatnonzero(classes == SUPPRESSED), rng)
    published = int((classes != SUPPRESSED).sum())
    gone = costs[unaccepted(scope)] = len(classes) - published
    why = reason(published) if gone else ""
    return partition_of(forest, scope, classes, costs, why)

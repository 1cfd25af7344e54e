"""An engine: rows in the order of their nodes, cut where all constraints hold."""

from __future__ import annotations

from collections import Counter
from typing import Literal

import numpy as np
from pydantic import PositiveInt

from hierdata.engines.base import Engine, StepInput
from hierdata.engines.rows.constraints import check_classes
from hierdata.engines.rows.table import dissolve_failing, nodes_of, partition_of
from hierdata.forest.partition import Partition


class Chunks(Engine):
    """Classes of ``factor`` times the least size; those in which a constraint fails are suppressed."""

    kind: Literal["chunks"] = "chunks"
    factor: PositiveInt = 1

    def find_classes(self, given: StepInput) -> Partition:
        forest, scope, constraints = given.forest, given.scope, given.constraints
        nodes = nodes_of(forest, scope)
        order = np.lexsort(nodes.T) if nodes.size else np.arange(len(scope.rows))
        count = max(len(order) // (self.factor * constraints.min_class_size), 1)
        classes = np.empty(len(order), np.int64)
        classes[order] = np.arange(len(order)) * count // max(len(order), 1)
        classes = dissolve_failing(classes, ~check_classes(forest, scope, constraints, classes))
        given.progress(len(order))
        gone = int((classes < 0).sum())
        return partition_of(forest, scope, classes, Counter({"records_in_no_class": gone}))

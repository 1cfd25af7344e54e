"""The passes of local search over the classes of the step before."""

from __future__ import annotations

from collections.abc import Callable

from hierdata.engines.alignment.alignment import Pairing
from hierdata.engines.base import Constraints
from hierdata.engines.local_search.state import ExchangedClasses
from hierdata.forest.forest import Forest, Scope
from hierdata.forest.partition import Partition


def descend_partition(
    forest: Forest,
    scope: Scope,
    constraints: Constraints,
    partition: Partition,
    passes: int,
    near: int,
    pairing: Pairing,
    progress: Callable[[int], None],
) -> Partition:
    """Return the partition after ``passes``; ``progress`` follows the first pass, which takes longest."""
    classes = ExchangedClasses(forest, constraints, partition, pairing, near)
    visits = scope.records
    for number in range(passes):
        made, at = classes.exchange_count, 0
        while at < len(visits):
            at = classes.visit(visits, at) + 1
            if number == 0:
                progress(min(at, len(visits)))
        if classes.exchange_count == made:
            break
    return classes.partition()

"""The passes of local search over the classes of the step before."""

from __future__ import annotations

from collections.abc import Callable

from hierdata.engines.alignment.alignment import Pairing
from hierdata.engines.base import Constraints
from hierdata.engines.local_search.state import ExchangedClasses
from hierdata.forest.forest import Forest, Scope
from hierdata.forest.partition import Partition

_MOST_PAIRS = 10**5


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


def take_in_suppressed(
    forest: Forest, scope: Scope, constraints: Constraints, partition: Partition, pairing: Pairing
) -> Partition | None:
    """Return the partition with each suppressed record in the class that loses least by it, one by one.

    None if one of them fits no class, or if there are more than 100,000 pairs of such a record and a class.
    """
    left = scope.records[partition.equivalence_class[scope.records] < 0]
    if not 0 < len(left) * partition.class_count <= _MOST_PAIRS:
        return None
    classes = ExchangedClasses(forest, constraints, partition, pairing, 1)
    if not all(classes.take_in(record) for record in left.tolist()):
        return None
    return classes.partition()

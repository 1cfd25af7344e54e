"""Pass after pass over all records, until one has changed nothing."""

from __future__ import annotations

from collections.abc import Callable

from hierdata.engines.aligning.alignment import Pairing
from hierdata.engines.base import Constraints
from hierdata.engines.searching.standing import Classes
from hierdata.forest import Forest, Scope
from hierdata.partition import Partition


def descended(
    forest: Forest,
    scope: Scope,
    constraints: Constraints,
    partition: Partition,
    passes: int,
    near: int,
    pairing: Pairing,
    progress: Callable[[int], None],
) -> Partition:
    """The partition after so many passes; ``progress`` is told of the first, which takes longest."""
    classes = Classes(forest, constraints, partition, pairing, near)
    visits = scope.records
    for number in range(passes):
        made, at = classes.made, 0
        while at < len(visits):
            at = classes.visit(visits, at) + 1
            if number == 0:
                progress(min(at, len(visits)))
        if classes.made == made:
            break
    return classes.partition()

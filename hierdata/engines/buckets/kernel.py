"""The inner loop of drawing from buckets: which one is drawn from next."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hierdata.engines.jit import jit
from hierdata.engines.rows.kernel import Numbers

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


@jit
def largest(
    vectors: Numbers,
    left: Numbers,
    ties: NDArray[np.float64],
    masked: NDArray[np.bool_],
    capacity: Numbers,
    held: Numbers,
    most: Numbers,
    summed: bool,
) -> int:
    """The bucket with the largest capacities; of equal ones the fullest, then the first of ``ties``.

    ``vectors[bucket]`` are its groups, ``left[bucket]`` its rows. Passed over are those without rows, those
    that are ``masked``, and those of a group of which as many as the ``most`` are ``held``. -1 without one.
    """
    best = -1
    best_priority = 0
    width = vectors.shape[1]
    for bucket in range(len(left)):
        if left[bucket] == 0 or masked[bucket]:
            continue
        priority = 0
        room = True
        for at in range(width):
            group = vectors[bucket, at]
            if held[group] >= most[group]:
                room = False
                break
            own = capacity[group]
            priority = priority + own if summed else max(priority, own)
        if not room:
            continue
        if best >= 0:
            if priority < best_priority:
                continue
            if priority == best_priority:
                if left[bucket] < left[best]:
                    continue
                if left[bucket] == left[best] and ties[bucket] >= ties[best]:
                    continue
        best = bucket
        best_priority = priority
    return best

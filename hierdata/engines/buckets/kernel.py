"""Inner loop of drawing from buckets: choose the next bucket."""

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
    remaining: Numbers,
    ties: NDArray[np.float64],
    masked: NDArray[np.bool_],
    capacity: Numbers,
    held: Numbers,
    most: Numbers,
    summed: bool,
) -> int:
    """Return the bucket with the largest capacity, -1 for none.

    The capacity is the largest, or with ``summed`` the sum, of ``capacity[group]`` over its groups. Ties go
    to the bucket with more rows, then to the lower number in ``ties``. ``vectors[bucket]`` are the groups of
    a bucket, ``remaining[bucket]`` is the number of its rows. Empty and ``masked`` buckets are skipped, and
    so are buckets with a group of which ``held[group]`` has reached ``most[group]``.
    """
    best = -1
    best_priority = 0
    width = vectors.shape[1]
    for bucket in range(len(remaining)):
        if remaining[bucket] == 0 or masked[bucket]:
            continue
        priority = 0
        room = True
        for coordinate in range(width):
            group = vectors[bucket, coordinate]
            if held[group] >= most[group]:
                room = False
                break
            priority = priority + capacity[group] if summed else max(priority, capacity[group])
        if not room:
            continue
        if best >= 0:
            if priority < best_priority:
                continue
            if priority == best_priority:
                if remaining[bucket] < remaining[best]:
                    continue
                if remaining[bucket] == remaining[best] and ties[bucket] >= ties[best]:
                    continue
        best = bucket
        best_priority = priority
    return best

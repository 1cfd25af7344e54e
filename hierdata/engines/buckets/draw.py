"""Draw classes from the largest buckets (LE algorithm 1, steps 1 and 2), or in another order (MSB)."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from hierdata.engines.buckets.buckets import Buckets
from hierdata.engines.buckets.by_capacity import ByCapacity
from hierdata.engines.buckets.by_size import BySize
from hierdata.engines.buckets.drawing import Drawing
from hierdata.forest.partition import SUPPRESSED

Order: TypeAlias = Literal["bucket", "single", "multi"]
"""Which bucket is drawn from next: the largest, or that of the largest capacities (see ``ByCapacity``)."""

_DRAWINGS: dict[Order, Callable[[Buckets, NDArray[np.int64], np.random.Generator], Drawing]] = {
    "bucket": BySize,
    "single": partial(ByCapacity, summed=False),
    "multi": partial(ByCapacity, summed=True),
}


def draw(
    buckets: Buckets,
    records: NDArray[np.int64],
    rng: np.random.Generator,
    progress: Callable[[int], None],
    order: Order = "bucket",
) -> NDArray[np.int64]:
    """Return the class of each row, SUPPRESSED for rows that are left over or in no bucket."""
    drawn = _DRAWINGS[order](buckets, records, rng).run(progress)
    classes = np.full(buckets.rows, SUPPRESSED, np.int64)
    count = len(drawn) // buckets.class_size
    classes[np.array(drawn, np.int64)] = np.repeat(np.arange(count), buckets.class_size)
    return classes

"""A partition: what an engine answers."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

SUPPRESSED = -1


@dataclass(frozen=True)
class Partition:
    """Records to classes, vertices to representative vertices, and each representative vertex's nodes.

    ``class_of[record]`` is the class, or SUPPRESSED. ``representative[vertex]`` is the vertex of the
    class's first member that stands for it, or SUPPRESSED; a vertex that represents itself is a vertex of
    the class representative. ``nodes`` has the layout of ``Forest.nodes``; its entries count at
    representative vertices. ``costs`` names what the engine had to give up, in records or vertices, for the
    report.
    """

    class_of: NDArray[np.int64]
    representative: NDArray[np.int64]
    nodes: NDArray[np.int32]
    costs: Counter[str] = field(default_factory=Counter)

    @property
    def class_count(self) -> int:
        """Number of classes."""
        return int(self.class_of.max(initial=SUPPRESSED)) + 1

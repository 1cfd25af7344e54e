"""A partition: what an engine answers."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

SUPPRESSED = -1


@dataclass(frozen=True)
class Partition:
    """Rows to classes, vertices to representative vertices, and each representative vertex's nodes.

    ``kind`` is the vertex type that was partitioned, 0 for whole records. ``class_of[row]`` is the class of a
    row, or SUPPRESSED; rows are all vertices of that type (all records) in their order.
    ``representative[vertex]`` is the vertex of the class's first member that stands for it, or
    SUPPRESSED; a vertex that represents itself is a vertex of the class representative, and so does every
    vertex that was not partitioned. ``nodes`` has the layout of ``Forest.nodes``; its entries count at
    representative vertices. ``costs`` names what the engine had to give up, in records or vertices, for the
    report; ``reason`` says in one sentence why no more could be published, where the engine knows.
    """

    class_of: NDArray[np.int64]
    representative: NDArray[np.int64]
    nodes: NDArray[np.int32]
    costs: Counter[str] = field(default_factory=Counter)
    kind: int = 0
    reason: str = ""

    @property
    def class_count(self) -> int:
        """Number of classes."""
        return int(self.class_of.max(initial=SUPPRESSED)) + 1

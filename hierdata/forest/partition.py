"""A partition: the result of an engine."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

SUPPRESSED = -1


@dataclass(frozen=True)
class Partition:
    """A map from rows to classes and from vertices to representative vertices, with the latter's nodes.

    ``kind`` is the vertex type that was partitioned, 0 for whole records. ``equivalence_class[row]`` is the
    class of a row, or SUPPRESSED; rows are all vertices of that type (all records) in their order.
    ``representative[vertex]`` is the vertex of the class's first member that represents it, or SUPPRESSED.
    Vertices of the class representative, and all vertices that were not partitioned, represent themselves.
    ``nodes`` has the layout of ``Forest.nodes``; only the entries of representative vertices are used.
    ``costs`` counts, for the report, what the engine had to give up, in records or vertices; ``reason`` says
    in one sentence why no more could be published, if the engine knows. ``by_root``: a class is the records
    of one published root vector, every published vertex represents itself, and a value that is missing is
    published like one that was deleted, by the root of its hierarchy. ``hidden`` are the sensitive values
    that are left out, in the layout of ``Forest.sensitive``; None if none may be.
    """

    equivalence_class: NDArray[np.int64]
    representative: NDArray[np.int64]
    nodes: NDArray[np.int32]
    costs: Counter[str] = field(default_factory=Counter)
    kind: int = 0
    reason: str = ""
    by_root: bool = False
    hidden: NDArray[np.bool_] | None = None

    @property
    def class_count(self) -> int:
        """Number of classes."""
        return int(self.equivalence_class.max(initial=SUPPRESSED)) + 1

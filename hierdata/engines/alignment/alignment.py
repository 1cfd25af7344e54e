"""A forest packed for the compiled alignment, with the working memory that the alignment needs."""

from __future__ import annotations

from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from hierdata.engines.alignment.arrays import pack_caps, pack_rows, pack_rules, share_caps
from hierdata.engines.alignment.kernels import anonytree
from hierdata.engines.alignment.kernels.arrays import AlignmentArrays, Settings, scratch
from hierdata.engines.alignment.kernels.representative import ClassBuffers, pair_losses_to
from hierdata.engines.base import Constraints
from hierdata.forest.forest import Forest

Pairing: TypeAlias = Literal["greedy", "benefit", "optimal"]

_PAIRINGS = {"greedy": anonytree.GREEDY, "benefit": anonytree.BENEFIT, "optimal": anonytree.OPTIMAL}

LONG = 48
"""Two lists of one vertex type that are both longer are matched by candidates (``kernels.long_lists``)."""


class Alignment:
    """Algorithm 1 (ML section 4) on the records of one forest, in classes of ``size`` records.

    Buffers hold classes of up to ``largest`` records; ``fit_caps`` sets the class size of the caps.
    """

    def __init__(
        self, forest: Forest, constraints: Constraints, size: int, pairing: Pairing, largest: int = 0
    ) -> None:
        caps = self._caps = share_caps(constraints)
        largest = max(largest, size)
        self.forest = forest
        self.rows, first_slot = pack_rows(forest, caps)
        self.rules = pack_rules(forest, caps, size)
        kind = _PAIRINGS[pairing]
        self.settings = Settings(kind, forest.scale, first_slot, LONG, anonytree.aligner(kind))
        vertices = int(np.diff(forest.roots).max(initial=1))
        self.scratch = scratch(
            depth=len(forest.schema.types),
            children=int(forest.child_count.max(initial=1)),
            vertices=vertices,
            nodes=len(self.rules.losses),
            frame=anonytree.FRAME,
            assigning=pairing == "optimal",
        )
        width = first_slot + max(map(len, caps), default=0) * largest
        rep, members = np.empty((vertices, width), np.int32), np.empty((largest, vertices), np.int64)
        queue = np.empty((vertices, 2), np.int64)
        self.buffers = ClassBuffers(rep, members, np.empty_like(rep), np.empty_like(members), queue)

    @property
    def arrays(self) -> AlignmentArrays:
        """The records and rules for compiled code."""
        return AlignmentArrays(self.settings, self.scratch, self.forest.roots, self.rows, self.rules)

    @property
    def representative(self) -> NDArray[np.int32]:
        """The rows of the representative of the class in the making."""
        return self.buffers.rep

    @property
    def members(self) -> NDArray[np.int64]:
        """By member, the vertices behind those of the representative."""
        return self.buffers.members

    def fit_caps(self, size: int) -> None:
        """Set the largest count of each group for a class of ``size`` records."""
        self.rules.caps[:] = pack_caps(self._caps, size)

    def pair_losses(self, record: int, others: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the loss of aligning each other record with this one: both trees, times the scale."""
        out = np.empty(len(others), np.int64)
        pair_losses_to(record, others, out, self.buffers, self.arrays)
        return out
